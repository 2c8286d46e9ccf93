// Ends publication periods: the status, the notification and the audit row commit in one transaction.
import { runInSlices } from '#core/yield-to-event-loop.ts'
import { change, type Note, type WriteCtx } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { emitExpiries } from '#webhooks/emit.ts'
import { periodEnds, statusAt } from '../records/rules.ts'
import { fetchListing, STOCK_COLUMNS, type StockRow, updateStock } from '../listing-store.ts'
import type { MarketSettings } from '../marketplace-types.ts'

export type ExpiryCtx = WriteCtx & { market: MarketSettings }

const BATCH = 500

/**
 * Ends all periods that are over. Skips rows that another node or write has locked: the holder of the lock or the next sweep ends them. The change of
 * status ensures that the notification is sent only once.
 * @returns number of ended periods
 */
export async function expireListings(ctx: ExpiryCtx): Promise<number> {
  let ended = 0
  for (;;) {
    const count = await change(ctx, async (tx, note) => {
      const over = await lockDueToExpire(tx, ctx.now(), BATCH)
      await endPeriods(tx, note, ctx, over)
      return over.length
    })
    ended += count
    if (count < BATCH) return ended
  }
}

/** When the next period ends; null if none is running. */
export async function nextExpiry(on: Queryable): Promise<Date | null> {
  const statuses = periodEnds().map(({ from }) => from)
  if (statuses.length === 0) return null
  const running = on.selectFrom('listings').select('expires_at').where('status', 'in', statuses).where('expires_at', 'is not', null)
  return (await running.orderBy('expires_at').limit(1).executeTakeFirst())?.expires_at ?? null
}

/** Ends the period of a locked listing if it is over, so that a later transition does not swallow its notification. */
export async function expireIfDue<Row extends StockRow>(tx: Tx, note: Note, ctx: ExpiryCtx, row: Row): Promise<Row> {
  if (statusAt(row.status, row.expires_at, ctx.now()) === row.status) return row
  await endPeriods(tx, note, ctx, [row])
  return { ...row, ...(await fetchListing(tx, row.id)) }
}

/** The same for several listings, by id; those that ended are replaced in the map. */
export async function expireAllDue<Row extends StockRow>(tx: Tx, note: Note, ctx: ExpiryCtx, rows: Map<number, Row>): Promise<void> {
  const now = ctx.now()
  const all = [...rows.values()]
  const over: Row[] = []
  await runInSlices(all.length, (from, to) => {
    for (const row of all.slice(from, to)) if (statusAt(row.status, row.expires_at, now) !== row.status) over.push(row)
  })
  for (const row of await endPeriods(tx, note, ctx, over)) rows.set(row.id, row)
}

/** @returns the rows after the change */
async function endPeriods<Row extends StockRow>(tx: Tx, note: Note, { now, market }: ExpiryCtx, over: Row[]): Promise<Row[]> {
  if (over.length === 0) return []
  const at = now()
  const ended = over.map((row) => ({ ...row, status: statusAt(row.status, row.expires_at, at), version: row.version + 1 }))
  await updateStock(tx, ended, at)
  await emitExpiries(
    tx,
    { now: at, zone: market.timeZone },
    ended.map((row) => ({ accountId: row.seller_id, listingId: row.id, title: row.title, expiredAt: row.expires_at! })),
  )
  ended.forEach(({ id, status, expires_at }, i) => {
    // The author is `system`, even if a caller's write finds that the period has ended.
    note.audit({
      action: 'listing.expire',
      subject: 'listing',
      id,
      actor: 'system',
      before: { status: over[i]!.status },
      after: { status, expires_at },
    })
  })
  note.changed(
    'listings',
    ended.map(({ id }) => id),
  )
  return ended
}

/** Up to `limit` listings whose period has ended; locked ones are skipped. */
async function lockDueToExpire(tx: Tx, now: Date, limit: number): Promise<StockRow[]> {
  const statuses = periodEnds().map(({ from }) => from)
  if (statuses.length === 0) return []
  const over = tx.selectFrom('listings').select(STOCK_COLUMNS).where('status', 'in', statuses).where('expires_at', '<=', now)
  return over.orderBy('expires_at').limit(limit).forUpdate().skipLocked().execute()
}
