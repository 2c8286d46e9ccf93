// Decides which prices are held for review before publication: only those that are clearly mistakes. Pure.
import { DAY_MS, HOUR_MS } from '#core/duration.ts'
import type { Market } from '#core/markets.ts'
import { minorToText } from '#core/money.ts'
import { type Reason, reason } from '#core/problems.ts'
import { isExplained, type LastPrice, type StatedPrice } from './jumps.ts'
import { nearestAverage } from './own-averages.ts'
import { isFar, type Thresholds, factorBetween } from './thresholds.ts'

/**
 * Every reason for holding a price, most important first; `foreign_id` is detected where items are matched.
 * `disagreement` and `grade_order` held prices in earlier versions, and such prices may still be pending.
 */
export const RULE_NAMES = ['foreign_id', 'future_date', 'slip', 'jump', 'disagreement', 'grade_order'] as const
export type RuleName = (typeof RULE_NAMES)[number]

/** Why a price is held for review. */
export interface Hold extends Reason {
  rule: RuleName
  /** the amount it was compared with, in minor units of its own currency; null if it was not compared */
  compared: number | null
  /** factor between the two amounts; null if it was not compared */
  timesOff: number | null
}

/** A price before publication. */
export interface Candidate extends StatedPrice {
  /** the previous published price of the same item, market and label; null for the first */
  last: LastPrice | null
  /** differences below this are noise, in minor units of its currency */
  noiseMinor: number
}

/** Thresholds of the rules from the settings, and the other data an import needs to apply them. */
export interface PriceRules extends Thresholds {
  /** least cost of shipping a card that our own market sells, in TL: what a sale between people who act together costs */
  shippingFloor: number
  /** currency of each market */
  currencies: Readonly<Record<Market, string>>
  /** the rules that may hold prices; default: all */
  only?: readonly RuleName[]
}

type Judge = (candidate: Candidate, rules: PriceRules, nowMs: number) => Omit<Hold, 'rule'> | null

/** Most important first: the first rule that matches gives the reason. */
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
      // Only a trusted previous price can hold a new one. If it was not confirmed recently, it can hold only an amount without figures.
      if (last?.state !== 'trusted') return null
      if (figures && updatedAtMs - last.confirmedAtMs > rules.comparableDays * DAY_MS) return null
      if (!isFar(minor, last.minor, rules.holdFactor, noiseMinor) || isExplained({ minor, figures }, last, rules, noiseMinor)) return null
      return { params: reason('jump', { price: minorToText(minor), last: minorToText(last.minor) }).params, ...against(minor, last.minor) }
    },
  ],
]

/** Why a price must be held; null if it may be published. */
export function holdOf(candidate: Candidate, rules: PriceRules, nowMs: number): Hold | null {
  for (const [rule, judge] of JUDGES) {
    if (rules.only && !rules.only.includes(rule)) continue
    const hold = judge(candidate, rules, nowMs)
    if (hold) return { rule, ...hold }
  }
  return null
}

function against(minor: number, compared: number) {
  return { compared, timesOff: factorBetween(minor, compared) }
}
