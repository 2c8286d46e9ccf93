// Reasons a search cannot find a listing; the list is empty if and only if the listing can be found.
import { namedValues } from '#core/named-values.ts'
import type { ListingStatus } from '#db/schema.ts'
import { type PUBLISHED, statusAt } from './rules.ts'
import { isOnVacation } from './vacation.ts'

/** The data that the visibility of a listing depends on. */
export interface VisibilityFacts {
  status: ListingStatus
  quantity: number
  expires_at: Date | null
  seller_suspended: boolean
  /** the seller's latest vacation, which may be over; null for none */
  vacation_from: Date | null
  vacation_to: Date | null
}

interface Hindrance {
  holds: (standing: VisibilityFacts, now: Date) => boolean
  /** what the seller can do, as a sentence */
  whatToDo: string
}

const inStatus =
  (status: ListingStatus): Hindrance['holds'] =>
  (standing, now) =>
    statusAt(standing.status, standing.expires_at, now) === status

const isAway: Hindrance['holds'] = ({ vacation_from: from, vacation_to: to }, now) => from !== null && to !== null && isOnVacation({ from, to }, now)

type Cause = Exclude<ListingStatus, typeof PUBLISHED> | 'no_stock' | 'vacation' | 'account_suspended'

/**
 * Every cause. `ListingSnapshot` finds listings by the same conditions (its query and `ListingState.put`); test/market/visibility.test.ts compares
 * both. The plan does not matter: listings of a downgraded account stay published.
 */
const HINDRANCES: Record<Cause, Hindrance> = {
  pending: { holds: inStatus('pending'), whatToDo: "Wait for the operator's decision." },
  paused: { holds: inStatus('paused'), whatToDo: 'Publish it again.' },
  rejected: { holds: inStatus('rejected'), whatToDo: 'Fix what the rejection reason states; the change submits it for approval again.' },
  expired: { holds: inStatus('expired'), whatToDo: 'Renew it; if it has not changed since its approval, no new approval is needed.' },
  sold: { holds: inStatus('sold'), whatToDo: 'A sold listing stays sold. Create a new listing to offer more units.' },
  no_stock: { holds: ({ status, quantity }) => quantity === 0 && status !== 'sold', whatToDo: 'Raise its quantity.' },
  vacation: { holds: isAway, whatToDo: 'End the vacation, or wait until it ends.' },
  account_suspended: { holds: (standing) => standing.seller_suspended, whatToDo: 'Ask the operator to resume the account.' },
}

export const HINDRANCE_CODES = namedValues('HindranceCode', Object.keys(HINDRANCES) as Cause[])
export type HindranceCode = Cause

/** Why a search does not find the listing at a given time; empty if and only if it does. */
export function hindrancesOf(standing: VisibilityFacts, now: Date): HindranceCode[] {
  return HINDRANCE_CODES.filter((code) => HINDRANCES[code].holds(standing, now))
}

export function whatToDo(code: HindranceCode): string {
  return HINDRANCES[code].whatToDo
}
