// The marketplace in the operator API over HTTP: creation, approval, correction, the queue, and orders.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StoredListing } from '#market/marketplace-types.ts'
import type { Order } from '#market/sale-schemas.ts'
import { DAY_MS, found, inStatus, makeCatalogue, operator, orderId, pending, plus, published, STATUS_LIST } from '../market/kit.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let items: Record<string, number>
let grades: Record<string, number>

beforeAll(async () => {
  node = await startTestNode({ env: { COMMISSION_PERCENT: '7.5', LISTING_PERIOD_DAYS: '10' } })
  ;({ items, grades } = await makeCatalogue(node))
})

afterAll(() => node.close())

describe('creation', () => {
  test('a listing is created and pending', async () => {
    const sent = {
      seller_id: node.accounts.plus,
      item_id: items.char,
      grade_id: grades['PSA 10'],
      title: ' Şahane Charizard! ',
      description: 'Line one\nLine two',
      price: 90_000.5,
      quantity: 3,
      language: 'EN',
      images: ['https://img.example/a.jpg', { url: 'https://img.example/b.jpg' }],
      shipping_payer: 'seller',
      offers_enabled: true,
      min_offer_price: 80_000,
    }
    const reply = await operator(node, 'POST', '/listings', sent)
    expect(reply.status).toBe(201)
    const { id } = reply.body.data
    expect(reply.body.data).toEqual({
      ...sent,
      id,
      title: 'Şahane Charizard!',
      slug: `sahane-charizard-${id}`,
      etag: `"${id}-1"`,
      language: 'en',
      images: [
        { url: 'https://img.example/a.jpg', order: 1 },
        { url: 'https://img.example/b.jpg', order: 2 },
      ],
      status: 'pending',
      approved_price: null,
      approved_at: null,
      rejection_reason: null,
      waiting_since: expect.any(String),
      published_at: null,
      expires_at: null,
      highlighted_until: null,
      sku: null,
      record_id: null,
      certificate: null,
      changed_by: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.any(String),
      changed_since_approval: null,
    })
    expect((await operator(node, 'GET', `/listings/${id}`)).body.data).toEqual(reply.body.data)
    expect(await found(node)).toEqual([])
  })

  test.each([
    [{ seller_id: 999_999 }, 'seller_id'],
    [{ item_id: 999_999 }, 'item_id'],
    [{ item_id: 99_999_999_999 }, 'item_id'],
    [{ grade_id: 1 }, 'grade_id'],
    [{ grade_id: 999_999 }, 'grade_id'],
    [{ price: 0 }, 'price'],
    [{ price: 1.005 }, 'price'],
    [{ title: '' }, 'title'],
    [{ title: 'x'.repeat(256) }, 'title'],
    [{ quantity: -1 }, 'quantity'],
    [{ quantity: 1.5 }, 'quantity'],
    [{ language: 'e n!' }, 'language'],
    [{ images: ['ftp://x'] }, 'images'],
    [{ shipping_payer: 'me' }, 'shipping_payer'],
    [{ min_offer_price: 101 }, 'min_offer_price'],
    [{ status: 'active' }, 'status'],
  ])('%j is rejected by name', async (wrong, field) => {
    const body = { seller_id: node.accounts.plus, item_id: items.char, title: 'x', price: 100, ...wrong }
    const reply = await operator(node, 'POST', '/listings', body)
    expect(reply).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR' } } })
    expect(reply.body.error!.details![0]!.field).toContain(field)
  })

  test('requires an operator token', async () => {
    const reply = await send(`${node.operatorUrl}/operator/v1/listings`, node.keys.enterprise, { json: {} })
    expect(reply.status).toBe(401)
  })
})

