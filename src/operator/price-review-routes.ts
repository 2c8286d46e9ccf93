// Operator API: prices in question by item and cause, decisions about them, and undoing these.
import { paged, type Route } from '#http/route.ts'
import { decidePrices } from '#prices/reviews/decide-prices.ts'
import { listPriceDecisions } from '#prices/reviews/list-price-decisions.ts'
import { countPriceReviews, listPriceReviews } from '#prices/reviews/list-price-reviews.ts'
import { type PriceDecision, PriceDecisionSchema } from '#prices/reviews/price-decisions.ts'
import type { ReviewCtx } from '#prices/reviews/reviews.ts'
import { PriceReviewSchema, type ReviewCount, ReviewCountSchema } from '#prices/reviews/review-schemas.ts'
import { undoPriceDecision } from '#prices/reviews/undo-price-decision.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

export const priceReviewRoutes: Route<PriceWriteCtx & ReviewCtx>[] = [
  {
    path: '/price-reviews',
    ...paged(listPriceReviews, PriceReviewSchema),
    summary: 'List prices under review by item and cause, largest deviation first',
    description:
      'Held prices are unpublished. `disputed` and `stale` prices are published, but no computed figure uses them. Each group ' +
      'also lists the other published prices of the same labels. Default `state`: held and disputed.',
    tag: 'Price reviews',
  },
  {
    method: 'GET',
    path: '/price-reviews/count',
    verb: countPriceReviews,
    summary: 'Count the prices under review that match a filter, by state',
    tag: 'Price reviews',
    answer: (count: ReviewCount) => ({ data: count }),
    data: ReviewCountSchema,
  },
  {
    method: 'POST',
    path: '/price-decisions',
    verb: decidePrices,
    summary: 'Decide about prices under review',
    description:
      '`accept` publishes held prices and `discard` rejects them; list them in `held_ids`. `confirm` marks published prices as correct until ' +
      'their feed states another amount. `withdraw` unpublishes prices and restores the previous ones; the same amount is not published ' +
      'again until the feed has stated a different one. For both, list the prices in `prices` with the amounts you saw. ' +
      'With a `filter`, which must have a `state`, the decision applies to every match, and is rejected unless their number is `expected`. ' +
      'A decision is one batch: it is rejected as a whole if any price has changed since, and it can be undone.',
    tag: 'Price reviews',
    answer: (decision: PriceDecision) => ({ data: decision, message: decision.undone_at === null ? 'Decision made' : 'Decision undone' }),
    data: PriceDecisionSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    path: '/price-decisions',
    ...paged(listPriceDecisions, PriceDecisionSchema),
    summary: 'List decisions about prices, newest first',
    tag: 'Price reviews',
  },
  {
    method: 'POST',
    path: '/price-decisions/:id/undo',
    verb: undoPriceDecision,
    summary: 'Undo a decision about prices',
    description:
      'Restores the prices from before the decision. Prices that changed since (newer price, reverted import, merged ' +
      'item or later decision) stay unchanged; `kept` counts them by reason.',
    tag: 'Price reviews',
    answer: (decision: PriceDecision) => ({ data: decision, message: decision.undone_at === null ? 'Decision made' : 'Decision undone' }),
    data: PriceDecisionSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]
