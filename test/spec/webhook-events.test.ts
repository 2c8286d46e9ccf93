// From an order and the end of a publication period to the seller's receiver, over HTTP only (interface.md, "Events").
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY_MS, makeCatalogue, operator, orderId, plus, published } from '../market/kit.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { openReceiver, type Receiver } from '../webhooks/receiver.ts'

interface Notification {
  event: string
  data: { listing_id: number }
}

let node: TestNode
let receiver: Receiver
let itemId: number

beforeAll(async () => {
  node = await startTestNode({ env: { COMMISSION_PERCENT: '12.5' }, worker: true })
  receiver = await openReceiver()
  itemId = (await makeCatalogue(node)).items.char!
})
afterAll(async () => {
  await node.close()
  await receiver.close()
})

const configure = (settings: object) => plus<object>(node, 'PUT', '/webhook', { url: receiver.url, on_sale: true, on_expire: true, ...settings })
const bodies = () => receiver.received.map(({ body }) => JSON.parse(body.toString()) as Notification)
const events = async (state: string) => (await operator<object[]>(node, 'GET', `/webhook-events?state=${state}`)).body.data

test('an order notifies once per line, however often it is sent', async () => {
  expect((await configure({})).status).toBe(200)
  const [first, second] = [await published(node, itemId, { quantity: 3 }), await published(node, itemId, { quantity: 1 })]
  const order = {
    order_id: orderId(),
    sold_at: new Date(node.clock.now().getTime() - 60_000).toISOString(),
    lines: [
      { listing_id: first.id, quantity: 2, unit_price: 99.99 },
      { listing_id: second.id, quantity: 1, unit_price: 10 },
    ],
  }
  const replies = await Promise.all([1, 2, 3].map(() => operator(node, 'POST', '/orders', order)))
  expect(replies.some((reply) => reply.status < 300)).toBe(true)
  await until('both lines arrive', () => receiver.received.length >= 2)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/) as string
  const line = { order_id: order.order_id, item_name: 'Charizard', sold_at: time }
  const expected = [
    { listing_id: first.id, quantity: 2, unit_price: 99.99, seller_payout: 174.98 },
    { listing_id: second.id, quantity: 1, unit_price: 10, seller_payout: 8.75 },
  ].map((data) => ({ event: 'sale', sent_at: time, data: { ...line, ...data } }))
  expect(bodies()).toHaveLength(2)
  expect(bodies()).toEqual(expect.arrayContaining(expected))
  receiver.received.length = 0
})

test('the end of a publication period notifies once', async () => {
  const listing = await published(node, itemId, { title: 'Charizard, first edition ✨' })
  node.clock.advance(31 * DAY_MS)
  await node.runTask('listing-expiry')
  // Other listings may expire at the same time: only notifications about this one are awaited and counted.
  const ofListing = () => bodies().filter(({ data }) => data.listing_id === listing.id)
  await until('it arrives', () => ofListing().length > 0)
  await until('nothing waits', async () => (await events('queued')).length === 0)
  expect(ofListing()).toEqual([
    {
      event: 'expire',
      sent_at: expect.any(String) as string,
      data: {
        listing_id: listing.id,
        title: 'Charizard, first edition ✨',
        expired_at: expect.stringMatching(/\+03:00$/) as string,
      },
    },
  ])
})
