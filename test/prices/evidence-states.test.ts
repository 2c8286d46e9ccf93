// States of prices over the operator API and imports: how a new price affects others, and how others affect it.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createItem } from '#catalogue/items/create-item.ts'
import { call } from '#core/verb.ts'
import { MARKETS } from '#core/markets.ts'
import { flagsOf, STATES } from '#prices/evidence/evidence-types.ts'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import type { PriceReview } from '#prices/reviews/review-schemas.ts'
import type { PriceSource } from '#prices/reviews/list-sources.ts'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let category: number
let items = 0

beforeAll(async () => {
  node = await startTestNode({ env: { PRICE_FEED_PRICES: '1' }, listeners: 'operator' })
  category = (await operator<{ id: number }>('/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })).id
  await operator('/rates', [
    { day: '2026-01-01', currency: 'USD', TRY: 40 },
    { day: '2026-01-01', currency: 'EUR', TRY: 40 },
  ])
})
afterAll(() => node.close())
beforeEach(() => {
  items += 1
})

async function operator<T = unknown>(path: string, json?: unknown, method?: string): Promise<T> {
  const reply = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, {
    ...(json !== undefined && { json }),
    ...(method && { method }),
  })
  if (!reply.body.success) throw new Error(JSON.stringify(reply.body.error))
  return reply.body.data
}

async function newItem(foreignIds: { source: string; id: string }[] = [], set = category): Promise<{ id: number; ref: string }> {
  items += 1
  const ref = `test:${items}`
  const body = { name: `Card ${items}`, ref, market: 'source_c' as const, category_id: set, foreign_ids: foreignIds }
  return { id: (await call(createItem, node.ctx, body)).id, ref }
}

const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(node.clock.now().getTime() - days * DAY_MS).toISOString()

interface Posted {
  import_id: number
  accepted: number
  unchanged: number
  held: number
}

const post = (item: number, market: string, price: number, at = daysAgo(0), label = 'Near Mint') =>
  operator<Posted>('/prices', [{ item_id: item, market, label, price, updated_at: at }])

/** The prices of an item as stored in the table. */
async function pricesOf(id: number) {
  const { rows } = await sql<{
    market: number
    price: string
    state: number
    flags: number
    confirmed_at: Date | null
    line: number | null
    avg_7: string | null
  }>`
    select market, price, state, flags, confirmed_at, line, avg_7 from prices where item_id = ${id} order by market, label_id`.execute(node.db.kysely)
  return rows.map(({ market, price, state, flags, ...more }) => {
    return { market: MARKETS[market]!, price: Number(price), state: STATES[state]!, flags: flagsOf(flags), ...more }
  })
}

const statesOf = async (id: number) => Object.fromEntries((await pricesOf(id)).map(({ market, state }) => [market, state]))

/** A digest of the tables that imports write. */
async function digest(): Promise<string> {
  const tables = ['prices', 'price_points', 'hidden_points', 'held_prices', 'usual_ratios', 'price_feeds', 'change_log']
  const { rows } = await sql<{ digest: string }>`
    select ${sql.raw(tables.map((table) => `md5((select coalesce(string_agg(t::text, E'\\n' order by t::text), '') from ${table} t))`).join(' || '))} as digest`.execute(
    node.db.kysely,
  )
  return rows[0]!.digest
}

async function settledOf(id: number) {
  const { rows } = await sql<{ after: object }>`
    select after from audit_log where action = 'price.settled' and subject_id = ${String(id)} order by id`.execute(node.db.kysely)
  return rows.map((row) => row.after)
}

/** Lines of the Cardmarket price guide. */
function guide(createdAt: string, products: object[]): string {
  return JSON.stringify({ version: 1, createdAt, priceGuides: products })
}

test('the first price is trusted, a conflict disputes both sides, and a third source settles it with an audit row', async () => {
  const { id } = await newItem()
  await post(id, 'source_b', 100)
  expect(await pricesOf(id)).toMatchObject([{ market: 'source_b', state: 'trusted', flags: [], line: 0 }])
  expect(await post(id, 'source_c', 10)).toMatchObject({ accepted: 1, held: 0 })
  expect(await pricesOf(id)).toMatchObject([
    { market: 'source_b', state: 'disputed', flags: ['other_markets'] },
    { market: 'source_c', state: 'disputed', flags: ['other_markets'] },
  ])
  expect(await settledOf(id)).toEqual([])
  await post(id, 'source_a', 11)
  expect(await statesOf(id)).toEqual({ source_a: 'trusted', source_b: 'disputed', source_c: 'trusted' })
  expect(await settledOf(id)).toEqual([{ market: 'source_c', label: 'Near Mint', state: 'trusted' }])
})

test('a repeated price is confirmed: no new point, counted as unchanged, never dated back', async () => {
  const { id } = await newItem()
  await post(id, 'source_c', 12, daysAgo(5))
  const second = await post(id, 'source_c', 12, daysAgo(2))
  expect(second).toMatchObject({ accepted: 0, unchanged: 1 })
  const confirmed = (await pricesOf(id))[0]!.confirmed_at!
  expect(confirmed.getTime()).toBeGreaterThan(node.clock.now().getTime() - 3 * DAY_MS)
  const before = await digest()
  await post(id, 'source_c', 12, daysAgo(4))
  expect(await digest()).toBe(before)
  const { rows } = await sql`select from price_points where item_id = ${id}`.execute(node.db.kysely)
  expect(rows).toHaveLength(1)
})

test('another price between two statements of the current one interrupts it', async () => {
  const { id } = await newItem()
  const [first, between, last] = [daysAgo(9), daysAgo(6), daysAgo(3)]
  await post(id, 'source_c', 12, first)
  await post(id, 'source_c', 12, last)
  const { import_id: batch } = await post(id, 'source_c', 14, between)
  const points = async () =>
    (
      await sql<{ price: string; at: Date }>`select price, updated_at as at from price_points where item_id = ${id} order by updated_at`.execute(
        node.db.kysely,
      )
    ).rows.map(({ price, at }) => [Number(price), at.toISOString()])
  expect(await points()).toEqual([
    [12, first],
    [14, between],
    [12, last],
  ])
  expect(await pricesOf(id)).toMatchObject([{ price: 12 }])
  await operator(`/imports/${batch}/revert`, undefined, 'POST')
  expect(await points()).toEqual([[12, first]])
})

test('figures are stored, updated with a confirmation, and the same file again writes nothing', async () => {
  const { id } = await newItem([{ source: 'cardmarket', id: '9001' }])
  const product = { idProduct: 9001, trend: 10, avg1: 11, avg7: 10.5, avg30: 9.9, low: 7 }
  const file = guide(daysAgo(3), [product])
  const newer = guide(daysAgo(2), [{ ...product, avg7: 10.75 }])
  expect(await importText(node, 'cardmarket-price-guide', file)).toMatchObject({ counts: { accepted: 1 } })
  expect(await pricesOf(id)).toMatchObject([{ price: 10, avg_7: '10.50', line: 1, confirmed_at: null }])
  expect(await importText(node, 'cardmarket-price-guide', newer)).toMatchObject({ counts: { accepted: 0, unchanged: 1 } })
  const [confirmed] = await pricesOf(id)
  expect(confirmed).toMatchObject({ price: 10, avg_7: '10.75' })
  expect(confirmed!.confirmed_at).not.toBeNull()
  const before = await digest()
  await importText(node, 'cardmarket-price-guide', newer)
  await importText(node, 'cardmarket-price-guide', file)
  expect(await digest()).toBe(before)
})

test('identical figures on two items dispute both, until one of them changes', async () => {
  const [one, other] = [await newItem([{ source: 'cardmarket', id: '9101' }]), await newItem([{ source: 'cardmarket', id: '9102' }])]
  const figures = { trend: 20, avg1: 20.5, avg7: 19.9, avg30: 20.1, low: 15 }
  const both = [9101, 9102].map((idProduct) => ({ idProduct, ...figures }))
  await importText(node, 'cardmarket-price-guide', guide(daysAgo(3), both))
  for (const { id } of [one, other]) expect(await pricesOf(id)).toMatchObject([{ state: 'disputed', flags: ['identical_figures'] }])
  const namedIn = async (id: number) => (await operator<PriceReview[]>(`/price-reviews?item_id=${id}`))[0]!.prices.map((price) => price.identical_to)
  expect(await namedIn(one.id)).toMatchObject([[{ id: other.id }]])
  expect(await namedIn(other.id)).toMatchObject([[{ id: one.id }]])
  await importText(node, 'cardmarket-price-guide', guide(daysAgo(1), [both[0]!, { ...both[1]!, trend: 22, avg7: 22 }]))
  for (const { id } of [one, other]) expect(await pricesOf(id)).toMatchObject([{ state: 'trusted', flags: [] }])
  expect(await settledOf(one.id)).toHaveLength(1)
})

test('of two items with identical figures, the one that another market agrees with closely is trusted; the other decides nothing', async () => {
  const [one, other] = [await newItem([{ source: 'cardmarket', id: '9111' }]), await newItem([{ source: 'cardmarket', id: '9112' }])]
  const figures = { trend: 30, avg1: 30.5, avg7: 29.9, avg30: 30.1, low: 25 }
  const both = [9111, 9112].map((idProduct) => ({ idProduct, ...figures }))
  await post(one.id, 'source_c', 31)
  await importText(node, 'cardmarket-price-guide', guide(daysAgo(2), both))
  expect(await statesOf(one.id)).toEqual({ source_b: 'trusted', source_c: 'trusted' })
  expect(await statesOf(other.id)).toEqual({ source_b: 'disputed' })
  // It may be another item's price, so its conflict disputes both sides.
  await post(other.id, 'source_c', 130)
  expect(await statesOf(other.id)).toEqual({ source_b: 'disputed', source_c: 'disputed' })
  // Its own lowest offer denies it.
  await post(other.id, 'source_c', 4)
  await importText(node, 'cardmarket-price-guide', guide(daysAgo(1), both))
  expect(await statesOf(one.id)).toEqual({ source_b: 'trusted', source_c: 'trusted' })
  expect(await statesOf(other.id)).toEqual({ source_b: 'disputed', source_c: 'trusted' })
  // A third market agrees with the other one: it stays undecided.
  await post(other.id, 'source_a', 30)
  await judgeAllPrices({ ...node.ctx })
  expect(await statesOf(one.id)).toMatchObject({ source_b: 'trusted' })
  expect(await statesOf(other.id)).toMatchObject({ source_b: 'disputed' })
})

test('a shop id shared by a second item disputes the prices of both, and removing it settles them', async () => {
  const [one, other] = [await newItem([{ source: 'tcgplayer', id: '9201' }]), await newItem()]
  await post(one.id, 'source_c', 30)
  await post(other.id, 'source_c', 40)
  await operator(`/items/${other.id}`, { foreign_ids: [{ source: 'tcgplayer', id: '9201' }] }, 'PATCH')
  for (const { id } of [one, other]) expect(await pricesOf(id)).toMatchObject([{ state: 'disputed', flags: ['shared_id'] }])
  await operator(`/items/${other.id}`, { foreign_ids: [] }, 'PATCH')
  for (const { id } of [one, other]) expect(await statesOf(id)).toEqual({ source_c: 'trusted' })
})

test('a source that is set aside is stale at once and no evidence; restoring it restores its prices', async () => {
  const { id } = await newItem()
  await post(id, 'source_a', 100)
  await post(id, 'source_b', 10)
  expect(await statesOf(id)).toEqual({ source_a: 'disputed', source_b: 'disputed' })
  const aside = await operator<{ set_aside: boolean }>('/sources/source_a/set-aside', { reason: 'feed of last year' })
  expect(aside).toMatchObject({ market: 'source_a', set_aside: true })
  expect(await statesOf(id)).toMatchObject({ source_a: 'stale' })
  await expect(operator('/sources/source_a/set-aside', { reason: 'again' })).rejects.toThrow(/already set aside/)
  await operator('/sources/source_a/restore', { reason: 'new feed' })
  expect(await statesOf(id)).toEqual({ source_a: 'disputed', source_b: 'disputed' })
  await expect(operator('/sources/source_a/take-back', {})).rejects.toThrow(/not set aside/)
})

test('sources return their name, the age of their newest feed and the shares of their prices, with the counts by group', async () => {
  const named = await startTestNode({ env: { PRICE_FEED_PRICES: '1', MARKET_NAMES: 'source_b=Cardmarket' }, listeners: 'operator' })
  // No day ends while ages are asserted.
  named.clock.stop()
  try {
    const at = (days: number) => new Date(named.clock.now().getTime() - days * DAY_MS).toISOString()
    const ask = async <T>(path: string, json?: unknown): Promise<T> => {
      const { body } = await send<T>(`${named.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, json === undefined ? {} : { json })
      if (!body.success) throw new Error(JSON.stringify(body.error))
      return body.data
    }
    const set = await ask<{ id: number }>('/categories', { name: 'Set', game: 'pokemon', market: 'source_b' })
    const cards: number[] = []
    for (const name of ['One', 'Two', 'Three', 'Four']) {
      cards.push((await ask<{ id: number }>('/items', { name, ref: name, market: 'source_b', category_id: set.id })).id)
    }
    const say = (days: number, prices: number[], label = 'Near Mint') =>
      ask(
        '/prices',
        prices.map((price, n) => ({ item_id: cards[n]!, market: 'source_b', label, price, updated_at: at(days) })),
      )
    await say(17, [10, 20, 30, 40])
    await say(10, [10, 20, 30])
    // Card four is not stated again; card one jumps, card two is held.
    await say(10, [100, 100], 'PSA 10')
    await say(9, [190, 2000], 'PSA 10')
    await judgeAllPrices(named.ctx)
    const source = (await ask<PriceSource[]>('/sources')).find(({ market }) => market === 'source_b')!
    expect(source).toMatchObject({
      name: 'Cardmarket',
      currency: 'EUR',
      set_aside: null,
      age_days: 9,
      late: true,
      prices: 6,
      disputed: 1,
      stale: 1,
      trusted: 4,
      held: 1,
      shares: { trusted: 4 / 6, disputed: 1 / 6, stale: 1 / 6, held: 1 / 7 },
    })
    expect(source.groups).toMatchObject([
      { name: 'Cardmarket', group: 'Ungraded', prices: 4, items: 4, coverage: 1, held: 0, stale: 1 },
      { name: 'Cardmarket', group: 'Graded', prices: 2, items: 2, coverage: 0.5, held: 1, disputed: 1 },
    ])
    const stats = await ask<{ sources: PriceSource['groups']; prices_unchecked: Record<string, number> }>('/stats')
    expect(stats.sources).toEqual(source.groups)
    expect(stats.prices_unchecked).toEqual({ service: 0, source_a: 0, source_b: 0, source_c: 0 })
    const none = (await ask<PriceSource[]>('/sources')).find(({ market }) => market === 'source_a')!
    expect(none).toMatchObject({ name: 'source_a', age_days: null, late: false, prices: 0, groups: [] })
    expect(Object.values(none.shares)).toEqual([0, 0, 0, 0, 0])
  } finally {
    await named.close()
  }
})

test('a price repeated in a file with a long history counts once for the feed interval of its source', async () => {
  const [one, other] = [await newItem(), await newItem()]
  const days = [50, 49, 48, 47, 46].map(daysAgo)
  const lines = days.flatMap((at, n) => [`${one.ref},source_a,Near Mint,${10 + n},${at}`, `${one.ref},source_a,PSA 9,40,${at}`])
  const report = await importText(
    node,
    'mintmark-prices-csv',
    ['item_ref,market,label,price,updated_at', ...lines, `${other.ref},source_a,Near Mint,7,${days[1]}`].join('\n'),
  )
  const feeds = await node.db.kysely.selectFrom('price_feeds').selectAll().where('import_id', '=', report.id).execute()
  expect(feeds.map(({ prices, newest }) => [prices, newest.toISOString()])).toEqual([[3, days[4]]])
})

test('a price that its source no longer confirms becomes stale while others move', async () => {
  const { id } = await newItem()
  await post(id, 'source_a', 50, daysAgo(7))
  await post(id, 'source_a', 50)
  await post(id, 'source_b', 50)
  node.clock.advance(60 * DAY_MS)
  await post(id, 'source_b', 51)
  await judgeAllPrices({ ...node.ctx })
  expect(await statesOf(id)).toEqual({ source_a: 'stale', source_b: 'trusted' })
  await post(id, 'source_a', 50)
  expect(await statesOf(id)).toEqual({ source_a: 'trusted', source_b: 'trusted' })
})

test('a price held when its import is reverted is held again when that revert is reverted', async () => {
  const { id } = await newItem()
  await post(id, 'source_c', 10, daysAgo(1))
  const { import_id: batch, held } = await post(id, 'source_c', 1_000)
  expect(held).toBe(1)
  const waiting = () => operator<{ id: number }[]>(`/held-prices?item_id=${id}`)
  const [before] = await waiting()
  const revert = await operator<{ id: number }>(`/imports/${batch}/revert`, undefined, 'POST')
  expect(await waiting()).toEqual([])
  expect(await operator(`/held-prices?item_id=${id}&state=reverted`)).toMatchObject([{ id: before!.id, state: 'reverted' }])
  await operator(`/imports/${revert.id}/revert`, undefined, 'POST')
  expect(await waiting()).toEqual([before])
})

test('accepting a held price publishes and evaluates it', async () => {
  const { id } = await newItem()
  await post(id, 'source_b', 1_000, daysAgo(1))
  await post(id, 'source_c', 10, daysAgo(1))
  await post(id, 'source_a', 10, daysAgo(1))
  expect(await statesOf(id)).toEqual({ source_a: 'trusted', source_b: 'disputed', source_c: 'trusted' })
  expect(await post(id, 'source_c', 1_000)).toMatchObject({ held: 1 })
  const [held] = await operator<{ id: number }[]>(`/held-prices?item_id=${id}`)
  await operator(`/held-prices/${held!.id}/accept`, {})
  expect(await pricesOf(id)).toMatchObject([
    { market: 'source_a', state: 'disputed' },
    { market: 'source_b', state: 'trusted' },
    { market: 'source_c', price: 1_000, state: 'trusted', line: null },
  ])
})

test('concurrent imports of two markets: the verdicts consider both', { tags: 'slow' }, async () => {
  const cards = await Promise.all(Array.from({ length: 40 }, () => newItem()))
  const at = daysAgo(0)
  const file = (market: string, priceOf: (i: number) => number) =>
    ['item_ref,market,label,price,updated_at', ...cards.map(({ ref }, i) => `${ref},${market},Near Mint,${priceOf(i)},${at}`)].join('\n')
  for (let round = 1; round <= 4; round += 1) {
    await sql`delete from prices where item_id = any(${cards.map(({ id }) => id)}::int4[])`.execute(node.db.kysely)
    const isFar = (i: number) => i % 10 === round
    const [b, c] = await Promise.all([
      importText(
        node,
        'mintmark-prices-csv',
        file('source_b', () => 50 + round),
      ),
      importText(
        node,
        'mintmark-prices-csv',
        file('source_c', (i) => (isFar(i) ? 500 : 50 + round)),
      ),
    ])
    expect([b.status, c.status]).toEqual(['done', 'done'])
    for (const [i, { id }] of cards.entries()) {
      const expected = isFar(i) ? 'disputed' : 'trusted'
      expect([i, await statesOf(id)]).toEqual([i, { source_b: expected, source_c: expected }])
    }
  }
})

test('a price interrupted at both times at which it was stated is replaced at both', async () => {
  const { id } = await newItem()
  const stated = (price: number) =>
    [1, 3].map((day) => ({ item_id: id, market: 'source_c', label: 'Near Mint', price, updated_at: `2026-10-0${day}T00:00:00.000Z` }))
  expect(await operator('/prices', stated(2))).toMatchObject({ accepted: 1, unchanged: 1 })
  expect(await operator('/prices', stated(1))).toMatchObject({ accepted: 2, unchanged: 0, rejected: 0 })
  const points = await operator<{ price: number; updated_at: string }[]>(`/items/${id}/price-history`)
  expect(points.map(({ price, updated_at: at }) => [price, at.slice(0, 10)])).toEqual([
    [1, '2026-10-01'],
    [1, '2026-10-03'],
  ])
})

test('trusted prices that are far apart, as is usual between the two markets, have a flag and a finding that does not count', async () => {
  // Of another game, because usual ratios are learned by game.
  const { id: set } = await operator<{ id: number }>('/categories', { name: 'Set', game: 'one-piece', market: 'source_c' })
  for (let n = 0; n < 8; n += 1) {
    const { id } = await newItem([], set)
    await operator('/prices', [
      { item_id: id, market: 'source_a', label: 'PSA 9', price: 10 + n, updated_at: daysAgo(0) },
      { item_id: id, market: 'source_b', label: 'PSA 9', price: (10 + n) * 6, updated_at: daysAgo(0) },
    ])
  }
  await judgeAllPrices({ ...node.ctx })
  const { id } = await newItem([], set)
  await post(id, 'source_a', 20, daysAgo(0), 'PSA 9')
  await post(id, 'source_b', 120, daysAgo(0), 'PSA 9')
  const far = { state: 'trusted', flags: ['markets_apart'] }
  expect(await pricesOf(id)).toMatchObject([far, far])
  expect(await operator(`/items/${id}/prices/explain?label=PSA%209&market=source_a`)).toMatchObject({
    flags: ['markets_apart'],
    findings: [{ rule: 'markets_apart', market: 'source_b', compared: 20, counts: false }],
  })
  expect(await operator<PriceReview[]>(`/price-reviews?item_id=${id}`)).toEqual([])
})

test('a price that its source repeats while another market moves is stale until it changes, and does not dispute the other', async () => {
  const { id } = await newItem()
  await post(id, 'source_a', 20, daysAgo(30))
  await post(id, 'source_b', 20, daysAgo(31))
  for (const [price, days] of [
    [33, 20],
    [55, 12],
  ] as const)
    await post(id, 'source_b', price, daysAgo(days))
  await post(id, 'source_a', 20, daysAgo(0))
  await judgeAllPrices({ ...node.ctx })
  expect(await statesOf(id)).toMatchObject({ source_a: 'trusted' })
  await post(id, 'source_b', 95, daysAgo(0))
  expect(await statesOf(id)).toEqual({ source_a: 'disputed', source_b: 'disputed' })
  await judgeAllPrices({ ...node.ctx })
  expect(await pricesOf(id)).toMatchObject([
    { market: 'source_a', state: 'stale', flags: ['frozen'] },
    { market: 'source_b', state: 'trusted', flags: [] },
  ])
  expect(await operator(`/items/${id}/prices/explain?label=Near%20Mint&market=source_a`)).toMatchObject({
    state: 'stale',
    findings: [{ rule: 'frozen', market: null, counts: true }],
  })
  expect(await operator<PriceReview[]>(`/price-reviews?state=stale&cause=frozen&item_id=${id}`)).toMatchObject([{ state: 'stale', cause: 'frozen' }])
  await post(id, 'source_a', 90, daysAgo(0))
  expect(await statesOf(id)).toEqual({ source_a: 'trusted', source_b: 'trusted' })
})

test('a price that is repeated for less than three weeks, or whose other market has returned, is not frozen', async () => {
  const [recent, returned] = [await newItem(), await newItem()]
  await post(recent.id, 'source_b', 20, daysAgo(31))
  await post(recent.id, 'source_a', 20, daysAgo(18))
  await post(returned.id, 'source_a', 20, daysAgo(30))
  await post(returned.id, 'source_b', 20, daysAgo(31))
  for (const [price, days] of [
    [33, 16],
    [35, 12],
    [36, 8],
  ] as const)
    for (const { id } of [recent, returned]) await post(id, 'source_b', price, daysAgo(days))
  await post(returned.id, 'source_b', 21, daysAgo(1))
  for (const { id } of [recent, returned]) await post(id, 'source_a', 20, daysAgo(0))
  await judgeAllPrices({ ...node.ctx })
  for (const { id } of [recent, returned]) expect(await statesOf(id)).toMatchObject({ source_a: 'trusted' })
})

test('a price is frozen only after its figures have been repeated for three weeks, too', async () => {
  const [moving, repeating] = [9301, 9302]
  const ids = [(await newItem([{ source: 'cardmarket', id: `${moving}` }])).id, (await newItem([{ source: 'cardmarket', id: `${repeating}` }])).id]
  const state = async (low: number, days: number) => {
    const product = { trend: 20, avg1: 20, avg7: 20, avg30: 20 }
    const rows = [
      { ...product, idProduct: moving, low },
      { ...product, idProduct: repeating, avg7: 21, low: 15 },
    ]
    return importText(node, 'cardmarket-price-guide', guide(daysAgo(days), rows))
  }
  for (const id of ids) await post(id, 'source_a', 20, daysAgo(31))
  await state(15, 30)
  await state(16, 10)
  for (const [price, days] of [
    [33, 20],
    [34, 8],
    [35, 4],
    [36, 0],
  ] as const)
    for (const id of ids) await post(id, 'source_a', price, daysAgo(days))
  await state(16, 0)
  await judgeAllPrices({ ...node.ctx })
  expect(await Promise.all(ids.map(statesOf))).toMatchObject([{ source_b: 'trusted' }, { source_b: 'stale' }])
})
