// Decisions about prices under review, over the operator API: the data shown, the effect of each decision, undo, and races.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import type { PriceDecision } from '#prices/reviews/price-decisions.ts'
import type { PriceReview, ReviewCount } from '#prices/reviews/review-schemas.ts'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let category: number

beforeAll(async () => {
  node = await startTestNode({ env: { PRICE_MARKET_FACTOR: '3' } })
  category = (await operator<{ id: number }>('/categories', { json: { name: 'Set', game: 'pokemon', market: 'source_c' } })).body.data.id
  const rates = { USD: 40, EUR: 50 }
  await operator('/rates', { json: Object.entries(rates).map(([currency, TRY]) => ({ day: '2026-10-01', currency, TRY })) })
})
afterAll(() => node.close())

const operator = <T = unknown>(path: string, sending: Parameters<typeof send>[2] = {}): Promise<Reply<T>> =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, sending)
const decide = (json: object) => operator<PriceDecision>('/price-decisions', { json })
const undo = (id: number) => operator<PriceDecision>(`/price-decisions/${id}/undo`, { method: 'POST' })
const reviews = async (query: string) => (await operator<PriceReview[]>(`/price-reviews?${query}`)).body.data
const counted = async (query: string) => (await operator<ReviewCount>(`/price-reviews/count?${query}`)).body.data

let count = 0
async function item(fields: object = {}): Promise<number> {
  count += 1
  const json = { name: `Card ${count}`, ref: `card:${count}`, code: String(count), market: 'source_c', category_id: category, ...fields }
  return (await operator<{ id: number }>('/items', { json })).body.data.id
}

const DAYS = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z', '2026-11-04T00:00:00Z'] as const

async function post(item_id: number, price: number, day: number, fields: object = {}) {
  const row = { item_id, market: 'source_c', label: 'Near Mint', price, updated_at: DAYS[day], ...fields }
  return (await operator<{ import_id: number; accepted: number; unchanged: number; held: number }>('/prices', { json: [row] })).body.data
}

/** What all clients see of a market's Near Mint price. */
async function shown(id: number, market = 'source_c'): Promise<number | undefined> {
  const { body } = await send<{ prices: { label: string; price: number }[] }>(
    `${node.publicUrl}/api/v1/items/${id}?market=${market}`,
    node.keys.starter,
  )
  return body.success ? body.data.prices.find((price) => price.label === 'Near Mint')?.price : undefined
}

/** Points of the history and held prices, to compare before with after. */
async function everything(id: number) {
  const points = await operator<object[]>(`/items/${id}/price-history`)
  const held = await Promise.all(['open', 'accepted', 'discarded'].map((state) => operator<object[]>(`/held-prices?item_id=${id}&state=${state}`)))
  const { rows } = await node.db.pool.query('select * from prices where item_id = $1 order by market, label_id', [id])
  return { points: points.body.data, held: held.map(({ body }) => body.data), current: rows }
}

/** An item with a held source_c price that jumped. */
async function held(): Promise<{ id: number; heldId: number }> {
  const id = await item()
  await post(id, 10, 0)
  await post(id, 100, 1)
  const [review] = await reviews(`item_id=${id}&state=held`)
  return { id, heldId: review!.prices[0]!.held_id! }
}

/** An item with contradicting prices of two sources. */
async function disputed(): Promise<number> {
  const id = await item()
  await post(id, 90, 0)
  await post(id, 100, 1)
  await post(id, 10, 1, { market: 'source_b' })
  return id
}

