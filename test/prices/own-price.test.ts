// The service's own price over HTTP: it needs independent people, is compared with other markets, and says what it would cost to move it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { call } from '#core/verb.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import { DAY_MS, makeCatalogue, operator, published } from '../market/kit.ts'
import { ask } from '../graphql/client.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'

interface Price {
  label: string
  price: number
  state: string
  confidence: string
  flags: string[]
  cost_to_move_10pct?: { amount: number; currency: string; buyers: number; sellers: number; days: number } | null
}
interface Explanation {
  price: number
  state: string
  rule: { name: string; version: number }
  inputs: { kind: string; market: string; amount: number; used: boolean; reason: string; pair?: number; weight?: number }[]
  findings: { rule: string; market: string | null; counts: boolean }[]
  medians: Record<string, number | null>
  summary: string
}

let node: TestNode
let sellers: number[]
let orderId = 1

beforeAll(async () => {
  node = await startTestNode({ env: { COMMISSION_PERCENT: '10', PRICE_SHIPPING_FLOOR: '30' } })
  await makeCatalogue(node)
  sellers = []
  for (const name of ['One', 'Two', 'Three', 'Four']) {
    sellers.push((await call(createAccount, node.ctx, { name, plan: 'plus', highlight_credits: 0 })).id)
  }
  const rates = [{ currency: 'USD', day: '2026-01-01', rate: 40 }]
  await call(setRates, { ...node.ctx, rules: node.config.priceRules }, { rates })
})
afterAll(() => node.close())

let cards = 0
/** A new card without prices. @returns its id */
async function newCard(prices: object[] = []): Promise<number> {
  cards += 1
  const line = { type: 'item', market: 'service', ref: `own:${cards}`, name: `Card ${cards}`, code: null, genre: 'single', game: 'pokemon' }
  const report = await importText(
    node,
    'mintmark-ndjson',
    JSON.stringify({ ...line, category: 'base', images: [], attributes: [], groups: ['ungraded'], details: {}, foreign_ids: [], prices }),
  )
  expect(report.counts.rejected).toBe(0)
  const { id } = await node.db.kysely.selectFrom('items').select('id').where('ref', '=', `own:${cards}`).executeTakeFirstOrThrow()
  return id
}

interface Terms {
  seller?: number
  buyer?: string
  account?: number
  lines?: number
  agoMs?: number
  price: number
}

/** Sells a card of a seller through an own listing. */
async function sell(itemId: number, { seller = 0, buyer, account, lines = 1, agoMs = 0, price }: Terms): Promise<number> {
  const listing = await published(node, itemId, { seller_id: sellers[seller]!, price, quantity: lines })
  const id = orderId++
  const reply = await operator(node, 'POST', '/orders', {
    order_id: id,
    ...(buyer !== undefined && { buyer_reference: buyer }),
    ...(account !== undefined && { buyer_account_id: account }),
    ...(agoMs > 0 && { sold_at: new Date(node.clock.now().getTime() - agoMs).toISOString() }),
    lines: Array.from({ length: lines }, () => ({ listing_id: listing.id, quantity: 1 })),
  })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return id
}

async function ownPrice(itemId: number): Promise<Price | undefined> {
  const { body } = await send<{ prices: Price[] }>(`${node.publicUrl}/api/v1/items/${itemId}?with_stats=1&market=service`, node.keys.professional)
  return body.data.prices[0]
}

async function explain(itemId: number): Promise<Explanation> {
  const path = `${node.publicUrl}/api/v1/items/${itemId}/prices/explain?market=service&label=Near%20Mint`
  return (await send<Explanation>(path, node.keys.professional)).body.data
}

const shownMarket = async (itemId: number) =>
  (await send<{ market: string }>(`${node.publicUrl}/api/v1/items/${itemId}`, node.keys.professional)).body.data.market

/** Sales of three buyers and two sellers. */
async function proven(itemId: number, price: number): Promise<void> {
  await sell(itemId, { seller: 0, buyer: 'a', price })
  await sell(itemId, { seller: 0, buyer: 'b', price: price + 2 })
  await sell(itemId, { seller: 1, buyer: 'c', price: price + 1 })
}

