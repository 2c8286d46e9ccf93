// Judging prices with all rules together: identity, shared ids, grades, our own sales, confidence, and properties of any prices.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { confidenceOf } from '#prices/evidence/confidence.ts'
import { type IdentityKind, identityOf, findDoubtful } from '#prices/evidence/identical-figures.ts'
import { judge, noiseOf } from '#prices/evidence/judge.ts'
import { UsualRatios, usualRatios } from '#prices/evidence/ratios.ts'
import type { Backing, PriceEvidence } from '#prices/evidence/evidence-types.ts'
import { A, B, C, conditions, DAY, NO_FIGURES, NOW, price, SERVICE, verdicts } from './judged.ts'

test('identical figures are disputed regardless of agreement; a shared id is settled by a market that agrees closely', () => {
  expect(verdicts([price(B, 1000, { identical: true }), price(C, 1000)])).toEqual(['disputed identical_figures', 'trusted'])
  expect(verdicts([price(B, 1000, { sharedId: true })])).toEqual(['disputed shared_id'])
  expect(verdicts([price(B, 1000, { sharedId: true }), price(C, 1000)])).toEqual(['trusted', 'trusted'])
  expect(verdicts([price(B, 1000, { sharedId: true }), price(C, 1400)])).toEqual(['disputed shared_id', 'trusted'])
  expect(verdicts([price(B, 1000, { sharedId: true, identical: true }), price(C, 1000)])[0]).toBe('disputed identical_figures,shared_id')
  expect(verdicts([price(B, 1000, { sharedId: true }), price(C, 1000, { sharedId: true })])).toEqual(['disputed shared_id', 'disputed shared_id'])
})

test('of identical prices, one is cleared by a market that agrees closely, or that agrees while the others are contradicted', () => {
  const alike = (backing: Backing, categoryId = 1, name = 'eelektrik') => ({ backing, categoryId, name })
  expect(findDoubtful([alike('agreed'), alike('contradicted')], 'averages')).toEqual([false, true])
  expect(findDoubtful([alike('agreed'), alike('contradicted'), alike('contradicted')], 'averages')).toEqual([false, true, true])
  expect(findDoubtful([alike('close'), alike('open')], 'averages')).toEqual([false, true])
  expect(findDoubtful([alike('close'), alike('close')], 'averages')).toEqual([false, false])
  for (const other of ['agreed', 'open'] as const) expect(findDoubtful([alike('agreed'), alike(other)], 'averages')).toEqual([true, true])
  expect(findDoubtful([alike('open'), alike('contradicted')], 'averages')).toEqual([true, true])
})

test('offers are identical within a set or a name, bare amounts within a set, averages anywhere', () => {
  const one = { backing: 'open', categoryId: 1, name: 'yanmega' } as const
  const others = [
    { ...one, categoryId: 2 },
    { ...one, name: 'honchkrow' },
    { ...one, categoryId: 2, name: 'honchkrow' },
  ]
  const doubted = (kind: IdentityKind) => others.map((other) => findDoubtful([one, other], kind).every(Boolean))
  expect(doubted('averages')).toEqual([true, true, true])
  expect(doubted('offers')).toEqual([true, true, false])
  expect(doubted('name')).toEqual([false, true, false])
})

test('agreement of other markets counts only if nothing contradicts the price', () => {
  const of = (...prices: PriceEvidence[]) => judge(prices, { ratios: [], gradeOrder: null }, conditions()).map(({ backing }) => backing)
  expect(of(price(B, 1000), price(C, 1100))).toEqual(['close', 'close'])
  expect(of(price(B, 1000), price(C, 1500))).toEqual(['agreed', 'agreed'])
  expect(of(price(B, 1000), price(C, 1100), price(A, 1900))).toEqual(['agreed', 'agreed', 'agreed'])
  expect(of(price(B, 1000, { identical: true }), price(C, 9000))).toEqual(['contradicted', 'open'])
  expect(of(price(B, 1000), price(C, 1000), price(A, 9000))).toEqual(['open', 'open', 'contradicted'])
  expect(of(price(B, 1000))).toEqual(['open'])
})

test('identity uses the averages, otherwise the offers, otherwise price and name', () => {
  const of = (minor: number, figures: Partial<typeof NO_FIGURES>, name = 'snorlax') => identityOf(minor, { ...NO_FIGURES, ...figures }, name, 50)
  expect(of(5550, { avg1: 1, avg7: 46, avg30: 46 })).toBe(of(5550, { avg1: 2, avg7: 46, avg30: 46, low: 9 }, 'pikachu'))
  expect(of(5550, { avg7: 46, avg30: 46 })).not.toBe(of(5550, { avg7: 46, avg30: 47 }))
  expect(of(100, { low: 10, mid: 90 })).toBe(of(100, { low: 10, mid: 90 }, 'pikachu'))
  expect(of(100, {})).toBe(of(100, {}))
  expect(of(100, {})).not.toBe(of(100, {}, 'pikachu'))
  expect(of(49, { avg7: 46, avg30: 46 })).toBe(null)
})

test('a PSA 10 below Near Mint disputes both', () => {
  const order = (label: 'psa_10' | 'near_mint', ...others: ReturnType<typeof price>[]) => ({ gradeOrder: { label, others } })
  expect(verdicts([price(A, 900)], {}, order('psa_10', price(A, 1000)))).toEqual(['disputed grade_order'])
  expect(verdicts([price(A, 1000)], {}, order('near_mint', price(A, 900)))).toEqual(['disputed grade_order'])
  expect(verdicts([price(A, 1000)], {}, order('psa_10', price(A, 1000)))).toEqual(['trusted'])
  expect(verdicts([price(A, 951)], {}, order('psa_10', price(A, 1000)))).toEqual(['trusted'])
  expect(verdicts([price(A, 900)], {}, order('psa_10', price(B, 1000)))).toEqual(['trusted'])
})

