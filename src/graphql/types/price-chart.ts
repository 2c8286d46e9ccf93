// Item.priceChart, as under /items/{id}/price-chart over REST.
import { readPriceChart } from '#catalogue/items/read-price-chart.ts'
import { call } from '#core/verb.ts'
import { type PriceChart, PriceChartSchema } from '#prices/history/price-chart.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'
import type { GraphqlCtx } from '../execution/context.ts'
import type { ItemSource } from '../execution/item-source.ts'

export interface ChartArgs {
  label?: string | null
  currency?: string | null
  range?: string | null
}

/** A chart reads the history of each market, and the sales. */
export const CHART_READ = { ...cost({ weight: 40 }), ...fromDatabase }

/** @throws VALIDATION_ERROR as over REST */
export function chartOf({ row }: ItemSource, args: ChartArgs, ctx: GraphqlCtx): Promise<PriceChart> {
  return call(readPriceChart, ctx, { ...withoutNulls(args), id: ctx.catalogue.items.id[row]! })
}

export function addPriceChartType(builder: Builder) {
  objectFrom(builder, PriceChartSchema.properties.series.items, { entries: { points: 100 } })
  return objectFrom(builder, PriceChartSchema, { omit: ['item_id'], entries: { series: 4, sales: 30 } })
}
