// Applies the transition table to a stored listing: whether an action is allowed, and the next status.
import { ServiceError } from '#core/errors.ts'
import { change } from '#db/changes/change.ts'
import type { ListingStatus, Tx } from '#db/schema.ts'
import { expireIfDue } from './expire-listings.ts'
import { type Action, decide, type Decision, type NextStatus, PUBLISHED } from '../records/rules.ts'
import { takenCertificates } from '../certificates/taken.ts'
import { lockListing, type ListingRow, type ListingValues, updateListingRow } from '../listing-store.ts'
import { changedSinceApproval, contentOf } from '../listing-content.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'

const DAY_MS = 86_400_000

/** An action on a locked listing, after an ended period has been closed. */
interface Step<A extends Action> {
  tx: Tx
  before: ListingRow
  /** the next status, which `update` writes */
  status: NextStatus<A>
  now: Date
  update: (values?: ListingValues) => Promise<ListingRow>
  /** @param name name of the action in the log, if it differs */
  audit: (before: object, after?: object, name?: string) => void
}

/**
 * Runs an action on one listing: an account's own, or any for an operator.
 * @throws NOT_FOUND, PRECONDITION_FAILED, CONFLICT with the reason if the listing is another owner's or the table rejects the action
 */
export function act<A extends Action, Result>(ctx: MarketWriteCtx, id: number, action: A, run: (step: Step<A>) => Promise<Result>): Promise<Result> {
  return change(ctx, async (tx, note) => {
    const now = ctx.now()
    const before = await expireIfDue(tx, note, ctx, await lockListing(tx, ctx, id))
    const certificateFree = (await takenCertificates(tx, [before])).size === 0
    const status = allowed(decisionOn(before, action, now, { certificateFree }))
    note.changed('listings', [id])
    return run({
      tx,
      before,
      status,
      now,
      update: (values = {}) => updateListingRow(tx, id, status as ListingStatus, values, now),
      audit: (before, after, name = action) => note.audit({ action: `listing.${name}`, subject: 'listing', id, before, after: after ?? null }),
    })
  })
}

/** What a decision depends on besides the listing; `stock` is that after the action. */
interface Circumstances {
  stock?: number
  sellerMaySell?: boolean
  /** as `takenCertificates` says; matters for actions that may lead to `active` */
  certificateFree?: boolean
}

/** The table's decision for an action, after an ended period has been closed. */
export function decisionOn<A extends Action>(
  row: ListingRow,
  action: A,
  now: Date,
  { stock = row.quantity, sellerMaySell = true, certificateFree = true }: Circumstances = {},
): Decision<A> {
  return decide(row.status, action, {
    contentApproved: changedSinceApproval(row)?.length === 0,
    inPeriod: row.expires_at !== null && row.expires_at.getTime() > now.getTime(),
    stock,
    sellerMaySell,
    certificateFree,
  })
}

/** The next status of an allowed action. @throws CONFLICT with the reason of a rejection */
export function allowed<A extends Action>(decision: Decision<A>): NextStatus<A> {
  if ('refused' in decision) throw new ServiceError('CONFLICT', decision.refused)
  return decision.to
}

/** A new price in its stored form: for a published listing it needs no approval. */
export function priceValues(status: ListingRow['status'], price: string): Pick<ListingValues, 'price' | 'approved_price'> {
  return { price, ...(status === PUBLISHED && { approved_price: price }) }
}

/** The values that an approval sets: current content and price as approved, and a new period until `expiresAt`. */
export function approvalValues(row: ListingRow, now: Date, expiresAt: Date): ListingValues {
  return {
    approved: contentOf(row),
    approved_price: row.price,
    approved_at: now,
    published_at: now,
    expires_at: expiresAt,
  }
}

export function daysAfter(moment: Date, days: number): Date {
  return new Date(moment.getTime() + days * DAY_MS)
}