describe('approval', () => {
  test('publishes for the configured period, or the requested one', async () => {
    const { id } = await pending(node, items.char!)
    const approved = await operator(node, 'POST', `/listings/${id}/approve`)
    expect(approved).toMatchObject({ status: 200, body: { data: { status: 'active', approved_price: 100, changed_since_approval: [] } } })
    const { published_at, expires_at } = approved.body.data
    expect(Date.parse(expires_at!) - Date.parse(published_at!)).toBe(10 * DAY_MS)
    const other = await pending(node, items.char!)
    const end = new Date(node.clock.now().getTime() + DAY_MS).toISOString()
    expect((await operator(node, 'POST', `/listings/${other.id}/approve`, { expires_at: end })).body.data.expires_at).toBe(end)
    for (const expires_at of ['2020-01-01T00:00:00Z', 'tomorrow', 5]) {
      const { id } = await pending(node, items.char!)
      expect(await operator(node, 'POST', `/listings/${id}/approve`, { expires_at })).toMatchObject({ status: 422 })
    }
    expect(await operator(node, 'POST', `/listings/${id}/approve`)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } })
    expect(await operator(node, 'POST', '/listings/999999/approve')).toMatchObject({ status: 404 })
  })

  test('rejection shows the owner the reason, and an edit resubmits the listing', async () => {
    const { id } = await published(node, items.char!, { title: 'Taken down' })
    expect(await operator(node, 'POST', `/listings/${id}/reject`, {})).toMatchObject({ status: 422 })
    const rejected = await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'counterfeit' })
    expect(rejected.body.data).toMatchObject({ status: 'rejected', rejection_reason: 'counterfeit' })
    expect(await found(node, '?search=taken')).toEqual([])
    const own = await plus<StoredListing[]>(node, 'GET', '/my-listings?status=rejected')
    expect(own.body.data.find((one) => one.id === id)).toMatchObject({ rejection_reason: 'counterfeit' })
    await plus(node, 'PATCH', `/listings/${id}`, { description: 'with certificate' })
    expect((await operator(node, 'GET', `/listings/${id}`)).body.data).toMatchObject({ status: 'pending', rejection_reason: null })
  })

  test('the queue is sorted oldest first, and a resubmitted listing is last', async () => {
    const before = await operator<StoredListing[]>(node, 'GET', '/listings/waiting?per_page=100')
    const first = await published(node, items.char!, { title: 'Edited later' })
    const second = await pending(node, items.char!)
    node.clock.advance(1_000)
    await plus(node, 'PATCH', `/listings/${first.id}`, { description: 'new' })
    const { body } = await operator<StoredListing[]>(node, 'GET', '/listings/waiting?per_page=100')
    expect(body.data.map((one) => one.id)).toEqual([...before.body.data.map((one) => one.id), second.id, first.id])
    expect(body.data.at(-1)!.changed_since_approval).toEqual([{ field: 'description', approved: '', now: 'new' }])
  })

  test('every write creates an audit row', async () => {
    const { id } = await inStatus(node, 'rejected', items.char!)
    await plus(node, 'PATCH', `/listings/${id}/price`, { price: 77 })
    const { body } = await operator<{ action: string; actor: string; before: object | null; after: object | null }[]>(
      node,
      'GET',
      `/audit?subject_type=listing&subject_id=${id}`,
    )
    expect(body.data.map((row) => row.action)).toEqual(['listing.reprice', 'listing.reject', 'listing.approve', 'listing.create'])
    expect(body.data[0]).toMatchObject({ actor: `account:${node.accounts.plus}`, before: { price: 100 }, after: { price: 77 } })
  })
})

describe('lists and corrections', () => {
  test('filters', async () => {
    const { id } = await pending(node, items.luffy!, { seller_id: node.accounts.enterprise })
    const list = async (query: string) => (await operator<StoredListing[]>(node, 'GET', `/listings?per_page=100${query}`)).body.data
    expect((await list(`&seller_id=${node.accounts.enterprise}`)).map((one) => one.id)).toEqual([id])
    expect((await list(`&item_id=${items.luffy}`)).map((one) => one.id)).toEqual([id])
    expect(await list('&item_id=99999999999')).toEqual([])
    for (const status of STATUS_LIST) expect(new Set((await list(`&status=${status}`)).map((one) => one.status)).size).toBeLessThan(2)
    expect((await operator(node, 'GET', '/listings?status=gone')).status).toBe(422)
  })

  test('a correction keeps the status; sold listings stay as they are', async () => {
    const { id } = await published(node, items.char!, { title: 'Wrong grade' })
    const reply = await operator(node, 'PATCH', `/listings/${id}`, { grade_id: grades['PSA 10'], price: 120, quantity: 4 })
    expect(reply.body.data).toMatchObject({ status: 'active', grade_id: grades['PSA 10'], price: 120, approved_price: 120, quantity: 4 })
    expect(await found(node, `?grade_filters[]=${grades['PSA 10']}&search=wrong`)).toEqual([id])
    await operator(node, 'PATCH', `/listings/${id}`, { quantity: 0 })
    expect(await found(node, '?search=wrong'), 'without stock it is not published').toEqual([])
    expect((await operator(node, 'PATCH', `/listings/${id}`, {})).status).toBe(422)
    const sold = await inStatus(node, 'sold', items.char!)
    expect((await operator(node, 'PATCH', `/listings/${sold.id}`, { price: 5 })).status).toBe(409)
  })
})

