// Workload 10: imports a million prices of known items during item reads, compared to PostgreSQL's own COPY and upsert of the same rows during the
// same reads.
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import type { BenchDatabase } from '../database.ts'
import {
  copyGeneratedData,
  GENERATED_AT,
  generatedLabelId,
  generatedMarket,
  generatedMinor,
  generatedRef,
  PRICES_PER_ITEM,
} from '../generated-data.ts'
import { type LoadFigures, measure, measureUntil, writeRequests } from '../load.ts'
import { runToEnd, startNode } from '../processes.ts'
import type { Stage } from '../stage.ts'
import { type Table, whole } from '../tables.ts'
import type { Workload } from '../workload.ts'

const LABELS = ['Near Mint', 'Lightly Played', 'Moderately Played', 'Heavily Played', 'PSA 10', 'PSA 9', 'CGC 10', 'BGS 10']
const ROWS = 1_000_000
const QUICK_ROWS = 100_000
const ITEMS_PER_CHUNK = 1_000
const SEEN_MS = 60_000
const CALM_SECONDS = 3

interface PriceImportFigures {
  rows: number
  /** rows per second by writer, alone and during reads */
  copyUpsert: { alone: number; withReaders: number }
  ours: { alone: number; withReaders: number }
  /** item reads before any import, during COPY and upsert, and during our import until the node had all its prices */
  readers: { calm: LoadFigures; duringCopy: LoadFigures; duringImport: LoadFigures }
  /** longest time from the import's end until the node returned its last price */
  seenAfterMs: number
}

export const priceImportWorkload: Workload = {
  id: '10',
  title: 'Price import while item details are read',
  goal: null,
  data: 'own',
  prepare,
}

async function prepare({ server, effort, say }: Stage) {
  const database = await server.create('prices')
  const { db } = database.ctx
  const items = (effort.quick ? QUICK_ROWS : ROWS) / PRICES_PER_ITEM
  say(`generating ${items} items with ${items * PRICES_PER_ITEM} prices`)
  await copyGeneratedData(db, items)
  await sql`create table upserted_prices (like prices including all) with (fillfactor = 80)`.execute(db.kysely)
  await sql`insert into upserted_prices select * from prices`.execute(db.kysely)
  await sql`vacuum analyze upserted_prices`.execute(db.kysely)
  return async () => {
    const figures = await measureImport(database, server.dir, items, say)
    await database.close()
    return { table: tableOf(figures), figures }
  }
}

async function measureImport(database: BenchDatabase, dir: string, items: number, say: (line: string) => void): Promise<PriceImportFigures> {
  const { db } = database.ctx
  const count = items * PRICES_PER_ITEM
  const perSecond = async (step: number, write: (step: number) => Promise<number>) => {
    await sql`checkpoint`.execute(db.kysely)
    const rate = count / (await write(step))
    say(`  ${whole(rate)} rows/s`)
    return rate
  }
  const copyUpsert = async (step: number) => {
    const file = await writeRows(join(dir, 'prices.tsv'), items, step, tsvLine)
    return Number(await runToEnd('bench/copy-upsert.ts', [database.url, file]))
  }
  const ours = async (step: number) => {
    const file = await writeRows(join(dir, 'prices.csv'), items, step, csvLine, 'item_ref,market,label,price,updated_at\n')
    const args = ['import', 'mintmark-prices-csv', file, '--json']
    const report = JSON.parse(await runToEnd('src/main.ts', args, { DATABASE_URL: database.url })) as Record<string, number>
    if (report.accepted !== count) throw new Error(`The import took ${report.accepted} of ${count} prices: ${JSON.stringify(report)}`)
    return report.seconds!
  }

  say('COPY and upsert, alone')
  const copyAlone = await perSecond(1, copyUpsert)
  say('our import, alone')
  const oursAlone = await perSecond(1, ours)

  const node = await startNode(database.url)
  const paths = Array.from({ length: items }, (_, i) => `/api/v1/items/${((i * 7_919) % items) + 1}`)
  const { key } = database.accounts.professional
  const load = { url: node.url, key, requestsFile: writeRequests(dir, '10', paths) }
  await measure(load, CALM_SECONDS)
  const calm = await measure(load, CALM_SECONDS)
  say('COPY and upsert, with readers')
  let readers = measureUntil(load)
  const copyWithReaders = await perSecond(2, copyUpsert)
  const duringCopy = await readers.stop()
  say('our import, with readers')
  readers = measureUntil(load)
  const oursWithReaders = await perSecond(2, ours)
  const seenAfterMs = await untilSeen(`${node.url}/api/v1/items/${items}`, key, generatedMinor(items, 0, 2) / 100)
  const duringImport = await readers.stop()
  await node.stop()
  return {
    rows: count,
    copyUpsert: { alone: copyAlone, withReaders: copyWithReaders },
    ours: { alone: oursAlone, withReaders: oursWithReaders },
    readers: { calm, duringCopy, duringImport },
    seenAfterMs,
  }
}

function tableOf({ rows: count, copyUpsert, ours, readers, seenAfterMs }: PriceImportFigures): Table {
  const share = (which: 'alone' | 'withReaders') => (ours[which] / copyUpsert[which]).toFixed(2)
  return {
    title: `10: import of ${whole(count)} prices of known items; last price seen ${whole(seenAfterMs)} ms after the import's end`,
    head: ['', 'COPY + upsert rows/s', 'Our import rows/s', 'Share', 'Goal', "Readers' p99 ms: calm", 'COPY + upsert', 'Our import (goal 10)'],
    rows: [
      ['alone', whole(copyUpsert.alone), whole(ours.alone), share('alone'), '', '', '', ''],
      [
        'while readers ask',
        whole(copyUpsert.withReaders),
        whole(ours.withReaders),
        share('withReaders'),
        '0.80',
        readers.calm.p99.toFixed(2),
        readers.duringCopy.p99.toFixed(2),
        readers.duringImport.p99.toFixed(2),
      ],
    ],
    words: 1,
  }
}

async function untilSeen(url: string, key: string, price: number): Promise<number> {
  const started = performance.now()
  for (;;) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    const { data } = (await response.json()) as { data: { prices: { label: string; price: number }[] } }
    if (data.prices.some((shown) => shown.label === LABELS[0] && shown.price === price)) return performance.now() - started
    if (performance.now() - started > SEEN_MS) throw new Error(`The node does not show the imported price ${price} of ${url}`)
  }
}

type Line = (id: number, label: number, price: string, at: string) => string

const csvLine: Line = (id, label, price, at) => `${generatedRef(id)},${MARKETS[generatedMarket(id)]},${LABELS[label]},${price},${at}\n`
const tsvLine: Line = (id, label, price, at) => `${id}\t${generatedMarket(id)}\t${generatedLabelId(label)}\t${price}\t${at}\n`

/** New prices for all items; `step` days after the generated ones. */
async function writeRows(file: string, items: number, step: number, line: Line, head = ''): Promise<string> {
  const at = new Date(Date.parse(GENERATED_AT) + step * 86_400_000).toISOString()
  const chunks = function* () {
    yield head
    for (let from = 1; from <= items; from += ITEMS_PER_CHUNK) {
      let lines = ''
      for (let id = from; id < Math.min(from + ITEMS_PER_CHUNK, items + 1); id += 1) {
        for (let label = 0; label < PRICES_PER_ITEM; label += 1) lines += line(id, label, (generatedMinor(id, label, step) / 100).toFixed(2), at)
      }
      yield lines
    }
  }
  await pipeline(Readable.from(chunks()), createWriteStream(file))
  return file
}
