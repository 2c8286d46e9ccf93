// Types of the price module: context, prices to write, batch results, stored points.
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { Hold, PriceRules } from '../evidence/hold.ts'
import type { Figures } from '../evidence/evidence-types.ts'

/** The context of verbs that write prices. */
export interface PriceWriteCtx extends WriteCtx {
  rules: PriceRules
}

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
  /** figures that its feed states for it */
  figures?: Figures | null
  /** why it must be held, if that is known before any comparison */
  hold?: Hold
}

export interface PriceCounts {
  accepted: number
  /** those of the accepted prices that are the first of their item, market and label */
  created: number
  unchanged: number
  held: number
}

export const PricePointSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    label: Type.String({ examples: ['Near Mint'] }),
    price: Type.Number({ description: "In the market's currency" }),
    updated_at: Type.String({ format: 'date-time', description: 'UTC' }),
    import_id: Type.Integer({ description: 'Import or price post that set the price' }),
  },
  { title: 'PricePoint' },
)
export type StoredPricePoint = Static<typeof PricePointSchema>
