// Deletes an own listing permanently, in any status; its sales remain (interface.md, "DELETE /plus/listings/{id}").
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { DryRun, forecasting } from '../visibility/forecast.ts'
import { deleteListingRows } from '../listing-store.ts'
import { auditedListing } from '../listing-content.ts'
import { act } from './transition.ts'
import type { ForecastCtx } from '../marketplace-types.ts'

export const deleteListing = verb(
  {
    name: 'deleteListing',
    needs: OPERATION_PLAN.deleteListing,
    writes: true,
    input: Type.Object({ id: id('listing'), ...DryRun }),
  },
  (ctx: ForecastCtx, input) =>
    forecasting(ctx, input, (ctx, { id }) =>
      act(ctx, id, 'delete', async ({ tx, before, status, now, update, audit }) => {
        if (status === 'deleted') await deleteListingRows(tx, [id], now)
        else await update()
        audit(auditedListing(before, now))
        return { id }
      }),
    ),
)
