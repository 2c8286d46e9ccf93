// `node bench/prices/reviews.ts [items]`: duration of pages of prices under review, by filter, compared to a bare indexed page.
import { performance } from 'node:perf_hooks'
import { sql } from 'kysely'
import { call } from '#core/verb.ts'
import { countPriceReviews, listPriceReviews } from '#prices/reviews/list-price-reviews.ts'
import { rankReviews } from '#prices/reviews/rank-reviews.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { startDatabaseServer } from '../database.ts'
import { copyGeneratedData, copyOtherMarketPrices } from '../generated-data.ts'

/** Limit for a page at the 99th percentile. */
const LIMIT_MS = 50
const RUNS = 200
const items = Number(process.argv[2] ?? 50_000)

const server = await startDatabaseServer()
try {
  const { ctx, close } = await server.create('reviews')
  const on = ctx.db.kysely
  const day = '2026-01-01'
  await call(setRates, ctx, { rates: Object.entries({ USD: 40, EUR: 45.5 }).map(([currency, rate]) => ({ day, currency, rate })) })
  await copyGeneratedData(ctx.db, items)
  await copyOtherMarketPrices(ctx.db, items)
  // Two of an item's twelve prices are disputed (two labels of every fourth item, in both of its markets), and every item has a held one.
  await sql`update prices set state = 1, flags = 16 where label_id in (4, 5) and item_id % 4 = 0`.execute(on)
  await sql`insert into imports (format, author, status) select 'bench', 'bench', 'done' from generate_series(1, 10)`.execute(on)
  await sql`
    insert into held_prices (item_id, market, label_id, updated_at, price, import_id, rule, reason, compared_price, times_off)
    select item_id, market, label_id, updated_at + interval '1 day', price * (6 + item_id % 40), 1 + item_id % 10, 'jump', 'jump', price, 6 + item_id % 40
    from prices where label_id = 6 and market = 3`.execute(on)
  const from = performance.now()
  await rankReviews(ctx.db, ctx.rules.currencies, ctx.now())
  const ranked = performance.now() - from
  await sql`vacuum analyze`.execute(on)
  const { prices, ...states } = await call(countPriceReviews, ctx, {})
  const { pagination } = await call(listPriceReviews, ctx, { per_page: 100 })
  console.log(`${prices} prices in question ${JSON.stringify(states)}, ${pagination.total} groups, ranked in ${Math.round(ranked)} ms`)

  const list = (input: object) => () => call(listPriceReviews, ctx, { per_page: 100, ...input })
  const bare = await timed(() => sql`select * from prices where item_id > ${items >> 1} order by item_id, market, label_id limit 100`.execute(on))
  const kinds: Record<string, () => Promise<unknown>> = {
    all: list({}),
    held: list({ state: 'held' }),
    disputed: list({ state: 'disputed' }),
    'by value': list({ sort_by: 'value' }),
    'of a cause': list({ cause: 'other_markets' }),
    'of a market': list({ market: 'source_b' }),
    'of a label': list({ label: 'Near Mint' }),
    'of a market and a label': list({ market: 'source_c', label: 'Near Mint' }),
    'of a game': list({ game: 'onepiece' }),
    'of a category': list({ category_id: 30 }),
    'of an import': list({ import_id: 3 }),
    'of an item': list({ item_id: 4 }),
    'the last page': list({ page: pagination.last_page }),
    'the count': () => call(countPriceReviews, ctx, {}),
    'the count of a market and a label': () => call(countPriceReviews, ctx, { market: 'source_c', label: 'Near Mint' }),
  }
  console.log('| Page of 100 | p50 ms | p99 ms | p99 in bare pages |\n|---|---|---|---|')
  console.log(`| bare indexed page of prices | ${bare.p50.toFixed(1)} | ${bare.p99.toFixed(1)} | |`)
  let worst = 0
  for (const [kind, run] of Object.entries(kinds)) {
    const { p50, p99 } = await timed(run)
    worst = Math.max(worst, p99)
    console.log(`| ${kind} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${(p99 / bare.p99).toFixed(1)} |`)
  }
  console.log(`largest p99 ${worst.toFixed(1)} ms, limit ${LIMIT_MS} ms: ${worst <= LIMIT_MS ? 'met' : 'missed'}`)
  await close()
} finally {
  await server.close()
}

async function timed(run: () => Promise<unknown>): Promise<{ p50: number; p99: number }> {
  for (let i = 0; i < 5; i += 1) await run()
  const times: number[] = []
  for (let i = 0; i < RUNS; i += 1) {
    const from = performance.now()
    await run()
    times.push(performance.now() - from)
  }
  times.sort((a, b) => a - b)
  return { p50: times[RUNS >> 1]!, p99: times[Math.floor(RUNS * 0.99)]! }
}