describe('prices in question', () => {
  test('a held price is listed with the published one and its item', async () => {
    const id = await item()
    const { import_id: first } = await post(id, 10, 0)
    const { import_id: second } = await post(id, 100, 1)
    const [review, ...others] = await reviews(`item_id=${id}`)
    expect(others).toEqual([])
    expect(review).toMatchObject({
      item: { id, name: `Card ${count}`, code: String(count), category: { id: category, name: 'Set' }, images: [] },
      state: 'held',
      cause: 'jump',
      markets: ['source_c'],
      labels: ['Near Mint'],
      times_off: 10,
      value: 4000,
    })
    expect(review!.prices).toMatchObject([
      { price: 100, currency: 'USD', state: 'held', rule: 'jump', compared_price: 10, import_id: second, confirmed_at: null },
      { price: 10, currency: 'USD', state: 'trusted', held_id: null, rule: null, import_id: first },
    ])
  })

  test('a dispute shows both sides', async () => {
    const id = await disputed()
    const [review, ...others] = await reviews(`item_id=${id}`)
    expect(others).toEqual([])
    expect(review).toMatchObject({ state: 'disputed', cause: 'other_markets', markets: ['source_b', 'source_c'], times_off: 8, value: 4000 })
    expect(review!.prices.map(({ market, price, state }) => [market, price, state])).toEqual([
      ['source_b', 10, 'disputed'],
      ['source_c', 100, 'disputed'],
    ])
    expect(await reviews(`item_id=${id}&market=source_b&cause=other_markets&label=nm&game=pokemon&category_id=${category}`)).toEqual([review])
    for (const none of ['market=source_a', 'cause=jump', 'label=PSA 10', 'game=onepiece', 'state=stale', 'import_id=1']) {
      expect(await reviews(`item_id=${id}&${none}`)).toEqual([])
    }
  })

  test('are counted by state', async () => {
    const id = await item()
    await post(id, 90, 0)
    await post(id, 100, 1)
    // A disputed price does not cause another one to be held.
    await post(id, 1000, 2)
    await post(id, 20, 1, { market: 'source_b' })
    expect(await counted(`item_id=${id}`)).toEqual({ held: 1, disputed: 2, stale: 0, prices: 3 })
    expect(await counted(`item_id=${id}&market=source_b`)).toEqual({ held: 0, disputed: 1, stale: 0, prices: 1 })
  })

  test('a filter by market and label finds a price that matches both', async () => {
    const { id } = await held()
    await post(id, 20, 0, { market: 'source_b', label: 'PSA 10' })
    await post(id, 200, 1, { market: 'source_b', label: 'PSA 10' })
    const [review, ...others] = await reviews(`item_id=${id}&market=source_c&label=Near Mint`)
    expect(others).toEqual([])
    expect(review).toMatchObject({ markets: ['source_b', 'source_c'], labels: ['Near Mint', 'PSA 10'], cause: 'jump' })
    expect(await reviews(`item_id=${id}&market=source_b&label=PSA 10`)).toEqual([review])
    expect(await counted(`item_id=${id}&market=source_b&label=PSA 10`)).toEqual({ held: 1, disputed: 0, stale: 0, prices: 1 })
    expect(await reviews(`item_id=${id}&market=source_c&label=PSA 10`)).toEqual([])
    expect(await counted(`item_id=${id}&market=source_c&label=PSA 10`)).toEqual({ held: 0, disputed: 0, stale: 0, prices: 0 })
  })

  test('are found for every author, with the current figures', async () => {
    const id = await disputed()
    const [before] = await reviews(`item_id=${id}`)
    const write = (statement: string) => node.db.pool.query(`${statement} where item_id = $1`, [id])
    await write('update prices set state = 2')
    expect(await reviews(`item_id=${id}`)).toEqual([])
    expect(await reviews(`item_id=${id}&state=stale`)).toMatchObject([{ state: 'stale', times_off: before!.times_off, value: before!.value }])
    expect(await counted(`item_id=${id}`)).toEqual({ held: 0, disputed: 0, stale: 2, prices: 2 })
    await write('update prices set state = 1')
    expect(await reviews(`item_id=${id}`)).toEqual([before])
    await write('update prices set state = 0, price = price * case market when 3 then 2 else 1 end')
    await write('update prices set state = case market when 3 then 0 else 1 end')
    const [after] = await reviews(`item_id=${id}`)
    expect(after).toMatchObject({ markets: ['source_b'], times_off: before!.times_off! * 2, value: before!.value! * 2 })
    await write('delete from prices')
    expect(await reviews(`item_id=${id}`)).toEqual([])
  })

  test('are ranked by current rates, and again after all prices were evaluated', { tags: 'slow' }, async () => {
    const [inEuro, inDollar] = [await disputed(), await item()]
    await post(inEuro, 9_000, 2, { market: 'source_b' })
    await post(inDollar, 10_500, 0)
    await post(inDollar, 1_000, 0, { market: 'source_b' })
    const ranked = async () => {
      const found = await reviews('sort_by=value&per_page=100')
      return found.filter((review) => [inEuro, inDollar].includes(review.item.id)).map((review) => review.item.id)
    }
    expect(await ranked()).toEqual([inEuro, inDollar])
    const rate = (EUR: number) => operator('/rates', { json: [{ day: '2026-10-02', currency: 'EUR', TRY: EUR }] })
    await rate(42)
    expect(await ranked()).toEqual([inDollar, inEuro])
    await judgeAllPrices({ ...node.ctx, rules: { ...node.config.priceRules, only: [] } })
    expect(await ranked()).toEqual([inDollar, inEuro])
    await rate(50)
    expect(await ranked()).toEqual([inEuro, inDollar])
  })

  test('are sorted by deviation or by value, in pages', async () => {
    const all = await reviews('per_page=100')
    const distances = all.map((review) => review.times_off ?? 0)
    expect(distances).toEqual(distances.toSorted((a, b) => b - a))
    const values = (await reviews('sort_by=value&per_page=100')).map((review) => review.value ?? 0)
    expect(values).toEqual(values.toSorted((a, b) => b - a))
    const second = await operator<PriceReview[]>('/price-reviews?per_page=1&page=2')
    expect([second.body.data, second.body.pagination!.total]).toEqual([[all[1]], all.length])
  })
})

