// The rules that hold a price back from publication until someone has looked at it. Pure: all they need is handed in.
import { HOUR_MS } from '#core/duration.ts'
import type { Market } from '#core/markets.ts'
import { minorToText } from '#core/money.ts'
import { type Reason, reason } from '#core/problems.ts'

/** Every reason for which a price can be held, in the order of their weight; `foreign_id` is found where items are. */
export const RULE_NAMES = ['foreign_id', 'future_date', 'jump', 'disagreement', 'grade_order'] as const
export type RuleName = (typeof RULE_NAMES)[number]

/** Why a price is not published before someone has looked at it. */
export interface Hold extends Reason {
  rule: RuleName
  /** what it was compared with, in minor units of its own currency; null where it was not */
  compared: number | null
  /** how many times larger or smaller than that, null where it was not compared */
  timesOff: number | null
}

export interface Candidate {
  minor: number
  updatedAtMs: number
  /** the published price before it, of the same item, market and label; null for the first */
  lastMinor: number | null
  /** current prices of the same item and label in other markets, in the candidate's currency; empty for a past price */
  otherMinors: () => number[]
  /** for a PSA 10 that would be current: the Near Mint price of the same item and market */
  nearMintMinor: () => number | null
}

/** Thresholds of the rules, from the settings. */
export interface PriceRules {
  /** how many times off the last price, or the other sources, is too far */
  holdFactor: number
  /** a PSA 10 below this share of the Near Mint price is held */
  gradedShare: number
  /** hours ahead of now from which a date is in the future */
  futureHours: number
  /** currency of each market */
  currencies: Readonly<Record<Market, string>>
  /** the rules that apply; all when absent */
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
    'jump',
    ({ minor, lastMinor }, { holdFactor }) => {
      if (lastMinor === null || !isFar(minor, lastMinor, holdFactor)) return null
      return { params: reason('jump', { price: minorToText(minor), last: minorToText(lastMinor) }).params, ...against(minor, lastMinor) }
    },
  ],
  [
    'disagreement',
    ({ minor, otherMinors }, { holdFactor }) => {
      const others = otherMinors()
      // One source that stands close is enough: of two that disagree, it need not be this one that is wrong.
      if (others.length === 0 || others.some((other) => !isFar(minor, other, holdFactor))) return null
      const nearest = others.reduce((a, b) => (timesOff(minor, b) < timesOff(minor, a) ? b : a))
      return { params: reason('disagreement', { price: minorToText(minor), prices: others.map(minorToText) }).params, ...against(minor, nearest) }
    },
  ],
  [
    'grade_order',
    ({ minor, nearMintMinor }, { gradedShare }) => {
      const nearMint = nearMintMinor()
      if (nearMint === null || minor >= nearMint * gradedShare) return null
      return { params: reason('grade_order', { price: minorToText(minor), last: minorToText(nearMint) }).params, ...against(minor, nearMint) }
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

function isFar(minor: number, from: number, factor: number): boolean {
  return minor >= from * factor || minor * factor <= from
}

function timesOff(minor: number, from: number): number {
  return Math.max(minor / from, from / minor)
}

function against(minor: number, compared: number) {
  return { compared, timesOff: timesOff(minor, compared) }
}
