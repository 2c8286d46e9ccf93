// Usual ratios that are too far from the game's: applied only up to a limit, until an operator confirms or rejects them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createItem } from '#catalogue/items/create-item.ts'
import { register } from '#cli/prices/usual-ratios.ts'
import { call } from '#core/verb.ts'
import { appliedRatio } from '#prices/evidence/ratios.ts'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import type { PriceExplanation } from '#prices/reviews/explanation.ts'
import type { UsualRatio } from '#prices/reviews/list-usual-ratios.ts'
import { runCommand } from '../support/command-line.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'

const CARDS = 8

let node: TestNode
const sets: number[] = []
const items: number[][] = []

const request = <T>(path: string, json?: unknown) =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { ...(json !== undefined && { json }) })

async function operator<T>(path: string, json?: unknown): Promise<T> {
  const { body } = await request<T>(path, json)
  if (!body.success) throw new Error(JSON.stringify(body.error))
  return body.data
}

const ratios = (state?: string) => operator<UsualRatio[]>(`/usual-ratios${state ? `?state=${state}` : ''}`)

/** Posts the prices of a set in two markets, of which the second is a multiple of the first. */
const post = (set: number, factor: number) =>
  operator(
    '/prices',
    items[set]!.flatMap((item_id, n) =>
      [
        ['source_b', 10 + n],
        ['source_c', (10 + n) * factor],
      ].map(([market, price]) => ({ item_id, market, label: 'Near Mint', price, updated_at: node.clock.now().toISOString() })),
    ),
  )

async function comparisonOf(item: number) {
  const { state, inputs } = await operator<PriceExplanation>(`/items/${item}/prices/explain?market=source_c`)
  return { state, ...inputs.find(({ kind }) => kind === 'market')!.comparison }
}

beforeAll(async () => {
  node = await startTestNode({ listeners: 'operator' })
  await operator(
    '/rates',
    ['USD', 'EUR'].map((currency) => ({ day: '2026-01-01', currency, rate: 40 })),
  )
  for (const [set, factor] of [1, 1, 4].entries()) {
    sets.push((await operator<{ id: number }>('/categories', { name: `Set ${set}`, game: 'pokemon', market: 'source_c' })).id)
    items.push([])
    for (let n = 0; n < CARDS; n += 1) {
      const item = { name: `Card ${n}`, ref: `set:${set}:${n}`, market: 'source_c' as const, category_id: sets[set]! }
      items[set]!.push((await call(createItem, node.ctx, item)).id)
    }
    await post(set, factor)
  }
  await judgeAllPrices(node.ctx)
})
afterAll(() => node.close())

test('a ratio within 3 times of the game needs no decision; beyond it, the limit is applied, and the list and the explanation say so', async () => {
  const [ratio, ...others] = await ratios()
  expect(await operator('/stats')).toMatchObject({ usual_ratios_open: 1 })
  const { findings } = await operator<{ findings: object[] }>('/health')
  expect(findings).toContainEqual(expect.objectContaining({ check: 'usual ratios', ok: true, rule: 'ratios_open', params: { count: 1 } }))
  expect(others).toEqual([])
  expect(ratio).toMatchObject({
    category_id: sets[2],
    category: 'Set 2',
    finish: null,
    market: 'source_b',
    other_market: 'source_c',
    cards: CARDS,
    state: 'open',
    decided: null,
  })
  expect([ratio!.ratio, ratio!.game_ratio, ratio!.applied_ratio]).toEqual([4, 1, 3].map((value) => expect.closeTo(value, 3)))
  expect(ratio!.prices.map(({ price, other_price: other }) => [price, other])).toEqual([17, 16, 15, 14, 13].map((price) => [price, price * 4]))
  const compared = await comparisonOf(items[2]![0]!)
  expect([compared.usual_ratio, compared.learned_ratio]).toEqual([3, 4].map((value) => expect.closeTo(value, 3)))
  expect(await comparisonOf(items[0]![0]!)).toMatchObject({ learned_ratio: null })
})

