// Roles of the people who run the service, and the role each operator verb requires.
import { ServiceError } from './errors.ts'
import { namedValues } from './named-values.ts'
import { reason } from './problems.ts'

export const ROLES = namedValues('Role', ['owner', 'catalogue', 'market', 'support', 'read_only'])

export type Role = (typeof ROLES)[number]

/** Which roles may do what a verb needs; every role may read. */
const ALLOWED = {
  /** reads of everything that is no secret */
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
  /** what everybody may do for themselves; the verb checks whom it is for */
  self: ROLES,
} as const satisfies Record<string, readonly Role[]>

/** What a verb of the operator API needs of its caller. */
export type OperatorNeed = keyof typeof ALLOWED

/** A named operator, as far as verbs look. */
export interface Person {
  id: number
  roles: readonly Role[]
  /** signed in by a password alone: nothing is allowed before two-factor sign-in is set up */
  unfinished?: boolean
  /** the session of the console that asks */
  sessionId?: number
}

/** Whether a need is one of operators, and not a plan. */
export function isOperatorNeed(need: string): need is OperatorNeed {
  return Object.hasOwn(ALLOWED, need)
}

/** What a person's roles allow; everything for a caller who is no person, as a shared token is. */
export function allowedNeeds(person: Person | undefined): OperatorNeed[] {
  const needs = Object.keys(ALLOWED) as OperatorNeed[]
  return person ? needs.filter((need) => isAllowed(person, need)) : needs
}

function isAllowed({ roles, unfinished }: Person, need: OperatorNeed): boolean {
  const allowed: readonly Role[] = ALLOWED[need]
  return (!unfinished || need === 'self') && roles.some((role) => allowed.includes(role))
}

/**
 * Refuses a person whose roles do not allow an operation.
 * @throws FORBIDDEN
 */
export function mayOperate(person: Person, need: OperatorNeed): void {
  if (isAllowed(person, need)) return
  if (person.unfinished && need !== 'self') throw new ServiceError('FORBIDDEN', reason('two_factor_first'))
  throw new ServiceError('FORBIDDEN', reason('role', { values: ALLOWED[need], has: person.roles }))
}
