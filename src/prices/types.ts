// Shapes that the price module hands around: one price to be written, and how a batch of them went.
import type { RuleName } from './quarantine.ts'

/** A price of a known item, in the units of the tables. */
export interface PriceWrite {
  /** line of the feed or position in the post, for reports */
  row: number
  itemId: number
  /** position in MARKETS */
  market: number
  labelId: number
  minor: number
  updatedAtMs: number
  /** why it must wait, where that is known before it is compared with anything */
  hold?: Hold
}

export interface PriceCounts {
  accepted: number
  /** those of the accepted that are the first of their item, market and label */
  created: number
  unchanged: number
  held: number
}

/** Why a price is not published before someone has looked at it. */
export interface Hold {
  rule: RuleName
  reason: string
  /** what it was compared with, in minor units of its own currency; null where it was not */
  compared: number | null
  /** how many times larger or smaller than that, null where it was not compared */
  timesOff: number | null
}
