// Puts the evidence rules together: all current prices of one item and label in, a verdict for each out. Pure.
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { averagesAgainst } from './own-averages.ts'
import type { SetRatios } from './ratios.ts'
import type { Rhythm } from './rhythm.ts'
import { isFar, type Thresholds } from './thresholds.ts'
import { CONFIDENCES, bitsOf, type Confidence, type Flag, type PriceEvidence, type Verdict } from './types.ts'

/** Position of the market whose prices are computed from our own sales: always trusted, evidence for no other. */
const SERVICE = MARKETS.indexOf('service')

/** What judging needs to know beside the prices; the same for all items. */
export interface Conditions {
  nowMs: number
  thresholds: Thresholds
  /** an amount of one market in the currency of another, by the rates of a day; null for want of a rate */
  convert: (minor: number, fromMarket: number, toMarket: number, atMs: number) => number | null
  /** differences below this are noise, in minor units by market (`noiseOf`) */
  noiseMinor: readonly number[]
  /** by market */
  rhythms: readonly Rhythm[]
}

/** What is known of the item and label whose prices are judged. */
export interface Subject {
  /** usual ratios of its set and finish (`UsualRatios.of`) */
  ratios: SetRatios
  /** for PSA 10 the Near Mint prices of the same item, for Near Mint its PSA 10 prices; null for other labels */
  gradeOrder: { label: 'psa_10' | 'near_mint'; others: readonly PriceEvidence[] } | null
}

/** One observation of a rule about a price. */
export interface Finding {
  flag: Flag
  /** position of the price among those judged */
  price: number
  /** position of the price that it is in conflict with, null for a rule about one price */
  other: number | null
  /** what it was compared with, in minor units of its own currency; null where it was not */
  compared: number | null
  /** how many times larger or smaller than usual, null where it was not compared */
  timesOff: number | null
  /** whether it speaks against the price: not where a rate was missing, or other evidence decided for the price */
  counts: boolean
}

/** What 0.50 EUR (or what the setting says) is in each market's currency; without a rate the same number of units. */
export function noiseOf(noise: number, convert: (minor: number, fromCurrency: 'EUR', toMarket: number) => number | null): number[] {
  const minor = Math.round(noise * 100)
  return MARKETS.map((_, market) => convert(minor, 'EUR', market) ?? minor)
}

/**
 * Judges all current prices of one item and label.
 * @param prices at most one of a market
 * @param findings where given, every observation is added, for explanations
 * @returns a verdict for each price, by position
 */
export function judge(prices: readonly PriceEvidence[], subject: Subject, conditions: Conditions, findings?: Finding[]): Verdict[] {
  const { thresholds, noiseMinor } = conditions
  return prices.map((price, position) => {
    if (price.market === SERVICE) return { state: 'trusted', confidence: confidenceOfSales(price), flags: 0 }
    const flags: Flag[] = []
    const found = (flag: Flag) => {
      flags.push(flag)
      findings?.push({ flag, price: position, other: null, compared: null, timesOff: null, counts: true })
    }
    if (averagesAgainst(price.minor, price, thresholds.ownFactor, noiseMinor[price.market]!)) found('own_averages')
    if (price.identical) found('identical_figures')
    if (price.sharedId) found('shared_id')
    if (price.averageJumped) found('average_jump')
    const rhythm = conditions.rhythms[price.market]
    const isOld = isStale(price, prices, conditions)
    if (isOld) found('old')
    if (rhythm?.isSetAside) found('source_set_aside')
    let agreeing = 0
    for (const [at, other] of prices.entries()) {
      if (at === position || other.market === SERVICE) continue
      if (Math.abs(other.confirmedAtMs - price.confirmedAtMs) > thresholds.comparableDays * DAY_MS) continue
      const amount = conditions.convert(other.minor, other.market, price.market, Math.max(price.confirmedAtMs, other.confirmedAtMs))
      if (amount === null) {
        flags.push('no_rate')
        continue
      }
      const usual = subject.ratios[other.market * MARKETS.length + price.market]
      const expected = amount * (usual?.ratio ?? 1)
      if (isFar(price.minor, expected, thresholds.marketFactor, noiseMinor[price.market]!)) found('other_markets')
      else agreeing += 1
    }
    const against = flags.filter((flag) => flag !== 'no_rate' && flag !== 'old' && flag !== 'source_set_aside')
    const state = isOld || rhythm?.isSetAside ? 'stale' : against.length > 0 ? 'disputed' : 'trusted'
    return { state, confidence: confidenceOf(price, agreeing, state !== 'trusted'), flags: bitsOf(flags) }
  })
}

function isStale(price: PriceEvidence, prices: readonly PriceEvidence[], { rhythms, thresholds }: Conditions): boolean {
  const rhythm = rhythms[price.market]
  let heardMs = rhythm?.newestMs ?? price.confirmedAtMs
  for (const other of prices) if (other.market !== SERVICE) heardMs = Math.max(heardMs, other.confirmedAtMs)
  const interval = Math.max(rhythm?.intervalMs ?? 0, thresholds.staleDays * DAY_MS)
  return heardMs - price.confirmedAtMs > interval * thresholds.staleIntervals
}

function confidenceOf({ samples }: PriceEvidence, agreeing: number, isDoubtful: boolean): Confidence {
  if (isDoubtful) return 'insufficient'
  return CONFIDENCES[Math.min(3, 1 + agreeing + (samples !== null && samples >= 10 ? 1 : 0))]!
}

/** Of a price of our own sales: by their number. */
function confidenceOfSales({ samples }: PriceEvidence): Confidence {
  if (samples === null || samples < 2) return 'insufficient'
  return samples < 4 ? 'low' : samples < 8 ? 'medium' : 'high'
}
