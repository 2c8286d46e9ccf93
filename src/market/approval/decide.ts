// A manual decision about a listing: sets the next status and records the decision with the facts known at the time.
import { actorOf } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { ListingRow, ListingValues } from '../listing-store.ts'
import { storedListing, auditedListing } from '../listing-content.ts'
import { act } from '../listings/transition.ts'
import type { MarketWriteCtx, StoredListing } from '../marketplace-types.ts'
import { type ListingDecision, recordDecision } from './decisions.ts'
import { judgeListings } from './judge.ts'

/** The action in the transition table for each decision. */
const ACTION = { approve: 'approve', reject: 'reject', request_change: 'reject' } as const

/**
 * Applies a decision to the stored listing.
 * @param note shown to the owner; null for an approval
 * @throws as `act` does
 */
export function decideListing(
  ctx: MarketWriteCtx,
  id: number,
  decision: ListingDecision,
  note: string | null,
  valuesOf: (before: ListingRow, now: Date, tx: Tx) => ListingValues | Promise<ListingValues>,
): Promise<StoredListing> {
  return act(ctx, id, ACTION[decision], async ({ tx, before, now, update, audit }) => {
    await judgeListings(tx, [before], { now, market: ctx.market })
    const after = await update(await valuesOf(before, now, tx))
    await recordDecision(tx, before, after, { decision, note, by: actorOf(ctx.viewer), now })
    audit(auditedListing(before, now), auditedListing(after, now), decision)
    return storedListing(after, now)
  })
}
