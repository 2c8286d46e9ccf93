// Prices in question by item and cause, for a person to decide about.
import { Type } from '#core/input.ts'
import type { Market } from '#core/markets.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { countInQuestion, pageOfReviews, type PriceReview, ReviewFields, SORTS } from './reviews.ts'

/** What the list needs of its context: the currency of each market beside the database. */
export type ReviewCtx = Pick<WriteCtx, 'db' | 'viewer' | 'now'> & { rules: { currencies: Readonly<Record<Market, string>> } }

export const listPriceReviews = verb(
  {
    name: 'listPriceReviews',
    needs: 'operator',
    input: Type.Object(
      {
        ...ReviewFields,
        sort_by: Type.Optional(
          Type.Enum([...SORTS], { default: 'times_off', description: 'Largest first: how far apart the prices are, or their value in lira' }),
        ),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: ReviewCtx, input): Promise<Page<PriceReview>> =>
    readPage(input, (filter, limit, offset) => pageOfReviews(ctx.db.kysely, filter, ctx.rules.currencies, ctx.now(), limit, offset)),
)

export const countPriceReviews = verb(
  { name: 'countPriceReviews', needs: 'operator', input: Type.Object(ReviewFields, { additionalProperties: false }) },
  (ctx: Pick<WriteCtx, 'db' | 'viewer'>, filter) => countInQuestion(ctx.db.kysely, filter),
)
