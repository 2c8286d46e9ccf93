// Responses of the operator API for the console's pages: orders, sales, the ledger of credits, accounts by name.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../support/sample-node.ts'
import { OPERATOR_TOKEN, send, type TestNode, until } from '../support/node.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { operator } from './browser.ts'

let node: TestNode
let itemId: number
let listingId: number

beforeAll(async () => {
  node = await startSampleNode({ worker: true })
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
  const lines = [
    { listing_id: listingId, quantity: 2, unit_price: 90 },
    { listing_id: other, quantity: 1 },
  ]
  await operator(node, 'POST', '/orders', { order_id: 2 ** 40, sold_at: '2026-11-02T10:00:00Z', lines })
})

afterAll(() => node.close())

const read = (path: string) => send<Record<string, unknown>[]>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN)

describe('GET /orders', () => {
  test('lists orders as returned when recorded, latest sale first', async () => {
    const { body } = await read('/orders')
    expect(body.data.map((order) => order.order_id)).toEqual([2 ** 40, 1])
    expect(body.data[0]).toEqual(await operator(node, 'GET', `/orders/${2 ** 40}`))
    expect(body.pagination).toMatchObject({ total: 2, last_page: 1 })
  })

  test('filters by seller, item and listing of a line', async () => {
    expect((await read(`/orders?seller_id=${node.accounts.enterprise}`)).body.data).toHaveLength(1)
    expect((await read(`/orders?listing_id=${listingId}&per_page=1&page=2`)).body.data.map((order) => order.order_id)).toEqual([1])
    expect((await read(`/orders?item_id=${2 ** 40}`)).body.data).toEqual([])
    expect((await read('/orders?item_id=x')).status).toBe(422)
  })
})

