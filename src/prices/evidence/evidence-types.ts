// Types of price evidence: states, confidences and flags of a price, and the feed's own figures.
import { namedValues } from '#core/named-values.ts'

/** In the order of their numbers in the database. */
export const STATES = namedValues('PriceState', ['trusted', 'disputed', 'stale', 'unproven'])
export type PriceState = (typeof STATES)[number]

export const CONFIDENCES = namedValues('PriceConfidence', ['insufficient', 'low', 'medium', 'high'])
export type Confidence = (typeof CONFIDENCES)[number]

/** Evidence against a price, checks that could not be made, and differences that are usual; the position is the bit in `flags`. */
export const FLAGS = namedValues('PriceFlag', [
  'own_averages',
  'jump',
  'identical_figures',
  'shared_id',
  'other_markets',
  'average_jump',
  'old',
  'source_set_aside',
  'grade_order',
  'no_rate',
  'few_people',
  'condition_unknown',
  'markets_apart',
  'frozen',
])
export type Flag = (typeof FLAGS)[number]

/** The names of a set of flags, in the order of FLAGS. */
export function flagsOf(bits: number): Flag[] {
  return FLAGS.filter((_, position) => (bits >> position) & 1)
}

/** The bits of flags. */
export function bitsOf(flags: Iterable<Flag>): number {
  let bits = 0
  for (const flag of flags) bits |= 1 << FLAGS.indexOf(flag)
  return bits
}

/** Flags that do not count against a price: a check that could not be made, and differences that an unknown condition or the usual ratio explains. */
export const NEUTRAL_FLAGS = bitsOf(['no_rate', 'condition_unknown', 'markets_apart'])

/** A feed's own figures for a price, in minor units of the same currency; null for missing ones. */
export interface Figures {
  avg1: number | null
  avg7: number | null
  avg30: number | null
  low: number | null
  mid: number | null
  high: number | null
  /** number of sales or offers behind them */
  samples: number | null
}

/** A current price of an item and label with all its evidence. */
export interface PriceEvidence extends Figures {
  /** position in MARKETS */
  market: number
  minor: number
  updatedAtMs: number
  /** when its feed last stated it */
  confirmedAtMs: number
  state: PriceState
  /** whether another item of this market has the same amount and figures */
  identical: boolean
  /** whether its source repeats it while another market moves (`isFrozen`; stored as a flag) */
  frozen: boolean
  /** whether it or its averages jumped from the previous price (`jumpsOf`; stored as flags until settled) */
  jumped: boolean
  averageJumped: boolean
  /** whether the item shares the shop id of these prices with another item */
  sharedId: boolean
  /** whether too few people are behind a price from our own sales (stored as a flag when it is computed) */
  fewPeople: boolean
  /** whether it is the price of one condition or grade; false for a trend or average over all conditions */
  conditionKnown: boolean
}

/** Evidence of uncontradicted other markets about a price: `open` if there are none, or they disagree; `close` if all agree closely. */
export type Backing = 'close' | 'agreed' | 'contradicted' | 'open'

export interface Verdict {
  state: PriceState
  confidence: Confidence
  /** bits of FLAGS */
  flags: number
  backing: Backing
}
