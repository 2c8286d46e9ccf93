// The buyer of an order and prices set manually: what is recorded, what the audit log contains, and what is rejected.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SetPrice } from '#catalogue/items/set-price.ts'
import type { StoredOrder } from '#market/sale-schemas.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { OPERATOR_TOKEN, send, type TestNode } from '../support/node.ts'
import { operator } from './browser.ts'

interface Item {
  id: number
  prices: { market: string; label: string; price: number; state: string; updated_at: string }[]
}

let node: TestNode
let itemId: number

beforeAll(async () => {
  node = await startSampleNode()
  itemId = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!.id
})

afterAll(() => node.close())

const write = <T = unknown>(path: string, json: object) => send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method: 'POST', json })

describe('The buyer of an order', () => {
  test('is stored with the order, can be searched, is part of the idempotency check, and is not shown to the seller', async () => {
    const fields = { seller_id: node.accounts.plus, item_id: itemId, title: 'Sold', price: 100, quantity: 9 }
    const { id } = await operator<{ id: number }>(node, 'POST', '/listings', fields)
    await operator(node, 'POST', `/listings/${id}/approve`, {})
    const lines = [{ listing_id: id, quantity: 3, unit_price: 33.33 }]
    const body = { order_id: 1, buyer_reference: ' customer 4711 ', lines }
    expect((await write('/orders', body)).status).toBe(201)
    expect((await write('/orders', { ...body, buyer_reference: 'customer 4711' })).status).toBe(201)
    expect((await write('/orders', { ...body, buyer_reference: 'customer 4712' })).status).toBe(409)
    expect((await write('/orders', { order_id: 1, lines })).status).toBe(409)
    expect((await write('/orders', { order_id: 2, lines })).status).toBe(201)
    expect((await write('/orders', { order_id: 3, buyer_reference: '\u202e', lines })).status).toBe(422)
    expect((await write('/orders', { order_id: 3, buyer_reference: 'x'.repeat(101), lines })).status).toBe(422)
    await expect
      .poll(() => operator(node, 'GET', '/orders/1'))
      .toMatchObject({
        buyer_reference: 'customer 4711',
        lines: [{ seller_id: node.accounts.plus, unit_price: 33.33, quantity: 3, commission: 10, seller_payout: 89.99 }],
      })
    await expect.poll(() => operator(node, 'GET', '/orders/2')).toMatchObject({ buyer_reference: null })
    const found = await operator<StoredOrder[]>(node, 'GET', '/orders?buyer_reference=customer%204711')
    expect(found.map(({ order_id: order }) => order)).toEqual([1])
    const own = await send(`${node.publicUrl}/api/v1/plus/orders`, node.keys.plus)
    expect(own.status).toBe(200)
    expect(JSON.stringify(own.body)).not.toContain('4711')
  })
})

describe('A price set by hand', () => {
  const set = (json: object) => write<SetPrice>(`/items/${itemId}/prices`, json)
  const current = async (market: string, label: string) =>
    (await operator<Item>(node, 'GET', `/items/${itemId}`)).prices.find((price) => price.market === market && price.label === label)

  test('is published and trusted even if the rules would hold it, and the audit log has the replaced price', async () => {
    await operator(node, 'POST', '/prices', [{ item_id: itemId, market: 'source_b', label: 'CGC 8', price: 10 }])
    const held = await operator<{ held: number }>(node, 'POST', '/prices', [{ item_id: itemId, market: 'source_b', label: 'CGC 8', price: 900 }])
    expect(held.held).toBe(1)
    const { status, body } = await set({ market: 'source_b', label: 'CGC 8', price: 901.5, reason: "Read from the shop's page" })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({ item_id: itemId, market: 'source_b', label: 'CGC 8', price: 901.5, replaced: 10 })
    await expect.poll(() => current('source_b', 'CGC 8')).toMatchObject({ price: 901.5, state: 'trusted' })
    const [entry] = await operator<{ action: string; before: object; after: object }[]>(
      node,
      'GET',
      `/audit?subject_type=item&subject_id=${itemId}&action=price.set`,
    )
    expect(entry).toMatchObject({ before: { price: 10 }, after: { price: 901.5, reason: "Read from the shop's page" } })
    const points = await operator<{ price: number }[]>(node, 'GET', `/items/${itemId}/price-history?market=source_b&label=CGC 8`)
    expect(points.map(({ price }) => price)).toEqual([10, 901.5])
    await operator(node, 'POST', `/imports/${body.data.import_id}/revert`)
    await expect.poll(() => current('source_b', 'CGC 8')).toMatchObject({ price: 10 })
  })

  test('replaces a price with a future date, and creates the first price of a label', async () => {
    const ahead = new Date(node.clock.now().getTime() + 3_600_000).toISOString()
    await operator(node, 'POST', '/prices', [{ item_id: itemId, market: 'source_c', label: 'SGC 6', price: 50, updated_at: ahead }])
    expect((await set({ market: 'source_c', label: 'SGC 6', price: 60 })).body.data).toMatchObject({ price: 60, replaced: 50 })
    await expect.poll(() => current('source_c', 'SGC 6')).toMatchObject({ price: 60 })
    expect((await set({ market: 'source_c', label: 'sgc 6.5', price: 70 })).body.data).toMatchObject({ label: 'SGC 6.5', replaced: null })
    expect((await set({ market: 'source_c', label: 'SGC 6.5', price: 70 })).body.data).toMatchObject({ price: 70, replaced: 70 })
  })

  test.each([
    ['market', { market: 'service', label: 'Near Mint', price: 1 }],
    ['label', { market: 'source_b', label: 'lovely', price: 1 }],
    ['price', { market: 'source_b', label: 'Near Mint', price: 0 }],
    ['price', { market: 'source_b', label: 'Near Mint', price: 1.005 }],
    ['price', { market: 'source_b', label: 'Near Mint', price: 1e15 }],
    ['reason', { market: 'source_b', label: 'Near Mint', price: 1, reason: 'two\nlines' }],
  ])('is rejected with the invalid field: %s', async (field, body) => {
    const refused = await set(body)
    expect(refused.status).toBe(422)
    expect(refused.body.error?.details).toMatchObject([{ field }])
  })

  test('requires an item', async () => {
    expect((await write('/items/999999/prices', { market: 'source_b', label: 'Near Mint', price: 1 })).status).toBe(404)
  })
})
