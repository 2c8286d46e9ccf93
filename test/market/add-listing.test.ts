// Listings that sellers create one by one: the item, the checks, the quota, forecasts and races.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { CreatedListing } from '#market/intake/types.ts'
import { ask } from '../graphql/client.ts'
import { startTwoNodes, type TestNode } from '../support/node.ts'
import { makeCatalogue, operator, plus } from './kit.ts'

let node: TestNode
let other: TestNode
let close: () => Promise<void>
let items: Record<string, number>

beforeAll(async () => {
  ;({ here: node, there: other, close } = await startTwoNodes())
  ;({ items } = await makeCatalogue(node))
})
afterAll(() => close())
beforeEach(async () => {
  await node.db.kysely.deleteFrom('listings').execute()
  await open(100)
})

const open = (quota: number | null) =>
  operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: quota === null ? null : { quota } })
const create = (body: object, query = '', at = node) => plus<CreatedListing>(at, 'POST', `/listings${query}`, body, { key: node.keys.plus })
const count = async () => (await plus<object[]>(node, 'GET', '/my-listings')).body.pagination!.total
const problems = async (body: object) => {
  const reply = await create(body)
  expect([reply.status, reply.body.error?.code]).toEqual([422, 'PLUS_LISTING_ERROR'])
  return reply.body.error!.details?.map(({ field, rule }) => [field, rule]) ?? reply.body.error!.rule
}

test('a listing of an item or of a card waits for approval with all its fields', async () => {
  const sent = {
    label: 'psa10',
    price: 1250.5,
    quantity: 2,
    language: 'EN',
    sku: ' A-1 ',
    shipping_payer: 'seller',
    images: ['https://a.example/1.png'],
  }
  const { status, body, headers } = await create({ item_id: items.char, title: 'My Charizard', description: 'Slabbed', ...sent })
  expect([status, headers.get('etag')]).toEqual([201, body.data.etag])
  expect(body.data).toMatchObject({
    title: 'My Charizard',
    status: 'pending',
    price: 1250.5,
    quantity: 2,
    language: 'en',
    sku: 'A-1',
    shipping_payer: 'seller',
    grade: { label: 'PSA 10' },
    item_id: items.char,
  })
  expect((await plus(node, 'GET', `/listings/${body.data.id}?with_details=1`)).body.data).toEqual(body.data)
  const ofCard = await create({ card: { set: 'Base Set', number: '4' }, price: 3 })
  expect([ofCard.status, ofCard.body.data]).toMatchObject([201, { item_id: items.char, title: 'Charizard 4/102, Base Set', quantity: 1, sku: null }])
})

test('invalid fields are named', async () => {
  const item_id = items.char
  expect(await problems({ price: 5 })).toEqual([['item_id', 'exactly_one']])
  expect(await problems({ item_id, card: { set: 'Base Set', number: '4' }, price: 5 })).toEqual([['item_id', 'exactly_one']])
  expect(await problems({ item_id: 999_999, price: 5 })).toEqual([['item_id', 'unknown_id']])
  expect(await problems({ card: { set: 'Base Set', number: '400' }, price: 5 })).toEqual([['card', 'card_fits_none']])
  expect(await problems({ item_id, price: 5, label: 'shiny' })).toEqual([['label', 'label']])
  expect(await problems({ item_id })).toEqual([['price', 'required']])
  expect(await problems({ item_id, price: 0.5 })).toEqual([['price', expect.any(String)]])
  expect(await problems({ item_id, price: 5, offers_enabled: true, min_offer_price: 6 })).toEqual([['min_offer_price', expect.any(String)]])
  expect(await problems({ item_id, price: 5, seller_id: 1 })).toEqual([['seller_id', expect.any(String)]])
  expect(await count()).toBe(0)
})

test('a forecast creates nothing, and says how long approval takes', async () => {
  const { status, body } = await create({ item_id: items.char, price: 5 }, '?dry_run=1')
  expect([status, body.data.forecast]).toMatchObject([201, { status: 'pending', hidden: true, because: [], usual_wait: { n: 0 }, warnings: [] }])
  expect(await count()).toBe(0)
})

test('over GraphQL: the same listing, the same refusals by their names there, and the same forecast', async () => {
  const make = (input: string, rest = '') =>
    ask<{ createListing: { id: string; status: string; message: string; forecast: { status: string; warnings: object[] } | null } }>(
      node,
      `mutation { createListing(input: ${input}${rest}) { id status message forecast { status warnings { rule message } } } }`,
      { plan: 'plus' },
    )
  const tried = await make(`{ itemId: ${items.char}, price: 3 }`, ', dryRun: true')
  expect(tried.data?.createListing).toMatchObject({ status: 'pending', forecast: { status: 'pending', warnings: [] } })
  expect(await count()).toBe(0)
  const { data, errors } = await make(
    '{ card: { set: "Base Set", number: "4" }, price: 3, label: "PSA 10", images: ["https://a.example/1.png"], sku: "G-1" }',
  )
  expect([errors, data?.createListing]).toMatchObject([
    undefined,
    { status: 'pending', message: 'Listing created, pending approval', forecast: null },
  ])
  const stored = (await plus<CreatedListing>(node, 'GET', `/listings/${data!.createListing.id}?with_details=1`)).body.data
  expect(stored).toMatchObject({
    item_id: items.char,
    price: 3,
    sku: 'G-1',
    grade: { label: 'PSA 10' },
    images: [{ url: 'https://a.example/1.png' }],
  })
  const refused = await make('{ price: 3 }')
  expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'PLUS_LISTING_ERROR', details: [{ field: 'itemId', rule: 'exactly_one' }] })
})

test('only accounts with listing import may create listings, up to their quota, on two nodes at once', async () => {
  await open(null)
  expect((await create({ item_id: items.char, price: 5 })).status).toBe(403)
  await open(5)
  const replies = await Promise.all(Array.from({ length: 12 }, (_, n) => create({ item_id: items.char, price: 5 }, '', n % 2 ? other : node)))
  expect(replies.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(7).fill(422)])
  expect(await count()).toBe(5)
})

test('of concurrent listings with one SKU one is created; a repeated key creates one', async () => {
  const replies = await Promise.all([node, other, node, other].map((at) => create({ item_id: items.char, price: 5, sku: 'ONE' }, '', at)))
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422])
  const again = () => plus<CreatedListing>(node, 'POST', '/listings', { item_id: items.char, price: 7 }, { headers: { 'idempotency-key': 'once' } })
  const [first, second] = [await again(), await again()]
  expect(second.body.data).toEqual(first.body.data)
  expect(await count()).toBe(2)
})
