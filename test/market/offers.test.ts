// Offers of buyers: recorded by the shop, answered by the seller, sold as orders; each is answered once, and nobody learns or gains what is not theirs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { change } from '#db/changes/change.ts'
import { replacePicture } from '#market/listings/replace-picture.ts'
import { expireOffers } from '#market/offers/expire-offers.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { DAY_MS, makeCatalogue, operator, orderId, plus, published } from './kit.ts'

interface Offer {
  id: number
  listing_id: number | null
  status: string
  unit_price: number
  counter_price: number | null
  payout: number
  order_id: number | null
  expires_at: string
}
interface FeedEvent {
  event: string
  data: { offer_id?: number; order_id?: number; status?: string; unit_price?: number; counter_price?: number | null }
  delivered: boolean
  cursor: string
}

const HOUR_MS = DAY_MS / 24
const ANSWERS = ['accept', 'decline', 'counter'] as const

let node: TestNode
let other: TestNode
let items: Record<string, number>
let buyers = 0

beforeAll(async () => {
  node = await startTestNode()
  other = await startTestNode({ databaseUrl: node.databaseUrl })
  ;({ items } = await makeCatalogue(node))
})

/** Both nodes stay at the same time: an offer that one of them takes for expired would not hinder another. */
function advance(ms: number) {
  for (const { clock } of [node, other]) clock.advance(ms)
}

afterAll(async () => {
  await other.close()
  await node.close()
})

const OPEN = { price: 100, quantity: 5, offers_enabled: true }
const listed = (fields: object = {}) => published(node, items.char!, { ...OPEN, ...fields })

function make(listingId: number, fields: object = {}, on = node) {
  buyers += 1
  const body = { listing_id: listingId, unit_price: 80, order_id: orderId(), buyer_reference: `buyer-${buyers}`, ...fields }
  return operator<Offer>(on, 'POST', '/offers', body)
}
async function made(listingId: number, fields: object = {}): Promise<Offer> {
  const { status, body } = await make(listingId, fields)
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.data
}
const answer = (id: number, action: string, json?: object, on = node, key = node.keys.plus) =>
  plus<Offer>(on, 'POST', `/offers/${id}/${action}`, action === 'counter' ? { price: 90, ...json } : json, { key })
const stored = async (id: number) => (await operator<Offer>(node, 'GET', `/offers/${id}`)).body.data
const own = async (query = '') => (await plus<Offer[]>(node, 'GET', `/offers${query}`)).body.data
const stock = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data.quantity
const feed = async () => (await plus<FeedEvent[]>(node, 'GET', '/events?limit=1000')).body.data
const offerEvents = async (id: number) => (await feed()).filter(({ data }) => data.offer_id === id).map(({ data }) => data.status)
const problemOf = ({
  status,
  body,
}: {
  status: number
  body: { error?: { code?: string; rule?: string; details?: { field: string; rule?: string }[] } }
}) => [status, body.error?.code, body.error?.details?.[0]?.field ?? body.error?.rule]