describe('a price of too few people', () => {
  test('is published as unproven, however many sales one pair makes', async () => {
    const id = await newCard([{ market: 'source_a', label: 'Near Mint', price: '7.70', updated_at: node.clock.now().toISOString() }])
    for (let n = 0; n < 10; n += 1) await sell(id, { buyer: 'friend', price: 30_900 })
    expect(await ownPrice(id)).toMatchObject({ price: 30_900, state: 'disputed', confidence: 'insufficient', flags: ['other_markets', 'few_people'] })
    expect(await shownMarket(id)).toBe('source_a')
    const alone = await newCard()
    for (let n = 0; n < 10; n += 1) await sell(alone, { buyer: 'friend', price: 30_900 })
    expect(await ownPrice(alone)).toMatchObject({ price: 30_900, state: 'unproven', confidence: 'insufficient', flags: ['few_people'] })
    expect((await explain(id)).summary).toBe(
      'Two markets differ 100-fold (service and source_a); ours follows source_a, because the price of service agrees with no other market.',
    )
    const { inputs, medians, findings, summary } = await explain(alone)
    expect(summary).toBe(
      'Too few people are behind our own price (it needs three buyers and two sellers), so it is shown but not used for other figures.',
    )
    expect(new Set(inputs.map(({ pair }) => pair))).toEqual(new Set([1]))
    expect(medians).toEqual({ '7d': null, '30d': null, '90d': null })
    expect(findings).toMatchObject([{ rule: 'few_people', counts: true }])
  })

  test('is not what the worth of a record or a multiplier is computed from', async () => {
    const id = await newCard()
    await sell(id, { buyer: 'friend', price: 500 })
    const { body } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Mine' })
    const path = `${node.publicUrl}/api/v1/plus/collections/${body.data.id}/items`
    const added = await send(path, node.keys.plus, { method: 'POST', json: { item_id: id } })
    expect(added.status).toBe(201)
    const records = await send<{ value: unknown; value_missing: string }[]>(`${path}?with_value=1`, node.keys.plus)
    expect(records.body.data[0]).toMatchObject({ value: null, value_missing: 'not_trusted' })
  })
})

describe('sales', () => {
  test('of ten lines of one order are one sale', async () => {
    const id = await newCard()
    await proven(id, 1_000)
    await sell(id, { seller: 2, buyer: 'd', lines: 10, price: 1 })
    expect(await ownPrice(id)).toMatchObject({ price: 1_000.5, state: 'trusted' })
    const { inputs } = await explain(id)
    expect(inputs.filter(({ reason }) => reason === 'same_order')).toHaveLength(9)
  })

  test('of a card that comes back, and to the seller itself, do not count', async () => {
    const id = await newCard()
    await sell(id, { seller: 0, account: sellers[1]!, price: 900 })
    expect(await ownPrice(id)).toMatchObject({ price: 900 })
    await sell(id, { seller: 1, account: sellers[0]!, price: 9_000 })
    expect(await ownPrice(id)).toBeUndefined()
    await sell(id, { seller: 2, account: sellers[2]!, price: 9_000 })
    expect(await ownPrice(id)).toBeUndefined()
    const missing = await operator(node, 'POST', '/orders', {
      order_id: orderId++,
      buyer_account_id: 99_999,
      lines: [{ listing_id: 1, quantity: 1 }],
    })
    expect([missing.status, missing.body.error?.details?.[0]?.field]).toEqual([422, 'buyer_account_id'])
  })

  test('far above an offer of another seller that is two days old do not count', async () => {
    const id = await newCard()
    await published(node, id, { seller_id: sellers[3]!, price: 1_000, quantity: 1 })
    await sell(id, { seller: 0, buyer: 'a', price: 2_000 })
    expect(await ownPrice(id)).toMatchObject({ price: 2_000 })
    node.clock.advance(2 * DAY_MS)
    await sell(id, { seller: 1, buyer: 'b', price: 1_251 })
    expect(await ownPrice(id)).toMatchObject({ price: 2_000 })
    await sell(id, { seller: 1, buyer: 'c', price: 1_250 })
    expect(await ownPrice(id)).toMatchObject({ price: 1_625 })
    expect((await explain(id)).inputs.map(({ reason }) => reason)).toEqual(['in_median', 'above_asks', 'in_median'])
  })

  test('that are cancelled do not count; the last one takes the price with it', async () => {
    const id = await newCard()
    const first = await sell(id, { buyer: 'a', price: 100 })
    const second = await sell(id, { buyer: 'b', price: 200 })
    expect(await ownPrice(id)).toMatchObject({ price: 150 })
    await operator(node, 'POST', `/orders/${second}/cancel`, { reason: 'withdrawn' })
    expect(await ownPrice(id)).toMatchObject({ price: 100 })
    expect((await explain(id)).inputs.map(({ amount, reason }) => [amount, reason])).toEqual([
      [200, 'cancelled'],
      [100, 'in_median'],
    ])
    await operator(node, 'POST', `/orders/${first}/cancel`, { reason: 'withdrawn' })
    expect(await ownPrice(id)).toBeUndefined()
  })
})

