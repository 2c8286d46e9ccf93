// `node bench/watches/tell.ts [prices] [watches] [rounds]`: imports new prices for all items, alternately without and with watches that follow, and
// checks that each watch that a trusted price meets is told exactly once, and none by a disputed, held or unproven price.
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { followChanges } from '#watches/follow-changes.ts'
import { MAX_WATCHES } from '#watches/watch-types.ts'
import { startDatabaseServer } from '../database.ts'
import { copyGeneratedData, GENERATED_AT, generatedMarket, generatedMinor, generatedRef, PRICES_PER_ITEM } from '../generated-data.ts'
import { runToEnd } from '../processes.ts'

const PRICES = Number(process.argv[2] ?? 1_000_000)
const WATCHES = Number(process.argv[3] ?? PRICES)
const ROUNDS = Number(process.argv[4] ?? 2)
/** Of each fifty items, the prices of one are disputed, and those of one unproven, both outside the import; those of one are held by it. */
const FAULTY = 50
const [DISPUTED, UNPROVEN, HELD] = [1, 2, 3]
/** Limit for the import with watches, as a multiple of the same import without them; on a busy machine it needs several rounds. */
const MOST_TIMES = 1.1
const LABELS = ['Near Mint', 'Lightly Played', 'Moderately Played', 'Heavily Played', 'PSA 10', 'PSA 9', 'CGC 10', 'BGS 10']
const CURRENCIES = { service: 'TRY', source_a: 'USD', source_b: 'EUR', source_c: 'USD' } as const
const ITEMS = PRICES / PRICES_PER_ITEM
/** As the node's task does. */
const EVERY_MS = 5_000

const server = await startDatabaseServer()
const database = await server.create('watches')
const { kysely } = database.ctx.db
const ctx = { ...database.ctx, market: { timeZone: 'Europe/Istanbul', sourceCurrencies: CURRENCIES } }
console.log(`generating ${ITEMS} items with ${PRICES} prices, and ${WATCHES} watches`)
await copyGeneratedData(database.ctx.db, ITEMS)
await generateWatches()
await followChanges(ctx)

const seconds: Record<'without' | 'with', number[]> = { without: [], with: [] }
let step = 0
for (let round = 1; round <= ROUNDS; round += 1) {
  for (const mode of ['without', 'with'] as const) {
    // Changes of an import without the task are not part of the next one.
    if (mode === 'with') await followChanges(ctx)
    if (mode === 'with' && round === ROUNDS) await plant()
    const took = await importPrices((step += 1), mode === 'with', mode === 'with' && round === ROUNDS)
    seconds[mode].push(took)
    console.log(`import ${mode} the task: ${took.toFixed(1)} s`)
  }
}
const started = performance.now()
await followChanges(ctx)
const restSeconds = (performance.now() - started) / 1_000
const { rows } = await sql<{
  due: number
  told: number
  twice: number
  lost: number
  wrong: number
  planted: number
  held: number
  events_mb: number
  watches_mb: number
}>`
  with due as (
    select distinct w.id from watches w join prices p on p.item_id = w.item_id and p.label_id = w.label_id and p.state = 0 and p.price <= w.amount
  ), told as (
    select (body::jsonb #>> '{data,watch_id}')::int4 as id, count(*) as times from webhook_events where kind = 'watch' group by 1
  ), planted as (
    select count(*)::int4 as count from watches w join prices p on p.item_id = w.item_id and p.label_id = w.label_id
    where p.state in (${STATES.indexOf('disputed')}, ${STATES.indexOf('unproven')}) and p.price <= w.amount
  ), held as (select count(*)::int4 as count from held_prices where decision is null)
  select (select count(*) from due)::int4 as due, (select count(*) from told)::int4 as told, (select count(*) from told where times > 1)::int4 as twice,
    (select count(*) from due where id not in (select id from told))::int4 as lost,
    (select count(*) from told where id not in (select id from due))::int4 as wrong,
    planted.count as planted, held.count as held,
    (pg_total_relation_size('watches') / 1e6)::int4 as watches_mb, (pg_total_relation_size('webhook_events') / 1e6)::int4 as events_mb
  from planted, held`.execute(kysely)