describe('an offer', () => {
  test('is shown to its seller without the buyer, with the payout, and is accepted as an order at its price', async () => {
    const { id: listing, title } = await listed()
    const order = orderId()
    const offer = await made(listing, { unit_price: 80.5, quantity: 2, order_id: order, buyer_reference: ' ann ' })
    expect(offer).toMatchObject({ listing_id: listing, status: 'open', order_id: order, buyer_reference: 'ann', seller_id: node.accounts.plus })
    const [shown] = await own(`?listing_id=${listing}&status=open`)
    expect(shown).toEqual({
      id: offer.id,
      listing_id: listing,
      title,
      listing_price: 100,
      quantity: 2,
      unit_price: 80.5,
      counter_price: null,
      status: 'open',
      payout: 144.9,
      order_id: null,
      created_at: expect.any(String),
      changed_at: expect.any(String),
      expires_at: expect.any(String),
    })
    const accepted = await answer(offer.id, 'accept')
    expect([accepted.status, accepted.body.data]).toEqual([200, expect.objectContaining({ status: 'accepted', order_id: order })])
    expect(await stock(listing)).toBe(3)
    const sold = (await operator<{ buyer_reference: string; lines: object[] }>(node, 'GET', `/orders/${order}`)).body.data
    expect(sold).toMatchObject({ buyer_reference: 'ann', lines: [{ listing_id: listing, quantity: 2, unit_price: 80.5, seller_payout: 144.9 }] })
    expect(await offerEvents(offer.id)).toEqual(['open', 'accepted'])
    expect((await feed()).filter(({ event, data }) => event === 'sale' && data.order_id === order)).toHaveLength(1)
  })

  test('is declined', async () => {
    const { id: listing } = await listed()
    const offer = await made(listing)
    expect((await answer(offer.id, 'decline')).body.data.status).toBe('declined')
    expect([await stock(listing), await offerEvents(offer.id)]).toEqual([5, ['open', 'declined']])
  })

  test('is answered with a counter-offer, which the buyer accepts, declines or lets expire', async () => {
    const { id: listing } = await listed()
    const [taken, refused, ignored] = [await made(listing), await made(listing), await made(listing)]
    advance(40 * HOUR_MS)
    for (const { id } of [taken, refused, ignored]) {
      expect((await answer(id, 'counter', { price: 92 })).body.data).toMatchObject({
        status: 'countered',
        unit_price: 80,
        counter_price: 92,
        payout: 82.8,
      })
    }
    // The buyer has 48 hours of his own.
    advance(40 * HOUR_MS)
    const accepted = await operator<{ offer: Offer; order: { lines: { unit_price: number }[] } }>(node, 'POST', `/offers/${taken.id}/accept`)
    expect(accepted.body.data).toMatchObject({ offer: { status: 'accepted' }, order: { order_id: taken.order_id, lines: [{ unit_price: 92 }] } })
    expect((await operator<Offer>(node, 'POST', `/offers/${refused.id}/withdraw`)).body.data.status).toBe('withdrawn')
    advance(8 * HOUR_MS)
    expect(problemOf(await operator(node, 'POST', `/offers/${ignored.id}/accept`))).toEqual([409, 'CONFLICT', 'offer_status'])
    expect((await stored(ignored.id)).status).toBe('expired')
    expect((await own('?status=expired')).map(({ id }) => id)).toContain(ignored.id)
    await expireOffers(node.ctx)
    expect(await offerEvents(ignored.id)).toEqual(['open', 'countered', 'expired'])
    expect([await stock(listing), await offerEvents(refused.id)]).toEqual([4, ['open', 'countered', 'withdrawn']])
  })

  test('expires after 48 hours to the second, and then the buyer may make another one', async () => {
    const { id: listing } = await listed()
    node.clock.stop()
    const offer = await made(listing, { buyer_reference: 'patient' })
    advance(48 * HOUR_MS)
    for (const action of ANSWERS) expect(problemOf(await answer(offer.id, action))).toEqual([409, 'CONFLICT', 'offer_status'])
    node.clock.go()
    const again = await made(listing, { buyer_reference: 'patient', order_id: offer.order_id })
    expect(await offerEvents(offer.id)).toEqual(['open', 'expired'])
    expect((await answer(again.id, 'accept')).status).toBe(200)
  })
})

