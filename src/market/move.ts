// The table of rules applied to a listing as it is stored.
import { conflict } from '#core/errors.ts'
import type { ListingStatus } from '#db/schema.ts'
import { type Action, decide, type Decision, type Facts } from './rules.ts'
import { changedSinceApproval, contentOf, type ListingRow, type ListingValues } from './store.ts'

const DAY_MS = 86_400_000

/**
 * Where an action leads a listing whose ended period has been ended.
 * @throws CONFLICT with the reason where the table refuses
 */
export function moved(row: ListingRow, action: Action, now: Date, stock = row.quantity): ListingStatus {
  const facts: Facts = {
    contentApproved: changedSinceApproval(row)?.length === 0,
    inPeriod: row.expires_at !== null && row.expires_at.getTime() > now.getTime(),
    stock,
  }
  return statusOf(decide(row.status, action, facts))
}

/** The status that a decision leads to. @throws CONFLICT with the reason of a refusal */
export function statusOf(decision: Decision): ListingStatus {
  if ('refused' in decision) throw conflict(decision.refused)
  if (decision.to === 'deleted') throw new Error('a deletion leads to no status')
  return decision.to
}

/** What goes with a change of status: only those that wait have a place in the queue. */
export function statusValues(row: ListingRow, status: ListingStatus, now: Date): ListingValues {
  if (status === row.status) return {}
  return { status, waiting_since: status === 'pending' ? now : null, ...(status !== 'rejected' && { rejection_reason: null }) }
}

/** What an approval sets: the content and price as they are, and a new period. */
export function approvalValues(row: ListingRow, now: Date, expiresAt: Date | null, periodDays: number): ListingValues {
  return {
    ...statusValues(row, 'active', now),
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