describe('decisions', () => {
  test('accepting publishes and confirms a held price; undoing holds it again', async () => {
    const { id, heldId } = await held()
    const before = await everything(id)
    const decided = await decide({ decision: 'accept', held_ids: [heldId] })
    expect(decided.body.data).toMatchObject({
      decision: 'accept',
      prices: 1,
      items: 1,
      item: { id, name: `Card ${count}` },
      filter: null,
      undone_at: null,
      kept: {},
    })
    expect(decided.body.message).toBe('Decision made')
    expect([await shown(id), await reviews(`item_id=${id}`)]).toEqual([100, []])
    const undone = await undo(decided.body.data.id)
    expect(undone.body.message).toBe('Decision undone')
    expect([await shown(id), await everything(id)]).toEqual([10, before])
  })

  test('discarding drops a held price, and undoing makes it pending again', async () => {
    const { id, heldId } = await held()
    const before = await everything(id)
    const { body } = await decide({ decision: 'discard', held_ids: [heldId] })
    expect([await shown(id), await reviews(`item_id=${id}`)]).toEqual([10, []])
    await undo(body.data.id)
    expect(await everything(id)).toEqual(before)
  })

  test('a confirmed price is trusted until its feed states another amount', async () => {
    const id = await disputed()
    const before = await everything(id)
    const { body } = await decide({ decision: 'confirm', prices: [{ item_id: id, market: 'source_c', label: 'Near Mint', price: 100 }] })
    const side = async () => (await reviews(`item_id=${id}`)).flatMap((review) => review.prices.map(({ market, state }) => [market, state]))
    expect(await side()).toEqual([
      ['source_b', 'disputed'],
      ['source_c', 'trusted'],
    ])
    await post(id, 100, 2)
    expect((await side())[1]).toEqual(['source_c', 'trusted'])
    await undo(body.data.id)
    expect(await everything(id)).toEqual(before)
  })

  test('a withdrawn price is replaced by the previous one, and is not published again', async () => {
    const id = await disputed()
    const before = await everything(id)
    const { body } = await decide({ decision: 'withdraw', prices: [{ item_id: id, market: 'source_c', label: 'NM', price: 100 }] })
    expect(await shown(id)).toBe(90)
    expect((await operator<object[]>(`/held-prices?item_id=${id}&state=discarded&rule=withdrawn`)).body.data).toMatchObject([
      { price: 100, reason: 'withdrawn by operator:bootstrap', decided_by: 'operator:bootstrap' },
    ])
    expect(await post(id, 100, 2)).toMatchObject({ accepted: 0, unchanged: 1, held: 0 })
    expect(await shown(id)).toBe(90)
    await undo(body.data.id)
    expect([await shown(id), await everything(id)]).toEqual([100, before])
    const again = await decide({ decision: 'withdraw', prices: [{ item_id: id, market: 'source_c', label: 'NM', price: 100 }] })
    expect(again.body.data.kept).toEqual({})
    expect(await post(id, 95, 2)).toMatchObject({ accepted: 1 })
    expect(await post(id, 100, 3)).toMatchObject({ accepted: 1 })
    expect(await shown(id)).toBe(100)
  })

  test('the only price of a label is withdrawn and restored', async () => {
    const id = await item()
    await post(id, 5550, 0, { market: 'source_b' })
    const before = await everything(id)
    const { body } = await decide({ decision: 'withdraw', prices: [{ item_id: id, market: 'source_b', label: 'Near Mint', price: 5550 }] })
    expect(await shown(id, 'source_b')).toBeUndefined()
    await undo(body.data.id)
    expect([await shown(id, 'source_b'), await everything(id)]).toEqual([5550, before])
  })

  test('all matches of a filter are decided at once, if their number is as expected', async () => {
    const ids = [await held(), await held(), await held()].map(({ id }) => id)
    const category = (await operator<{ id: number }>('/categories', { json: { name: 'Other set', game: 'pokemon', market: 'source_c' } })).body.data
      .id
    for (const id of ids) await operator(`/items/${id}`, { method: 'PATCH', json: { category_id: category } })
    const filter = { state: 'held', cause: 'jump', category_id: category }
    const { prices: expected } = await counted(new URLSearchParams(filter as never).toString())
    expect(expected).toBe(3)
    const refused = await decide({ decision: 'accept', filter, expected: 2 })
    expect(refused.body.error).toMatchObject({
      code: 'CONFLICT',
      message: 'The filter finds 3 prices, not 2; look at them and decide again',
      params: { count: 3, expected: 2 },
    })
    const { body } = await decide({ decision: 'accept', filter, expected })
    expect(body.data).toMatchObject({ prices: 3, items: 3, filter })
    expect(await Promise.all(ids.map((id) => shown(id)))).toEqual([100, 100, 100])
    expect((await undo(body.data.id)).body.data.kept).toEqual({})
    expect(await Promise.all(ids.map((id) => shown(id)))).toEqual([10, 10, 10])
  })

  test('one side of every dispute is withdrawn by a filter', async () => {
    const [one, two] = [await disputed(), await disputed()]
    const ask = `state=disputed&market=source_b&item_id=`
    expect([(await counted(ask + one)).prices, (await counted(ask + two)).prices]).toEqual([1, 1])
    for (const id of [one, two]) {
      const { status } = await decide({ decision: 'withdraw', filter: { state: 'disputed', market: 'source_b', item_id: id }, expected: 1 })
      expect(status).toBe(200)
    }
    expect([await shown(one, 'source_b'), await shown(two), await shown(two, 'source_b')]).toEqual([undefined, 100, undefined])
  })

  test('are listed, newest first, and audited', async () => {
    const { heldId } = await held()
    const { body } = await decide({ decision: 'discard', held_ids: [heldId] })
    await undo(body.data.id)
    const { body: listed } = await operator<PriceDecision[]>('/price-decisions?decision=discard&state=undone&per_page=1')
    expect(listed.data).toMatchObject([{ id: body.data.id, author: 'operator:bootstrap', undone_by: 'operator:bootstrap' }])
    expect((await operator<PriceDecision[]>('/price-decisions?state=in_effect&per_page=100')).body.data.map(({ id }) => id)).not.toContain(
      body.data.id,
    )
    const audit = await operator<{ action: string }[]>(`/audit?subject_type=price-decision&subject_id=${body.data.id}`)
    expect(audit.body.data.map(({ action }) => action)).toEqual(['price-decision.undo', 'price-decision.discard'])
  })
})

