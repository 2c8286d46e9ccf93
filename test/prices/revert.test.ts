// Whatever batches arrive and in whatever order they are reverted: current prices follow the history, and nothing is left over.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { postPrices } from '#catalogue/items/post-prices.ts'
import { call } from '#core/verb.ts'
import { revertImport } from '#imports/revert-import.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'

let node: TestNode
let ctx: PriceWriteCtx
let category: number

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
  ctx = { ...node.ctx, rules: { ...node.config.priceRules, only: [] } }
  category = (await call(createCategory, ctx, { name: 'Set', game: 'pokemon', market: 'source_c' })).id
})
afterAll(() => node.close())

interface Price {
  item: number
  label: string
  price: number
  day: number
}

const batches = fc.array(
  fc.array(
    fc.record({
      item: fc.integer({ min: 0, max: 1 }),
      label: fc.constantFrom('Near Mint', 'PSA 10'),
      price: fc.integer({ min: 1, max: 4 }),
      day: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  { minLength: 1, maxLength: 6 },
)

async function twoItems(): Promise<number[]> {
  const make = () => call(createItem, ctx, { name: 'Card', market: 'source_c', category_id: category })
  return [(await make()).id, (await make()).id]
}

async function post(items: number[], prices: Price[]): Promise<number> {
  const rows = prices.map(({ item, label, price, day }) => {
    return { item_id: items[item]!, market: 'source_c', label, price, updated_at: `2026-0${day}-01T00:00:00Z` }
  })
  const posted = await call(postPrices, ctx, { prices: rows })
  expect(posted.accepted + posted.unchanged).toBe(rows.length)
  return posted.import_id
}

/** Points and current prices as stored in the tables, and current prices as this node returns them. */
async function state(items: number[]) {
  const of = (table: 'prices' | 'price_points') =>
    node.db.kysely
      .selectFrom(table)
      .select(['item_id', 'market', 'label_id', 'price', 'updated_at', 'import_id'])
      .where('item_id', 'in', items)
      .orderBy('item_id')
      .orderBy('label_id')
      .orderBy('updated_at')
      .execute()
  const [points, current] = [await of('price_points'), await of('prices')]
  const latest = new Map(points.map((point) => [`${point.item_id} ${point.label_id}`, point]))
  expect(current).toEqual([...latest.values()])
  const { items: table } = node.catalogue
  const shown = items.flatMap((id) => {
    const row = table.rowOf(id)
    const from = table.prices.start(row)
    return Array.from({ length: table.prices.count(row) }, (_, i) => [id, table.prices.label[from + i], table.prices.minor[from + i]].join(' '))
  })
  expect(shown.sort()).toEqual(current.map((price) => [price.item_id, price.label_id, Number(price.price) * 100].join(' ')).sort())
  return { points, current }
}

test('reverted in turn, each batch restores the previous state, and can be restored itself', async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (all) => {
      const items = await twoItems()
      const before: [number, Awaited<ReturnType<typeof state>>][] = []
      for (const prices of all) {
        const earlier = await state(items)
        before.push([await post(items, prices), earlier])
      }
      for (const [importId, earlier] of before.reverse()) {
        const later = await state(items)
        const revert = await call(revertImport, ctx, { id: importId })
        expect(await state(items)).toEqual(earlier)
        const again = await call(revertImport, ctx, { id: revert.id })
        expect(await state(items)).toEqual(later)
        await call(revertImport, ctx, { id: again.id })
      }
    }),
    { numRuns: runs(15) },
  )
})

test('reverted in any order, no batch leaves traces', async () => {
  const shuffled = batches.chain((all) =>
    fc.tuple(
      fc.constant(all),
      fc.shuffledSubarray(
        all.map((_, i) => i),
        { minLength: all.length },
      ),
    ),
  )
  await fc.assert(
    fc.asyncProperty(shuffled, async ([all, order]) => {
      const items = await twoItems()
      const ids: number[] = []
      for (const prices of all) ids.push(await post(items, prices))
      for (const position of order) {
        await call(revertImport, ctx, { id: ids[position]! })
        const { points } = await state(items)
        expect(points.filter((point) => point.import_id === ids[position])).toEqual([])
      }
      expect(await state(items)).toEqual({ points: [], current: [] })
    }),
    { numRuns: runs(25) },
  )
})
