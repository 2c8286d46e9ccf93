// The evidence of prices over REST: with_stats=1, explanations, and computed figures that exclude untrusted prices.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import { bitsOf, FLAGS } from '#prices/evidence/evidence-types.ts'
import { setEvidence } from '../support/evidence.ts'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { published, type Grades, makeCatalogue, operator } from '../market/kit.ts'

const CONFIRMED = '2026-11-20T10:31:00Z'

interface StatsPrice {
  label: string
  price: number
  updated_at: string
  currency?: string
  state?: string
  flags?: string[]
}
interface Item {
  id: number
  market?: string
  prices: StatsPrice[]
}
interface Input {
  kind: string
  market: string
  amount: number
  currency: string
  at: string | null
  import_id: number | null
  line: number | null
  used: boolean
  reason: string
  comparison: Comparison | null
}
interface Comparison {
  converted: number
  usual_ratio: number
  usual_spread: number
  cards: number
  expected: number
  times_off: number
  level: string
}
interface Explanation {
  price: number | null
  currency: string
  state: string | null
  confidence: string | null
  flags: string[]
  samples: number | null
  rule: { name: string; version: number } | null
  inputs: Input[]
  rates: { currency: string; rate: number; day: string }[]
  findings: { rule: string; market: string | null; compared: number | null; times_off: number | null; counts: boolean }[]
  thresholds: Record<'noise' | 'market_factor' | 'market_spreads' | 'doubt_factor', number> | null
  confirmed_by_person_at: string | null
  medians: Record<string, number | null>
  held?: { price: number; rule: string }[]
}

let node: TestNode
/** on the same database */
let other: TestNode
let items: Record<string, number>
let grades: Grades

beforeAll(async () => {
  node = await startTestNode()
  ;({ items, grades } = await makeCatalogue(node))
  other = await startTestNode({ databaseUrl: node.databaseUrl })
})

afterAll(async () => {
  await other.close()
  await node.close()
})

function get<T>(
  path: string,
  { on = node, key = on.keys.professional, headers }: { on?: TestNode; key?: string; headers?: Record<string, string> } = {},
) {
  return send<T>(`${on.publicUrl}/api/v1${path}`, key, { ...(headers && { headers }) })
}

async function nearMint(query: string, on = node): Promise<StatsPrice> {
  const { body } = await get<Item>(`/items/${items.char}?${query}`, { on })
  return body.data.prices.find(({ label }) => label === 'Near Mint')!
}

/** A new card of the service's own market. */
async function newCard(ref: string, name: string): Promise<number> {
  const [category] = (await operator<{ id: number }[]>(node, 'GET', '/categories?game=pokemon')).body.data
  const body = { name, ref, market: 'service', category_id: category!.id, genre: 'single' }
  return (await operator<{ id: number }>(node, 'POST', '/items', body)).body.data.id
}

const char = (market: 'source_a' | 'service' = 'source_a', label = 'Near Mint') => ({ itemId: items.char!, market, label })

