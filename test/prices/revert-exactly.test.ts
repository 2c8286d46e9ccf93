// Imports that set, confirm, change and hold prices, reverted and restored in any order: the result equals a database
// that received only the imports in effect.
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { call } from '#core/verb.ts'
import { revertImport } from '#imports/revert-import.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import { forgetOldStatements } from '#prices/history/retention.ts'
import { merge } from '../identity/kit.ts'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'

interface Shop {
  node: TestNode
  category: number
  /** the two items of the run */
  items: { id: number; ref: string }[]
}

let shop: Shop
let fresh: Shop
let cards = 0

beforeAll(async () => {
  ;[shop, fresh] = await Promise.all([open(), open()])
})
afterAll(() => Promise.all([shop, fresh].map(({ node }) => node.close())))

async function open(): Promise<Shop> {
  const node = await startTestNode()
  const { id } = await call(createCategory, node.ctx, { name: 'Set', game: 'pokemon', market: 'source_c' })
  await sql`insert into rates (currency, day, try_rate) values ('USD', '2026-01-01', 40), ('EUR', '2026-01-01', 40)`.execute(node.db.kysely)
  return { node, category: id, items: [] }
}

const PRICE_TABLES = [
  'prices',
  'price_points',
  'hidden_points',
  'held_price_params',
  'held_prices',
  'price_feeds',
  'price_statements',
  'usual_ratios',
]

/** Two new items in both databases, which have no other prices from now on. */
async function begin(): Promise<void> {
  cards += 2
  await Promise.all([shop, fresh].map(empty))
}

async function empty(one: Shop): Promise<void> {
  await one.node.db.pool.query(PRICE_TABLES.map((table) => `delete from ${table}`).join('; '))
  one.items = []
  for (const n of [cards, cards + 1]) {
    const ref = `test:${n}`
    const foreignIds = [{ source: 'cardmarket', id: String(n) }]
    const item = { name: `Card ${n}`, ref, market: 'source_c' as const, category_id: one.category, foreign_ids: foreignIds }
    one.items.push({ id: (await call(createItem, one.node.ctx, item)).id, ref })
  }
}

interface Row {
  item: number
  label: string
  price: number
  day: number
}
interface Product {
  item: number
  trend: number
  avg7: number | null
  low: number | null
}
type Batch = { rows: Row[] } | { day: number; products: Product[] }
/** A new batch, or a revert of the nth batch, or its restoration if it was reverted. */
type Step = Batch | { turn: number }