test('GET /sales lists lines with seller and item, newest first', async () => {
  const { body } = await read(`/sales?item_id=${itemId}&seller_id=${node.accounts.plus}`)
  expect(body.data).toMatchObject([
    {
      order_id: 2 ** 40,
      listing_id: listingId,
      quantity: 2,
      unit_price: 90,
      seller_payout: 162,
      label: 'Near Mint',
      sold_at: '2026-11-02T10:00:00.000Z',
    },
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

test('GET /accounts filters by part of the name, taken literally, and by plan', async () => {
  await operator(node, 'POST', '/accounts', { name: '100% Kart_Evi', plan: 'plus' })
  const names = async (query: string) => (await read(`/accounts?${query}`)).body.data.map((account) => account.name)
  expect(await names('search=kart_')).toEqual(['100% Kart_Evi'])
  expect(await names('search=%25')).toEqual(['100% Kart_Evi'])
  expect(await names('search=TEST&plan=plus')).toEqual(['Test plus'])
  expect((await read('/accounts?plan=free')).status).toBe(422)
})

test('GET /categories?parent_id=0 lists the roots', async () => {
  const { body } = await read('/categories?parent_id=0&per_page=100')
  expect(body.data.length).toBeGreaterThan(0)
  expect(body.data.every((category) => category.parent_id === null)).toBe(true)
})

test('GET /stats returns the age of the oldest entry in each queue', async () => {
  const stats = () => operator<{ waiting_since: { approval: string | null; webhook_event: string | null } }>(node, 'GET', '/stats')
  expect(await stats()).toMatchObject({ waiting_since: { approval: null, webhook_event: null }, webhooks_failing: 0 })
  const { waiting_since: since } = await operator<{ waiting_since: string }>(node, 'POST', '/listings', {
    seller_id: node.accounts.plus,
    item_id: itemId,
    title: 'Pending',
    price: 10,
  })
  expect(await stats()).toMatchObject({ waiting_since: { approval: since } })
})

describe('Filters of the short lists', () => {
  const ids = async (path: string) => (await read(path)).body.data.map((row) => row.id)

  test('keys by state and label', async () => {
    const keys = `/accounts/${node.accounts.enterprise}/keys`
    const key = (body: object) => operator<{ id: number; last4: string }>(node, 'POST', keys, body)
    const shop = await key({ label: 'Shop 100%' })
    const old = await key({ label: 'old', expires_at: new Date(node.clock.now().getTime() + 60_000).toISOString() })
    const gone = await key({ label: 'gone' })
    await operator(node, 'DELETE', `/keys/${gone.id}`)
    node.clock.advance(120_000)
    expect(await ids(`${keys}?search=SHOP 100%25`)).toEqual([shop.id])
    expect(await ids(`${keys}?search=${shop.last4}`)).toEqual([shop.id])
    expect(await ids(`${keys}?state=expired`)).toEqual([old.id])
    expect(await ids(`${keys}?state=revoked`)).toEqual([gone.id])
    expect(await ids(`${keys}?state=valid`)).toContain(shop.id)
    expect((await read(`${keys}?state=lost`)).status).toBe(422)
  })

  test('the ledger by reason and time', async () => {
    const ledger = `/accounts/${node.accounts.enterprise}/credits`
    await operator(node, 'POST', ledger, { amount: 2, reason: 'Autumn campaign' })
    const [entry] = (await read(`${ledger}?search=autumn`)).body.data
    expect(entry).toMatchObject({ amount: 2 })
    expect(await ids(`${ledger}?search=autumn&from=${String(entry!.created_at)}`)).toEqual([entry!.id])
    expect(await ids(`${ledger}?search=autumn&to=${String(entry!.created_at)}`)).toEqual([])
    expect((await read(`${ledger}?from=yesterday`)).status).toBe(422)
  })

  test('collections by name, accounts by suspension, imports by file', async () => {
    const account = await operator<{ id: number }>(node, 'POST', '/accounts', { name: 'Late payer', plan: 'plus' })
    await operator(node, 'PATCH', `/accounts/${account.id}`, { suspended: true })
    expect(await ids('/accounts?suspended=1')).toEqual([account.id])
    expect(await ids('/accounts?suspended=0')).not.toContain(account.id)
    const binder = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: account.id, name: 'Red Binder' })
    expect(await ids('/collections?search=red b')).toEqual([binder.id])
    expect(await ids('/imports?search=no-such-file')).toEqual([])
  })

  test('listings, including pending ones, by title and seller; orders by time', async () => {
    const { id } = await operator<{ id: number }>(node, 'POST', '/listings', {
      seller_id: node.accounts.enterprise,
      item_id: itemId,
      title: 'A rare thing',
      price: 10,
    })
    expect(await ids('/listings?search=RARE')).toEqual([id])
    expect(await ids(`/listings/waiting?search=rare&seller_id=${node.accounts.enterprise}`)).toEqual([id])
    expect(await ids(`/listings/waiting?search=rare&seller_id=${node.accounts.plus}`)).toEqual([])
    const orders = async (query: string) => (await read(`/orders?${query}`)).body.data.map((order) => order.order_id)
    expect(await orders('from=2026-11-02T00:00:00Z')).toEqual([2 ** 40])
    expect(await orders(`to=2026-11-02T00:00:00Z&listing_id=${listingId}`)).toEqual([1])
  })
})

describe("An account's webhook", () => {
  const path = () => `/accounts/${node.accounts.plus}/webhook`

  test("is returned without its secret, with its receiver's responses", async () => {
    expect((await read(path())).body.data).toBeNull()
    const receiver = await openReceiver(status(503, 'closed today'))
    const { url } = receiver
    const saved = await send<{ secret: string }>(`${node.publicUrl}/api/v1/plus/webhook`, node.keys.plus, {
      method: 'PUT',
      json: { url, on_sale: true },
    })
    const event = await operator<{ id: number }>(node, 'POST', `${path()}/test`, { event: 'sale' })
    await until('the attempt is over', async () => (await read(`${path()}/attempts`)).body.data.length > 0)
    await receiver.close()
    const webhook = await send<object>(`${node.operatorUrl}/operator/v1${path()}`, OPERATOR_TOKEN)
    expect(webhook.body.data).toMatchObject({ url, on_sale: true, on_expire: false, is_active: true, failing: true })
    expect(JSON.stringify(webhook.body)).not.toContain(saved.body.data.secret)
    const { body } = await read(`${path()}/attempts?event_id=${event.id}&success=0`)
    expect(body.data).toMatchObject([
      { event_id: event.id, event: 'sale', attempt: 1, status_code: 503, success: false, response_excerpt: 'closed today', test: true },
    ])
    expect((await read(`${path()}/attempts?success=1`)).body.data).toEqual([])
    expect((await read(`${path()}/attempts?event_id=${2 ** 40}`)).body.data).toEqual([])
    expect((await read('/webhook-events?event=sale&test=1')).body.data).toMatchObject([{ id: event.id }])
    expect((await read('/webhook-events?event=expire')).body.data).toEqual([])
  })

  test('of an unknown account returns 404', async () => {
    expect((await read('/accounts/999999/webhook')).status).toBe(404)
    expect((await read('/accounts/999999/webhook/attempts')).status).toBe(404)
  })
})
