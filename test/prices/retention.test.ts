// The history is deleted month by month; current prices and later months stay.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postPrices } from '#catalogue/items/post-prices.ts'
import { createCategory } from '#catalogue/categories/create-category.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { call } from '#core/verb.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { periodsOf, pointsOf } from '#prices/history/history.ts'
import { forgetOldPrices } from '#prices/history/retention.ts'
import { startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
})
afterAll(() => node.close())

test('months that ended before the retention period are emptied, and can be filled again', async () => {
  const history = { db: node.db, archive: openPriceArchive(node.config) }
  const category = await call(createCategory, node.ctx, { name: 'Set', game: 'pokemon', market: 'source_c' })
  const { id } = await call(createItem, node.ctx, { name: 'Card', market: 'source_c', category_id: category.id })
  const ctx = { ...node.ctx, rules: node.config.priceRules, imports: null as never }
  const post = async (label: string, days: string[]) => {
    const prices = days.map((day, i) => ({ item_id: id, market: 'source_c', label, price: 10 + i, updated_at: `${day}T00:00:00Z` }))
    expect(await call(postPrices, ctx, { prices })).toMatchObject({ accepted: days.length })
  }
  await post('Near Mint', ['2024-01-31', '2024-02-29', '2024-03-01', '2024-04-15'])
  await post('PSA 10', ['2024-01-05'])
  const now = new Date('2024-04-20T00:00:00Z')
  expect(await forgetOldPrices(history, 0, now)).toEqual([])
  expect(await forgetOldPrices(history, 50, now)).toEqual(['2024-01', '2024-02'])
  expect(await forgetOldPrices(history, 50, now)).toEqual([])
  const left = async () => (await pointsOf(history, id, { limit: 10 })).map((point) => point.updated_at.slice(0, 10))
  expect(await left()).toEqual(['2024-03-01', '2024-04-15'])
  const current = await node.db.kysely.selectFrom('prices').select('price').where('item_id', '=', id).orderBy('label_id').execute()
  expect(current.map((row) => row.price)).toEqual(['13.00', '10.00'])
  // The history contains a price that is still current, but not when it was set.
  const window = { market: 'source_c', from: new Date('2024-03-01T00:00:00Z'), to: now, interval: 'month' } as const
  expect((await periodsOf(history, id, window)).map(({ date, label, open, close }) => [date, label, open, close])).toEqual([
    ['2024-03-01', 'Near Mint', 12, 12],
    ['2024-03-01', 'PSA 10', 10, 10],
    ['2024-04-01', 'Near Mint', 12, 13],
  ])
  await post('Lightly Played', ['2024-01-20'])
  expect(await left()).toEqual(['2024-01-20', '2024-03-01', '2024-04-15'])
})
