// Returns the history of an item's prices by day, week or month, for Professional and above; interface.md does not define this endpoint.
import { DAY_MS } from '#core/duration.ts'
import { invalid, itemNotFound } from '#core/errors.ts'
import { moment, momentOf } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { parseLabel } from '#core/labels.ts'
import { MARKETS } from '#core/markets.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import { type HistoryCtx, INTERVALS, periodsOf } from '#prices/history/history.ts'
import type { CatalogueNode, MarketUse } from '../context.ts'
import { IdParam } from '../params.ts'

export const PricePeriodSchema = Type.Object(
  {
    date: Type.String({ format: 'date', description: 'First day of the period, UTC', examples: ['2026-11-16'] }),
    market: Type.Enum([...MARKETS]),
    label: Type.String({ description: 'Condition or grade, such as `Near Mint` or `PSA 10`', examples: ['Near Mint'] }),
    open: Type.Number({
      description: 'Price at the start of the period, or at `from` if that is later; the first price if there was none',
    }),
    low: Type.Number({ description: 'Lowest price in the period, including the price at its start' }),
    high: Type.Number({ description: 'Highest price in the period, including the price at its start' }),
    close: Type.Number({ description: 'Last price in the period' }),
  },
  { title: 'PricePeriod' },
)
export type PricePeriod = Static<typeof PricePeriodSchema>

export const readPriceHistory = verb(
  {
    name: 'readPriceHistory',
    needs: OPERATION_PLAN.readPriceHistory,
    input: Type.Object({
      id: IdParam,
      market: Type.Optional(Type.Enum([...MARKETS], { description: 'Default: the market whose prices the item shows' })),
      label: Type.Optional(Type.String({ maxLength: 40, description: 'Condition or grade; default: all', examples: ['Near Mint', 'PSA 10'] })),
      from: Type.Optional(moment('Start of the range, inclusive; default: a year before `to`')),
      to: Type.Optional(moment('End of the range, exclusive; default: now')),
      interval: Type.Optional(Type.Enum([...INTERVALS], { default: 'day', description: 'Weeks start on Monday; times are UTC' })),
    }),
  },
  async (ctx: CatalogueNode & MarketUse & HistoryCtx & HasViewer & { now: () => Date }, input): Promise<PricePeriod[]> => {
    const row = ctx.catalogue.items.rowOf(input.id)
    if (row < 0) throw itemNotFound(input.id)
    const to = input.to === undefined ? ctx.now() : momentOf('to', input.to)
    const from = input.from === undefined ? new Date(to.getTime() - 365 * DAY_MS) : momentOf('from', input.from)
    if (from >= to) throw invalid('from', 'before', { field: 'to' })
    const { market = MARKETS[ctx.catalogue.items.shown[row]!]!, label, interval = 'day' } = input
    if (!ctx.mayUse(MARKETS.indexOf(market))) return []
    const canonical = label === undefined ? undefined : (parseLabel(label)?.label ?? label)
    return periodsOf(ctx, ctx.catalogue.items.id[row]!, { market, label: canonical, from, to, interval })
  },
)
