// The verdict on a price from our own sales: it needs enough people behind it, recent sales, and no contradiction by other markets. It is never
// evidence about their prices, because sales here could otherwise dispute them. Pure.
import { DAY_MS } from '#core/duration.ts'
import { confidenceOfSales } from './confidence.ts'
import type { Finding } from './finding.ts'
import { compareMarkets } from './other-markets.ts'
import { factorBetween } from './thresholds.ts'
import { bitsOf, type PriceEvidence, type Verdict } from './evidence-types.ts'

/** Days without a sale that counts after which the price is stale. */
const STALE_DAYS = 90
/** The ratios between our market and others are not known. */
const NO_RATIOS = [] as const

/**
 * @param own the price of the service's own market
 * @param witnesses prices of other markets that nothing contradicts
 * @param position of the price among those judged, for findings
 */
export function judgeOwnPrice(
  own: PriceEvidence,
  witnesses: readonly PriceEvidence[],
  conditions: { nowMs: number } & Parameters<typeof compareMarkets>[3],
  position = 0,
  findings?: Finding[],
): Verdict {
  const { nowMs, thresholds } = conditions
  const comparable = witnesses.filter((other) => Math.abs(other.confirmedAtMs - own.confirmedAtMs) <= thresholds.comparableDays * DAY_MS)
  const compared = comparable.map((other) => ({ other, comparison: compareMarkets(own, other, NO_RATIOS, conditions) }))
  const agrees = compared.some(({ comparison }) => comparison?.level === 'agree')
  let flags = 0
  // Prices that were imported or set by hand have no sales.
  if (own.samples !== null && nowMs - own.confirmedAtMs > STALE_DAYS * DAY_MS) flags |= bitsOf(['old'])
  if (own.fewPeople) flags |= bitsOf(['few_people'])
  const note = (flag: Finding['flag'], counts: boolean, found?: Pick<Finding, 'otherMarket' | 'compared' | 'timesOff'>) =>
    findings?.push({ flag, price: position, otherMarket: null, compared: null, timesOff: null, ...found, counts })
  if (flags & bitsOf(['old'])) note('old', true)
  if (own.fewPeople) note('few_people', true)
  for (const { other, comparison } of compared) {
    if (comparison === null) {
      flags |= bitsOf(['no_rate'])
      note('no_rate', false, { otherMarket: other.market, compared: null, timesOff: null })
    } else if (comparison.level === 'conflict' || comparison.isExplainedByCondition) {
      const flag = comparison.isExplainedByCondition ? 'condition_unknown' : 'other_markets'
      const counts = flag === 'other_markets' && !agrees
      if (counts || flag === 'condition_unknown') flags |= bitsOf([flag])
      const expected = Math.max(1, Math.round(comparison.expectedA))
      note(flag, counts, { otherMarket: other.market, compared: expected, timesOff: factorBetween(own.minor, comparison.expectedA) })
    }
  }
  const state = stateOf(flags)
  return { state, confidence: confidenceOfSales(own.samples, state), flags, backing: 'open' }
}

function stateOf(flags: number): Verdict['state'] {
  if (flags & bitsOf(['old'])) return 'stale'
  if (flags & bitsOf(['other_markets'])) return 'disputed'
  return flags & bitsOf(['few_people']) ? 'unproven' : 'trusted'
}