describe('later changes', () => {
  test('a newer price stays when an earlier decision is undone', async () => {
    const { id, heldId } = await held()
    const { body } = await decide({ decision: 'accept', held_ids: [heldId] })
    await post(id, 110, 2)
    const undone = await undo(body.data.id)
    expect(undone.body.data.kept).toEqual({ newer_price: 1 })
    expect(undone.body.message).toBe('Decision undone')
    expect(await shown(id)).toBe(110)
  })

  test('decisions about one price are undone starting with the last one', async () => {
    const id = await disputed()
    const before = await everything(id)
    const named = { prices: [{ item_id: id, market: 'source_c', label: 'Near Mint', price: 100 }] }
    const confirmed = await decide({ decision: 'confirm', ...named })
    const withdrawn = await decide({ decision: 'withdraw', ...named })
    expect((await undo(confirmed.body.data.id)).body.data.kept).toEqual({ newer_price: 1 })
    expect((await undo(withdrawn.body.data.id)).body.data.kept).toEqual({})
    expect((await everything(id)).points).toEqual(before.points)
  })

  test('a held price of a reverted import does not become pending again', async () => {
    const { id, heldId } = await held()
    const { body } = await decide({ decision: 'accept', held_ids: [heldId] })
    const imports = await operator<{ import_id: number }[]>(`/held-prices?item_id=${id}&state=accepted`)
    await operator(`/imports/${imports.body.data[0]!.import_id}/revert`, { method: 'POST' })
    expect((await undo(body.data.id)).body.data.kept).toEqual({ reverted_import: 1 })
    expect([await shown(id), await reviews(`item_id=${id}`)]).toEqual([10, []])
  })

  test('a price of a merged item stays with the merged item', async () => {
    const [into, { id, heldId }] = [await item(), await held()]
    const { body } = await decide({ decision: 'accept', held_ids: [heldId] })
    await operator(`/items/${id}/merge`, { json: { into } })
    expect((await undo(body.data.id)).body.data.kept).toEqual({ merged_item: 1 })
    expect(await shown(into)).toBe(100)
  })
})

