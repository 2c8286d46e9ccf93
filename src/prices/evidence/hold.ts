// What holds a price back from publication until someone has looked at it: only mistakes that are certain. Pure.
import { DAY_MS, HOUR_MS } from '#core/duration.ts'
import type { Market } from '#core/markets.ts'
import { minorToText } from '#core/money.ts'
import { type Reason, reason } from '#core/problems.ts'
import { isExplained, type LastPrice, type StatedPrice } from './jumps.ts'
import { nearestAverage } from './own-averages.ts'
import { isFar, type Thresholds, timesOff } from './thresholds.ts'

/**
 * Every reason for which a price can be held, in the order of their weight; `foreign_id` is found where items are.
 * `disagreement` and `grade_order` held prices in earlier versions, and such may still wait.
 */
export const RULE_NAMES = ['foreign_id', 'future_date', 'slip', 'jump', 'disagreement', 'grade_order'] as const
export type RuleName = (typeof RULE_NAMES)[number]

/** Why a price is not published before someone has looked at it. */
export interface Hold extends Reason {
  rule: RuleName
  /** what it was compared with, in minor units of its own currency; null if it was not */
  compared: number | null
  /** how many times larger or smaller than that, null if it was not compared */
  timesOff: number | null
}

/** A price before its publication. */
export interface Candidate extends StatedPrice {
  /** the published price before it, of the same item, market and label; null for the first */
  last: LastPrice | null
  /** differences below this are noise, in minor units of its currency */
  noiseMinor: number
}

/** Thresholds of the rules, from the settings, and what else an import needs to apply them. */
export interface PriceRules extends Thresholds {
  /** currency of each market */
  currencies: Readonly<Record<Market, string>>
  /** the rules that hold; all by default */
  only?: readonly RuleName[]
}

type Judge = (candidate: Candidate, rules: PriceRules, nowMs: number) => Omit<Hold, 'rule'> | null

/** In the order of their weight: the first that holds gives the reason. */
const JUDGES: readonly [RuleName, Judge][] = [
  [
    'future_date',
    ({ updatedAtMs }, { futureHours }, nowMs) => {
      if (updatedAtMs <= nowMs + futureHours * HOUR_MS) return null
      return {
        params: reason('future_date', { date: new Date(updatedAtMs).toISOString(), hours: futureHours }).params,
        compared: null,
        timesOff: null,
      }
    },
  ],
  [
    'slip',
    ({ minor, figures, noiseMinor }, { holdFactor }) => {
      const average = figures && nearestAverage(minor, figures)
      if (!average || !isFar(minor, average, holdFactor, noiseMinor)) return null
      return { params: reason('slip', { price: minorToText(minor), average: minorToText(average) }).params, ...against(minor, average) }
    },
  ],
  [
    'jump',
    ({ minor, updatedAtMs, figures, last, noiseMinor }, rules) => {
      // A price that something speaks against blocks none, and one that nobody confirmed lately only an amount without figures.
      if (last?.state !== 'trusted') return null
      if (figures && updatedAtMs - last.confirmedAtMs > rules.comparableDays * DAY_MS) return null
      if (!isFar(minor, last.minor, rules.holdFactor, noiseMinor) || isExplained({ minor, figures }, last, rules, noiseMinor)) return null
      return { params: reason('jump', { price: minorToText(minor), last: minorToText(last.minor) }).params, ...against(minor, last.minor) }
    },
  ],
]

/** Why a price must wait, or null when it may be published. */
export function holdOf(candidate: Candidate, rules: PriceRules, nowMs: number): Hold | null {
  for (const [rule, judge] of JUDGES) {
    if (rules.only && !rules.only.includes(rule)) continue
    const hold = judge(candidate, rules, nowMs)
    if (hold) return { rule, ...hold }
  }
  return null
}

function against(minor: number, compared: number) {
  return { compared, timesOff: timesOff(minor, compared) }
}
