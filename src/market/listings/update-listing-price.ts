// Changes the price of an own listing without approval (interface.md, "PATCH /api/v1/plus/listings/{id}/price").
import type { CatalogueNode } from '#catalogue/context.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { changeStock } from './change-stock.ts'
import { price, priceKurus } from '../records/fields.ts'
import { DryRun, forecasting } from '../visibility/forecast.ts'
import type { MarketCtx } from '../marketplace-types.ts'

export const updateListingPrice = verb(
  {
    name: 'updateListingPrice',
    needs: OPERATION_PLAN.updateListingPrice,
    writes: true,
    input: Type.Object({ id: id('listing'), price: price(), ...DryRun }),
  },
  (ctx: MarketCtx & CatalogueNode, input) =>
    forecasting(ctx, input, async (ctx, { id, price }) => changeStock(ctx, { id, kurus: priceKurus(price) })),
)
