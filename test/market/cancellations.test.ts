// Cancelled order lines: stock, statuses, prices and statistics are updated, each line is cancelled once, and nothing else changes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { DAY_MS, found, makeCatalogue, operator, orderId, plus, published, search, type Status } from './kit.ts'

interface Line {
  line: number
  listing_id: number
  quantity: number
  cancellation: { cancelled_at: string; cancelled_by: string; reason: string; refunded: number; listing_status: Status | null } | null
}

interface Order {
  order_id: number
  sold_at: string
  lines: Line[]
}

const REASON = 'Buyer withdrew'
const times = (count: number) => Array.from({ length: count }, (_, i) => i)

let node: TestNode
let other: TestNode
let items: Record<string, number>
let grades: Record<string, number>

beforeAll(async () => {
  node = await startTestNode()
  other = await startTestNode({ databaseUrl: node.databaseUrl })
  ;({ items, grades } = await makeCatalogue(node))
})

afterAll(async () => {
  await other.close()
  await node.close()
})

const sell = async (lines: object[], soldAt?: Date): Promise<number> => {
  const id = orderId()
  const body = { order_id: id, lines, ...(soldAt && { sold_at: soldAt.toISOString() }) }
  const reply = await operator(node, 'POST', '/orders', body)
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
  return id
}
const cancel = (id: number | string, body: object = { reason: REASON }, headers?: Record<string, string>, on = node) =>
  operator<Order>(on, 'POST', `/orders/${id}/cancel`, body, headers)
const listing = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data
const order = async (id: number) => (await operator<Order>(node, 'GET', `/orders/${id}`)).body.data
const cancelledAt = async (id: number) =>
  (
    await node.db.kysely
      .selectFrom('sale_cancellations as c')
      .innerJoin('sales as s', 's.id', 'c.sale_id')
      .selectAll('c')
      .where('s.order_id', '=', id)
      .execute()
  ).length