describe('orders', () => {
  const order = (lines: object[], more: object = {}) => operator<Order>(node, 'POST', '/orders', { order_id: orderId(), lines, ...more })

  test("stock, sold status, payout and the service's price change with one response", async () => {
    const one = await published(node, items.pika!, { title: 'Two left', price: 33.35, quantity: 2 })
    const two = await published(node, items.luffy!, { title: 'Last one', price: 10.1 })
    const reply = await order([
      { listing_id: one.id, quantity: 1 },
      { listing_id: two.id, quantity: 1, unit_price: 9.99 },
    ])
    expect(reply.status).toBe(201)
    expect(reply.body.data).toEqual({
      order_id: expect.any(Number),
      sold_at: expect.stringMatching(/Z$/),
      lines: [
        // 33.35 minus 7.5 % is 30.84875; 9.99 minus 7.5 % is 9.24075
        { listing_id: one.id, quantity: 1, unit_price: 33.35, seller_payout: 30.85, listing_status: 'active' },
        { listing_id: two.id, quantity: 1, unit_price: 9.99, seller_payout: 9.24, listing_status: 'sold' },
      ],
    })
    const { order_id: id } = reply.body.data
    const { lines } = reply.body.data
    expect((await operator<Order>(node, 'GET', `/orders/${id}`)).body.data).toEqual({
      ...reply.body.data,
      buyer_reference: null,
      buyer_account_id: null,
      lines: lines.map((line, i) => ({
        line: i + 1,
        ...line,
        seller_id: expect.any(Number) as number,
        commission: [2.5, 0.75][i],
        cancellation: null,
      })),
    })
    expect(await found(node, '?search=last')).toEqual([])
    expect((await operator(node, 'GET', `/listings/${one.id}`)).body.data).toMatchObject({ status: 'active', quantity: 1 })
    const item = await operator<{ prices: { market: string; label: string; price: number }[] }>(node, 'GET', `/items/${items.luffy}`)
    expect(item.body.data.prices).toContainEqual(expect.objectContaining({ market: 'service', label: 'Near Mint', price: 9.99 }))
  })

  test('the same order again returns the first response, another body is a conflict', async () => {
    const { id } = await published(node, items.char!, { quantity: 5 })
    const body = { order_id: orderId(), lines: [{ listing_id: id, quantity: 2 }] }
    const first = await operator<Order>(node, 'POST', '/orders', body)
    const again = await operator<Order>(node, 'POST', '/orders', { lines: [{ quantity: 2, listing_id: id }], order_id: body.order_id })
    expect(again).toMatchObject({ status: 201, body: { data: first.body.data } })
    expect((await operator(node, 'GET', `/listings/${id}`)).body.data.quantity).toBe(3)
    const other = await operator(node, 'POST', '/orders', { ...body, lines: [{ listing_id: id, quantity: 1 }] })
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } })
    const racing = { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] }
    const all = await Promise.all(Array.from({ length: 8 }, () => operator<Order>(node, 'POST', '/orders', racing)))
    expect(all.map((reply) => reply.status)).toEqual(Array(8).fill(201))
    expect((await operator(node, 'GET', `/listings/${id}`)).body.data.quantity).toBe(2)
  })

  test('insufficient stock, or a listing not for sale, rejects the whole order', async () => {
    const { id } = await published(node, items.char!, { quantity: 2 })
    const statuses = await Promise.all(
      STATUS_LIST.filter((status) => status !== 'active' && status !== 'expired').map((status) => inStatus(node, status, items.char!)),
    )
    for (const lines of [
      [{ listing_id: id, quantity: 3 }],
      [
        { listing_id: id, quantity: 1 },
        { listing_id: id, quantity: 2 },
      ],
      ...statuses.map((other) => [
        { listing_id: id, quantity: 1 },
        { listing_id: other.id, quantity: 1 },
      ]),
    ]) {
      expect(await order(lines)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } })
    }
    expect((await operator(node, 'GET', `/listings/${id}`)).body.data.quantity).toBe(2)
  })

  test.each([
    [{ lines: [] }, 'lines'],
    [{ lines: [{ listing_id: 999_999, quantity: 1 }] }, 'lines.0.listing_id'],
    [{ lines: [{ listing_id: 1, quantity: 0 }] }, 'lines.0.quantity'],
    [{ lines: [{ listing_id: 1, quantity: 1, unit_price: 0.001 }] }, 'lines.0.unit_price'],
    [{ order_id: 0 }, 'order_id'],
    [{ order_id: 'a1' }, 'order_id'],
    [{ sold_at: '2999-01-01T00:00:00Z' }, 'sold_at'],
    [{ sold_at: 'now' }, 'sold_at'],
  ])('%j is rejected by name', async (wrong, field) => {
    const { id } = await published(node, items.char!)
    const lines = (wrong as { lines?: { listing_id: number }[] }).lines?.map((line) => ({
      ...line,
      listing_id: line.listing_id === 1 ? id : line.listing_id,
    }))
    const reply = await order([{ listing_id: id, quantity: 1 }], { ...wrong, ...(lines && { lines }) })
    expect(reply).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR', details: [{ field }] } } })
  })

  test('an unknown order returns 404', async () => {
    expect((await operator(node, 'GET', '/orders/123456789012')).status).toBe(404)
    expect((await operator(node, 'GET', '/orders/99999999999999999999')).status).toBe(404)
  })
})
