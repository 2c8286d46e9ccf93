// Returns one item by id (interface.md, "GET /api/v1/items/{id}").
import { itemNotFound } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { marketPosition } from '#core/markets.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { type CatalogueCtx, shapeWithStats } from '../context.ts'
import type { ItemRows } from './list-items.ts'
import { IdParam, MarketParam, StatsParam } from '../params.ts'

export const getItem = verb(
  {
    name: 'getItem',
    needs: OPERATION_PLAN.getItem,
    sharedBy: 'plan',
    input: Type.Object({ id: IdParam, market: Type.Optional(MarketParam), with_stats: Type.Optional(StatsParam) }),
  },
  ({ catalogue: { items }, viewer }: CatalogueCtx, input): ItemRows => {
    const row = items.rowOf(input.id)
    const market = marketPosition(input.market)
    if (row < 0 || (market !== null && !items.isSelectedBy(market, row))) throw itemNotFound(input.id)
    return { rows: Int32Array.of(row), shape: shapeWithStats(viewer, input.with_stats), market }
  },
)
