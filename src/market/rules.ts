// What may be done with a listing in which status, and where it leads (decisions.md, "Listings"): one table, pure.
import type { ListingStatus } from '#db/schema.ts'

export const STATUSES = ['pending', 'active', 'paused', 'rejected', 'expired', 'sold'] as const satisfies readonly ListingStatus[]

/** By the owner, by the operator, by the shop's checkout and by time. */
export const ACTIONS = [
  'reprice',
  'edit',
  'pause',
  'publish',
  'highlight',
  'delete',
  'approve',
  'reject',
  'correct',
  'sell',
  'expire',
] as const
export type Action = (typeof ACTIONS)[number]

/** What a conditional move depends on. */
export interface Facts {
  /** nothing but the price differs from what was approved */
  contentApproved: boolean
  /** the publication period has not ended */
  inPeriod: boolean
  /** units that are left, after the sale where one is judged */
  stock: number
}

export type Decision = { to: ListingStatus | 'deleted' } | { refused: string }
export type Outcome =
  | Decision
  | { when: keyof typeof CONDITIONS; to: ListingStatus; otherwise: { to: ListingStatus } | { refused: string } }

/** What a new price leads to depends on the status alone, so that many are judged by little of their rows. */
type Outcomes = Record<Exclude<Action, 'reprice'>, Outcome> & { reprice: Decision }

/** The conditions of the table, with the words the picture uses. */
export const CONDITIONS = {
  asApproved: { words: 'unchanged since approval, period not over', holds: (f: Facts) => f.contentApproved && f.inPeriod },
  published: { words: 'in stock, period not over', holds: (f: Facts) => f.stock > 0 && f.inPeriod },
  soldOut: { words: 'no stock left', holds: (f: Facts) => f.stock === 0 },
} as const

const refused = (reason: string): Decision => ({ refused: reason })
const to = (status: ListingStatus | 'deleted'): Decision => ({ to: status })

const UNPUBLISHED = refused('Only a published listing can be highlighted')
const UNSTOCKED = { refused: 'Only a published listing can be highlighted; this one has no stock' }
const UNSELLABLE = refused('Only an active listing can be sold')
const SOLD = refused('The listing is sold and cannot be changed any more')
const NOT_RUNNING = refused('Only the period of an active listing can end')
const onlyActivePauses = (status: ListingStatus) => refused(`Only an active listing can be paused; this one is ${status}`)

export const TABLE: Record<ListingStatus, Outcomes> = {
  pending: {
    reprice: to('pending'),
    edit: to('pending'),
    pause: onlyActivePauses('pending'),
    publish: refused('The listing waits for approval already'),
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: to('active'),
    reject: to('rejected'),
    correct: to('pending'),
    sell: UNSELLABLE,
    expire: NOT_RUNNING,
  },
  active: {
    reprice: to('active'),
    edit: to('pending'),
    pause: to('paused'),
    publish: refused('The listing is active already'),
    highlight: { when: 'published', to: 'active', otherwise: UNSTOCKED },
    delete: to('deleted'),
    approve: refused('The listing is approved already'),
    reject: to('rejected'),
    correct: to('active'),
    sell: { when: 'soldOut', to: 'sold', otherwise: { to: 'active' } },
    expire: to('expired'),
  },
  paused: {
    reprice: to('paused'),
    edit: to('pending'),
    pause: refused('The listing is paused already'),
    publish: { when: 'asApproved', to: 'active', otherwise: { to: 'pending' } },
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: refused('The listing is approved already; its owner has paused it'),
    reject: to('rejected'),
    correct: to('paused'),
    sell: UNSELLABLE,
    expire: NOT_RUNNING,
  },
  rejected: {
    reprice: to('rejected'),
    edit: to('pending'),
    pause: onlyActivePauses('rejected'),
    publish: to('pending'),
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: to('active'),
    reject: refused('The listing is rejected already'),
    correct: to('rejected'),
    sell: UNSELLABLE,
    expire: NOT_RUNNING,
  },
  expired: {
    reprice: to('expired'),
    edit: to('pending'),
    pause: onlyActivePauses('expired'),
    publish: to('pending'),
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: refused('The period of the listing has ended; its owner has to publish it again'),
    reject: to('rejected'),
    correct: to('expired'),
    sell: UNSELLABLE,
    expire: NOT_RUNNING,
  },
  sold: {
    reprice: SOLD,
    edit: SOLD,
    pause: refused('A sold listing cannot be paused'),
    publish: refused('A sold listing cannot be published again'),
    highlight: UNPUBLISHED,
    delete: to('deleted'),
    approve: SOLD,
    reject: SOLD,
    correct: SOLD,
    sell: UNSELLABLE,
    expire: NOT_RUNNING,
  },
}

/** Where an action leads from a status, or why it is refused. */
export function decide(status: ListingStatus, action: Action, facts: Facts): Decision {
  const outcome: Outcome = TABLE[status][action]
  if (!('when' in outcome)) return outcome
  return CONDITIONS[outcome.when].holds(facts) ? { to: outcome.to } : outcome.otherwise
}

/** The status at a moment: a period ends at its very end, whenever the sweep comes by. */
export function statusAt(status: ListingStatus, expiresAt: Date | null, now: Date): ListingStatus {
  return status === 'active' && expiresAt !== null && expiresAt.getTime() <= now.getTime() ? 'expired' : status
}
