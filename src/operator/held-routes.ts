// Operator API: held prices.
import { Type } from '#core/input.ts'
import { paged, type Route } from '#http/route.ts'
import { acceptHeldPrice, discardHeldPrice } from '#prices/reviews/decide-held-price.ts'
import { acceptHeldPrices, type DecidedCount, discardHeldPrices } from '#prices/reviews/decide-held-prices.ts'
import { type HeldPrice, HeldPriceSchema } from '#prices/writing/held.ts'
import { listHeldPrices } from '#prices/reviews/list-held-prices.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

const DecidedSchema = Type.Object({ decided: Type.Integer({ description: 'Number of prices' }) }, { title: 'DecidedPrices' })

export const heldRoutes: Route<PriceWriteCtx>[] = [
  {
    path: '/held-prices',
    ...paged(listHeldPrices, HeldPriceSchema),
    summary: 'List held prices, which are unpublished until someone reviews them, largest deviation first',
    description:
      'Rules: `jump` (deviates from the last price), `disagreement` (deviates from every other source of the same label), ' +
      '`grade_order` (a PSA 10 below Near Mint), `future_date`, `foreign_id` (two items share the foreign id).',
    tag: 'Held prices',
  },
  {
    method: 'POST',
    path: '/held-prices/:id/accept',
    verb: acceptHeldPrice,
    summary: 'Publish a held price',
    description: 'It becomes part of the import it came from. If several items share its foreign id, choose one with `item_id`.',
    tag: 'Held prices',
    answer: (held: HeldPrice) => ({ data: held, message: 'Price published' }),
    data: HeldPriceSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/held-prices/:id/discard',
    verb: discardHeldPrice,
    summary: 'Discard a held price',
    description: 'The same price with the same timestamp is not held again.',
    tag: 'Held prices',
    answer: (held: HeldPrice) => ({ data: held, message: 'Price discarded' }),
    data: HeldPriceSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/held-prices/accept',
    verb: acceptHeldPrices,
    summary: 'Publish held prices by rule, market, import or item',
    tag: 'Held prices',
    answer: (decided: DecidedCount) => ({ data: decided }),
    data: DecidedSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'POST',
    path: '/held-prices/discard',
    verb: discardHeldPrices,
    summary: 'Discard held prices by rule, market, import or item',
    tag: 'Held prices',
    answer: (decided: DecidedCount) => ({ data: decided }),
    data: DecidedSchema,
    errors: ['INVALID_JSON'],
  },
]