describe('is rejected', () => {
  test.each<[string, object, object, [number, string, string]]>([
    ['for a listing without offers', { offers_enabled: false }, {}, [409, 'CONFLICT', 'no_offers']],
    ['at the price of the listing', {}, { unit_price: 100 }, [422, 'VALIDATION_ERROR', 'unit_price']],
    ['at a third decimal', {}, { unit_price: 10.001 }, [422, 'VALIDATION_ERROR', 'unit_price']],
    ['at 0', {}, { unit_price: 0 }, [422, 'VALIDATION_ERROR', 'unit_price']],
    ['for more than the stock', {}, { quantity: 6 }, [409, 'CONFLICT', 'stock']],
    ['without a buyer', {}, { buyer_reference: ' ' }, [422, 'VALIDATION_ERROR', 'buyer_reference']],
    ['of an unknown account', {}, { buyer_account_id: 2_000_000_000 }, [422, 'VALIDATION_ERROR', 'buyer_account_id']],
    ['for an unknown listing', {}, { listing_id: 2_000_000_000 }, [422, 'VALIDATION_ERROR', 'listing_id']],
    ['with an unknown field', {}, { message: 'hello' }, [422, 'VALIDATION_ERROR', 'message']],
  ])('%s', async (_what, fields, body, expected) => {
    const { id } = await listed(fields)
    expect(problemOf(await make(id, body))).toEqual(expected)
  })

  test('with the id of an order, or of another offer', async () => {
    const { id: listing } = await listed()
    const order = orderId()
    await operator(node, 'POST', '/orders', { order_id: order, lines: [{ listing_id: listing, quantity: 1 }] })
    expect(problemOf(await make(listing, { order_id: order }))).toEqual([409, 'CONFLICT', 'order_id_used'])
    const offer = await made(listing)
    expect(problemOf(await make(listing, { order_id: offer.order_id }))).toEqual([409, 'CONFLICT', 'order_id_used'])
    // The shop used the id for an order of its checkout after the offer.
    await operator(node, 'POST', '/orders', { order_id: offer.order_id, lines: [{ listing_id: listing, quantity: 1 }] })
    expect(problemOf(await answer(offer.id, 'accept'))).toEqual([409, 'CONFLICT', 'order_id_used'])
    expect([(await stored(offer.id)).status, await stock(listing)]).toEqual(['open', 3])
  })

  test('while the listing is not for sale', async () => {
    const { id } = await listed()
    await plus(node, 'POST', `/listings/${id}/status?action=pause`)
    expect(problemOf(await make(id))).toEqual([409, 'CONFLICT', 'not_for_sale'])
  })
})

test("an offer below the seller's limit is declined at once, and a buyer cannot search for the limit", async () => {
  const { id: listing } = await listed({ min_offer_price: 70 })
  const events = (await feed()).length
  for (let i = 0; i < 5; i += 1) expect((await made(listing, { unit_price: 50 + i, buyer_reference: 'prober' })).status).toBe('declined')
  expect(problemOf(await make(listing, { unit_price: 69, buyer_reference: 'prober' }))).toEqual([409, 'CONFLICT', 'too_many_offers_of_buyer'])
  expect((await feed()).length).toBe(events)
  expect((await made(listing, { unit_price: 70 })).status).toBe('open')
})

test('a buyer has one offer for a listing at a time, even if two are sent to two nodes at once', async () => {
  const { id: listing } = await listed()
  const sent = await Promise.all([node, other, node, other].map((on) => make(listing, { buyer_reference: 'twice' }, on)))
  expect(sent.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  expect(sent.flatMap((reply) => (reply.status === 409 ? [problemOf(reply)[2]] : []))).toEqual(Array.from({ length: 3 }, () => 'offer_under_way'))
})

test('of concurrent answers on two nodes, one succeeds, and the order is recorded at most once', async () => {
  const { id: listing } = await listed({ quantity: 100 })
  let sold = 0
  for (let i = 0; i < 6; i += 1) {
    const offer = await made(listing)
    const replies = await Promise.all([
      answer(offer.id, 'accept'),
      answer(offer.id, 'decline', undefined, other),
      answer(offer.id, 'accept', undefined, other),
      operator(other, 'POST', `/offers/${offer.id}/withdraw`),
    ])
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    const { status } = await stored(offer.id)
    if (status === 'accepted') sold += 1
    expect((await operator(node, 'GET', `/orders/${offer.order_id}`)).status).toBe(status === 'accepted' ? 200 : 404)
  }
  expect(await stock(listing)).toBe(100 - sold)
})

test('two accepted offers cannot sell the same unit', async () => {
  const { id: listing } = await listed({ quantity: 1 })
  const offers = [await made(listing), await made(listing)]
  const replies = await Promise.all(offers.map(({ id }, i) => answer(id, 'accept', undefined, [node, other][i])))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409])
  expect((await operator(node, 'GET', `/listings/${listing}`)).body.data).toMatchObject({ status: 'sold', quantity: 0 })
})

