// Rule `old` and sources set aside: age against the source's own rhythm, while others were confirmed.
import { expect, test } from 'vitest'
import { MARKETS } from '#core/markets.ts'
import { feedIntervalOf, type FeedInterval } from '#prices/evidence/feed-interval.ts'
import { B, C, DAY, NOW, price, SERVICE, verdicts } from './judged.ts'

const ago = (days: number) => ({ confirmedAtMs: NOW - days * DAY, updatedAtMs: NOW - 100 * DAY })
const rhythms = (rhythm: Partial<FeedInterval>) => ({
  rhythms: MARKETS.map((_, market) => ({ intervalMs: DAY, newestMs: NOW, isSetAside: false, ...(market === B ? rhythm : {}) })),
})

test('a price that its source omits for longer than its interval is stale', () => {
  expect(verdicts([price(B, 1000, ago(3))])).toEqual(['trusted'])
  expect(verdicts([price(B, 1000, ago(4))])).toEqual(['stale old'])
  const weekly = rhythms({ intervalMs: 7 * DAY })
  expect(verdicts([price(B, 1000, ago(6))], weekly)).toEqual(['trusted'])
  expect(verdicts([price(B, 1000, ago(7))], weekly)).toEqual(['stale old'])
})

test('if a whole source stops, another source that continues makes it stale', () => {
  const still = rhythms({ newestMs: NOW - 20 * DAY })
  expect(verdicts([price(B, 1000, ago(20))], still)).toEqual(['trusted'])
  expect(verdicts([price(B, 1000, ago(20)), price(C, 1000, ago(0))], still)).toEqual(['stale old', 'trusted'])
  expect(verdicts([price(B, 1000, ago(20)), price(SERVICE, 1000)], still)).toEqual(['trusted', 'trusted'])
})

test('a source with monthly feeds is not stale after a week', () => {
  const monthly = rhythms({ intervalMs: 30 * DAY, newestMs: NOW - 10 * DAY })
  expect(verdicts([price(B, 1000, ago(10)), price(C, 1000)], monthly)).toEqual(['trusted', 'trusted'])
})

test('a stale price is never disputed', () => {
  expect(verdicts([price(B, 9000, ago(20)), price(C, 1000)])).toEqual(['stale old', 'trusted'])
})

test('prices of a source that is set aside are stale at once, and trusted again when it is restored', () => {
  expect(verdicts([price(B, 1000), price(C, 1000)], rhythms({ isSetAside: true }))).toEqual(['stale source_set_aside', 'trusted'])
  expect(verdicts([price(B, 1000), price(C, 1000)], rhythms({}))).toEqual(['trusted', 'trusted'])
})

test('the feed interval is the usual gap between days with feeds', () => {
  const days = (...numbers: number[]) => numbers.map((day) => NOW - day * DAY)
  expect(feedIntervalOf([], false)).toEqual({ intervalMs: null, newestMs: null, isSetAside: false })
  expect(feedIntervalOf(days(3), true)).toEqual({ intervalMs: null, newestMs: NOW - 3 * DAY, isSetAside: true })
  expect(feedIntervalOf(days(0, 0, 1, 2, 9, 10, 11), false)).toEqual({ intervalMs: DAY, newestMs: NOW, isSetAside: false })
  expect(feedIntervalOf(days(13, 0), false).intervalMs).toBe(13 * DAY)
})