describe('a cancelled line', () => {
  test('returns its stock, is marked in the order, and keeps the recorded values', async () => {
    const one = await published(node, items.pika!, { price: 33.35, quantity: 5 })
    const two = await published(node, items.luffy!, { price: 10.1, title: 'Returning card' })
    const id = orderId()
    const body = {
      order_id: id,
      lines: [
        { listing_id: one.id, quantity: 3 },
        { listing_id: two.id, quantity: 1, unit_price: 9.99 },
      ],
    }
    const recorded = await operator<Order>(node, 'POST', '/orders', body)
    const events = await node.db.kysely.selectFrom('webhook_events').select('id').execute()
    expect(await found(node, '?search=returning')).toEqual([])
    const reply = await cancel(id, { lines: [2], reason: `  ${REASON} ` })
    expect(reply.status).toBe(200)
    expect(reply.body.data.lines).toMatchObject([
      { line: 1, cancellation: null },
      {
        line: 2,
        listing_status: 'sold',
        cancellation: { cancelled_by: 'operator:bootstrap', reason: REASON, refunded: 9.99, listing_status: 'active' },
      },
    ])
    expect(await order(id)).toEqual(reply.body.data)
    expect((await operator<Order[]>(node, 'GET', `/orders?listing_id=${two.id}`)).body.data).toEqual([reply.body.data])
    expect(await listing(two.id)).toMatchObject({ status: 'active', quantity: 1 })
    expect(await listing(one.id)).toMatchObject({ status: 'active', quantity: 2 })
    expect(await found(node, '?search=returning')).toEqual([two.id])
    expect((await operator<Order>(node, 'POST', '/orders', body)).body.data, 'the same order again').toEqual(recorded.body.data)
    expect((await cancel(id)).body.data.lines.map(({ cancellation }) => cancellation !== null)).toEqual([true, true])
    expect(await listing(one.id)).toMatchObject({ quantity: 5 })
    expect(await node.db.kysely.selectFrom('webhook_events').select('id').execute(), 'no notification').toEqual(events)
    const { body: audits } = await operator<object[]>(node, 'GET', `/audit?subject_type=order&subject_id=${id}&action=order.cancel`)
    expect(audits.data).toMatchObject([{ after: { lines: [1], reason: REASON } }, { after: { lines: [2], reason: REASON } }])
    const sales = await operator<{ cancelled_at: string | null }[]>(node, 'GET', `/sales?listing_id=${one.id}`)
    expect(sales.body.data).toMatchObject([{ cancelled_at: expect.stringMatching(/Z$/) }])
  })

  test('is excluded from recent sales, last sales, averages and statistics', async () => {
    const { id: stillSold } = await published(node, items.box!, { price: 100 })
    const { id: shown } = await published(node, items.box!, { price: 50, quantity: 9 })
    await sell([{ listing_id: stillSold, quantity: 1 }])
    const id = await sell([{ listing_id: shown, quantity: 2, unit_price: 999 }])
    const sold = async () => {
      const [recent, [hit], stats] = await Promise.all([
        plus<{ price: number }[]>(node, 'GET', `/recent-sales?item_id=${items.box}`),
        search<{ id: number; average_price: number; last_sales: { price: number }[] }>(
          node,
          `?item_id=${items.box}&with_average=1&with_last_sales=1`,
        ).then((reply) => reply.body.data.filter((one) => one.id === shown)),
        operator<{ sales: { turnover: number; payouts: number; sales: number; quantity: number }[] }>(node, 'GET', '/stats'),
      ])
      const { turnover, payouts, sales, quantity } = stats.body.data.sales[0]!
      const prices = { recent: recent.body.data.map((sale) => sale.price), last: hit!.last_sales.map((sale) => sale.price) }
      return { ...prices, average: hit!.average_price, turnover, payouts, sales, quantity }
    }
    const before = await sold()
    expect(before).toMatchObject({ recent: [999, 100], last: [999, 100], average: 549.5 })
    await cancel(id)
    const after = await sold()
    expect(after).toMatchObject({ recent: [100], last: [100], average: 100 })
    expect(before.turnover - after.turnover).toBeCloseTo(1998, 6)
    expect(before.payouts - after.payouts).toBeCloseTo(1798.2, 6)
    expect([before.sales - after.sales, before.quantity - after.quantity]).toEqual([1, 2])
    await until('the other node', async () => {
      const reply = await plus<{ id: number; last_sales: object[] }[]>(other, 'GET', '/listings?with_last_sales=1', undefined, {
        key: node.keys.plus,
      })
      return reply.body.data.find((one) => one.id === shown)?.last_sales.length === 1
    })
  })

  test('is cancelled once with its Idempotency-Key, and repeats return the same response', async () => {
    const { id: listingId } = await published(node, items.char!, { quantity: 4 })
    const id = await sell([{ listing_id: listingId, quantity: 1 }])
    const headers = { 'idempotency-key': `cancel-${id}` }
    const first = await cancel(id, undefined, headers)
    const again = await cancel(id, undefined, headers)
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body).toEqual(first.body)
    expect((await cancel(id)).body.error).toMatchObject({ code: 'CONFLICT', rule: 'order_cancelled' })
    expect((await cancel(id, { lines: [1], reason: REASON })).body.error).toMatchObject({ code: 'CONFLICT', rule: 'line_cancelled' })
    expect(await listing(listingId)).toMatchObject({ quantity: 4 })
  })

  test('if one line was cancelled before, the whole request is rejected', async () => {
    const { id: listingId } = await published(node, items.char!, { quantity: 4 })
    const id = await sell(times(3).map(() => ({ listing_id: listingId, quantity: 1 })))
    expect((await cancel(id, { lines: [2, 2], reason: REASON })).status).toBe(200)
    expect((await cancel(id, { lines: [1, 2], reason: REASON })).body.error).toMatchObject({ rule: 'line_cancelled', params: { id, line: 2 } })
    expect((await order(id)).lines.map((line) => line.cancellation !== null)).toEqual([false, true, false])
    expect(await listing(listingId)).toMatchObject({ quantity: 2 })
  })

  test.each([
    ['an order that there is not', 'new', { reason: REASON }, 404, 'NOT_FOUND'],
    ['an id beyond all numbers', '99999999999999999999', { reason: REASON }, 404, 'NOT_FOUND'],
    ['an id that is none', 'x', { reason: REASON }, 422, 'order_id'],
    ['no reason', 'sold', {}, 422, 'reason'],
    ['an empty reason', 'sold', { reason: ' ' }, 422, 'reason'],
    ['a long reason', 'sold', { reason: 'x'.repeat(201) }, 422, 'reason'],
    ['no lines', 'sold', { reason: REASON, lines: [] }, 422, 'lines'],
    ['a line too far', 'sold', { reason: REASON, lines: [1, 2] }, 422, 'lines.1'],
    ['line 0', 'sold', { reason: REASON, lines: [0] }, 422, 'lines.0'],
    ['a line that is none', 'sold', { reason: REASON, lines: ['1'] }, 422, 'lines.0'],
    ['an unknown field', 'sold', { reason: REASON, quantity: 1 }, 422, 'quantity'],
    ['a body that is no object', 'sold', [], 400, 'INVALID_JSON'],
  ])('is rejected for %s', async (_what, of, body, status, expected) => {
    const { id: listingId } = await published(node, items.char!)
    const sold = await sell([{ listing_id: listingId, quantity: 1 }])
    const reply = await cancel(of === 'sold' ? sold : of === 'new' ? orderId() : of, body)
    expect(reply.status).toBe(status)
    expect(JSON.stringify(reply.body.error)).toContain(expected)
    expect(await cancelledAt(sold)).toBe(0)
  })
})

