// The public price history: an addition to the interface.
import type { CatalogueNode } from '#catalogue/context.ts'
import { type PricePeriod, PricePeriodSchema, readPriceHistory } from '#catalogue/read-price-history.ts'
import { Type } from '#core/input.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Route } from '#http/route.ts'

export const priceRoutes: Route<CatalogueNode & Pick<WriteCtx, 'db' | 'viewer' | 'now'>>[] = [
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
]
