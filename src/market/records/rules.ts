// Transition table of listings, pure: which action is allowed in which status, and the next status.
import type { ListingStatus } from '#db/schema.ts'
import { namedValues } from '#core/named-values.ts'
import { type Reason, reason } from '#core/problems.ts'

export const STATUSES = namedValues('ListingStatus', [
  'pending',
  'active',
  'paused',
  'rejected',
  'expired',
  'sold',
]) satisfies readonly ListingStatus[]

/** New listings and others in the approval queue; only these statuses have `waiting_since`. */
export const QUEUED = 'pending' satisfies ListingStatus
/** Listings that buyers see while they have stock and their period lasts; a new price needs no approval. */
export const PUBLISHED = 'active' satisfies ListingStatus
/** Listings whose last unit is sold; they do not count in an account's quota. */
export const SOLD_OUT = 'sold' satisfies ListingStatus
/** Statuses with a `rejection_reason`. */
export const REJECTED = 'rejected' satisfies ListingStatus

/** Actions of the owner, of the operator, of the shop's checkout, of a cancelled sale whose stock returns, and of time. */
export const ACTIONS = [
  'reprice',
  'restock',
  'edit',
  'pause',
  'publish',
  'renew',
  'highlight',
  'delete',
  'approve',
  'reject',
  'reopen',
  'correct',
  'sell',
  'restore',
  'expire',
] as const
export type Action = (typeof ACTIONS)[number]

/** The inputs of conditional transitions. */
export interface Facts {
  /** nothing but the price differs from the approved version */
  contentApproved: boolean
  /** the publication period has not ended */
  inPeriod: boolean
  /** remaining units, after the sale if there is one */
  stock: number
  /** the account of the seller is not suspended */
  sellerMaySell: boolean
  /** no other active listing has its certificate */
  certificateFree: boolean
}

export type NextStatus<A extends Action = Action> = ListingStatus | (A extends 'delete' ? 'deleted' : never)
export type Decision<A extends Action = Action> = { to: NextStatus<A> } | { refused: Reason }
/** New prices, new stock and the end of a period depend only on the status, so that bulk changes read few columns. */
type Conditional<A extends Action> = A extends 'reprice' | 'restock' | 'expire'
  ? never
  : { when: keyof typeof CONDITIONS; to: NextStatus<A>; otherwise: Outcome<A> }
export type Outcome<A extends Action = Action> = Decision<A> | Conditional<A>

/** The conditions of the table, with their wording in the diagram. */
export const CONDITIONS = {
  unchanged: { words: 'unchanged since approval', holds: (f: Facts) => f.contentApproved },
  renewable: { words: 'unchanged since approval, certificate free', holds: (f: Facts) => f.contentApproved && f.certificateFree },
  asApproved: {
    words: 'unchanged since approval, period not over, certificate free',
    holds: (f: Facts) => f.contentApproved && f.inPeriod && f.certificateFree,
  },
  published: { words: 'in stock, period not over', holds: (f: Facts) => f.stock > 0 && f.inPeriod },
  soldOut: { words: 'no stock left', holds: (f: Facts) => f.stock === 0 },
  sellable: {
    words: 'unchanged since approval, period not over, account may sell, certificate free',
    holds: (f: Facts) => f.contentApproved && f.inPeriod && f.sellerMaySell && f.certificateFree,
  },
  free: { words: 'certificate free', holds: (f: Facts) => f.certificateFree },
  ended: { words: 'period over', holds: (f: Facts) => !f.inPeriod },
} as const

const refused = (why: Reason) => ({ refused: why })
const to = <Next extends NextStatus>(to: Next) => ({ to })

const CERTIFICATE_ACTIVE = refused(reason('certificate_active'))
const UNPUBLISHED = refused(reason('highlight'))
const UNSELLABLE = refused(reason('only_active', { action: 'be sold' }))
const SOLD = refused(reason('listing_sold'))
const NOT_RUNNING = refused(reason('only_active', { action: 'expire' }))
const notReopened = (status: ListingStatus) => refused(reason('reopen', { status }))
const onlyActivePauses = (status: ListingStatus) => refused(reason('only_active', { action: 'be paused', status }))
const notRenewable = (status: ListingStatus) => refused(reason('not_renewable', { status }))
const already = (state: ListingStatus | 'approved') => refused(reason('already', { thing: 'listing', state }))