describe('a price of enough people', () => {
  test('is trusted, and says what it would cost to move it, over REST and GraphQL', async () => {
    const id = await newCard()
    await proven(id, 300)
    const cost = { amount: 60, currency: 'TRY', buyers: 2, sellers: 1, days: 90, rule: { name: 'fewest_sales', version: 1 } }
    expect(await ownPrice(id)).toMatchObject({ price: 301, state: 'trusted', flags: [], cost_to_move_10pct: { currency: 'TRY', days: 90 } })
    const { amount, buyers, sellers: people } = (await ownPrice(id))!.cost_to_move_10pct!
    expect(amount).toBeGreaterThan(0)
    expect((await explain(id)).summary).toBe('Our own price comes from 3 pairs of seller and buyer; no other market has a price to compare it with.')
    expect(Object.keys((await ownPrice(id))!.cost_to_move_10pct!)).toEqual(Object.keys(cost))
    const query = `{ item(id: ${id}) { prices { state costToMove10pct { amount currency buyers sellers days rule { name } } } } }`
    const { data } = await ask<{ item: { prices: object[] } }>(node, query)
    expect(data.item.prices).toEqual([
      { state: 'trusted', costToMove10pct: { amount, currency: 'TRY', buyers, sellers: people, days: 90, rule: { name: 'fewest_sales' } } },
    ])
  })

  test('is disputed if another market contradicts it, and in the same review', async () => {
    const id = await newCard([{ market: 'source_a', label: 'Near Mint', price: '5.00', updated_at: node.clock.now().toISOString() }])
    await proven(id, 2_000)
    expect(await ownPrice(id)).toMatchObject({ state: 'disputed', flags: ['other_markets'] })
    const { findings } = await explain(id)
    expect(findings).toMatchObject([{ rule: 'other_markets', market: 'source_a', counts: true }])
    const reviews = await operator<{ cause: string }[]>(node, 'GET', `/price-reviews?item_id=${id}`)
    expect(reviews.body.data).toMatchObject([{ cause: 'other_markets' }])
    expect(await shownMarket(id)).toBe('source_a')
    // The price of the other market is not affected by sales here.
    const { body } = await send<{ prices: Price[] }>(`${node.publicUrl}/api/v1/items/${id}?with_stats=1&market=source_a`, node.keys.professional)
    expect(body.data.prices[0]).toMatchObject({ state: 'trusted' })
  })

  test('loses trust as its sales become too old, and is stale after ninety days without one', async () => {
    const id = await newCard()
    await sell(id, { seller: 0, buyer: 'a', price: 100, agoMs: 60 * DAY_MS })
    await sell(id, { seller: 0, buyer: 'b', price: 100, agoMs: 30 * DAY_MS })
    await sell(id, { seller: 1, buyer: 'c', price: 130 })
    const day = node.clock.now().toISOString().slice(0, 10)
    expect(await ownPrice(id)).toMatchObject({ price: 115, state: 'trusted' })
    const judge = () => judgeAllPrices({ ...node.ctx, rules: node.config.priceRules })
    node.clock.advance(31 * DAY_MS)
    await judge()
    expect(await ownPrice(id)).toMatchObject({ price: 115, state: 'unproven' })
    node.clock.advance(30 * DAY_MS)
    await judge()
    expect(await ownPrice(id)).toMatchObject({ price: 130, state: 'unproven' })
    node.clock.advance(30 * DAY_MS)
    await judge()
    expect(await ownPrice(id)).toMatchObject({ price: 130, state: 'stale', flags: expect.arrayContaining(['old']) })
    expect((await explain(id)).summary).toBe(
      `The last sale behind our own price was on ${day}, more than 90 days ago, so it is shown but not used for other figures.`,
    )
  })
})

test('by default, an item shows a market with a trusted price', async () => {
  const now = node.clock.now().toISOString()
  const id = await newCard()
  await sell(id, { buyer: 'a', price: 400 })
  expect(await shownMarket(id)).toBe('service')
  const post = (market: string, price: number) =>
    operator(node, 'POST', '/prices', [{ item_id: id, market, label: 'Near Mint', price, updated_at: now }])
  expect((await post('source_b', 9)).status).toBe(200)
  expect(await shownMarket(id)).toBe('source_b')
})
