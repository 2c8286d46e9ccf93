// Worth of records: the price for the grade, exact to the cent, currencies kept apart.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'
import { collector, makeCollection, makeItems } from './kit.ts'

let node: TestNode
let ids: Record<string, number>
let plus: ReturnType<typeof collector>

beforeAll(async () => {
  node = await startTestNode()
  ids = await makeItems(node, [
    {
      ref: 'lira',
      name: 'Lira',
      prices: [
        ['service', 'Near Mint', '100.10'],
        ['source_a', 'Near Mint', '3.00'],
        ['source_a', 'PSA 10', '30.33'],
      ],
    },
    {
      ref: 'euro',
      name: 'Euro',
      prices: [
        ['source_b', 'Near Mint', '0.10'],
        ['source_b', 'Lightly Played', '0.05'],
      ],
    },
    { ref: 'huge', name: 'Huge', prices: [['source_c', 'Near Mint', '9999999999.99']] },
    { ref: 'none', name: 'None' },
  ])
  plus = collector(node, node.keys.plus)
})

afterAll(() => node.close())

async function grade(name: string): Promise<number> {
  const row = await node.db.kysely
    .selectFrom('groups')
    .select('id')
    .where('name', '=', name)
    .where('parent_id', 'is not', null)
    .executeTakeFirstOrThrow()
  return row.id
}

interface Worth {
  worth: {
    currencies: { currency: string; value: number; cost: number; gain: number | null }[]
    without_price: number
    without_trusted_price: number
    without_cost: number
  }
}

async function worthOf(collectionId: number) {
  const { body } = await plus.ask<({ id: number } & Worth)[]>('GET', '?with_value=1')
  return body.data.find((collection) => collection.id === collectionId)!.worth
}

test('a record uses the price of its own grade only', async () => {
  const collection = await makeCollection(node, node.accounts.plus, 'Grades')
  const value = async (ref: string, label?: string, more = {}) => {
    const graded = label === undefined ? {} : { item_group_type_id: await grade(label) }
    await plus.add(collection, { item_id: ids[ref], ...graded, ...more })
    const [record] = await plus.list(collection, '?with_value=1')
    return record!
  }
  expect((await value('lira')).value).toEqual({
    market: 'service',
    label: 'Near Mint',
    currency: 'TRY',
    price: 100.1,
    amount: 100.1,
    updated_at: '2026-11-01T03:00:00+03:00',
  })
  expect((await value('lira', 'PSA 10', { quantity: 3 })).value).toMatchObject({
    market: 'source_a',
    label: 'PSA 10',
    currency: 'USD',
    price: 30.33,
    amount: 90.99,
  })
  expect((await value('euro', 'Lightly Played')).value).toMatchObject({
    market: 'source_b',
    label: 'Lightly Played',
    price: 0.05,
  })
  expect((await value('lira', 'Lightly Played')).value).toBeNull()
  expect((await value('euro', 'PSA 10')).value).toBeNull()
  expect(await value('none')).toMatchObject({ value: null, cost: null, gain: null })
  expect(await value('lira', undefined, { quantity: 3, purchase_price: 33.37 })).toMatchObject({
    value: { amount: 300.3 },
    cost: { currency: 'TRY', amount: 100.11 },
    gain: { currency: 'TRY', amount: 200.19 },
  })
  expect(await value('euro', undefined, { purchase_price: 5 })).toMatchObject({
    value: { currency: 'EUR' },
    cost: { currency: 'TRY', amount: 5 },
    gain: null,
  })
  const plain = (await plus.list(collection))[0]!
  expect(Object.keys(plain)).not.toContain('value')
})

test('a collection is summed exactly by currency', async () => {
  const collection = await makeCollection(node, node.accounts.plus, 'Sums')
  for (let i = 0; i < 10; i += 1) await plus.add(collection, { item_id: ids.euro })
  await plus.add(collection, { item_id: ids.lira, quantity: 2, purchase_price: 120.55 })
  await plus.add(collection, { item_id: ids.lira })
  await plus.add(collection, { item_id: ids.none, purchase_price: 1.1, quantity: 3 })
  expect(await worthOf(collection)).toEqual({
    currencies: [
      { currency: 'TRY', value: 300.3, cost: 244.4, gain: -40.9 },
      { currency: 'EUR', value: 1, cost: 0, gain: null },
    ],
    without_price: 1,
    without_trusted_price: 0,
    without_cost: 11,
  })
  expect(await worthOf(await makeCollection(node, node.accounts.plus, 'Empty'))).toEqual({
    currencies: [],
    without_price: 0,
    without_trusted_price: 0,
    without_cost: 0,
  })
})

test('amounts beyond the precision of a float keep their cents', async () => {
  const collection = await makeCollection(node, node.accounts.plus, 'Huge')
  await plus.add(collection, { item_id: ids.huge, quantity: 99_999 })
  const response = await fetch(`${node.publicUrl}/api/v1/plus/collections/${collection}/items?with_value=1`, {
    headers: { authorization: `Bearer ${node.keys.plus}` },
  })
  expect(await response.text()).toContain('"amount":999989999999000.01')
})
