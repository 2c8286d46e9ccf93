// The public price history and the explanation of a price: additions to the interface.
import { type ExplainCtx, explainPrice } from '#catalogue/items/explain-price.ts'
import { type ChartCtx, readPriceChart } from '#catalogue/items/read-price-chart.ts'
import { type PricePeriod, PricePeriodSchema, readPriceHistory } from '#catalogue/items/read-price-history.ts'
import { Type } from '#core/input.ts'
import type { Route } from '#http/route.ts'
import { type PriceExplanation, PriceExplanationSchema } from '#prices/reviews/explanation.ts'
import { type PriceChart, PriceChartSchema } from '#prices/history/price-chart.ts'

export const priceRoutes: Route<ExplainCtx & ChartCtx>[] = [
  {
    method: 'GET',
    path: '/items/:id/price-history',
    verb: readPriceHistory,
    summary: "Read an item's price history",
    description:
      'First, lowest, highest and last price of each day, week or month in which the price changed. A price applies ' +
      'until it changes: `open`, `low` and `high` include the price at the start of the period, and for a period that is not ' +
      'listed, the previous `close` applies. The period of `from` is always listed, with the price at that time. Professional ' +
      'and above.',
    tag: 'Catalogue',
    answer: (periods: PricePeriod[]) => ({ data: periods }),
    data: Type.Array(PricePeriodSchema),
    errors: ['ITEM_NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/items/:id/price-chart',
    verb: readPriceChart,
    summary: "Read the data of an item's price chart",
    description:
      'The prices of one label by source and day, with the sales of the marketplace, also converted to one currency. A price applies ' +
      'until the next point of its source. Amounts are converted by the last exchange rates known on their day. Professional and ' +
      'above; sales from the Plus plan on.',
    tag: 'Catalogue',
    answer: (chart: PriceChart) => ({ data: chart }),
    data: PriceChartSchema,
    errors: ['ITEM_NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/items/:id/prices/explain',
    verb: explainPrice,
    summary: 'Explain a price',
    description:
      'The rule that computed the price and all its inputs and evidence: the statement of the feed or the sales of ' +
      "the service's own market, the feed's own figures, prices of other markets and the exchange rates used to compare them. " +
      'Inputs with the `kind` `statement` or `sale` are enough to recompute the price. An item without such a price has `price: null`, ' +
      'with the prices of other markets. Sellers are not disclosed. Professional and above.',
    tag: 'Catalogue',
    answer: (explanation: PriceExplanation) => ({ data: explanation }),
    data: PriceExplanationSchema,
    errors: ['ITEM_NOT_FOUND'],
  },
]
