// Rule `other_markets`: two markets' prices of one item against the usual ratio of the two in its set and finish.
import { MARKETS } from '#core/markets.ts'
import type { SetRatios, UsualRatio } from './ratios.ts'
import { sideOf, type Thresholds, timesOff } from './thresholds.ts'
import type { PriceEvidence } from './types.ts'

/** Two prices compared, seen from the first. */
export interface MarketComparison {
  /** `conflict` decides alone, `doubt` where one side's own figures point the same way */
  level: 'agree' | 'doubt' | 'conflict'
  /** 1 when the first is too high for the second, -1 when it is too low, 0 when they agree */
  side: -1 | 0 | 1
  /** whether they agree so closely that one confirms a jump of the other */
  isClose: boolean
  /** what each would be by the other and the usual ratio, in minor units of its own currency */
  expectedA: number
  expectedB: number
  /** the second in the currency of the first, in minor units */
  converted: number
  /** what a price of 1 in the second one's market usually is in the first one's */
  usual: UsualRatio
}

/** A spread is of so many cards at least that it counts as known. */
const UNKNOWN: UsualRatio = { ratio: 1, spread: 1, cards: 0 }

/** @returns null for want of a rate */
export function compareMarkets(
  a: PriceEvidence,
  b: PriceEvidence,
  ratios: SetRatios,
  {
    thresholds,
    convert,
    noiseMinor,
  }: {
    thresholds: Thresholds
    convert: (minor: number, fromMarket: number, toMarket: number, atMs: number) => number | null
    noiseMinor: readonly number[]
  },
): MarketComparison | null {
  const amount = convert(b.minor, b.market, a.market, Math.max(a.confirmedAtMs, b.confirmedAtMs))
  if (amount === null) return null
  const usual = ratios[b.market * MARKETS.length + a.market] ?? UNKNOWN
  const expectedA = amount * usual.ratio
  const expectedB = (b.minor * a.minor) / expectedA
  const noise = noiseMinor[a.market]!
  const { marketFactor, marketSpreads, doubtFactor, agreeFactor } = thresholds
  const side = sideOf(a.minor, expectedA, doubtFactor, noise)
  const isConflict = side !== 0 && timesOff(a.minor, expectedA) >= Math.max(marketFactor, usual.spread ** marketSpreads)
  return {
    level: side === 0 ? 'agree' : isConflict ? 'conflict' : 'doubt',
    side,
    isClose: timesOff(a.minor, expectedA) <= agreeFactor,
    expectedA,
    expectedB,
    converted: amount,
    usual,
  }
}
