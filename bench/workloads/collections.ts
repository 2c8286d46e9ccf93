// Workload 8: records added to a collection and then listed, and a very long list read as a whole.
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { createCollection } from '#collections/create-collection.ts'
import { call } from '#core/verb.ts'
import { answerTo, dataOf } from '../answers.ts'
import type { Traffic } from '../compare.ts'
import { type LoadFigures, sending } from '../load.ts'
import type { Stage } from '../stage.ts'
import { type Table, whole } from '../tables.ts'
import { httpWorkload, type Workload } from '../workload.ts'

const REQUESTS = 2_000
const RECORDS = 100_000
const QUICK_RECORDS = 20_000

export const collectionWorkloads: Workload[] = [
  httpWorkload({ id: '8', title: 'POST a collection record, after its fsync', goal: 0.15, data: 'items', traffic }),
  { id: '8l', title: 'A very long collection, read whole', goal: null, data: 'items', prepare: prepareLongList },
]

async function traffic(stage: Stage): Promise<Traffic> {
  const { rows } = await sql<{ id: number }>`select id from items order by md5(id::text) limit ${REQUESTS}`.execute(stage.database.ctx.db.kysely)
  const collection = await open(stage, 'Load')
  const add = (itemId: number, i: number) =>
    sending('POST', `${collection.path}/items`, { item_id: itemId, quantity: 1 + (i % 5), purchase_price: 12.5, note: `record ${i}` })
  const requests = rows.map(({ id }, i) => add(id, i))
  const node = await stage.node()
  const { key } = stage.database.accounts.plus
  const bytes = JSON.stringify(await dataOf<object>(node, key, requests[0]!)).length

  const verify = async (loads: readonly LoadFigures[]) => {
    const { data: added } = await dataOf<{ data: { id: number } }>(node, key, add(rows[0]!.id, rows.length))
    const { records, newest, seconds } = await list(stage, collection.path)
    const counted = await countOf(stage, collection.id)
    const sum = (of: (figures: LoadFigures) => number) => 2 + loads.reduce((total, figures) => total + of(figures), 0)
    const [answered, sent] = [sum((figures) => figures.requests), sum((figures) => figures.sent)]
    if (records !== counted || newest !== added.id) throw new Error(`${records} listed, ${counted} counted, newest ${newest}, added ${added.id}`)
    if (records < answered || records > sent) throw new Error(`${answered} records were acknowledged, ${sent} sent, but ${records} are listed`)
    return `then the list shows all ${records} records, of which ${answered} were acknowledged before the load ended, in ${seconds.toFixed(2)} s`
  }
  return { plan: 'plus', requests, bytes, plain: true, verify }
}

/** A list of very many records read as a whole, and the node's memory while sending it. */
async function prepareLongList(stage: Stage) {
  const { database, effort } = stage
  const db = database.ctx.db.kysely
  const collection = await open(stage, 'Long')
  const length = effort.quick ? QUICK_RECORDS : RECORDS
  await sql`
    with ids as (select array_agg(id order by id) as of from items)
    insert into collection_items (collection_id, item_id, grade_id, quantity, purchase_price, purchase_date, card_uniq_id, note)
    select ${collection.id}, of[1 + n * 7 % cardinality(of)], 3, 1 + n % 5, 12.5, date '2026-01-01' + n % 300, 'CERT-' || n,
      'Record ' || n || ' of a long list'
    from ids, generate_series(1, ${length}::int) n`.execute(db)
  await sql`update collections set items_count = ${length} where id = ${collection.id}`.execute(db)
  await sql`vacuum analyze collection_items`.execute(db)
  const node = await stage.node()
  return async () => {
    const figures: { query: string; records: number; seconds: number; bytes: number; peakBefore: number; peak: number }[] = []
    for (const query of ['', '?with_value=1']) {
      const peakBefore = peakMb(node.pid)
      const { records, seconds, bytes } = await list(stage, collection.path, query)
      if (records !== length) throw new Error(`${records} of ${length} records were listed`)
      figures.push({ query, records, seconds, bytes, peakBefore, peak: peakMb(node.pid) })
    }
    const table: Table = {
      title: '8l: a very long collection, read whole',
      head: ['List', 'Records', 'MB', 'Seconds', "Node's peak memory MB before", 'after'],
      rows: figures.map(({ query, records, bytes, seconds, peakBefore, peak }) => [
        query ? 'with values' : 'records',
        whole(records),
        (bytes / 1e6).toFixed(1),
        seconds.toFixed(2),
        whole(peakBefore),
        whole(peak),
      ]),
      words: 1,
    }
    return { table, figures }
  }
}

async function open({ database }: Stage, name: string): Promise<{ id: number; path: string }> {
  const { id } = await call(createCollection, database.ctx, { account_id: database.accounts.plus.id, name })
  return { id, path: `/api/v1/plus/collections/${id}` }
}

async function list(stage: Stage, path: string, query = '') {
  const node = await stage.node()
  const started = performance.now()
  const { text, bytes } = await answerTo(node, stage.database.accounts.plus.key, `${path}/items${query}`)
  const seconds = (performance.now() - started) / 1_000
  const { data } = JSON.parse(text) as { data: { id: number }[] }
  return { seconds, bytes, records: data.length, newest: data[0]?.id }
}

async function countOf(stage: Stage, collectionId: number): Promise<number> {
  const key = stage.database.accounts.plus.key
  const { data } = await dataOf<{ data: { id: number; items_count: number }[] }>(await stage.node(), key, '/api/v1/plus/collections')
  return data.find(({ id }) => id === collectionId)!.items_count
}

/** Peak memory of a process; NaN if the system does not report it. */
function peakMb(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
  } catch {
    return Number.NaN
  }
}