const item = fc.integer({ min: 0, max: 1 })
const day = fc.integer({ min: 1, max: 5 })
const amount = fc.constantFrom(10, 10, 10, 11, 25, 90, 300)
const figure = fc.constantFrom(null, 10, 12, 80)
const batch: fc.Arbitrary<Batch> = fc.oneof(
  fc.record({
    rows: fc.array(fc.record({ item, label: fc.constantFrom('Near Mint', 'Near Mint', 'PSA 10'), price: amount, day }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  fc.record({
    day,
    products: fc.uniqueArray(fc.record({ item, trend: amount, avg7: figure, low: figure }), { minLength: 1, selector: (p) => p.item }),
  }),
)
const steps = fc.array(fc.oneof({ weight: 2, arbitrary: batch }, { weight: 1, arbitrary: fc.record({ turn: fc.nat() }) }), {
  minLength: 3,
  maxLength: 10,
})

const dayOf = (n: number) => `2026-09-0${n}T00:00:00Z`
/** The figures of the two items are never identical, because identical figures relate items that are not reverted together. */
const of = (item: number, figure: number) => figure + item * 0.03

async function importBatch({ node, items }: Shop, stated: Batch): Promise<number> {
  if ('rows' in stated) {
    const lines = stated.rows.map((row) => `${items[row.item]!.ref},source_c,${row.label},${of(row.item, row.price).toFixed(2)},${dayOf(row.day)}`)
    return (await importText(node, 'mintmark-prices-csv', ['item_ref,market,label,price,updated_at', ...lines, ''].join('\n'))).id
  }
  const products = stated.products.map(({ item, trend, avg7, low }) => {
    const figures = { trend: of(item, trend), avg7: avg7 && of(item, avg7), low: low && of(item, low) }
    return { idProduct: Number(items[item]!.ref.slice(5)), ...figures }
  })
  return (await importText(node, 'cardmarket-price-guide', JSON.stringify({ version: 1, createdAt: dayOf(stated.day), priceGuides: products }))).id
}

/** Everything that the tables and the node say about prices; imports by their position among the batches. */
async function stateOf({ node, items }: Shop, batchOf: ReadonlyMap<number, number>) {
  await judgeAllPrices({ ...node.ctx, rules: node.config.priceRules })
  const rowsOf = async (query: string) => {
    const { rows } = await sql<{ item_id: number; import_id: number }>`${sql.raw(query)}`.execute(node.db.kysely)
    return rows.map((row) => {
      return { ...row, item_id: items.findIndex(({ id }) => id === row.item_id), import_id: batchOf.get(row.import_id) }
    })
  }
  const answers = await Promise.all(
    items.map(async ({ id }) => {
      const { body } = await send<{ prices: unknown }>(`${node.publicUrl}/api/v1/items/${id}?with_stats=1`, node.keys.professional)
      return body.success ? body.data.prices : body
    }),
  )
  return {
    prices: await rowsOf('select * from prices order by item_id, market, label_id'),
    points: await rowsOf('select * from price_points order by item_id, market, label_id, updated_at'),
    held: await rowsOf(`select item_id, market, label_id, updated_at, price, import_id, rule, compared_price, times_off from held_prices
      where decision is null order by item_id, market, label_id, updated_at, price`),
    answers,
  }
}

/** @returns the batch that the revert creates */
async function revert(id: number): Promise<number> {
  return (await call(revertImport, { ...shop.node.ctx, rules: shop.node.config.priceRules }, { id })).id
}

/** Once the first import is restored, the second one is held, at the moment at which the third one was held before. */
const HELD_IN_PLACE_OF_A_LATER_ONE: Step[] = [
  { day: 1, products: [{ item: 1, trend: 10, avg7: null, low: null }] },
  { turn: 0 },
  { day: 2, products: [{ item: 1, trend: 90, avg7: null, low: null }] },
  { day: 2, products: [{ item: 1, trend: 10, avg7: null, low: null }] },
  { turn: 0 },
  { turn: 2 },
]

test('after any imports, reverts and reverts of reverts, the state equals that of the imports in effect', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all: Step[]) => {
      await begin()
      const came: { batch: Batch; id: number; latest: number; inEffect: boolean }[] = []
      for (const step of all) {
        if (!('turn' in step)) {
          const id = await importBatch(shop, step)
          came.push({ batch: step, id, latest: id, inEffect: true })
          continue
        }
        const one = came[step.turn % came.length]
        if (!one) continue
        one.latest = await revert(one.latest)
        one.inEffect = !one.inEffect
      }
      const freshIds = new Map<number, number>()
      for (const [n, { batch, inEffect }] of came.entries()) if (inEffect) freshIds.set(await importBatch(fresh, batch), n)
      const [left, expected] = await Promise.all([stateOf(shop, new Map(came.map(({ id }, n) => [id, n]))), stateOf(fresh, freshIds)])
      expect(left).toEqual(expected)
    }),
    { numRuns: runs(40), examples: [[HELD_IN_PLACE_OF_A_LATER_ONE]] },
  )
})

/** Imports of the Cardmarket price guide, one a day, with the trend and the 7-day average of each item. */
async function guides(...days: [trend: number, avg7: number][][]): Promise<number[]> {
  await begin()
  const ids: number[] = []
  for (const [n, products] of days.entries()) {
    const stated = products.map(([trend, avg7], position) => ({ item: position, trend, avg7, low: null }))
    ids.push(await importBatch(shop, { day: n + 1, products: stated }))
  }
  return ids
}

/** Price, days from the 1st on which it was set and last confirmed, average, and import of each item, as stored in the table. */
async function current(): Promise<unknown[]> {
  const { rows } = await sql<{ item_id: number; price: string; set: number; confirmed: number | null; avg_7: string | null; import_id: number }>`
    select item_id, price, extract(day from updated_at)::int4 as set, extract(day from confirmed_at)::int4 as confirmed, avg_7, import_id
    from prices order by item_id`.execute(shop.node.db.kysely)
  return rows.map((row) => [Number(row.price), row.set, row.confirmed, row.avg_7 && Number(row.avg_7), row.import_id])
}

