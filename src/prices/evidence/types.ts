// Types of price evidence: states, confidences and flags of a price, and the feed's own figures.
import { namedValues } from '#core/named-values.ts'

/** In the order of their numbers in the database. */
export const STATES = namedValues('PriceState', ['trusted', 'disputed', 'stale'])
export type PriceState = (typeof STATES)[number]

export const CONFIDENCES = namedValues('PriceConfidence', ['insufficient', 'low', 'medium', 'high'])
export type Confidence = (typeof CONFIDENCES)[number]

/** What can speak against a price, or could not be checked; the position is the bit in `flags`. */
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

/** A feed's own figures beside a price, in minor units of the same currency; null if it gives none. */
export interface Figures {
  avg1: number | null
  avg7: number | null
  avg30: number | null
  low: number | null
  mid: number | null
  high: number | null
  /** how many sales or offers they are of */
  samples: number | null
}

/** One current price of an item and label, with all that is known of it. */
export interface PriceEvidence extends Figures {
  /** position in MARKETS */
  market: number
  minor: number
  updatedAtMs: number
  /** when its feed last stated it */
  confirmedAtMs: number
  state: PriceState
  /** another item of this market has the same amount and figures */
  identical: boolean
  /** it jumped from the previous price it, or its averages did (`jumpsOf`; kept as flags until they are settled) */
  jumped: boolean
  averageJumped: boolean
  /** the item shares the id of a shop whose prices these are with another item */
  sharedId: boolean
}

/** What other markets that nothing speaks against say of a price: `open` if there is none, or they disagree. */
export type Backing = 'agreed' | 'contradicted' | 'open'

export interface Verdict {
  state: PriceState
  confidence: Confidence
  /** bits of FLAGS */
  flags: number
  backing: Backing
}
