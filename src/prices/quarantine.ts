// The rules that hold a price back from publication until someone has looked at it. Pure: all they need is handed in.
import { minorToText } from '#core/money.ts'
import type { Hold } from './types.ts'

export interface Candidate {
  minor: number
  updatedAtMs: number
  /** the last published price of the same item, market and label, null for the first */
  lastMinor: number | null
}

export interface Thresholds {
  /** how many times off the last price is too far */
  holdFactor: number
  nowMs: number
}

const DAY_MS = 86_400_000

interface Rule {
  name: string
  holds: (candidate: Candidate, thresholds: Thresholds) => string | null
}

/** In the order of their weight: the first that holds gives the reason. */
const RULES: readonly Rule[] = [
  {
    name: 'future_date',
    holds: ({ updatedAtMs }, { nowMs }) =>
      updatedAtMs > nowMs + DAY_MS ? `dated ${new Date(updatedAtMs).toISOString()}, more than a day ahead` : null,
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
export function holdOf(candidate: Candidate, thresholds: Thresholds): Hold | null {
  for (const rule of RULES) {
    const reason = rule.holds(candidate, thresholds)
    if (reason) return { rule: rule.name, reason }
  }
  return null
}