describe('with_stats=1', () => {
  const STATS = {
    label: 'Near Mint',
    price: 168.56,
    updated_at: '2026-11-01T00:00:00Z',
    currency: 'USD',
    state: 'disputed',
    confidence: 'low',
    flags: ['own_averages', 'other_markets'],
    confirmed_at: CONFIRMED,
    avg_7: 60.5,
    avg_30: 59.99,
    low: 41,
    high: null,
  }

  beforeAll(() =>
    setEvidence(node, char(), {
      state: 'disputed',
      confidence: 'low',
      flags: bitsOf(['own_averages', 'other_markets']),
      confirmedAtMs: Date.parse('2026-11-20T10:31:42Z'),
      avg7: 6_050,
      avg30: 5_999,
      low: 4_100,
    }),
  )

  test('adds the evidence of each price, in lists, searches and items', async () => {
    const paths = [`/items?market=source_a&search=charizard`, '/items/search?market=source_a&q=charizard', `/items/${items.char}`]
    for (const path of paths) {
      const { body } = await get<Item | Item[]>(`${path}${path.includes('?') ? '&' : '?'}with_stats=1`)
      const item = Array.isArray(body.data) ? body.data[0]! : body.data
      expect(item.prices[0], path).toEqual(STATS)
      // Nothing is known about this one except that a feed stated it.
      expect(item.prices[1], path).toMatchObject({
        label: 'PSA 10',
        state: 'trusted',
        confidence: expect.any(String) as string,
        confirmed_at: '2026-11-01T00:00:00Z',
        avg_7: null,
        low: null,
      })
    }
  })

  test('leaves other fields unchanged', async () => {
    const without = await get<Item>(`/items/${items.char}`)
    const { body } = await get<Item>(`/items/${items.char}?with_stats=1`)
    const stripped = body.data.prices.map(({ label, price, updated_at }) => ({ label, price, updated_at }))
    expect({ ...body.data, prices: stripped }).toEqual(without.body.data)
    expect(Object.keys(without.body.data.prices[0]!)).toEqual(['label', 'price', 'updated_at'])
  })

  test('returns the same to Starter with and without it, and rejects other values than 0 and 1', async () => {
    const starter = { key: node.keys.starter }
    const [with_, without] = [await get(`/items/${items.char}?with_stats=1`, starter), await get(`/items/${items.char}`, starter)]
    expect(with_.body).toEqual(without.body)
    expect(with_.headers.get('etag')).toBe(without.headers.get('etag'))
    const bad = await get(`/items/${items.char}?with_stats=maybe`)
    expect([bad.status, bad.body.error?.details?.[0]?.field]).toEqual([422, 'with_stats'])
  })

  test('has an entity tag that follows the evidence, on every node', async () => {
    const path = `/items/${items.char}?with_stats=1`
    const before = await get(path)
    const plain = await get(`/items/${items.char}`)
    const tag = before.headers.get('etag')!
    expect(tag).not.toBe(plain.headers.get('etag'))
    expect((await get(path, { headers: { 'if-none-match': tag } })).status).toBe(304)
    await setEvidence(node, char(), { state: 'stale', flags: bitsOf(['old']) })
    const seen = (each: TestNode) => get<Item>(path, { on: each, key: node.keys.professional })
    for (const each of [node, other]) {
      await until('the node shows the new state', async () => (await seen(each)).body.data.prices[0]!.state === 'stale')
      const after = await get<Item>(path, { on: each, key: node.keys.professional, headers: { 'if-none-match': tag } })
      expect(after.status).toBe(200)
      expect(after.body.data.prices[0]).toMatchObject({ state: 'stale', flags: ['old'], confirmed_at: '2026-11-01T00:00:00Z', avg_7: null })
    }
    expect((await seen(node)).headers.get('etag')).toBe((await seen(other)).headers.get('etag'))
    expect((await get(`/items/${items.char}`, { headers: { 'if-none-match': plain.headers.get('etag')! } })).status).toBe(304)
  })

  test('is loaded by a node that starts later', async () => {
    await setEvidence(node, char(), { state: 'disputed', avg30: 5_999, confirmedAtMs: Date.parse(CONFIRMED) })
    const loaded = await startTestNode({ databaseUrl: node.databaseUrl })
    const price = await nearMint('with_stats=1', loaded)
    await loaded.close()
    await setEvidence(node, char(), {})
    expect(price).toMatchObject({ state: 'disputed', avg_30: 59.99, low: null, confirmed_at: CONFIRMED })
  })
})