const counts = rows[0]!
console.log(counts)
const best = { without: Math.min(...seconds.without), with: Math.min(...seconds.with) }
const times = best.with / best.without
const figures = [
  PRICES,
  WATCHES,
  counts.due,
  best.without.toFixed(1),
  best.with.toFixed(1),
  times.toFixed(2),
  restSeconds.toFixed(1),
  Math.round(process.resourceUsage().maxRSS / 1_000),
  counts.watches_mb,
  counts.events_mb,
]
console.log('| Prices | Watches | Due | Import s | With watches s | Ratio | Last told after s | Memory MB | Watches MB | Events MB |')
console.log('|---|---|---|---|---|---|---|---|---|---|')
console.log(`| ${figures.join(' | ')} |`)
if (counts.told !== counts.due || counts.twice + counts.lost + counts.wrong > 0) throw new Error('Watches were not told exactly once')
if (times > MOST_TIMES) throw new Error(`The import with watches took ${times.toFixed(2)} times as long`)
await database.close()
await server.close()

/** Watches of the items' own prices, at first below all of them. */
async function generateWatches(): Promise<void> {
  const accounts = Math.ceil(WATCHES / MAX_WATCHES)
  await sql`insert into accounts (name, plan) select 'Watcher ' || n, 'plus' from generate_series(1, ${accounts}::int4) n`.execute(kysely)
  const markets = sql`unnest(${MARKETS.map((_, position) => position)}::int2[], ${MARKETS.map((market) => CURRENCIES[market])}::text[]) m (market, currency)`
  await sql`
    insert into watches (account_id, kind, item_id, label_id, amount, currency, created_at, updated_at)
    select a.id, 'price_below', p.item_id, p.label_id, 0.01, m.currency, now(), now()
    from (select *, row_number() over (order by item_id, label_id) - 1 as n from prices) p join ${markets} on m.market = p.market
    join (select id, row_number() over (order by id) - 1 as n from accounts where name like 'Watcher %') a on a.n = p.n / ${MAX_WATCHES}::int4
    where p.n < ${WATCHES}::int4`.execute(kysely)
  await sql`vacuum analyze watches`.execute(kysely)
}

function isPlanted(id: number): boolean {
  return id % FAULTY === DISPUTED || id % FAULTY === UNPROVEN
}

/** Gives every other watch an amount that the next prices meet; those of faulty prices meet nothing else. */
async function plant(): Promise<void> {
  await sql`update watches set amount = 9999999 where id % 2 = 0`.execute(kysely)
  await sql`
    update watches w set amount = greatest(0.01, round(p.price / 10, 2)) from prices p
    where p.item_id = w.item_id and p.label_id = w.label_id and w.item_id % ${FAULTY}::int4 = ${HELD}::int4`.execute(kysely)
  for (const [rest, state] of [
    [DISPUTED, 'disputed'],
    [UNPROVEN, 'unproven'],
  ] as const) {
    await sql`
      update prices set state = ${STATES.indexOf(state)} where item_id % ${FAULTY}::int4 = ${rest}::int4`.execute(kysely)
    // No import changes these items, so the watches are compared like new ones.
    await sql`
      update watches set amount = 9999999, due_day = current_date - 1 where item_id % ${FAULTY}::int4 = ${rest}::int4`.execute(kysely)
  }
  await sql`vacuum analyze watches`.execute(kysely)
}

/** @returns seconds, as the import reports them */
async function importPrices(day: number, isFollowed: boolean, withFaults: boolean): Promise<number> {
  const file = join(server.dir, `prices-${day}.csv`)
  await pipeline(Readable.from(linesOf(day, withFaults)), createWriteStream(file))
  await sql`checkpoint`.execute(kysely)
  const ends = new AbortController()
  const following = isFollowed ? follow(ends.signal) : Promise.resolve()
  const report = await runToEnd('src/main.ts', ['import', 'mintmark-prices-csv', file, '--json'], { DATABASE_URL: database.url })
  ends.abort()
  await following
  return (JSON.parse(report) as { seconds: number }).seconds
}

async function follow(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await followChanges(ctx)
    await delay(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** Every price of a day; those of some items are far too low, so that they are held. */
function* linesOf(day: number, withFaults: boolean): Generator<string> {
  yield 'item_ref,market,label,price,updated_at\n'
  const at = new Date(Date.parse(GENERATED_AT) + day * 86_400_000).toISOString()
  for (let id = 1; id <= ITEMS; id += 1) {
    const factor = withFaults && id % FAULTY === HELD ? 0.01 : 1
    const price = (label: number) => Math.max(0.01, (generatedMinor(id, label, day) / 100) * factor).toFixed(2)
    if (withFaults && isPlanted(id)) continue
    yield LABELS.map((label, i) => `${generatedRef(id)},${MARKETS[generatedMarket(id)]},${label},${price(i)},${at}\n`).join('')
  }
}
