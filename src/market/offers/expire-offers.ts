// Closes offers that nobody answered in time.
import { change } from '#db/changes/change.ts'
import { emitOffers } from '#webhooks/emit.ts'
import type { ExpiryCtx } from '../listings/expire-listings.ts'
import { changesOf, closeExpired } from './offer-store.ts'

const BATCH = 500

/** @returns number of closed offers; those that another write has locked are left to the next run */
export async function expireOffers(ctx: ExpiryCtx): Promise<number> {
  let closed = 0
  for (;;) {
    const count = await change(ctx, async (tx) => {
      const now = ctx.now()
      const rows = await closeExpired(tx, now, BATCH)
      await emitOffers(tx, { now, zone: ctx.market.timeZone }, changesOf(rows))
      return rows.length
    })
    closed += count
    if (count < BATCH) return closed
  }
}