describe('an explanation', () => {
  const explain = (query = '', options: Parameters<typeof get>[1] = {}, id: number | string = items.char!) =>
    get<Explanation>(`/items/${id}/prices/explain${query}`, options)

  test("of a feed's price contains the statement that set it, the feed's figures and the other markets", async () => {
    await setEvidence(node, char(), {
      confidence: 'medium',
      flags: bitsOf(['no_rate']),
      avg7: 16_000,
      low: 15_000,
      line: 7,
      confirmedAtMs: Date.parse(CONFIRMED),
    })
    const { status, body } = await explain('?market=source_a&label=nm')
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      item_id: items.char,
      market: 'source_a',
      label: 'Near Mint',
      price: 168.56,
      currency: 'USD',
      state: 'trusted',
      confidence: 'medium',
      flags: ['no_rate'],
      rule: { name: 'latest_statement', version: 1 },
      judged_by: FLAGS.map((name) => ({ name, version: expect.any(Number) as number })),
      medians: { '7d': 168.56, '30d': 168.56, '90d': 168.56 },
    })
    const statement = body.data.inputs[0]!
    expect(statement).toMatchObject({ kind: 'statement', amount: 168.56, at: '2026-11-01T00:00:00.000Z', line: 7, used: true, reason: 'sets_price' })
    expect(statement.import_id).toEqual(expect.any(Number))
    expect(body.data.inputs.slice(1)).toMatchObject([
      { kind: 'confirmation', at: new Date(CONFIRMED).toISOString(), reason: 'confirms' },
      { kind: 'avg_7', amount: 160, used: true, reason: 'compared' },
      { kind: 'low', amount: 150, used: false, reason: 'not_compared' },
    ])
    await setEvidence(node, char(), {})
  })

  test('uses the market that the item shows and Near Mint by default', async () => {
    const { body } = await explain()
    const shown = await get<Item>(`/items/${items.char}`)
    expect(body.data).toMatchObject({ market: shown.body.data.market, label: 'Near Mint', price: shown.body.data.prices[0]!.price })
  })

  test('of a missing price is null, with the other markets', async () => {
    const { status, body } = await explain('?market=source_b')
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ price: null, currency: 'EUR', state: null, confidence: null, flags: [], rule: null, rates: [] })
    expect(body.data.inputs).toMatchObject([{ kind: 'market', market: 'source_a', amount: 168.56, used: false, reason: 'no_price' }])
    expect((await explain('?market=source_a&label=CGC%201.5')).body.data).toMatchObject({ label: 'CGC 1.5', price: null, inputs: [] })
  })

  test('compares other markets at dated rates, which it lists', async () => {
    await operator(node, 'POST', '/prices', [
      { item_id: items.char, market: 'source_b', label: 'Lightly Played', price: 80.5, updated_at: '2026-11-03T00:00:00Z' },
      { item_id: items.char, market: 'source_a', label: 'Lightly Played', price: 90.25, updated_at: '2026-11-02T00:00:00Z' },
    ])
    const without = await explain('?market=source_b&label=Lightly%20Played')
    expect(without.body.data.inputs.at(-1)).toMatchObject({ market: 'source_a', used: false, reason: 'no_rate' })
    await operator(node, 'POST', '/rates', [
      { day: '2026-11-01', currency: 'EUR', rate: 48.5 },
      { day: '2026-11-01', currency: 'USD', rate: 41.25 },
    ])
    await until('the node has the rates', async () => (await explain('?market=source_b&label=Lightly%20Played')).body.data.rates.length === 2)
    const { body } = await explain('?market=source_b&label=Lightly%20Played')
    expect(body.data.inputs.at(-1)).toMatchObject({
      kind: 'market',
      market: 'source_a',
      amount: 90.25,
      currency: 'USD',
      used: true,
      reason: 'compared',
      // 90.25 USD × 41.25 / 48.5; no usual ratio of these markets is known.
      comparison: { converted: 76.76, usual_ratio: 1, cards: 0, expected: 76.76, times_off: 8050 / 7676, level: 'agree' },
    })
    expect(body.data.rates).toEqual([
      { currency: 'USD', rate: 41.25, day: '2026-11-01' },
      { currency: 'EUR', rate: 48.5, day: '2026-11-01' },
    ])
    await operator(node, 'POST', '/prices', [
      { item_id: items.char, market: 'source_a', label: 'Heavily Played', price: 20, updated_at: '2026-02-01T00:00:00Z' },
      { item_id: items.char, market: 'source_b', label: 'Heavily Played', price: 21, updated_at: '2026-11-02T00:00:00Z' },
    ])
    const apart = await explain('?market=source_b&label=Heavily%20Played')
    expect(apart.body.data).toMatchObject({ rates: [], inputs: [{ kind: 'statement' }, { kind: 'market', used: false, reason: 'other_time' }] })
  })

  test('is sufficient to recompute the differences between markets, and the rule by which they conflict', { tags: 'slow' }, async () => {
    const ids: number[] = []
    for (let n = 0; n < 10; n += 1) ids.push(await newCard(`ratio:${n}`, 'Zigzagoon'))
    const at = '2026-11-05T00:00:00Z'
    // American prices are twice the European ones, except for one card.
    const posted = ids.flatMap((item_id, n) => [
      { item_id, market: 'source_c', label: 'Near Mint', price: n === 9 ? 400 : 20 + n / 10, updated_at: at },
      { item_id, market: 'source_b', label: 'Near Mint', price: 10 + n / 10, updated_at: at },
    ])
    await operator(node, 'POST', '/prices', posted)
    await judgeAllPrices(node.ctx)
    for (const [id, state] of [
      [ids[0]!, 'trusted'],
      [ids[9]!, 'disputed'],
    ] as const) {
      const { price, currency, inputs, rates, thresholds, findings, ...rest } = (await explain('?market=source_c', {}, id)).body.data
      const other = inputs.find(({ kind }) => kind === 'market')!
      const { comparison } = other
      const lira = (code: string) => rates.find((rate) => rate.currency === code)!.rate
      const converted = Math.round((other.amount * 100 * lira(other.currency)) / lira(currency)) / 100
      const expected = converted * comparison!.usual_ratio
      const off = Math.max(price! / expected, expected / price!)
      expect(comparison!.cards).toBe(10)
      expect(comparison!.usual_ratio).toBeGreaterThan(1.6)
      expect([comparison!.converted, comparison!.expected, comparison!.times_off]).toEqual(
        [converted, expected, off].map((v) => expect.closeTo(v, 6)),
      )
      const { noise, doubt_factor: doubt, market_factor: market, market_spreads: spreads } = thresholds!
      const isFar = Math.abs(price! - expected) >= noise && off >= doubt
      const level = !isFar ? 'agree' : off >= Math.max(market, comparison!.usual_spread ** spreads) ? 'conflict' : 'doubt'
      expect([comparison!.level, rest.state]).toEqual([level, state])
      const conflicts = findings.filter(({ rule }) => rule === 'other_markets')
      expect(conflicts.map(({ market: of, counts }) => [of, counts])).toEqual(state === 'disputed' ? [['source_b', true]] : [])
      if (conflicts[0]) expect(conflicts[0].compared).toBeCloseTo(expected, 1)
    }
    // A person's decision is shown next to the findings of the rules.
    await operator(node, 'POST', '/price-decisions', {
      decision: 'confirm',
      prices: [{ item_id: ids[9], market: 'source_c', label: 'Near Mint', price: 400 }],
    })
    const confirmed = (await explain('?market=source_c', {}, ids[9])).body.data
    expect(confirmed).toMatchObject({
      state: 'trusted',
      confirmed_by_person_at: expect.any(String),
      findings: [{ rule: 'other_markets', counts: true }],
    })
  })

  test("of the service's own price contains the sales of its median, without sellers", async () => {
    const listing = await published(node, items.luffy!, { price: 500, quantity: 50 })
    const prices = [501.01, 520.5, 499.99, 700]
    for (const [i, unit_price] of prices.entries()) {
      const sale = {
        order_id: 7_000 + i,
        lines: [{ listing_id: listing.id, quantity: 1, unit_price }],
        sold_at: new Date(node.clock.now().getTime() - (i + 1) * 60_000).toISOString(),
      }
      expect((await operator(node, 'POST', '/orders', sale)).status).toBe(201)
    }
    const { body } = await explain('?market=service', {}, items.luffy)
    expect(body.data).toMatchObject({ condition_known: true, summary: expect.any(String) })
    const { price, rule, inputs, currency } = body.data
    expect([price, currency, rule?.name]).toEqual([510.76, 'TRY', 'median_of_pairs'])
    expect(inputs.map(({ kind, amount, used, reason }) => [kind, amount, used, reason])).toEqual(
      prices.map((amount) => ['sale', amount, true, 'in_median']),
    )
    expect(new Set(Object.keys(inputs[0]!))).toEqual(
      new Set([
        'kind',
        'market',
        'amount',
        'currency',
        'at',
        'import_id',
        'line',
        'used',
        'condition_known',
        'reason',
        'pair',
        'weight',
        'comparison',
      ]),
    )
    expect(JSON.stringify(inputs)).not.toContain('seller')
    // Later, when the sales are too old to set a price, the remaining price is still explained by them.
    node.clock.advance(200 * 86_400_000)
    try {
      const later = await explain('?market=service', {}, items.luffy)
      expect(later.body.data.inputs.map(({ amount }) => amount)).toEqual(prices)
    } finally {
      node.clock.advance(-200 * 86_400_000)
    }
  })

  test("of the service's own price has the number of sales, which increases its confidence while the price stays", async () => {
    const itemId = await newCard('zubat', 'Zubat')
    const sellers = [node.accounts.plus, node.accounts.enterprise, node.accounts.professional]
    const listings = await Promise.all(sellers.map((seller_id) => published(node, itemId, { price: 500, quantity: 50, seller_id })))
    const seen: unknown[] = []
    for (const [i, unit_price] of [400, 600, 500, 500, 500, 500, 500, 500, 500, 500, 500].entries()) {
      const sold_at = new Date(node.clock.now().getTime() - (20 - i) * 60_000).toISOString()
      const order = {
        order_id: 7_100 + i,
        buyer_reference: `buyer ${i}`,
        lines: [{ listing_id: listings[i % 3]!.id, quantity: 1, unit_price }],
        sold_at,
      }
      expect((await operator(node, 'POST', '/orders', order)).status).toBe(201)
      const { price, samples, confidence, state } = (await explain('?market=service', {}, itemId)).body.data
      seen.push([price, samples, confidence])
      // Nodes return the same without the database.
      const { body } = await get<Item>(`/items/${itemId}?with_stats=1&market=service`)
      expect(body.data.prices).toMatchObject([{ price, state, confidence }])
    }
    expect(seen).toEqual([
      [400, 1, 'insufficient'],
      [500, 2, 'insufficient'],
      [500, 3, 'low'],
      ...[4, 5, 6, 7].map((samples) => [500, samples, 'medium']),
      ...[8, 9, 10, 10].map((samples) => [500, samples, 'high']),
    ])
    const points = await operator<{ price: number }[]>(node, 'GET', `/items/${itemId}/price-history?market=service`)
    expect(points.body.data.map(({ price }) => price)).toEqual([400, 500])
  })

  test('requires Professional, and rejects unknown items and prices', async () => {
    const of = ({ status, body }: Reply<Explanation>) => [status, body.error?.code]
    expect(of(await explain('', { key: node.keys.starter }))).toEqual([403, 'PLAN_UPGRADE_REQUIRED'])
    expect(of(await explain('', {}, 999_999))).toEqual([404, 'ITEM_NOT_FOUND'])
    const market = await explain('?market=source_x')
    expect([market.status, market.body.error?.message]).toEqual([422, 'market must be one of service, source_a, source_b, source_c'])
    const label = await explain('?label=Shiny')
    expect([label.status, label.body.error?.message]).toEqual([
      422,
      'label must be a condition, such as Near Mint, or a grader with a grade, such as PSA 10, not "Shiny"',
    ])
  })

  test('for operators contains held prices', async () => {
    const path = `${node.operatorUrl}/operator/v1/items/${items.box}/prices/explain?market=source_a`
    const before = await send<Explanation>(path, OPERATOR_TOKEN)
    expect(before.body.data).toMatchObject({ price: 0.3, held: [] })
    const far = new Date(node.clock.now().getTime() + 400 * 86_400_000).toISOString()
    await operator(node, 'POST', '/prices', [{ item_id: items.box, market: 'source_a', label: 'Near Mint', price: 0.31, updated_at: far }])
    const { body } = await send<Explanation>(path, OPERATOR_TOKEN)
    expect(body.data).toMatchObject({ price: 0.3, held: [{ price: 0.31, rule: 'future_date' }] })
    const { rule, inputs } = body.data
    expect((await explain('?market=source_a', {}, items.box)).body.data).toMatchObject({ rule, inputs })
    expect((await send(`${node.operatorUrl}/operator/v1/items/999999/prices/explain`, OPERATOR_TOKEN)).status).toBe(404)
  })
})

