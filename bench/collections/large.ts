// `node bench/collections/large.ts [records] [rounds] [--profile]`: worth, profit and completion of all sets of one large collection over HTTP, each with the
// processor time of the node and of the database, beside the statements that read the same rows, and the memory of the node after all of it.
import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { sql } from 'kysely'
import { historiesAfter } from '#collections/lots/stored-history.ts'
import { median } from '../compare.ts'
import { startDatabaseServer } from '../database.ts'
import { copyGeneratedData, PRICES_PER_ITEM } from '../generated-data.ts'
import { heldMemory, profileWhile } from '../inspect.ts'
import { cpuMicros, startNode } from '../processes.ts'
import { show } from '../tables.ts'

const [records = 100_000, rounds = 7] = process.argv
  .slice(2)
  .filter((one) => !one.startsWith('--'))
  .map(Number)
const WITH_PROFILE = process.argv.includes('--profile')
const ITEMS = 40_000
/** A record in so many has a second lot, as many another disposal. */
const EVERY = 5
/** Requests between the two measurements of memory. */
const FOR_MEMORY = 40

/** In milliseconds. */
interface Spent {
  wall: number
  node: number
  database: number
}

const server = await startDatabaseServer()
const database = await server.create('large')
const { kysely } = database.ctx.db
console.log(`generating ${ITEMS} items with ${ITEMS * PRICES_PER_ITEM} prices, and a collection of ${records} records`)
await copyGeneratedData(database.ctx.db, ITEMS)
const collection = await generateCollection()
const node = await startNode(database.url)
const path = `/plus/collections/${collection}`

const workloads: [name: string, limitMs: number, path: string][] = [
  ['worth', 300, `${path}?with_value=1`],
  ['profit, TRY', 1_000, `${path}/profit`],
  ['profit, USD', 1_000, `${path}/profit?currency=USD`],
  ['profit, TRY_REAL', 1_000, `${path}/profit?currency=TRY_REAL`],
  ['profit, four moneys', 4_000, `${path}/profit?moneys[]=TRY&moneys[]=USD&moneys[]=EUR&moneys[]=TRY_REAL`],
  ['completion of all sets', 500, `${path}/completion`],
]
const read = async (from: string) => {
  const response = await fetch(`${node.url}/api/v1${from}`, { headers: { authorization: `Bearer ${database.accounts.plus.key}` } })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${from} answered ${response.status}: ${text}`)
  return text
}
const rows: (string | number)[][] = []
for (const [name, limitMs, from] of workloads) {
  await read(from)
  const spent: Spent[] = []
  for (let round = 0; round < rounds; round += 1) spent.push(await measured(() => read(from)))
  const of = (part: keyof Spent) => Math.round(median(spent.map((one) => one[part])))
  rows.push([
    name,
    limitMs,
    of('wall'),
    Math.round(Math.min(...spent.map(({ wall }) => wall))),
    of('node'),
    of('database'),
    (of('node') / limitMs).toFixed(2),
  ])
  console.log(`${name}: ${of('wall')} ms, of the node ${of('node')} ms, of the database ${of('database')} ms`)
}
rows.push(await readingAlone())
console.log(`\n${cpus().length} cores ${cpus()[0]!.model}, Node ${process.version}, ${server.describe}; ${records} records, ${rounds} rounds\n`)
console.log(
  show(
    {
      title: `A collection of ${records} records`,
      words: 1,
      head: ['Request', 'Limit ms', 'Median ms', 'Best ms', 'Node CPU ms', 'Database CPU ms', 'Node CPU ÷ limit'],
      rows: rows.map((row) => row.map(String)),
    },
    true,
  ),
)
const before = await heldMemory(node)
for (let n = 0; n < FOR_MEMORY; n += 1) await read(workloads[n % workloads.length]![2])
const after = await heldMemory(node)
const mb = (bytes: number) => (bytes / 2 ** 20).toFixed(1)
console.log(
  `\nmemory after ${FOR_MEMORY} more requests: in use ${mb(before.held)} → ${mb(after.held)} MB, resident ${mb(before.resident)} → ${mb(after.resident)} MB`,
)
if (WITH_PROFILE) {
  for (const [name, , from] of workloads) {
    const { top } = await profileWhile(node, async () => {
      for (let n = 0; n < 5; n += 1) await read(from)
    })
    console.log(`\n${name}`)
    for (const { where, share } of top.slice(0, 16)) console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${where}`)
  }
}
await node.stop()
await database.close()
await server.close()