describe('the listing of a cancelled sale', () => {
  test('expires if its period is over, without a notification', async () => {
    const { id } = await published(node, items.char!, {}, new Date(node.clock.now().getTime() + DAY_MS))
    const sold = await sell([{ listing_id: id, quantity: 1 }])
    node.clock.advance(DAY_MS)
    expect((await cancel(sold)).body.data.lines[0]!.cancellation).toMatchObject({ listing_status: 'expired' })
    expect(await listing(id)).toMatchObject({ status: 'expired', quantity: 1 })
    const events = await node.db.kysely.selectFrom('webhook_events').select('id').where('kind', '=', 'expire').execute()
    expect(events).toEqual([])
  })

  test('is paused if its seller is suspended, and the seller publishes it later', async () => {
    const { id } = await published(node, items.char!)
    const sold = await sell([{ listing_id: id, quantity: 1 }])
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { suspended: true })
    expect((await cancel(sold)).body.data.lines[0]!.cancellation).toMatchObject({ listing_status: 'paused' })
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { suspended: false })
    expect(await found(node)).not.toContain(id)
    expect((await plus(node, 'POST', `/listings/${id}/status?action=publish`)).body.data.status).toBe('active')
    expect(await found(node)).toContain(id)
  })

  test.each(['pending', 'paused', 'rejected'] as const)('stays %s', async (status) => {
    const { id } = await published(node, items.char!, { quantity: 3 })
    const sold = await sell([{ listing_id: id, quantity: 2 }])
    if (status === 'pending') await plus(node, 'PATCH', `/listings/${id}`, { title: 'Another one' })
    if (status === 'paused') await plus(node, 'POST', `/listings/${id}/status?action=pause`)
    if (status === 'rejected') await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'blurred photo' })
    await cancel(sold)
    expect(await listing(id)).toMatchObject({ status, quantity: 3 })
  })

  test('stays deleted', async () => {
    const { id } = await published(node, items.char!)
    const sold = await sell([{ listing_id: id, quantity: 1 }])
    await plus(node, 'DELETE', `/listings/${id}`)
    const reply = await cancel(sold)
    expect(reply.body.data.lines[0]!.cancellation).toMatchObject({ listing_status: null, refunded: 100 })
    expect((await operator(node, 'GET', `/listings/${id}`)).status).toBe(404)
  })
})