describe('derived figures', () => {
  interface Listed {
    id: number
    pc_multiplier: number | null
    explain: Record<'pc_multiplier' | 'average_price', { result: number | null; rule: { name: string }; inputs: Input[] }>
  }
  const found = async (query: string, on = node) => (await get<Listed[]>(`/plus/listings?${query}`, { on, key: node.keys.plus })).body.data

  test('pc_multiplier is null while the source_a price is not trusted, with the reason', async () => {
    const { id } = await published(node, items.char!, { price: 1_000, title: 'Evaluated' })
    const one = async (query: string, on = node) => (await found(`search=evaluated&${query}`, on))[0]
    expect((await one('with_pc=1&with_explain=1'))!).toMatchObject({
      id,
      pc_multiplier: 5.93,
      explain: {
        pc_multiplier: {
          result: 5.93,
          rule: { name: 'price_over_source_a', version: 1 },
          inputs: [
            { kind: 'listing', amount: 1_000, currency: 'TRY', used: true },
            { kind: 'market', market: 'source_a', amount: 168.56, currency: 'USD', state: 'trusted', used: true, reason: 'divisor' },
          ],
        },
        average_price: { result: null, rule: { name: 'mean_of_last_sales', version: 1 }, inputs: [] },
      },
    })
    expect(await found('search=evaluated&min_pc=1')).toHaveLength(1)
    const tag = (await get('/plus/listings?search=evaluated&with_explain=1', { key: node.keys.plus })).headers.get('etag')!
    for (const state of ['disputed', 'stale'] as const) {
      await setEvidence(node, char(), { state })
      for (const each of [node, other]) await until('the multiplier is gone', async () => (await one('with_pc=1', each))?.pc_multiplier === null)
      const { result, inputs } = (await one('with_explain=1'))!.explain.pc_multiplier
      expect([result, inputs[1]]).toMatchObject([null, { amount: 168.56, state, used: false, reason: 'not_trusted' }])
      expect(await found('search=evaluated&min_pc=1')).toEqual([])
    }
    const changed = await get('/plus/listings?search=evaluated&with_explain=1', { key: node.keys.plus, headers: { 'if-none-match': tag } })
    expect(changed.status).toBe(200)
    await setEvidence(node, char(), {})
    for (const each of [node, other]) await until('the multiplier is back', async () => (await one('with_pc=1', each))?.pc_multiplier === 5.93)
    const own = (await get<Listed[]>('/plus/my-listings?with_explain=1', { key: node.keys.plus })).body.data.find((row) => row.id === id)!
    expect(own.explain).toEqual((await one('with_explain=1'))!.explain)
    expect(own).not.toHaveProperty('pc_multiplier')
    expect((await get(`/plus/listings?with_explain=yes`, { key: node.keys.plus })).status).toBe(422)
    expect((await get(`/plus/listings?with_explain=1`)).status).toBe(403)
  })

  test('average_price is the mean of the sales in its explanation', async () => {
    const listing = await published(node, items.pika!, { price: 100, title: 'Averaged', quantity: 9 })
    for (const [i, unit_price] of [100.01, 100.02, 250].entries())
      await operator(node, 'POST', '/orders', { order_id: 8_000 + i, lines: [{ listing_id: listing.id, quantity: 1, unit_price }] })
    const [one] = await found('search=averaged&with_explain=1')
    const { result, inputs } = one!.explain.average_price
    expect(inputs.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['sale', 250],
      ['sale', 100.02],
      ['sale', 100.01],
    ])
    expect(result).toBe(150.01)
  })

  test('the worth of a collection excludes untrusted prices, and counts those records', async () => {
    const { body } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Evaluated' })
    const add = (json: object) => send(`${node.publicUrl}/api/v1/plus/collections/${body.data.id}/items`, node.keys.plus, { json })
    await add({ item_id: items.char, item_group_type_id: grades['PSA 10'], quantity: 2 })
    await add({ item_id: items.box })
    interface Worth {
      id: number
      worth: { currencies: { currency: string; value: number }[]; without_price: number; without_trusted_price: number }
    }
    const worth = async () =>
      (await get<Worth[]>('/plus/collections?with_value=1', { key: node.keys.plus })).body.data.find(({ id }) => id === body.data.id)!.worth
    const records = async () =>
      (
        await get<{ value: object | null; value_missing: string | null }[]>(`/plus/collections/${body.data.id}/items?with_value=1`, {
          key: node.keys.plus,
        })
      ).body.data
    expect(await worth()).toMatchObject({ currencies: [{ currency: 'USD', value: 6_000.3 }], without_price: 0, without_trusted_price: 0 })
    await setEvidence(node, char('source_a', 'PSA 10'), { state: 'disputed' })
    expect(await worth()).toMatchObject({ currencies: [{ currency: 'USD', value: 0.3 }], without_price: 0, without_trusted_price: 1 })
    expect(await records()).toMatchObject([
      { value: { price: 0.3 }, value_missing: null },
      { value: null, value_missing: 'not_trusted' },
    ])
    await setEvidence(node, char('source_a', 'PSA 10'), {})
    expect(await worth()).toMatchObject({ without_trusted_price: 0 })
  })
})
