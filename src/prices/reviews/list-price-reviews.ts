// Lists prices under review by item and cause, for a person to decide.
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { countInQuestion, pageOfReviews, type ReviewCtx } from './reviews.ts'
import { ReviewFields, SORTS } from './review-schemas.ts'

export const listPriceReviews = listVerb(
  {
    name: 'listPriceReviews',
    needs: 'operator',
    filters: {
      ...ReviewFields,
      sort_by: Type.Optional(Type.Enum([...SORTS], { default: 'times_off', description: 'Sorts by deviation or by value in lira, largest first' })),
    },
  },
  (ctx: ReviewCtx, filter, range) => pageOfReviews(ctx, filter, range),
)

export const countPriceReviews = verb({ name: 'countPriceReviews', needs: 'operator', input: Type.Object(ReviewFields) }, (ctx: ReviewCtx, filter) =>
  countInQuestion(ctx, filter),
)