test('a seller cannot change what is offered, or sell it for more than others pay', async () => {
  const { id: listing } = await listed()
  const [first, second] = [await made(listing), await made(listing, { unit_price: 90 })]
  await plus(node, 'PATCH', `/listings/${listing}/price`, { price: 60 })
  expect((await answer(second.id, 'accept')).status).toBe(200)
  const { lines } = (await operator<{ lines: { unit_price: number }[] }>(node, 'GET', `/orders/${second.order_id}`)).body.data
  expect(lines[0]!.unit_price).toBe(60)
  await plus(node, 'PATCH', `/listings/${listing}`, { title: 'Played copy', price: 100 })
  expect(problemOf(await answer(first.id, 'accept'))).toEqual([409, 'CONFLICT', 'not_for_sale'])
  await operator(node, 'POST', `/listings/${listing}/approve`)
  expect(problemOf(await answer(first.id, 'accept'))).toEqual([409, 'CONFLICT', 'offer_outdated'])
  expect(await stock(listing)).toBe(4)
})

test('a picture that the service copies leaves offers valid, one that the seller changes does not', async () => {
  const url = 'https://pictures.example/front.jpg'
  const { id: listing } = await listed({ images: [{ url, order: 1 }] })
  const offer = await made(listing)
  const copy = 'https://cards.example/images/photos/copy.webp'
  expect(await change(node.ctx, (tx, note) => replacePicture(tx, note, { sellerId: node.accounts.plus, url, copy }))).toBe(1)
  expect((await answer(offer.id, 'accept')).body.data.status).toBe('accepted')
  const second = await made(listing)
  await plus(node, 'PATCH', `/listings/${listing}`, { images: [{ url: 'https://pictures.example/another.jpg', order: 1 }] })
  await operator(node, 'POST', `/listings/${listing}/approve`)
  expect(problemOf(await answer(second.id, 'accept'))).toEqual([409, 'CONFLICT', 'offer_outdated'])
})

test('a counter-offer is between the offer and the price', async () => {
  const { id: listing } = await listed()
  const offer = await made(listing)
  for (const price of [80, 79, 100, 101, 0, 'x', null, 90.001])
    expect([price, ...problemOf(await answer(offer.id, 'counter', { price })).slice(0, 3)]).toEqual([price, 422, 'VALIDATION_ERROR', 'price'])
  expect((await stored(offer.id)).status).toBe('open')
})

test('a dry run changes nothing', async () => {
  const { id: listing } = await listed()
  const offer = await made(listing)
  for (const [action, status] of [
    ['accept', 'accepted'],
    ['decline', 'declined'],
    ['counter', 'countered'],
  ] as const) {
    const reply = await answer(offer.id, `${action}?dry_run=1`, action === 'counter' ? { price: 90 } : undefined)
    expect([action, reply.status, reply.body.data?.status]).toEqual([action, 200, status])
  }
  expect([(await stored(offer.id)).status, await stock(listing), await offerEvents(offer.id)]).toEqual(['open', 5, ['open']])
})

test('a deleted listing declines its offers', async () => {
  const { id: listing } = await listed()
  const offer = await made(listing)
  await plus(node, 'DELETE', `/listings/${listing}`)
  expect(await stored(offer.id)).toMatchObject({ status: 'declined', listing_id: null })
  expect(problemOf(await answer(offer.id, 'accept'))).toEqual([409, 'CONFLICT', 'offer_status'])
})