export const TABLE: Record<ListingStatus, { [A in Action]: Outcome<A> }> = {
  pending: {
    reprice: to('pending'),
    restock: to('pending'),
    edit: to('pending'),
    pause: onlyActivePauses('pending'),
    publish: already('pending'),
    renew: notRenewable('pending'),
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: { when: 'free', to: 'active', otherwise: CERTIFICATE_ACTIVE },
    reject: to('rejected'),
    reopen: notReopened('pending'),
    correct: to('pending'),
    sell: UNSELLABLE,
    restore: to('pending'),
    expire: NOT_RUNNING,
  },
  active: {
    reprice: to('active'),
    restock: to('active'),
    edit: to('pending'),
    pause: to('paused'),
    publish: already('active'),
    renew: { when: 'unchanged', to: 'active', otherwise: { to: 'pending' } },
    highlight: { when: 'published', to: 'active', otherwise: UNPUBLISHED },
    delete: to('deleted'),
    approve: already('approved'),
    reject: to('rejected'),
    reopen: to('pending'),
    correct: to('active'),
    sell: { when: 'soldOut', to: 'sold', otherwise: { to: 'active' } },
    restore: to('active'),
    expire: to('expired'),
  },
  paused: {
    reprice: to('paused'),
    restock: to('paused'),
    edit: to('pending'),
    pause: already('paused'),
    publish: { when: 'asApproved', to: 'active', otherwise: { to: 'pending' } },
    renew: { when: 'unchanged', to: 'paused', otherwise: { to: 'pending' } },
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: already('approved'),
    reject: to('rejected'),
    reopen: to('pending'),
    correct: to('paused'),
    sell: UNSELLABLE,
    restore: to('paused'),
    expire: NOT_RUNNING,
  },
  rejected: {
    reprice: to('rejected'),
    restock: to('rejected'),
    edit: to('pending'),
    pause: onlyActivePauses('rejected'),
    publish: to('pending'),
    renew: notRenewable('rejected'),
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: { when: 'free', to: 'active', otherwise: CERTIFICATE_ACTIVE },
    reject: already('rejected'),
    reopen: notReopened('rejected'),
    correct: to('rejected'),
    sell: UNSELLABLE,
    restore: to('rejected'),
    expire: NOT_RUNNING,
  },
  expired: {
    reprice: to('expired'),
    restock: to('expired'),
    edit: to('pending'),
    pause: onlyActivePauses('expired'),
    publish: to('pending'),
    renew: { when: 'renewable', to: 'active', otherwise: { to: 'pending' } },
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: refused(reason('listing_expired')),
    reject: to('rejected'),
    reopen: notReopened('expired'),
    correct: to('expired'),
    sell: UNSELLABLE,
    restore: to('expired'),
    expire: NOT_RUNNING,
  },
  sold: {
    reprice: SOLD,
    restock: SOLD,
    edit: SOLD,
    pause: SOLD,
    publish: SOLD,
    renew: SOLD,
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: SOLD,
    reject: SOLD,
    reopen: SOLD,
    correct: SOLD,
    sell: UNSELLABLE,
    restore: { when: 'sellable', to: 'active', otherwise: { when: 'ended', to: 'expired', otherwise: { to: 'paused' } } },
    expire: NOT_RUNNING,
  },
}

/** The next status after an action, or why it is rejected. */
export function decide<A extends Action>(status: ListingStatus, action: A, facts: Facts): Decision<A> {
  let outcome = TABLE[status][action] as Outcome
  while ('when' in outcome) outcome = CONDITIONS[outcome.when].holds(facts) ? { to: outcome.to } : outcome.otherwise
  return outcome as Decision<A>
}

/** The status at a given time: a period ends exactly at its end, not at the next sweep. */
export function statusAt(status: ListingStatus, expiresAt: Date | null, now: Date): ListingStatus {
  const end = TABLE[status].expire
  return 'to' in end && expiresAt !== null && expiresAt.getTime() <= now.getTime() ? end.to : status
}

/** Statuses whose period ends, each with the status it ends in. */
export function periodEnds(): { from: ListingStatus; to: ListingStatus }[] {
  return STATUSES.flatMap((from) => {
    const end = TABLE[from].expire
    return 'to' in end ? [{ from, to: end.to }] : []
  })
}