/** Processor time is in steps of 10 ms. */
async function measured(run: () => Promise<unknown>): Promise<Spent> {
  const [nodeBefore, databaseBefore, started] = [cpuMicros(node.pid), databaseMicros(), performance.now()]
  await run()
  const wall = performance.now() - started
  return { wall, node: (cpuMicros(node.pid) - nodeBefore) / 1_000, database: (databaseMicros() - databaseBefore) / 1_000 }
}

/** Of the server's processes; they outlive a request. */
function databaseMicros(): number {
  const parentOf = (pid: string) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[1])
    } catch {
      return 0
    }
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === server.pid)
  return pids.reduce((sum, pid) => sum + (cpuMicros(Number(pid)) || 0), 0)
}

/** Reads what a profit needs and computes nothing: the part that no computation can be faster than. */
async function readingAlone(): Promise<(string | number)[]> {
  const first = { currency: 'TRY', timeZone: 'Europe/Istanbul' }
  const spent: Spent[] = []
  const cpu = () => process.cpuUsage()
  for (let round = 0; round < rounds + 1; round += 1) {
    const [own, databaseBefore, started] = [cpu(), databaseMicros(), performance.now()]
    for (let last = 0; ; ) {
      const histories = await historiesAfter(kysely, first, collection, last, 5_000)
      if (histories.length < 5_000) break
      last = histories.at(-1)!.id
    }
    const { user, system } = process.cpuUsage(own)
    const wall = performance.now() - started
    if (round > 0) spent.push({ wall, node: (user + system) / 1_000, database: (databaseMicros() - databaseBefore) / 1_000 })
  }
  const of = (part: keyof Spent) => Math.round(median(spent.map((one) => one[part])))
  return ['reading the histories alone', '', of('wall'), Math.round(Math.min(...spent.map(({ wall }) => wall))), of('node'), of('database'), '']
}

async function generateCollection(): Promise<number> {
  const { rows: created } = await sql<{ id: number }>`
    insert into collections (account_id, name, items_count) values (${database.accounts.plus.id}, 'Large', ${records}) returning id`.execute(kysely)
  const { id } = created[0]!
  await sql`
    insert into collection_items (collection_id, item_id, grade_id, quantity, purchase_price, purchase_date, created_at, updated_at)
    select ${id}, 1 + (n * 7919) % ${ITEMS}::int4, case when n % 10 = 0 then (select id from groups where name = 'PSA 10' and parent_id is not null limit 1) end,
           1 + n % 4, case when n % 50 > 0 then (n % 5000) / 100.0 end, current_date - (n % 700), now(), now()
    from generate_series(1, ${records}::int4) n`.execute(kysely)
  await sql`
    insert into collection_lots (record_id, acquired_at, quantity, unit_cost, fees, currency, source, created_at)
    select id, current_date - (id % 500), 1, (id % 3000) / 100.0, 0.5, (array['TRY', 'USD', 'EUR'])[1 + id % 3], 'bought', now()
    from collection_items where collection_id = ${id} and id % ${EVERY}::int4 = 0`.execute(kysely)
  await sql`update collection_items set quantity = quantity + 1 where collection_id = ${id} and id % ${EVERY}::int4 = 0`.execute(kysely)
  await sql`
    insert into collection_disposals (record_id, at, quantity, gross, fees, shipping, currency, created_at)
    select id, current_date - (id % 300), 1, (id % 9000) / 100.0, 1.5, 2.25, (array['TRY', 'USD', 'EUR'])[1 + id % 3], now()
    from collection_items where collection_id = ${id} and id % ${EVERY}::int4 = 1`.execute(kysely)
  await sql`
    insert into rates (currency, day, try_rate)
    select c, current_date - n, 40 + (n % 97) / 10.0 from generate_series(0, 750) n, unnest(array['USD', 'EUR']) c`.execute(kysely)
  await sql`
    insert into price_indices (name, month, value)
    select 'TRY_CPI', to_char(current_date - make_interval(months => n), 'YYYY-MM'), 400 - n * 9 from generate_series(1, 30) n`.execute(kysely)
  await sql`vacuum analyze`.execute(kysely)
  return id
}