test('reverting an import that only confirmed prices removes and restores its confirmation and figures', async () => {
  const [first, second, third] = await guides([[10, 9]], [[10, 9.5]], [[10, 9.75]])
  expect(await current()).toEqual([[10, 1, 3, 9.75, first]])
  const withdrawn = await revert(third!)
  expect(await current()).toEqual([[10, 1, 2, 9.5, first]])
  await revert(second!)
  expect(await current()).toEqual([[10, 1, null, 9, first]])
  await revert(withdrawn)
  expect(await current()).toEqual([[10, 1, 3, 9.75, first]])
})

test('prices confirmed by later imports stay when the first import is reverted', { tags: 'slow' }, async () => {
  const [first, second, third] = await guides([[10, 9]], [[10, 9.5]], [[10, 9.75]])
  const withdrawn = await revert(first!)
  expect(await current()).toEqual([[10, 2, 3, 9.75, second]])
  expect((await send(`${shop.node.operatorUrl}/operator/v1/imports/${withdrawn}`, OPERATOR_TOKEN)).body).toMatchObject({ data: { accepted: 1 } })
  await revert(second!)
  expect(await current()).toEqual([[10, 3, null, 9.75, third]])
  await revert(withdrawn)
  expect(await current()).toEqual([[10, 1, 3, 9.75, first]])
})

test('a price decided since, and one of a merged item, are reverted by history alone; others exactly', async () => {
  const [first, second] = await guides(
    [
      [10, 9],
      [20, 19],
    ],
    [
      [10, 9.5],
      [20, 19.5],
    ],
  )
  const [decided] = shop.items
  const withdraw = { decision: 'withdraw', prices: [{ item_id: decided!.id, market: 'source_b', label: 'Near Mint', price: 10 }] }
  const reply = await send(`${shop.node.operatorUrl}/operator/v1/price-decisions`, OPERATOR_TOKEN, { json: withdraw })
  expect(reply.status).toBe(200)
  await revert(second!)
  expect(await current()).toEqual([[20.03, 1, null, 19.03, first]])

  const [again, , last] = await guides(
    [
      [10, 9],
      [20, 19],
    ],
    [
      [10, 9.5],
      [20, 19.5],
    ],
    [
      [10, 9.75],
      [20, 19.75],
    ],
  )
  const [from, into] = shop.items
  await merge(shop.node, from!.id, into!.id)
  expect(await current()).toEqual([[20.03, 1, 3, 19.78, again]])
  await revert(last!)
  expect(await current()).toEqual([[20.03, 1, 3, 19.78, again]])
  await revert(again!)
  expect(await current()).toEqual([])
})

test('statements of imports are deleted eventually; then a revert uses the history alone', async () => {
  const [first, second, third] = await guides([[10, 9]], [[10, 9.5]], [[11, 9.75]])
  const inDays = (days: number) => new Date(shop.node.clock.now().getTime() + days * 86_400_000)
  await forgetOldStatements(shop.node.db, 0, inDays(89))
  await revert(await revert(third!))
  expect(await current()).toEqual([[11, 3, null, 9.75, third]])
  await forgetOldStatements(shop.node.db, 30, inDays(31))
  await revert(second!)
  expect(await current()).toEqual([[11, 3, null, 9.75, third]])
  await revert(third!)
  expect(await current()).toEqual([[10, 1, null, null, first]])
})

test('a jump settled by an import is open again without it', async () => {
  await begin()
  await importBatch(shop, {
    rows: [25, 10].map((price, n) => ({ item: 0, label: 'Near Mint', price, day: n + 1 })),
  })
  const statesOf = async () => {
    const { rows } = await sql<{ state: number }>`select state from prices order by market`.execute(shop.node.db.kysely)
    return rows.map(({ state }) => STATES[state])
  }
  expect(await statesOf()).toEqual(['disputed'])
  const settling = await importBatch(shop, { day: 2, products: [{ item: 0, trend: 10, avg7: null, low: null }] })
  expect(await statesOf()).toEqual(['trusted', 'trusted'])
  await revert(settling)
  expect(await statesOf()).toEqual(['disputed'])
})
