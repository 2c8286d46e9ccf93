// Operator API: prices in question by item and cause, decisions about them, and undoing these.
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'
import { decidePrices } from '#prices/decide-prices.ts'
import { listPriceDecisions } from '#prices/list-price-decisions.ts'
import { countPriceReviews, listPriceReviews } from '#prices/list-price-reviews.ts'
import { decisionText, type PriceDecision, PriceDecisionSchema } from '#prices/price-decisions.ts'
import { type PriceReview, PriceReviewSchema, type ReviewCount, ReviewCountSchema, type ReviewCtx } from '#prices/reviews.ts'
import { undoPriceDecision } from '#prices/undo-price-decision.ts'
import type { PriceWriteCtx } from '#prices/types.ts'

export const priceReviewRoutes: Route<PriceWriteCtx & ReviewCtx>[] = [
  {
    method: 'GET',
    path: '/price-reviews',
    verb: listPriceReviews,
    summary: 'Prices in question by item and cause, those furthest apart first',
    description:
      'Held prices are not published; `disputed` and `stale` ones are, and no computed figure uses them. Each group shows the other ' +
      'published prices of the same labels, too. Without `state`: held and disputed ones.',
    tag: 'Price reviews',
    answer: ({ rows, pagination }: Page<PriceReview>) => ({ data: rows, pagination }),
    data: Type.Array(PriceReviewSchema),
    paged: true,
  },
  {
    method: 'GET',
    path: '/price-reviews/count',
    verb: countPriceReviews,
    summary: 'How many prices in question a filter finds, by state',
    tag: 'Price reviews',
    answer: (count: ReviewCount) => ({ data: count }),
    data: ReviewCountSchema,
  },
  {
    method: 'POST',
    path: '/price-decisions',
    verb: decidePrices,
    summary: 'Decide about prices in question',
    description:
      '`accept` publishes held prices and `discard` rejects them; list them in `held_ids`. `confirm` marks published prices as correct until ' +
      'their feed states another amount. `withdraw` unpublishes prices and restores the previous ones; the same amount is not published ' +
      'again until the feed has stated a different one. For both, list the prices in `prices` with the amounts you saw. ' +
      'With a `filter`, which must have a `state`, the decision applies to every match, and is refused unless their number is `expected`. ' +
      'A decision is one batch: it is refused as a whole if any price has changed since, and it can be undone.',
    tag: 'Price reviews',
    answer: (decision: PriceDecision) => ({ data: decision, message: decisionText(decision) }),
    data: PriceDecisionSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    method: 'GET',
    path: '/price-decisions',
    verb: listPriceDecisions,
    summary: 'Decisions about prices, newest first',
    tag: 'Price reviews',
    answer: ({ rows, pagination }: Page<PriceDecision>) => ({ data: rows, pagination }),
    data: Type.Array(PriceDecisionSchema),
    paged: true,
  },
  {
    method: 'POST',
    path: '/price-decisions/:id/undo',
    verb: undoPriceDecision,
    summary: 'Undo a decision about prices',
    description:
      'The prices are as they were before it. One that changed since (a newer price came, its import was reverted, its item merged, or ' +
      'it was decided again) stays as it is; `kept` counts them by reason.',
    tag: 'Price reviews',
    answer: (decision: PriceDecision) => ({ data: decision, message: decisionText(decision) }),
    data: PriceDecisionSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]
