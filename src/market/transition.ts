// The table of rules applied to a stored listing: whether an action is allowed, and the status it leads to.
import { conflict } from '#core/errors.ts'
import type { Note } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { endedIfOver, type ExpiryCtx } from './expire-listings.ts'
import { type Action, decide, type Decision, type NextStatus, PUBLISHED } from './rules.ts'
import { changedSinceApproval, contentOf, type ListingRow, type ListingValues } from './store.ts'

const DAY_MS = 86_400_000

/**
 * Ends the period of a locked listing if it is over, and takes the next status from the table.
 * @throws CONFLICT with the reason where the table refuses the action
 */
export async function transition<A extends Action>(
  tx: Tx,
  note: Note,
  ctx: ExpiryCtx,
  row: ListingRow,
  action: A,
): Promise<{ before: ListingRow; status: NextStatus<A> }> {
  const before = await endedIfOver(tx, note, ctx, row)
  return { before, status: allowed(decisionOn(before, action, ctx.now())) }
}

/** What the table says of an action on a listing whose ended period has been ended; `stock` after the action. */
export function decisionOn<A extends Action>(row: ListingRow, action: A, now: Date, stock = row.quantity): Decision<A> {
  return decide(row.status, action, {
    contentApproved: changedSinceApproval(row)?.length === 0,
    inPeriod: row.expires_at !== null && row.expires_at.getTime() > now.getTime(),
    stock,
  })
}

/** The status of a decision. @throws CONFLICT with the reason of a refusal */
export function allowed<A extends Action>(decision: Decision<A>): NextStatus<A> {
  if ('refused' in decision) throw conflict(decision.refused)
  return decision.to
}

/** A new price as it is stored: that of a published listing is approved as it is set. */
export function priceValues(status: ListingRow['status'], price: string): Pick<ListingValues, 'price' | 'approved_price'> {
  return { price, ...(status === PUBLISHED && { approved_price: price }) }
}

/** What an approval sets: the content and price as they are, and a new period. */
export function approvalValues(row: ListingRow, now: Date, expiresAt: Date | null, periodDays: number): ListingValues {
  return {
    approved: contentOf(row),
    approved_price: row.price,
    approved_at: now,
    published_at: now,
    expires_at: expiresAt ?? daysAfter(now, periodDays),
  }
}

export function daysAfter(moment: Date, days: number): Date {
  return new Date(moment.getTime() + days * DAY_MS)
}
