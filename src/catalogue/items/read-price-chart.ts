// Reads the data of an item's price chart, for Professional and above; operators also get its held prices.
import { itemNotFound } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { OPERATION_PLAN, planAllows } from '#core/plans.ts'
import { type Caller, type HasViewer, verb } from '#core/verb.ts'
import type { HistoryCtx } from '#prices/history/history.ts'
import { ChartParams, type PriceChart, priceChartOf } from '#prices/history/price-chart.ts'
import { Rates } from '#prices/rates/rates.ts'
import type { CatalogueNode, MarketUse } from '../context.ts'
import { IdParam, labelParam } from '../params.ts'
import { fetchPricedItem, type StoredItemCtx } from './stored-items.ts'

interface Charting {
  now: () => Date
  currencies: Readonly<Record<Market, string>>
}

export interface ChartCtx extends CatalogueNode, MarketUse, HistoryCtx, HasViewer, Charting {}

export const readPriceChart = verb(
  {
    name: 'readPriceChart',
    needs: OPERATION_PLAN.readPriceChart,
    input: Type.Object({ id: IdParam, ...ChartParams }),
  },
  (ctx: ChartCtx, { id, label, currency, range = '1y' }): Promise<PriceChart> => {
    const { items, rates } = ctx.catalogue
    const row = items.rowOf(id)
    if (row < 0) throw itemNotFound(id)
    const shown = ctx.currencies[MARKETS[items.shown[row]!]!]
    const query = { itemId: items.id[row]!, label: label === undefined ? undefined : labelParam(label), currency: currency ?? shown, range }
    const withSales = maySeeSales(ctx.viewer)
    const markets = MARKETS.filter((_, position) => ctx.mayUse(position))
    return priceChartOf(ctx, { ...query, markets, withSales, withHeld: false }, { now: ctx.now(), rates, currencies: ctx.currencies })
  },
)

export interface StoredChartCtx extends StoredItemCtx, HistoryCtx, Charting {}

export const readStoredPriceChart = verb(
  { name: 'readStoredPriceChart', needs: 'operator', input: Type.Object({ id: id('item'), ...ChartParams }) },
  async (ctx: StoredChartCtx, { id, label, currency, range = '1y' }): Promise<PriceChart> => {
    const [item, rates] = await Promise.all([fetchPricedItem(ctx, id), Rates.load(ctx.db.kysely)])
    const query = {
      itemId: item.id,
      label: label === undefined ? undefined : labelParam(label),
      currency: currency ?? ctx.currencies[item.shown_market],
      range,
    }
    return priceChartOf(ctx, { ...query, markets: MARKETS, withSales: true, withHeld: true }, { now: ctx.now(), rates, currencies: ctx.currencies })
  },
)

/** Sales of the marketplace can be read from the same plan on as the recent sales. */
function maySeeSales(viewer: Caller): boolean {
  return viewer.kind === 'operator' || planAllows(viewer.plan, OPERATION_PLAN.listRecentSales)
}
