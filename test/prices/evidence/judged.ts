// Prices as input of the evidence rules, for their tests; fields that are not set have unremarkable values.
import { readConfig } from '#config.ts'
import { MARKETS } from '#core/markets.ts'
import type { Finding } from '#prices/evidence/finding.ts'
import { type Conditions, judge, type Subject } from '#prices/evidence/judge.ts'
import { type GroupRatio, UsualRatios } from '#prices/evidence/ratios.ts'
import type { Thresholds } from '#prices/evidence/thresholds.ts'
import { type Figures, flagsOf, type PriceEvidence } from '#prices/evidence/evidence-types.ts'

export const NOW = Date.parse('2026-11-21T12:00:00Z')
export const DAY = 86_400_000
export const RULES: Thresholds = readConfig({}).priceRules
export const [SERVICE, A, B, C] = [0, 1, 2, 3] as const
export const NO_FIGURES: Figures = { avg1: null, avg7: null, avg30: null, low: null, mid: null, high: null, samples: null }

/** A trusted price with the current time. */
export function price(market: number, minor: number, rest: Partial<PriceEvidence> = {}): PriceEvidence {
  const flags = {
    jumped: false,
    averageJumped: false,
    identical: false,
    frozen: false,
    sharedId: false,
    fewPeople: false,
    conditionKnown: true,
  }
  return { market, minor, updatedAtMs: NOW, confirmedAtMs: NOW, state: 'trusted', ...NO_FIGURES, ...flags, ...rest }
}

/** Conditions in which every currency is worth the same and every source sends one feed a day. */
export function conditions(rest: Partial<Conditions> = {}): Conditions {
  const rhythms = MARKETS.map(() => ({ intervalMs: DAY, newestMs: NOW, isSetAside: false }))
  return { nowMs: NOW, thresholds: RULES, convert: (minor) => minor, noiseMinor: MARKETS.map(() => 50), rhythms, ...rest }
}

export function ratios(...groups: Partial<GroupRatio>[]): Subject['ratios'] {
  const whole = { game: 'pokemon', categoryId: 1, finish: 'holo', marketA: B, marketB: C, ratio: 1, spread: 1.2, cards: 20 }
  return new UsualRatios(groups.map((group) => ({ ...whole, ...group }))).of('pokemon', 1, 'holo')
}

/** The verdicts as `state flag,flag`, by position. */
export function verdicts(prices: readonly PriceEvidence[], rules: Partial<Conditions> = {}, subject: Partial<Subject> = {}): string[] {
  const found = judge(prices, { ratios: [], gradeOrder: null, ...subject }, conditions(rules))
  return found.map(({ state, flags }) => [state, flagsOf(flags).join(',')].join(' ').trim())
}

/** The findings of the rules, whether they count or not. */
export function findings(prices: readonly PriceEvidence[], rules: Partial<Conditions> = {}, subject: Partial<Subject> = {}): Finding[] {
  const found: Finding[] = []
  judge(prices, { ratios: [], gradeOrder: null, ...subject }, conditions(rules), found)
  return found
}