test('a Near Mint price confirmed by another market wins against the PSA 10', () => {
  const nearMint = [price(A, 1000), price(B, 1000)]
  const graded = price(A, 300)
  expect(verdicts(nearMint, {}, { gradeOrder: { label: 'near_mint', others: [graded] } })).toEqual(['trusted', 'trusted'])
  expect(verdicts([graded], {}, { gradeOrder: { label: 'psa_10', others: nearMint } })).toEqual(['disputed grade_order'])
})

test('prices from our own sales are trusted, with confidence by their number', () => {
  const of = (samples: number | null) => judge([price(SERVICE, 1, { samples })], { ratios: [], gradeOrder: null }, conditions())[0]
  expect(of(null)).toMatchObject({ state: 'trusted', confidence: 'insufficient', flags: 0 })
  expect([2, 4, 8].map((samples) => of(samples)?.confidence)).toEqual(['low', 'medium', 'high'])
})

test('confidence grows with other markets, samples, steady averages and offers, and falls with age', () => {
  // Of 10 EUR; differences below 0.50 EUR are ignored.
  const of = (backing: Backing, rest: Parameters<typeof price>[2] = {}, state: 'trusted' | 'disputed' | 'stale' = 'trusted', minor = 1000) =>
    confidenceOf(price(B, minor, rest), state, backing, 50, NOW)
  expect(of('open')).toBe('insufficient')
  expect(of('agreed')).toBe('low')
  expect(of('agreed', { samples: 10 })).toBe('medium')
  expect(of('open', { avg7: 1200, avg30: 1100 })).toBe('low')
  expect(of('open', { avg7: 1000, avg30: 1090 })).toBe('medium')
  expect(of('close', { samples: 10, avg7: 1000, avg30: 1090 })).toBe('medium')
  expect(of('open', { mid: 1500 })).toBe('high')
  expect(of('contradicted', { mid: 1500 })).toBe('medium')
  expect(of('open', { avg7: 5000, avg30: 1000 })).toBe('insufficient')
  expect(of('agreed', { samples: 10, confirmedAtMs: NOW - 31 * DAY })).toBe('low')
  expect(of('agreed', { samples: 10 }, 'stale')).toBe('low')
  expect(of('agreed', { samples: 10 }, 'disputed')).toBe('insufficient')
  // Small amounts are surer, middle ones less sure.
  expect([99, 300].map((minor) => of('open', { avg7: minor, avg30: minor }, 'trusted', minor))).toEqual(['high', 'low'])
})

test('usual ratios are those of the set and finish, otherwise of the finish, otherwise of the game', () => {
  const pair = (categoryId: number, finish: string, ratio: number) => ({ game: 'pokemon', categoryId, finish, marketA: B, marketB: C, ratio })
  const many = (categoryId: number, finish: string, ratio: number, cards = 8) => Array.from({ length: cards }, () => pair(categoryId, finish, ratio))
  const found = new UsualRatios(usualRatios([...many(1, 'holo', 2), ...many(2, 'holo', 4, 7), ...many(2, 'normal', 3, 20)]))
  const ratioOf = (category: number, finish: string) => found.of('pokemon', category, finish)[B * 4 + C]?.ratio
  expect(ratioOf(1, 'holo')).toBeCloseTo(2)
  expect(found.of('pokemon', 1, 'holo')[C * 4 + B]?.ratio).toBeCloseTo(0.5)
  expect(ratioOf(2, 'holo')).toBeCloseTo(2)
  expect(ratioOf(2, 'reverse')).toBeCloseTo(3)
  expect(found.of('one-piece', 1, 'holo')).toEqual([])
})

test('usual ratios do not depend on the order of the markets', () => {
  const ratios = usualRatios(
    Array.from({ length: 10 }, (_, i) => (i % 2 ? { marketA: B, marketB: C, ratio: 2 } : { marketA: C, marketB: B, ratio: 0.5 })).map((pair) => ({
      game: 'pokemon',
      categoryId: 1,
      finish: 'holo',
      ...pair,
    })),
  )
  expect(ratios.map(({ marketA, marketB, cards }) => [marketA, marketB, cards])).toEqual([
    [B, C, 10],
    [B, C, 10],
    [B, C, 10],
  ])
  expect(ratios[0]!.ratio).toBeCloseTo(2)
  expect(ratios[0]!.spread).toBeCloseTo(1)
})

test('the noise is converted, and stays the same number of units without a rate', () => {
  expect(noiseOf(0.5, (minor, _, market) => (market === C ? minor * 2 : null))).toEqual([50, 50, 50, 100])
})

test('the order of the prices changes no verdict, and a single price never conflicts', () => {
  const evidence = (market: number) =>
    fc
      .record({
        minor: fc.integer({ min: 1, max: 100_000 }),
        avg7: fc.option(fc.integer({ min: 0, max: 100_000 })),
        jumped: fc.boolean(),
        identical: fc.boolean(),
      })
      .map(({ minor, ...rest }) => price(market, minor, rest))
  fc.assert(
    fc.property(evidence(A), evidence(B), evidence(C), (a, b, c) => {
      const [va, vb, vc] = verdicts([a, b, c])
      expect(verdicts([c, a, b])).toEqual([vc, va, vb])
      expect(verdicts([a])[0]).not.toContain('other_markets')
    }),
  )
})