test('a confirmed ratio is applied, also by the next run, and nothing beyond it', async () => {
  const [open] = await ratios('open')
  const { category_id, finish, market, other_market, ratio } = open!
  const body = { category_id, finish, market, other_market, ratio }
  const confirmed = await operator<UsualRatio>('/usual-ratios/confirm', body)
  expect(confirmed).toMatchObject({ state: 'confirmed', decided: { decision: 'confirmed', by: expect.any(String) } })
  expect(confirmed.applied_ratio).toBeCloseTo(4, 3)
  await judgeAllPrices(node.ctx)
  expect([await ratios('open'), (await ratios('confirmed')).length]).toEqual([[], 1])
  expect(await comparisonOf(items[2]![0]!)).toMatchObject({ usual_ratio: expect.closeTo(4, 3), learned_ratio: null })
  await post(2, 6.5)
  await judgeAllPrices(node.ctx)
  const [moved] = await ratios('open')
  expect(moved).toMatchObject({ decided: { decision: 'confirmed' } })
  expect([moved!.ratio, moved!.applied_ratio]).toEqual([6.5, 4].map((value) => expect.closeTo(value, 2)))
})

test('rejecting a ratio judges the prices of the set by that of the game at once, and writes an audit row', async () => {
  const [open] = await ratios()
  const { category_id, finish, market, other_market, ratio } = open!
  expect((await comparisonOf(items[2]![0]!)).state).toBe('trusted')
  const rejected = await operator<UsualRatio>('/usual-ratios/reject', { category_id, finish, market, other_market, ratio })
  expect(rejected).toMatchObject({ state: 'rejected', applied_ratio: rejected.game_ratio })
  const compared = await comparisonOf(items[2]![0]!)
  expect(compared).toMatchObject({ state: 'disputed', learned_ratio: expect.closeTo(6.5, 2) })
  expect((await comparisonOf(items[0]![0]!)).state).toBe('trusted')
  const rows = await operator<{ action: string; after: object }[]>('/audit?action=usual-ratio.reject')
  expect(rows).toMatchObject([{ action: 'usual-ratio.reject', after: { market, other_market, applied_ratio: rejected.applied_ratio } }])
})

test('a decision about another ratio than the one listed changes nothing', async () => {
  const [before] = await ratios()
  const { category_id, finish, market, other_market, ratio } = before!
  const body = { category_id, finish, market, other_market, ratio }
  const statuses = []
  for (const wrong of [
    { ...body, ratio: ratio * 1.1 },
    { ...body, category_id: sets[0] },
    { ...body, category_id: 2 ** 31 - 1 },
    { ...body, market: other_market, other_market: market },
    { ...body, market: 'service' },
    { ...body, finish: 'holo' },
    { ...body, finish: 'a\u0000b' },
    { ...body, ratio: 0 },
    { ...body, ratio: -1 },
    { ...body, ratio: '4' },
    { ...body, ratio: undefined },
    { ...body, category_id: 2 ** 31 },
    { ...body, market: 'ebay' },
  ])
    statuses.push((await request('/usual-ratios/confirm', wrong)).status)
  expect(statuses).toEqual([409, 404, 404, 404, 404, 404, 422, 422, 422, 422, 422, 422, 422])
  expect(await ratios()).toEqual([before])
})

test('the command line lists and decides, and a later decision replaces an earlier one', async () => {
  const mintmark = async (...args: string[]) => (await runCommand(node, [register], ['usual-ratios', ...args])).text
  expect(await mintmark('list', '--state', 'rejected')).toMatch(
    /^STATE +SET +FINISH +MARKET +OTHER MARKET +RATIO +OF GAME +APPLIED +CARDS\nrejected +\d+ Set 2 +- +source_b +source_c +6\.5 +1 +1 +8$/,
  )
  const which = ['--category', String(sets[2]), '--market', 'source_b', '--other-market', 'source_c']
  await expect(mintmark('confirm', ...which, '--ratio', '-1')).rejects.toThrow('Must be a number above 0')
  await expect(mintmark('confirm', ...which, '--ratio', '4')).rejects.toThrow('The ratio is now 6.5; look at it again')
  expect(await mintmark('confirm', ...which, '--ratio', '6.5')).toBe('Ratio of Set 2 confirmed; applied: 6.5')
  expect((await comparisonOf(items[2]![0]!)).state).toBe('trusted')
})

test.each([
  [2.9, null, 2.9, null],
  [4, null, 3, 'open'],
  [0.2, null, 1 / 3, 'open'],
  [4, 4, 4, 'confirmed'],
  [3.5, 4, 3.5, 'confirmed'],
  [5, 4, 4, 'confirmed'],
  [6, 4, 4, 'open'],
  [0.2, 4, 1 / 3, 'open'],
  [0.2, 0.2, 0.2, 'confirmed'],
] as const)('a ratio of %s with %s confirmed is applied as %s', (learned, confirmed, applied, state) => {
  const decided = confirmed === null ? null : ({ decision: 'confirmed', ratio: confirmed } as const)
  expect(appliedRatio(learned, 1, decided)).toEqual({ applied, state })
})