describe('races', () => {
  test('of two operators who decide about the same prices, one succeeds', async () => {
    const { id, heldId } = await held()
    const both = await Promise.all(['accept', 'discard'].map((decision) => decide({ decision, held_ids: [heldId] })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(both.find(({ status }) => status === 409)!.body.error!.message).toBe(
      '1 of these prices changed since you saw them; look at them and decide again',
    )
    expect(await reviews(`item_id=${id}`)).toEqual([])
  })

  test('of two people who confirm and withdraw the same price, one succeeds', async () => {
    const id = await disputed()
    const prices = [{ item_id: id, market: 'source_c', label: 'Near Mint', price: 100 }]
    const both = await Promise.all([decide({ decision: 'withdraw', prices }), decide({ decision: 'withdraw', prices })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('a decision is undone once', async () => {
    const { heldId } = await held()
    const { body } = await decide({ decision: 'accept', held_ids: [heldId] })
    const both = await Promise.all([undo(body.data.id), undo(body.data.id)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(both.find(({ status }) => status === 409)!.body.error!.message).toBe(`Decision ${body.data.id} is already undone, by operator:bootstrap`)
  })

  test('a decision is rejected if a feed changed the price since it was read', async () => {
    const id = await disputed()
    const prices = [
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 100 },
      { item_id: id, market: 'source_b', label: 'Near Mint', price: 10 },
    ]
    await post(id, 101, 2)
    expect((await decide({ decision: 'withdraw', prices })).body.error).toMatchObject({ code: 'CONFLICT', params: { count: 1 } })
    expect([await shown(id), await shown(id, 'source_b')]).toEqual([101, 10])
  })

  test('concurrent decisions and imports leave history and current price consistent', async () => {
    const id = await disputed()
    const prices = [{ item_id: id, market: 'source_c', label: 'Near Mint', price: 100 }]
    await Promise.all([decide({ decision: 'withdraw', prices }), post(id, 102, 2), decide({ decision: 'confirm', prices }), post(id, 103, 3)])
    const { points } = await everything(id)
    const newest = (points as { market: string; price: number }[]).filter(({ market }) => market === 'source_c').at(-1)!
    expect([newest.price, await shown(id)]).toEqual([103, 103])
  })
})

describe('rejected', () => {
  const details = async (json: object) => (await decide(json)).body.error!.details!.map(({ field, rule }) => [field, rule])
  const named = { item_id: 1, market: 'source_c', label: 'Near Mint', price: 1 }

  test('invalid fields are named', async () => {
    expect(await details({ decision: 'approve', held_ids: [1] })).toEqual([['decision', 'one_of']])
    expect(await details({ decision: 'accept' })).toEqual([['held_ids', 'exactly_one']])
    expect(await details({ decision: 'accept', held_ids: [] })).toEqual([['held_ids', 'list']])
    expect(await details({ decision: 'accept', prices: [named] })).toEqual([['prices', 'not_decidable']])
    expect(await details({ decision: 'confirm', held_ids: [1] })).toEqual([['held_ids', 'not_decidable']])
    expect(await details({ decision: 'confirm', prices: [{ ...named, market: 'service' }] })).toEqual([['prices.0.market', 'one_of']])
    expect(await details({ decision: 'confirm', filter: { market: 'source_a' }, expected: 1 })).toEqual([['filter.state', 'one_of']])
    expect(await details({ decision: 'confirm', filter: { state: 'held' }, expected: 1 })).toEqual([['filter.state', 'one_of']])
    expect(await details({ decision: 'accept', filter: { state: 'disputed' }, expected: 1 })).toEqual([['filter.state', 'one_of']])
    expect(await details({ decision: 'accept', filter: { state: 'held' } })).toEqual([['expected', 'required']])
    expect(await details({ decision: 'accept', filter: { state: 'held', colour: 'red' }, expected: 1 })).toEqual([['filter.colour', 'unknown_field']])
  })

  test('prices that do not exist count as changed', async () => {
    for (const json of [
      { decision: 'accept', held_ids: [999_999] },
      { decision: 'confirm', prices: [{ ...named, item_id: 999_999 }] },
      { decision: 'withdraw', prices: [{ ...named, price: 1e300 }] },
      { decision: 'withdraw', prices: [{ ...named, label: 'Nobody 11' }] },
    ]) {
      expect((await decide(json)).body.error!.code).toBe('CONFLICT')
    }
    expect((await decide({ decision: 'discard', filter: { state: 'held', item_id: 999_999 }, expected: 1 })).status).toBe(409)
  })

  test('lists and undo report invalid input', async () => {
    expect((await operator('/price-reviews?state=open')).body.error!.details![0]!.field).toBe('state')
    expect((await operator('/price-reviews?cause=no_rate')).body.error!.details![0]!.field).toBe('cause')
    expect((await operator('/price-reviews/count?item_id=0')).status).toBe(422)
    expect((await undo(999_999)).status).toBe(404)
    expect((await operator('/price-decisions/99999999999999999999/undo', { method: 'POST' })).status).toBe(404)
  })
})