test('others can neither see nor answer an offer', async () => {
  const { id: listing } = await listed()
  const offer = await made(listing)
  expect((await plus<Offer[]>(node, 'GET', '/offers', undefined, { key: node.keys.enterprise })).body.data).toEqual([])
  for (const action of ANSWERS) {
    expect(problemOf(await answer(offer.id, action, undefined, node, node.keys.enterprise)).slice(0, 2)).toEqual([404, 'NOT_FOUND'])
    expect(problemOf(await answer(offer.id, action, undefined, node, node.keys.professional)).slice(0, 2)).toEqual([403, 'PLAN_UPGRADE_REQUIRED'])
  }
  expect((await stored(offer.id)).status).toBe('open')
})

test('webhooks never receive offers, not even by a replay or an operator', async () => {
  const webhook = { url: 'http://127.0.0.1:9/hook', on_sale: true, on_expire: true, is_active: true }
  await plus(node, 'PUT', '/webhook', webhook)
  const { id: listing } = await listed()
  const before = (await feed()).at(-1)!.cursor
  const offer = await made(listing)
  expect(await offerEvents(offer.id)).toEqual(['open'])
  expect((await plus<{ queued: number }>(node, 'POST', '/events/replay', { after: before })).body.data).toEqual({ queued: 0 })
  const events = await operator<{ id: number; event: string; state: string; body: { data: { offer_id: number } } }[]>(
    node,
    'GET',
    `/webhook-events?account_id=${node.accounts.plus}&event=offer&per_page=100`,
  )
  const event = events.body.data.find(({ body }) => body.data.offer_id === offer.id)!
  expect(event.state).toBe('cancelled')
  expect(problemOf(await operator(node, 'POST', `/webhook-events/${event.id}/redeliver`))).toEqual([409, 'CONFLICT', 'feed_only'])
  await plus(node, 'DELETE', '/webhook')
})

test('GraphQL lists and answers offers as REST does', async () => {
  const { id: listing } = await listed()
  const [first, second, third] = [await made(listing), await made(listing), await made(listing)]
  const query = `mutation ($a: ID!, $b: ID!, $c: ID!) {
    acceptOffer(id: $a) { id status orderId payout }
    declineOffer(id: $b) { status }
    counterOffer(id: $c, price: 90) { status counterPrice }
  }`
  const send = (text: string, variables: object = {}) =>
    fetch(`${node.publicUrl}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${node.keys.plus}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: text, variables }),
    }).then((response) => response.json() as Promise<{ data: Record<string, unknown>; errors?: { extensions: { code: string } }[] }>)
  expect(await send(query, { a: first.id, b: second.id, c: third.id })).toMatchObject({
    data: {
      acceptOffer: { id: String(first.id), status: 'accepted', orderId: first.order_id, payout: 72 },
      declineOffer: { status: 'declined' },
      counterOffer: { status: 'countered', counterPrice: 90 },
    },
  })
  const list = await send(`{ offers(listingId: ${listing}, perPage: 2) { offers { id status } pagination { total } } }`)
  expect(list.data.offers).toMatchObject({
    offers: [{ id: String(third.id), status: 'countered' }, { id: String(second.id) }],
    pagination: { total: 3 },
  })
  const events = await send('{ events(limit: 1000) { events { event data { offerId status counterPrice } } } }')
  const offers = (events.data.events as { events: { event: string; data: object }[] }).events.filter(({ event }) => event === 'offer')
  expect(offers.at(-1)).toEqual({ event: 'offer', data: { offerId: String(third.id), status: 'countered', counterPrice: 90 } })
})

test('offers closed for a year are deleted, and open ones are kept', async () => {
  const { id: listing } = await listed()
  const offer = await made(listing)
  await answer(offer.id, 'decline')
  advance(366 * DAY_MS)
  await node.runTask('offer-retention')
  await until('the old offer is gone', async () => (await operator(node, 'GET', `/offers/${offer.id}`)).status === 404)
})
