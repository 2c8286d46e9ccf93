// Deletes an own listing permanently, in any status; its sales remain (interface.md, "DELETE /plus/listings/{id}").
import { sql } from 'kysely'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { Tx } from '#db/schema.ts'
import { DryRun, forecasting } from '../visibility/forecast.ts'
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

/** Deletes listings that the caller has locked, and declines the offers for them. */
export async function deleteListingRows(tx: Tx, ids: readonly number[], now: Date): Promise<void> {
  const waiting = tx.updateTable('offers').set({ status: 'declined', changed_at: now }).where('status', 'in', ['open', 'countered'])
  await waiting.where('listing_id', '=', sql<number>`any(${ids}::int4[])`).execute()
  await sql`delete from listings where id = any(${ids}::int4[])`.execute(tx)
}
