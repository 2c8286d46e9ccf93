// Imports that set, confirm, change and have prices held, reverted and brought back in any order: what is left is what a database
// has into which only those in effect ever came.
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCategory } from '#catalogue/create-category.ts'
import { createItem } from '#catalogue/create-item.ts'
import { call } from '#core/verb.ts'
import { revertImport } from '#imports/revert-import.ts'
import { judgeAllPrices } from '#prices/judge-all.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'

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

const PRICE_TABLES = ['prices', 'price_points', 'hidden_points', 'held_price_params', 'held_prices', 'price_feeds', 'price_statements', 'usual_ratios']

/** Two new items in both, and no prices but theirs from now on. */
async function begin(): Promise<void> {
  cards += 2
  for (const one of [shop, fresh]) {
    for (const table of PRICE_TABLES) await sql`delete from ${sql.table(table)}`.execute(one.node.db.kysely)
    one.items = []
    for (const n of [cards, cards + 1]) {
      const ref = `test:${n}`
      const foreignIds = [{ source: 'cardmarket', id: String(n) }]
      const item = { name: `Card ${n}`, ref, market: 'source_c' as const, category_id: one.category, foreign_ids: foreignIds }
      one.items.push({ id: (await call(createItem, one.node.ctx, item)).id, ref })
    }
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
/** A batch comes, or the nth of those that came is reverted, or brought back where it was reverted. */
type Step = Batch | { turn: number }

const item = fc.integer({ min: 0, max: 1 })
const day = fc.integer({ min: 1, max: 5 })
const amount = fc.constantFrom(10, 10, 10, 11, 25, 90, 300)
const figure = fc.constantFrom(null, 10, 12, 80)
const batch: fc.Arbitrary<Batch> = fc.oneof(
  fc.record({
    rows: fc.array(fc.record({ item, label: fc.constantFrom('Near Mint', 'Near Mint', 'PSA 10'), price: amount, day }), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ day, products: fc.uniqueArray(fc.record({ item, trend: amount, avg7: figure, low: figure }), { minLength: 1, selector: (p) => p.item }) }),
)
const steps = fc.array(fc.oneof({ weight: 2, arbitrary: batch }, { weight: 1, arbitrary: fc.record({ turn: fc.nat() }) }), { minLength: 3, maxLength: 10 })

const dayOf = (n: number) => `2026-09-0${n}T00:00:00Z`
/** The figures of the two items are never identical: what these do is between items, which are not reverted together. */
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

/** All that the tables and the node say of prices; imports by their position among the batches. */
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

test('after any imports, reverts and reverts of reverts it is as if only the imports in effect had come', async () => {
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
        one.latest = (await call(revertImport, { ...shop.node.ctx, rules: shop.node.config.priceRules }, { id: one.latest })).id
        one.inEffect = !one.inEffect
      }
      const freshIds = new Map<number, number>()
      for (const [n, { batch, inEffect }] of came.entries()) if (inEffect) freshIds.set(await importBatch(fresh, batch), n)
      const left = await stateOf(shop, new Map(came.map(({ id }, n) => [id, n])))
      expect(left).toEqual(await stateOf(fresh, freshIds))
    }),
    { numRuns: Number(process.env.REVERT_RUNS ?? 40) },
  )
}, 240_000)
