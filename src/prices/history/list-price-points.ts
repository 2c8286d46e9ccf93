// Lists the points of an item's price history as operators see them.
import { filter, id, moment, momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { parseLabel } from '#core/labels.ts'
import { MARKETS } from '#core/markets.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import { type HistoryCtx, pointsOf, requireItem } from './history.ts'
import type { StoredPricePoint } from '../records/price-types.ts'

/** Maximum points of a response. */
const MAX_POINTS = 10_000

export const listPricePoints = verb(
  {
    name: 'listPricePoints',
    needs: 'operator',
    input: Type.Object({
      id: id('item'),
      market: Type.Optional(Type.Enum([...MARKETS])),
      label: filter('Condition or grade; an unknown one has no points'),
      from: Type.Optional(moment('Start of the range, inclusive')),
      to: Type.Optional(moment('End of the range, exclusive')),
    }),
  },
  async (ctx: HistoryCtx & HasViewer, { id, market, label, from, to }): Promise<StoredPricePoint[]> => {
    return pointsOf(ctx, await requireItem(ctx.db.kysely, id), {
      market,
      label: label === undefined ? undefined : (parseLabel(label)?.label ?? label),
      from: from === undefined ? undefined : momentOf('from', from),
      to: to === undefined ? undefined : momentOf('to', to),
      limit: MAX_POINTS,
    })
  },
)
