// Rule `other_markets`: compares two markets' prices of one item by their usual ratio in its set and finish.
import { MARKETS } from '#core/markets.ts'
import type { AppliedRatio, SetRatios } from './ratios.ts'
import { deviationSide, isFar, type Thresholds, factorBetween } from './thresholds.ts'
import type { PriceEvidence } from './evidence-types.ts'

/** A comparison of two prices from the first one's view. */
export interface MarketComparison {
  /** a `conflict` is sufficient by itself; a `doubt` counts if one side's own figures point the same way */
  level: 'agree' | 'doubt' | 'conflict'
  /** whether it would be a conflict if the condition of the lower price were known */
  isExplainedByCondition: boolean
  /** 1 if the first is too high relative to the second, -1 if too low, 0 if they agree */
  side: -1 | 0 | 1
  /** whether they agree so closely that one confirms a jump of the other */
  isClose: boolean
  /** whether the amounts themselves are so far apart that it must be stated, even if that is usual */
  isApart: boolean
  /** expected amount of each price given the other one and the usual ratio, in minor units of its own currency */
  expectedA: number
  expectedB: number
  /** the second in the currency of the first, in minor units */
  converted: number
  /** usual price in the first market for an amount of 1 in the second */
  usual: AppliedRatio
}

/** Without enough cards, neither the ratio nor its spread is known. */
const UNKNOWN: AppliedRatio = { ratio: 1, spread: 1, cards: 0, learned: null }

/** @returns null without an exchange rate */
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
  const { marketFactor, marketSpreads, conditionFactor, doubtFactor, agreeFactor, apartFactor } = thresholds
  const side = deviationSide(a.minor, expectedA, doubtFactor, noise)
  const isApart = isFar(a.minor, amount, apartFactor, noise)
  const usualBand = Math.max(marketFactor, usual.spread ** marketSpreads)
  // Cards in a worse condition can only lower a figure over all conditions, so they explain nothing about the higher price.
  const isLowerKnown = side > 0 ? b.conditionKnown : a.conditionKnown
  const band = isLowerKnown ? usualBand : usualBand * conditionFactor
  const isFarOff = (factor: number) => side !== 0 && factorBetween(a.minor, expectedA) >= factor
  const isConflict = isFarOff(band)
  return {
    level: side === 0 ? 'agree' : isConflict ? 'conflict' : 'doubt',
    isExplainedByCondition: !isConflict && isFarOff(usualBand),
    side,
    isApart,
    isClose: factorBetween(a.minor, expectedA) <= agreeFactor,
    expectedA,
    expectedB,
    converted: amount,
    usual,
  }
}
