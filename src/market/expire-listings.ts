// Ends publication periods: status, the one notification and the audit row commit in one transaction.
import type { Log } from '#core/context.ts'
import { change, type Note, type WriteCtx } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { emitExpiries } from '#webhooks/emit.ts'
import { statusAt } from './rules.ts'
import { endPeriods, fetchListing, type ListingRow } from './store.ts'
import type { MarketSettings } from './types.ts'

type ExpiryCtx = WriteCtx & { market: MarketSettings }

const BATCH = 500
const SWEEP_MS = 5_000

/**
 * Ends all periods that are over by now. Rows that another node or write holds are passed over: they are ended by who
 * holds them or at the next sweep. The status is what makes the notification one.
 * @returns how many were ended
 */
export async function expireListings(ctx: ExpiryCtx): Promise<number> {
  let ended = 0
  for (;;) {
    const count = await change(ctx, (tx, note) => endDue(tx, note, ctx, null))
    ended += count
    if (count < BATCH) return ended
  }
}

/** A locked listing whose period is over is ended first, so that no later move swallows its notification. */
export async function endedIfOver(tx: Tx, note: Note, ctx: ExpiryCtx, row: ListingRow): Promise<ListingRow> {
  if (statusAt(row.status, row.expires_at, ctx.now()) === row.status) return row
  await endDue(tx, note, ctx, row.id)
  return fetchListing(tx, row.id)
}

async function endDue(tx: Tx, note: Note, { now, market }: ExpiryCtx, id: number | null): Promise<number> {
  const at = now()
  const ended = await endPeriods(tx, at, id, BATCH)
  if (ended.length === 0) return 0
  await emitExpiries(
    tx,
    { now: at, zone: market.timeZone },
    ended.map((row) => ({ accountId: row.seller_id, listingId: row.id, title: row.title, expiredAt: row.expires_at! })),
  )
  for (const { id: listingId, expires_at } of ended) {
    const after = { status: 'expired', expires_at }
    // Time ends a period, also where the write of a caller finds it ended.
    note.audit({ action: 'listing.expire', subject: 'listing', id: listingId, actor: 'system', before: { status: 'active' }, after })
  }
  note.changed('listings', ended.map((row) => row.id))
  return ended.length
}

/** Sweeps at once and then every few seconds until it is stopped; any number of nodes may do so at once. */
export function keepExpiring(ctx: ExpiryCtx, log: Log): { stop: () => Promise<void> } {
  let stopped = false
  let sweeping: Promise<void> | null = null
  const sweep = async () => {
    try {
      await expireListings(ctx)
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'Ended publication periods cannot be swept at the moment')
    }
    sweeping = null
  }
  sweeping = sweep()
  const timer = setInterval(() => {
    sweeping ??= sweep()
  }, SWEEP_MS).unref()
  return {
    stop: async () => {
      stopped = true
      clearInterval(timer)
      await sweeping
    },
  }
}
