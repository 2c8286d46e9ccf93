// Proves what the operator API answers for the console's pages: orders, sales, the ledger of credits, accounts by name.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../graphql/client.ts'
import { OPERATOR_TOKEN, send, type TestNode } from '../support/node.ts'
import { operator } from './browser.ts'

let node: TestNode
let itemId: number
let listingId: number

beforeAll(async () => {
  node = await startSampleNode()
  const [item] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
  itemId = item!.id
  const fields = { item_id: itemId, price: 100, quantity: 5 }
  const listing = async (seller: number, title: string) => {
    const { id } = await operator<{ id: number }>(node, 'POST', '/listings', { ...fields, seller_id: seller, title })
    await operator(node, 'POST', `/listings/${id}/approve`, {})
    return id
  }
  listingId = await listing(node.accounts.plus, 'One')
  const other = await listing(node.accounts.enterprise, 'Two')
  await operator(node, 'POST', '/orders', { order_id: 1, sold_at: '2026-11-01T10:00:00Z', lines: [{ listing_id: listingId, quantity: 1 }] })
  const lines = [{ listing_id: listingId, quantity: 2, unit_price: 90 }, { listing_id: other, quantity: 1 }]
  await operator(node, 'POST', '/orders', { order_id: 2 ** 40, sold_at: '2026-11-02T10:00:00Z', lines })
})

afterAll(() => node.close())

const read = (path: string) => send<Record<string, unknown>[]>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN)

describe('GET /orders', () => {
  test('lists orders as they were answered, latest sale first', async () => {
    const { body } = await read('/orders')
    expect(body.data.map((order) => order.order_id)).toEqual([2 ** 40, 1])
    expect(body.data[0]).toEqual(await operator(node, 'GET', `/orders/${2 ** 40}`))
    expect(body.pagination).toMatchObject({ total: 2, last_page: 1 })
  })

  test('filters by what a line is of', async () => {
    expect((await read(`/orders?seller_id=${node.accounts.enterprise}`)).body.data).toHaveLength(1)
    expect((await read(`/orders?listing_id=${listingId}&per_page=1&page=2`)).body.data.map((order) => order.order_id)).toEqual([1])
    expect((await read(`/orders?item_id=${2 ** 40}`)).body.data).toEqual([])
    expect((await read('/orders?item_id=x')).status).toBe(422)
  })
})

test('GET /sales lists lines with who sold what, newest first', async () => {
  const { body } = await read(`/sales?item_id=${itemId}&seller_id=${node.accounts.plus}`)
  expect(body.data).toMatchObject([
    { order_id: 2 ** 40, listing_id: listingId, quantity: 2, unit_price: 90, seller_payout: 162, label: 'Near Mint', sold_at: '2026-11-02T10:00:00.000Z' },
    { order_id: 1, quantity: 1, unit_price: 100, seller_payout: 90 },
  ])
  expect((await read('/sales')).body.pagination?.total).toBe(3)
  expect((await read('/sales?listing_id=0')).body.data).toEqual([])
})

test('GET /accounts/{id}/credits lists the ledger, newest entry first', async () => {
  const id = node.accounts.plus
  await operator(node, 'POST', `/accounts/${id}/credits`, { amount: 5, reason: 'campaign' })
  await operator(node, 'POST', `/accounts/${id}/credits`, { amount: -2 })
  const { body } = await read(`/accounts/${id}/credits`)
  expect(body.data.slice(0, 2)).toMatchObject([
    { amount: -2, balance: 4, reason: '' },
    { amount: 5, balance: 6, reason: 'campaign' },
  ])
  expect((await read('/accounts/999999/credits')).status).toBe(404)
})

test('GET /accounts finds by part of the name, taken literally, and by plan', async () => {
  await operator(node, 'POST', '/accounts', { name: '100% Kart_Evi', plan: 'plus' })
  const names = async (query: string) => (await read(`/accounts?${query}`)).body.data.map((account) => account.name)
  expect(await names('search=kart_')).toEqual(['100% Kart_Evi'])
  expect(await names('search=%25')).toEqual(['100% Kart_Evi'])
  expect(await names('search=TEST&plan=plus')).toEqual(['Test plus'])
  expect((await read('/accounts?plan=free')).status).toBe(422)
})

test('GET /categories?parent_id=0 lists those at the top', async () => {
  const { body } = await read('/categories?parent_id=0&per_page=100')
  expect(body.data.length).toBeGreaterThan(0)
  expect(body.data.every((category) => category.parent_id === null)).toBe(true)
})

test('GET /stats tells since when the queues wait', async () => {
  const stats = () => operator<{ waiting_since: { approval: string | null; webhook_event: string | null } }>(node, 'GET', '/stats')
  expect(await stats()).toMatchObject({ waiting_since: { approval: null, webhook_event: null }, webhooks_failing: 0 })
  const { waiting_since: since } = await operator<{ waiting_since: string }>(node, 'POST', '/listings', {
    seller_id: node.accounts.plus,
    item_id: itemId,
    title: 'Waiting',
    price: 10,
  })
  expect(await stats()).toMatchObject({ waiting_since: { approval: since } })
})
