// Pages of a collection's records: searched, sorted by stored values and by current prices, with what identifies each item.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'
import { collector, makeCollection, makeItems } from './kit.ts'

interface Row {
  item_name: string
  item?: { code: string | null; set: string | null; finish: string | null; image: string | null }
}

let node: TestNode
let plus: ReturnType<typeof collector>
let collection: number

beforeAll(async () => {
  node = await startTestNode()
  const ids = await makeItems(node, [
    { ref: 'dear', name: 'Dear', code: '4/102', finish: 'Holo', prices: [['service', 'Near Mint', '100']] },
    { ref: 'cheap', name: 'cheap', code: '5/102', prices: [['service', 'Near Mint', '1']] },
    { ref: 'euro', name: 'Euro', prices: [['source_b', 'Near Mint', '5000']] },
    { ref: 'huge', name: 'Huge', prices: [['service', 'Near Mint', '9999999999.99']] },
    { ref: 'none', name: 'None' },
  ])
  plus = collector(node, node.keys.plus)
  collection = await makeCollection(node, node.accounts.plus)
  await plus.add(collection, { item_id: ids.dear, quantity: 2, purchase_price: 150 })
  await plus.add(collection, { item_id: ids.cheap, quantity: 3, purchase_price: 0.5, note: 'From the flea market 100%' })
  await plus.add(collection, { item_id: ids.euro, purchase_date: '2026-05-01' })
  await plus.add(collection, { item_id: ids.huge, quantity: 100_000, card_uniq_id: 'CODE_7' })
  await plus.add(collection, { item_id: ids.none, quantity: 7, purchase_price: 3 })
})

afterAll(() => node.close())

async function page(query: string) {
  const { status, body } = await plus.ask<Row[]>('GET', `/${collection}/items?${query}`)
  expect(status).toBe(200)
  return { names: body.data.map((row) => row.item_name), rows: body.data, pagination: body.pagination }
}

test('without its parameters, the list is whole and has no pagination', async () => {
  const { names, pagination } = await page('with_value=1')
  expect(names).toEqual(['None', 'Huge', 'Euro', 'cheap', 'Dear'])
  expect(pagination).toBeUndefined()
})

test('pages follow each other, newest first', async () => {
  const first = await page('page=1&per_page=2')
  expect(first.names).toEqual(['None', 'Huge'])
  expect(first.pagination).toEqual({ current_page: 1, per_page: 2, total: 5, last_page: 3, has_more: true })
  expect((await page('page=3&per_page=2')).names).toEqual(['Dear'])
  expect((await page('page=4&per_page=2')).names).toEqual([])
  expect((await page(`page=${Number.MAX_SAFE_INTEGER}`)).names).toEqual([])
  expect((await page('page=99&sort_by=gain')).pagination!.total).toBe(5)
})

test.each([
  ['name', ['cheap', 'Dear', 'Euro', 'Huge', 'None']],
  ['quantity', ['Euro', 'Dear', 'cheap', 'None', 'Huge']],
  ['purchase_date', ['Euro', 'Dear', 'cheap', 'Huge', 'None']],
  ['cost', ['cheap', 'None', 'Dear', 'Euro', 'Huge']],
  ['value', ['cheap', 'Dear', 'Huge', 'Euro', 'None']],
  ['gain', ['Dear', 'cheap', 'Euro', 'Huge', 'None']],
])('sorted by %s', async (name, names) => {
  expect((await page(`sort_by=${name}`)).names).toEqual(names)
})

test('descending, records without the value and other currencies still come last', async () => {
  expect((await page('sort_by=value&sort_order=desc')).names).toEqual(['Huge', 'Dear', 'cheap', 'Euro', 'None'])
  expect((await page('sort_by=gain&sort_order=desc&per_page=2')).names).toEqual(['cheap', 'Dear'])
  expect((await page('sort_by=cost&sort_order=desc')).names.slice(0, 3)).toEqual(['Dear', 'None', 'cheap'])
})

test('searched in names, codes, own codes and notes, as typed', async () => {
  expect((await page('search=CHEAP')).names).toEqual(['cheap'])
  expect((await page('search=4/102')).names).toEqual(['Dear'])
  expect((await page('search=code_7&sort_by=value')).names).toEqual(['Huge'])
  expect((await page('search=100%25')).names).toEqual(['cheap'])
  expect((await page('search=_')).names).toEqual(['Huge'])
  expect((await page('search=nothing')).pagination).toMatchObject({ total: 0, last_page: 1 })
})

test('with_item=1 says what identifies the item, on pages and in the whole list', async () => {
  const [dear] = (await page('search=dear&with_item=1')).rows
  expect(dear!.item).toEqual({ code: '4/102', set: 'Base Set', finish: 'Holo', image: null })
  const { rows } = await page('with_item=1')
  expect(rows.map(({ item }) => item!.code)).toEqual([null, null, null, '5/102', '4/102'])
})

test('bad parameters are refused, and the collection of another account, too', async () => {
  for (const query of ['page=0', 'per_page=101', 'sort_by=item_id', 'sort_by=value&sort_order=up', 'search=%00', 'page=1e9']) {
    expect((await plus.ask('GET', `/${collection}/items?${query}`)).status).toBe(422)
  }
  const other = await makeCollection(node, node.accounts.enterprise)
  expect((await plus.ask('GET', `/${other}/items?page=1`)).body.error?.code).toBe('PLUS_COLLECTION_ERROR')
})
