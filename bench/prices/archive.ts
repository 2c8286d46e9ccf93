// `node bench/prices/archive.ts [items]`: a year of history in the archive, and the duration of charts over it.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { labelOrder } from '#core/labels.ts'
import { type ArchivedPoint, writeArchiveFile } from '#prices/archive/archive-file.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { labelIds } from '#prices/records/labels.ts'
import { periodsOf, pointsOf } from '#prices/history/history.ts'
import { startDatabaseServer } from '../database.ts'
import { randomNumbers } from '#core/random.ts'

const ITEMS = Number(process.argv[2] ?? 100_000)
/** Prices per item: two markets with four labels each. */
const PRICES = 8
/** About a fifth of daily prices change. */
const CHANGES_A_MONTH = 6
const MONTHS = 12
const FIRST = Date.UTC(2025, 0, 1)
const CHARTS = 500

const pick = randomNumbers(7)
const folder = mkdtempSync(join(tmpdir(), 'mintmark-archive-'))
const server = await startDatabaseServer()
try {
  const { ctx, close } = await server.create('archive')
  const db = ctx.db
  const history = { db, archive: openPriceArchive({ archiveDir: folder, dumpsS3: null }) }
  const labels = [...(await labelIds(db.kysely))].sort((a, b) => labelOrder(a[0]).localeCompare(labelOrder(b[0]))).slice(0, PRICES / 2)
  console.log(`${ITEMS} items, ${PRICES} prices each, ${CHANGES_A_MONTH} changes a month, ${MONTHS} months`)
  let bytes = 0
  let points = 0
  const started = performance.now()
  for (let m = 0; m < MONTHS; m++) {
    const start = new Date(Date.UTC(2025, m, 1))
    const month = start.toISOString().slice(0, 7)
    const path = await history.archive.files.store.stage()
    const facts = await writeArchiveFile(
      path,
      pointsOfMonth(
        start.getTime(),
        labels.map(([, id]) => id),
      ),
    )
    bytes += statSync(path).size
    points += facts.rows
    const file = `price-points-${month}.parquet`
    await history.archive.files.store.store(path, file)
    await sql`insert into price_archives (month, file, rows, checksum, replaced_before, import_ids, archived_at)
      values (${month}, ${file}, ${facts.rows}, ${facts.checksum}, '2026-06-01', '{}', now())`.execute(db.kysely)
  }
  const seconds = (performance.now() - started) / 1_000
  console.log(`${points} points in ${(bytes / 1e6).toFixed(0)} MB, ${(bytes / points).toFixed(1)} B each; written in ${seconds.toFixed(0)} s`)
  const window = { from: new Date(FIRST), to: new Date(FIRST + 365 * DAY_MS) }
  const chart = (item: number) => periodsOf(history, item, { ...window, market: 'source_a', interval: 'day' })
  const first = await times(1, chart)
  console.log(`Chart of a year, one market, the first after a start: ${first[0]!.toFixed(1)} ms`)
  await times(50, chart)
  show('Chart of a year, one market with four labels, by day', await times(CHARTS, chart))
  const label = labels[0]![0]
  show(
    'Chart of a year, one label, by week',
    await times(CHARTS, (item) => periodsOf(history, item, { ...window, market: 'source_a', label, interval: 'week' })),
  )
  show('Points of a year, all markets', await times(CHARTS, (item) => pointsOf(history, item, { ...window, limit: 10_000 })))
  await close()
} finally {
  await server.close()
  rmSync(folder, { recursive: true })
}

async function* pointsOfMonth(startMs: number, labelIds: readonly number[]): AsyncGenerator<ArchivedPoint> {
  for (let itemId = 1; itemId <= ITEMS; itemId++) {
    for (const market of [1, 3]) {
      for (const labelId of labelIds) {
        for (let n = 0; n < CHANGES_A_MONTH; n++) {
          const atMs = startMs + Math.floor(((n + pick()) / CHANGES_A_MONTH) * 28 * 86_400) * 1_000
          yield { itemId, market, labelId, atMs, minor: 100 + Math.floor(pick() * 100_000), importId: 1 + Math.floor(startMs / DAY_MS) }
        }
      }
    }
  }
}

/** Durations of `count` reads of random items in milliseconds, sorted. */
async function times(count: number, read: (item: number) => Promise<readonly unknown[]>): Promise<number[]> {
  const taken: number[] = []
  for (let i = 0; i < count; i++) {
    const item = 1 + Math.floor(pick() * ITEMS)
    const from = performance.now()
    const answer = await read(item)
    taken.push(performance.now() - from)
    if (answer.length === 0) throw new Error(`Item ${item} has no history`)
  }
  return taken.sort((a, b) => a - b)
}

function show(what: string, taken: readonly number[]): void {
  const at = (share: number) => taken[Math.floor(taken.length * share)]!.toFixed(1)
  console.log(`${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`)
}
