// The public price history and the explanation of a price: additions to the interface.
import { type ExplainCtx, explainPrice } from '#catalogue/explain-price.ts'
import { type PricePeriod, PricePeriodSchema, readPriceHistory } from '#catalogue/read-price-history.ts'
import { Type } from '#core/input.ts'
import type { Route } from '#http/route.ts'
import { type PriceExplanation, PriceExplanationSchema } from '#prices/explain.ts'
import type { HistoryCtx } from '#prices/history.ts'

export const priceRoutes: Route<ExplainCtx & HistoryCtx>[] = [
  {
    method: 'GET',
    path: '/items/:id/price-history',
    verb: readPriceHistory,
    summary: "An item's price history",
    description:
      'First, lowest, highest and last price of each day, week or month in which the price changed. A price holds until it ' +
      'changes: `open`, `low` and `high` include the price at the start of the period, and in a period that is not listed ' +
      'the last `close` before it held. The period of `from` is always listed, with the price that held then. Professional ' +
      'and above.',
    tag: 'Catalogue',
    answer: (periods: PricePeriod[]) => ({ data: periods }),
    data: Type.Array(PricePeriodSchema),
    errors: ['ITEM_NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/items/:id/prices/explain',
    verb: explainPrice,
    summary: 'Why a price is what it is',
    description:
      'The rule that made the price and everything that it was computed from or judged by: the statement of the feed, or the sales of ' +
      "the service's own market, the feed's own figures, prices of other markets and the rates that compare them. The inputs with " +
      '`kind` `statement` or `sale` suffice to compute the price again. An item without such a price has `price: null`, with the prices ' +
      'of other markets. Sellers are not disclosed. Professional and above.',
    tag: 'Catalogue',
    answer: (explanation: PriceExplanation) => ({ data: explanation }),
    data: PriceExplanationSchema,
    errors: ['ITEM_NOT_FOUND'],
  },
]
