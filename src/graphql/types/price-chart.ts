// Item.priceChart, as under /items/{id}/price-chart over REST.
import { readPriceChart } from '#catalogue/items/read-price-chart.ts'
import { call } from '#core/verb.ts'
import type { PriceChart, PriceChartPoint, PriceChartSale, PriceChartSeries } from '#prices/history/price-chart.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase } from '../building/builder.ts'
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

const CONVERTED = '`amount` in the currency of the chart, by the last exchange rates known on that day; null if there are none.'

export function addPriceChartType(builder: Builder) {
  const point = builder.objectRef<PriceChartPoint>('PriceChartPoint').implement({
    description: 'A price that applies until the next point.',
    fields: (t) => ({
      day: t.exposeString('day', { nullable: false, description: 'Day of the price, UTC.' }),
      amount: t.exposeFloat('amount', { nullable: false, description: 'Last price of the day, in the currency of the source.' }),
      converted: t.exposeFloat('converted', { description: CONVERTED }),
      state: t.exposeString('state', {
        description: 'State of the current price: `trusted`, `disputed` or `stale`; null for earlier prices.',
      }),
    }),
  })
  const series = builder.objectRef<PriceChartSeries>('PriceChartSeries').implement({
    description: 'Prices of one source.',
    fields: (t) => ({
      market: t.exposeString('market', { nullable: false, description: 'Code of the market.' }),
      currency: t.exposeString('currency', { nullable: false, description: 'Currency of `amount`.' }),
      points: t.field({
        type: [point],
        nullable: { list: false, items: false },
        description: 'The first day of the range, and each day on which the price changed; oldest first.',
        extensions: cost({ entries: 100 }),
        resolve: ({ points }) => points,
      }),
    }),
  })
  const sale = builder.objectRef<PriceChartSale>('PriceChartSale').implement({
    description: 'A sale of one unit, without its seller.',
    fields: (t) => ({
      at: t.exposeString('at', { nullable: false, description: 'Time of the sale, UTC.' }),
      amount: t.exposeFloat('amount', { nullable: false, description: 'Price of one unit.' }),
      currency: t.exposeString('currency', { nullable: false, description: 'Currency of `amount`.' }),
      converted: t.exposeFloat('converted', { description: CONVERTED }),
    }),
  })
  return builder.objectRef<PriceChart>('PriceChart').implement({
    description: 'Prices of an item and label by source and day, with its sales, converted to one currency.',
    fields: (t) => ({
      label: t.exposeString('label', { nullable: false, description: 'Condition or grade.' }),
      labels: t.exposeStringList('labels', { nullable: false, description: 'Labels for which the item has prices.' }),
      currency: t.exposeString('currency', { nullable: false, description: 'Currency of `converted`.' }),
      currencies: t.exposeStringList('currencies', {
        nullable: false,
        description: 'Currencies of the sources that have exchange rates or prices here, and TRY.',
      }),
      range: t.exposeString('range', { nullable: false, description: '`1m`, `3m`, `1y` or `all`.' }),
      from: t.exposeString('from', { nullable: false, description: 'First day of the range.' }),
      to: t.exposeString('to', { nullable: false, description: 'End of the range, UTC.' }),
      series: t.field({
        type: [series],
        nullable: { list: false, items: false },
        description: 'Sources with prices for this label.',
        extensions: cost({ entries: 4 }),
        resolve: ({ series: all }) => all,
      }),
      sales: t.field({
        type: [sale],
        description: 'Sales of the marketplace in the range, oldest first, at most the latest 1,000; null below the Plus plan.',
        extensions: cost({ entries: 30 }),
        resolve: ({ sales }) => sales,
      }),
      salesTotal: t.exposeInt('sales_total', { description: 'Number of sales in the range; null below the Plus plan.' }),
    }),
  })
}
