// A verb is an operation declared once: access, input, errors and implementation. REST, GraphQL, the operator API, console and CLI only
// translate to `call`.
import { type ErrorCode, recoded, ServiceError } from './errors.ts'
import { bodyReader, type Static, type TSchema } from './input.ts'
import { FAMILY_ERROR, type Plan, PLAN_NAMES, planAllows, PLANS } from './plans.ts'
import { reason } from './problems.ts'
import { isOperatorNeed, mayOperate, type OperatorNeed, type Person } from './roles.ts'

/** Who acts: an API key's account, a named operator, a shared operator token, or the command line on the machine itself. */
export type Viewer =
  | {
      kind: 'account'
      accountId: number
      keyId: number
      plan: Plan
      /** the key may not write */
      readOnly?: boolean
    }
  | {
      kind: 'operator'
      name: string
      /** unset for the program itself and for shared tokens, which may do everything */
      person?: Person
    }

/** A caller of whom only the plan is known: all that a verb may see whose results are shared by plan. */
export interface PlanViewer {
  kind: 'plan'
  plan: Plan
}

export type Caller = Viewer | PlanViewer

const PLAN_VIEWERS = Object.fromEntries(PLANS.map((plan) => [plan, Object.freeze({ kind: 'plan', plan })])) as Record<Plan, PlanViewer>

/** What a caller has in common with everyone on the same plan; operators count as the largest. */
export function planViewer(viewer: Caller): PlanViewer {
  return PLAN_VIEWERS[viewer.kind === 'operator' ? 'enterprise' : viewer.plan]
}

/** What a verb needs of its caller: at least this plan, or to be an operator with one of some roles. */
export type Need = Plan | OperatorNeed

/** Who may get the same result for the same input: everyone on the plan, or this caller alone. */
export type SharedBy = 'plan' | 'account'

/** What the gate looks at of a verb. */
export interface Operation {
  /** as it is exported; the operation id of the reference */
  name: string
  needs: Need
  /** whether it changes anything, whatever the method of its route: a read-only key may not */
  writes: boolean
}

export interface Verb<Ctx, In extends TSchema, Out> extends Operation {
  input: In
  sharedBy: SharedBy
  /** the code of all its refusals, null if each kind of refusal has its own */
  familyError: ErrorCode | null
  /** whether its result holds a secret, so that nothing on the way may keep the answer */
  secret: boolean
  /** @param given names of the fields that do not stand in a body */
  check: (input: unknown, given?: readonly string[]) => Static<In>
  run: (ctx: Ctx, input: Static<In>) => Out
}

export interface HasViewer {
  viewer: Caller
}

interface Declared<In extends TSchema> {
  /** as the verb is exported */
  name: string
  /** from `OPERATION_PLAN`, or what an operator needs */
  needs: Need
  /** a closed object schema */
  input: In
  /** its result holds a secret */
  secret?: boolean
  /** it changes something; every public verb that does must say so */
  writes?: boolean
}

/**
 * Declares an operation. One that is `sharedBy: 'plan'` is given no more of its caller than the plan, so that its results
 * can be cached for everyone on it.
 */
export function verb<Ctx extends { viewer: PlanViewer }, In extends TSchema, Out>(
  declared: Declared<In> & { sharedBy: 'plan' },
  run: (ctx: Ctx, input: Static<In>) => Out,
): Verb<Omit<Ctx, 'viewer'> & HasViewer, In, Out>
export function verb<Ctx extends HasViewer, In extends TSchema, Out>(
  declared: Declared<In> & { sharedBy?: 'account' },
  run: (ctx: Ctx, input: Static<In>) => Out,
): Verb<Ctx, In, Out>
export function verb<Ctx extends HasViewer, In extends TSchema, Out>(
  { name, needs, input, secret = false, writes = false, sharedBy = 'account' }: Declared<In> & { sharedBy?: SharedBy },
  run: (ctx: never, input: Static<In>) => Out,
): Verb<Ctx, In, Out> {
  const familyError = FAMILY_ERROR[name] ?? null
  return { name, needs, input, sharedBy, secret, writes, familyError, check: bodyReader(input), run: run as Verb<Ctx, In, Out>['run'] }
}

/** Refuses a caller whose plan, kind, roles or key do not allow an operation (interface.md, "Authentication" 3). */
export function mayCall(viewer: Caller, { needs, writes }: Pick<Operation, 'needs' | 'writes'>): void {
  if (viewer.kind === 'operator') {
    // Of verbs that plans have, too, every role may read, and owners write.
    if (viewer.person) mayOperate(viewer.person, isOperatorNeed(needs) ? needs : writes ? 'owner' : 'operator')
    return
  }
  if (isOperatorNeed(needs)) throw new ServiceError('FORBIDDEN', reason('only_for', { who: 'operators' }))
  if (planAllows(viewer.plan, needs)) return writes ? mayWrite(viewer) : undefined
  throw new ServiceError('PLAN_UPGRADE_REQUIRED', reason('plan', { plan: PLAN_NAMES[needs], has: PLAN_NAMES[viewer.plan] }))
}

/** The account that acts. @throws FORBIDDEN for operators, who have none */
export function ownAccount(viewer: Viewer): number {
  if (viewer.kind === 'account') return viewer.accountId
  throw new ServiceError('FORBIDDEN', reason('only_for', { who: 'accounts' }))
}

/** Refuses a caller whose key is read-only. */
export function mayWrite(viewer: Caller): void {
  if (viewer.kind === 'account' && viewer.readOnly) throw new ServiceError('READ_ONLY_KEY', reason('read_only_key'))
}

/**
 * Runs a verb: gate, input, body, and the family's error code on every refusal. A verb that answers at
 * once is answered at once, so that reads from memory cost no promise.
 * @param given names of the fields that do not stand in a body
 */
export function call<Ctx extends HasViewer, In extends TSchema, Out>(
  target: Verb<Ctx, In, Out>,
  ctx: Ctx,
  input: unknown,
  given?: readonly string[],
): Out {
  const { viewer } = ctx
  mayCall(viewer, target)
  const visible = target.sharedBy === 'plan' && viewer.kind !== 'plan' ? { ...ctx, viewer: planViewer(viewer) } : ctx
  try {
    const out = target.run(visible, target.check(input, given))
    if (!(out instanceof Promise)) return out
    return out.catch((error: unknown) => {
      throw ofFamily(error, target)
    }) as Out
  } catch (error) {
    throw ofFamily(error, target)
  }
}

/** A refusal (404, 409, 422) with the error code of the verb's family, where it has one; all other errors unchanged. */
export function ofFamily(error: unknown, { familyError }: { familyError: ErrorCode | null }): unknown {
  if (!familyError || !(error instanceof ServiceError)) return error
  if (error.code !== 'VALIDATION_ERROR' && error.code !== 'NOT_FOUND' && error.code !== 'CONFLICT') return error
  return recoded(error, familyError)
}
