// The rules that hold a price back from publication until someone has looked at it. Pure: all they need is handed in.
import type { Market } from '#core/markets.ts'
import { minorToText } from '#core/money.ts'
import type { Hold } from './types.ts'

export interface Candidate {
  minor: number
  updatedAtMs: number
  /** the last published price of the same item, market and label, null for the first */
  lastMinor: number | null
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
}

const HOUR_MS = 3_600_000

interface Rule {
  name: string
  holds: (candidate: Candidate, rules: PriceRules, nowMs: number) => string | null
}

/** In the order of their weight: the first that holds gives the reason. */
const RULES: readonly Rule[] = [
  {
    name: 'future_date',
    holds: ({ updatedAtMs }, { futureHours }, nowMs) =>
      updatedAtMs > nowMs + futureHours * HOUR_MS
        ? `dated ${new Date(updatedAtMs).toISOString()}, more than ${futureHours} hours ahead`
        : null,
  },
  {
    name: 'jump',
    holds: ({ minor, lastMinor }, { holdFactor }) => {
      if (lastMinor === null) return null
      if (minor < lastMinor * holdFactor && minor * holdFactor > lastMinor) return null
      return `${minorToText(minor)} after ${minorToText(lastMinor)}: ${holdFactor} times off or more`
    },
  },
]

/** Why a price must wait, or null when it may be published. */
export function holdOf(candidate: Candidate, rules: PriceRules, nowMs: number): Hold | null {
  for (const rule of RULES) {
    const reason = rule.holds(candidate, rules, nowMs)
    if (reason) return { rule: rule.name, reason }
  }
  return null
}
