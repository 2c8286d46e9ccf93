// Item.priceHistory, as under /items/{id}/price-history over REST.
import { type PricePeriod, PricePeriodSchema, readPriceHistory } from '#catalogue/items/read-price-history.ts'
import { call } from '#core/verb.ts'
import { marketOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'
import type { GraphqlCtx } from '../execution/context.ts'
import type { ItemSource } from '../execution/item-source.ts'

export interface HistoryArgs {
  market?: string | null
  label?: string | null
  from?: string | null
  to?: string | null
  interval?: string | null
}

/** A history is a separate read of some tens of periods. */
export const HISTORY_READ = { ...cost({ weight: 10, entries: 30 }), ...fromDatabase }

/** @throws VALIDATION_ERROR as over REST */
export function historyOf({ row }: ItemSource, args: HistoryArgs, ctx: GraphqlCtx): Promise<PricePeriod[]> {
  const input: Record<string, unknown> = { ...withoutNulls(args), id: ctx.catalogue.items.id[row]! }
  if (typeof input.market === 'string') input.market = marketOf(input.market)
  return call(readPriceHistory, ctx, input)
}

export function addPricePeriodType(builder: Builder) {
  return objectFrom(builder, PricePeriodSchema, {
    description: 'The prices of a day, week or month in which a price changed. A price applies until it changes.',
  })
}
