// Lists prices under review by item and cause, for a person to decide.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { countInQuestion, pageOfReviews, type PriceReview, type ReviewCtx, ReviewFields, SORTS } from './reviews.ts'

export const listPriceReviews = verb(
  {
    name: 'listPriceReviews',
    needs: 'operator',
    input: Type.Object(
      {
        ...ReviewFields,
        sort_by: Type.Optional(Type.Enum([...SORTS], { default: 'times_off', description: 'Sorts by deviation or by value in lira, largest first' })),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: ReviewCtx, input): Promise<Page<PriceReview>> => readPage(input, (filter, limit, offset) => pageOfReviews(ctx, filter, limit, offset)),
)

export const countPriceReviews = verb(
  { name: 'countPriceReviews', needs: 'operator', input: Type.Object(ReviewFields, { additionalProperties: false }) },
  (ctx: ReviewCtx, filter) => countInQuestion(ctx, filter),
)