describe("the service's own price", () => {
  const priceOf = async (itemId: number) => {
    const { body } = await operator<{ prices: { market: string; label: string; price: number }[] }>(node, 'GET', `/items/${itemId}`)
    const stored = body.data.prices.find(({ market, label }) => market === 'service' && label === 'PSA 9')
    const shown = await plus<unknown>(node, 'GET', `/../items/${itemId}?market=service`)
    const { prices = [] } = (shown.body.data ?? {}) as { prices?: { label: string; price: number }[] }
    expect(prices.find(({ label }) => label === 'PSA 9')?.price ?? null).toBe(stored?.price ?? null)
    return stored?.price ?? null
  }
  const points = async (itemId: number) =>
    (
      await node.db.kysely.selectFrom('price_points').select('price').where('item_id', '=', itemId).where('label_id', '=', grades['PSA 9']!).execute()
    ).map(({ price }) => Number(price))

  test('is the median of the remaining sales, and is removed without a sale', async () => {
    const { id } = await published(node, items.pika!, { quantity: 100, grade_id: grades['PSA 9'] })
    const orders: number[] = []
    for (const price of [10, 20, 90]) orders.push(await sell([{ listing_id: id, quantity: 1, unit_price: price }]))
    expect(await priceOf(items.pika!)).toBe(20)
    await cancel(orders[2]!)
    expect(await priceOf(items.pika!)).toBe(15)
    await cancel(orders[0]!)
    expect(await priceOf(items.pika!)).toBe(20)
    const explained = await operator<{ inputs: { amount: number; used: boolean }[] }>(
      node,
      'GET',
      `/items/${items.pika}/prices/explain?market=service&label=PSA%209`,
    )
    expect(explained.body.data.inputs.filter(({ used }) => used).map(({ amount }) => amount)).toEqual([20])
    await cancel(orders[1]!)
    expect(await priceOf(items.pika!)).toBe(null)
    expect(await points(items.pika!)).toEqual([])
    await sell([{ listing_id: id, quantity: 1, unit_price: 7 }])
    expect(await priceOf(items.pika!)).toBe(7)
  })

  test('is that of the last remaining sale if there is none in the last 90 days', async () => {
    const { id } = await published(node, items.luffy!, { quantity: 100, grade_id: grades['PSA 9'] })
    const ago = (days: number) => new Date(node.clock.now().getTime() - days * DAY_MS)
    await sell([{ listing_id: id, quantity: 1, unit_price: 1 }], ago(60))
    await sell([{ listing_id: id, quantity: 1, unit_price: 5 }], ago(10))
    node.clock.advance(100 * DAY_MS)
    await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'over' })
    await operator(node, 'POST', `/listings/${id}/approve`, {})
    const last = await sell([{ listing_id: id, quantity: 1, unit_price: 50 }])
    expect(await priceOf(items.luffy!)).toBe(50)
    await cancel(last)
    expect(await priceOf(items.luffy!)).toBe(3)
  })

  test('excludes sales cancelled while two items were merged', { tags: 'slow' }, async () => {
    const { id: here } = await published(node, items.char!, { quantity: 100, grade_id: grades['PSA 9'] })
    const { id: there } = await published(node, items.box!, { quantity: 100, grade_id: grades['PSA 9'] })
    const stays = await sell([{ listing_id: here, quantity: 1, unit_price: 10 }])
    const goes = await sell([{ listing_id: there, quantity: 1, unit_price: 30 }])
    const merge = await operator<{ batch_id: number }>(node, 'POST', `/items/${items.box}/merge`, { into: items.char })
    expect(await priceOf(items.char!)).toBe(20)
    await cancel(goes)
    expect(await priceOf(items.char!)).toBe(10)
    expect((await operator(node, 'POST', `/batches/${merge.body.data.batch_id}/revert`, {})).status).toBe(200)
    expect([await priceOf(items.char!), await priceOf(items.box!)]).toEqual([10, null])
    await cancel(stays)
    expect(await priceOf(items.char!)).toBe(null)
  })
})

