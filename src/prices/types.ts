// Shapes that the price module hands around: one price to be written, and how a batch of them went.

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
}

export interface PriceCounts {
  accepted: number
  unchanged: number
  held: number
}

/** Why a price is not published before someone has looked at it. */
export interface Hold {
  rule: string
  reason: string
}
