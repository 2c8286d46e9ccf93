// Roles of the people who run the service, and the role each operator verb requires.
import { ServiceError } from './errors.ts'
import { namedValues } from './named-values.ts'
import { reason } from './problems.ts'

export const ROLES = namedValues('Role', ['owner', 'catalogue', 'market', 'support', 'read_only'])

export type Role = (typeof ROLES)[number]

/** The roles that meet each requirement of a verb; every role may read. */
const ALLOWED = {
  /** reads of everything except secrets */
  operator: ROLES,
  /** items, imports, prices, matches */
  catalogue: ['owner', 'catalogue'],
  /** listings, approvals, recording of orders */
  market: ['owner', 'market'],
  /** cancelling orders */
  refunds: ['owner', 'market', 'support'],
  /** accounts, keys, collections, webhooks */
  support: ['owner', 'support'],
  /** people and shared tokens */
  owner: ['owner'],
  /** a person's own account; the verb checks that it is the caller's */
  self: ROLES,
} as const satisfies Record<string, readonly Role[]>

/** What an operator verb requires of its caller. */
export type OperatorNeed = keyof typeof ALLOWED

/** A named operator, as passed to verbs. */
export interface Person {
  id: number
  roles: readonly Role[]
  /** signed in by password only: nothing is allowed until two-factor sign-in is set up */
  unfinished?: boolean
  /** the console session of the request */
  sessionId?: number
  /** the person's token of the request, or the one that opened its session */
  tokenId?: number
}

/** Whether a requirement is about operators rather than a plan. */
export function isOperatorNeed(need: string): need is OperatorNeed {
  return Object.hasOwn(ALLOWED, need)
}

/** The requirements that a person's roles meet; a caller that is not a person, such as a shared token, meets all of them. */
export function allowedNeeds(person: Person | undefined): OperatorNeed[] {
  const needs = Object.keys(ALLOWED) as OperatorNeed[]
  return person ? needs.filter((need) => isAllowed(person, need)) : needs
}

function isAllowed({ roles, unfinished }: Person, need: OperatorNeed): boolean {
  const allowed: readonly Role[] = ALLOWED[need]
  return (!unfinished || need === 'self') && roles.some((role) => allowed.includes(role))
}

/**
 * Rejects a person whose roles do not allow an operation.
 * @throws FORBIDDEN
 */
export function mayOperate(person: Person, need: OperatorNeed): void {
  if (isAllowed(person, need)) return
  if (person.unfinished && need !== 'self') throw new ServiceError('FORBIDDEN', reason('two_factor_first'))
  throw new ServiceError('FORBIDDEN', reason('role', { values: ALLOWED[need], has: person.roles }))
}