describe('races', () => {
  const nodes = () => [node, other]

  test('of 12 concurrent cancellations of one order on two nodes, one succeeds and stock returns once', async () => {
    const { id: listingId } = await published(node, items.char!, { quantity: 5 })
    const id = await sell([
      { listing_id: listingId, quantity: 2 },
      { listing_id: listingId, quantity: 3 },
    ])
    const replies = await Promise.all(
      times(12).map((i) => cancel(id, i % 3 === 0 ? { reason: REASON } : { reason: REASON, lines: [1, 2] }, undefined, nodes()[i % 2])),
    )
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, ...Array(11).fill(409)])
    expect(await listing(listingId)).toMatchObject({ status: 'active', quantity: 5 })
  })

  test('of concurrent cancellations for a deleted listing, one succeeds', async () => {
    const { id: listingId } = await published(node, items.char!)
    const id = await sell([{ listing_id: listingId, quantity: 1 }])
    await plus(node, 'DELETE', `/listings/${listingId}`)
    const replies = await Promise.all(times(12).map((i) => cancel(id, undefined, undefined, nodes()[i % 2])))
    expect(replies.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, ...Array(11).fill(409)])
  })

  test('with concurrent cancellations and sales of the same listings, stock equals the initial stock minus sales', { tags: 'slow' }, async () => {
    const listings = await Promise.all(times(3).map(() => published(node, items.char!, { quantity: 4 })))
    const lines = (i: number) => (i % 2 ? listings : [...listings].reverse()).map(({ id }) => ({ listing_id: id, quantity: 1 }))
    const first = await Promise.all(times(4).map((i) => sell(lines(i))))
    const [cancelled, sold] = await Promise.all([
      Promise.all(first.map((id, i) => cancel(id, undefined, undefined, nodes()[i % 2]))),
      Promise.all(times(6).map((i) => operator(nodes()[i % 2]!, 'POST', '/orders', { order_id: orderId(), lines: lines(i) }))),
    ])
    expect(cancelled.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const successes = sold.filter(({ status }) => status === 201).length
    expect(sold.filter(({ status }) => status === 409)).toHaveLength(6 - successes)
    expect(successes).toBeLessThanOrEqual(4)
    for (const { id } of listings) {
      expect(await listing(id)).toMatchObject({ quantity: 4 - successes, status: successes === 4 ? 'sold' : 'active' })
    }
  })

  test('a cancellation and a concurrent edit, pause, price change or deletion are serialised', { tags: 'slow' }, async () => {
    for (const i of times(8)) {
      const { id: listingId } = await published(node, items.char!, { quantity: 2, title: `Raced ${i}` })
      const id = await sell([{ listing_id: listingId, quantity: 1 }])
      const owner = (path: string, method = 'PATCH', body?: object) =>
        plus(other, method, `/listings/${listingId}${path}`, body, { key: node.keys.plus })
      const acts = [
        () => owner('', 'PATCH', { title: 'Edited' }),
        () => owner('/price', 'PATCH', { price: 77 }),
        () => owner('/status?action=pause', 'POST'),
        () => owner('', 'DELETE'),
      ]
      const [cancelled, acted] = await Promise.all([cancel(id), acts[i % 4]!()])
      expect([cancelled.status, acted.status]).toEqual([200, 200])
      if (i % 4 === 3) expect((await operator(node, 'GET', `/listings/${listingId}`)).status).toBe(404)
      else expect(await listing(listingId)).toMatchObject({ quantity: 2, status: ['pending', 'active', 'paused'][i % 4]! })
      expect((await order(id)).lines[0]!.cancellation).not.toBe(null)
    }
  })
})
