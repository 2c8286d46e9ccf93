// A verb is an operation declared once: access, input, errors and implementation. REST, GraphQL, the operator API, console and CLI only
// translate to `call`.
import { type ErrorCode, recoded, ServiceError } from './errors.ts'
import { bodyReader, type Static, type TSchema } from './input.ts'
import { FAMILY_ERROR, type Plan, PLAN_NAMES, planAllows, PLANS } from './plans.ts'
import { reason } from './problems.ts'
import { isOperatorNeed, mayOperate, type OperatorNeed, type Person } from './roles.ts'
import { inSpan, TRACED } from './tracing/spans.ts'

/** The caller: an API key's account, a named operator, a shared operator token, or the command line on the machine itself. */
export type Viewer =
  | {
      kind: 'account'
      accountId: number
      keyId: number
      plan: Plan
      /** the key is read-only */
      readOnly?: boolean
      /** the key is restricted to origins, so web pages contain it */
      inBrowser?: boolean
      /** unknown query parameters are refused, as with `Prefer: handling=strict` */
      strict?: boolean
      /** the key is a test key: the account is that of a sandbox */
      test?: boolean
    }
  | {
      kind: 'operator'
      name: string
      /** unset for the program itself and for shared tokens, which have all permissions */
      person?: Person
    }

/** A caller reduced to its plan: verbs whose results are shared by plan may not depend on anything else. */
export interface PlanViewer {
  kind: 'plan'
  plan: Plan
}

export type Caller = Viewer | PlanViewer

const PLAN_VIEWERS = Object.fromEntries(PLANS.map((plan) => [plan, Object.freeze({ kind: 'plan', plan })])) as Record<Plan, PlanViewer>

/** The part of a caller that everyone on the same plan shares; operators count as the largest plan. */
export function planViewer(viewer: Caller): PlanViewer {
  return PLAN_VIEWERS[viewer.kind === 'operator' ? 'enterprise' : viewer.plan]
}

/** What a verb requires of its caller: a minimum plan, or an operator with certain roles. */
export type Need = Plan | OperatorNeed

/** Who may get the same result for the same input: everyone on the plan, or only this caller. */
export type SharedBy = 'plan' | 'account'

/** The properties of a verb that the gate checks. */
export interface Operation {
  /** the name it is exported under; the operation id in the reference */
  name: string
  needs: Need
  /** whether it writes, regardless of the method of its route: read-only keys may not call it */
  writes: boolean
  /** the only kind of API keys that may call it; undefined for both */
  keys?: KeyMode | undefined
}

/** Keys of the service's own data, and keys of sandboxes. */
export type KeyMode = 'live' | 'test'

export interface Verb<Ctx, In extends TSchema, Out> extends Operation {
  input: In
  sharedBy: SharedBy
  /** the one error code of its family; null if each kind of error has its own code */
  familyError: ErrorCode | null
  /** whether its result contains a secret: the response must not be cached */
  secret: boolean
  /** @param elsewhere names of the fields that are not in the body */
  check: (input: unknown, elsewhere?: readonly string[]) => Static<In>
  run: (ctx: Ctx, input: Static<In>) => Out
}

export interface HasViewer {
  viewer: Caller
}

interface Declared<In extends TSchema> {
  /** as the verb is exported */
  name: string
  /** from `OPERATION_PLAN`, or the roles of an operator */
  needs: Need
  /** an object schema; it is closed here, so that unknown fields are refused by name */
  input: In
  /** its result contains a secret */
  secret?: boolean
  /** it writes; every public verb that does must declare it */
  writes?: boolean
  /** the only kind of API keys that may call it; default: both */
  keys?: KeyMode
}

/**
 * Declares an operation. A verb that is `sharedBy: 'plan'` sees only the plan of its caller, so its results
 * can be cached for everyone on that plan.
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
  { name, needs, input, secret = false, writes = false, keys, sharedBy = 'account' }: Declared<In> & { sharedBy?: SharedBy },
  run: (ctx: never, input: Static<In>) => Out,
): Verb<Ctx, In, Out> {
  const familyError = FAMILY_ERROR[name] ?? null
  const closed = { ...input, additionalProperties: false }
  return { name, needs, input: closed, sharedBy, secret, writes, keys, familyError, check: bodyReader(closed), run: run as Verb<Ctx, In, Out>['run'] }
}

/** Rejects a caller whose plan, kind, roles or key do not allow an operation (interface.md, "Authentication" 3). */
export function mayCall(viewer: Caller, { needs, writes, keys }: Pick<Operation, 'needs' | 'writes' | 'keys'>): void {
  if (keys !== undefined && viewer.kind === 'account' && (keys === 'test') !== (viewer.test ?? false)) throw otherKeyMode(keys)
  if (viewer.kind === 'operator') {
    // Operators may also call verbs that need a plan: every role may read, and owners may write.
    if (viewer.person) mayOperate(viewer.person, isOperatorNeed(needs) ? needs : writes ? 'owner' : 'operator')
    return
  }
  if (isOperatorNeed(needs)) throw new ServiceError('FORBIDDEN', reason('only_for', { who: 'operators' }))
  if (planAllows(viewer.plan, needs)) return writes ? mayWrite(viewer) : undefined
  throw new ServiceError('PLAN_UPGRADE_REQUIRED', reason('plan', { plan: PLAN_NAMES[needs], has: PLAN_NAMES[viewer.plan] }))
}

/** 401 for a key of the service's own data where one of a sandbox is needed, or the reverse. */
function otherKeyMode(needed: KeyMode): ServiceError {
  return new ServiceError('KEY_MODE_MISMATCH', reason(needed === 'test' ? 'test_key_only' : 'live_key_only'), {
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** The account of the caller. @throws FORBIDDEN for operators, who have none */
export function ownAccount(viewer: Viewer): number {
  if (viewer.kind === 'account') return viewer.accountId
  throw new ServiceError('FORBIDDEN', reason('only_for', { who: 'accounts' }))
}

/** Rejects a caller whose key is read-only. */
export function mayWrite(viewer: Caller): void {
  if (viewer.kind === 'account' && viewer.readOnly) throw new ServiceError('READ_ONLY_KEY', reason('read_only_key'))
}

/** Whether the caller's key may see secrets: not if it is read-only, nor if web pages contain it. */
export function maySeeSecrets(viewer: Viewer): boolean {
  return viewer.kind === 'operator' || !(viewer.readOnly || viewer.inBrowser)
}

/**
 * Runs a verb: gate, input, body, and the family's error code on every error. If the verb returns synchronously, so does this
 * function: reads from memory need no promise.
 * @param elsewhere names of the fields that are not in the body
 */
export function call<Ctx extends HasViewer, In extends TSchema, Out>(
  target: Verb<Ctx, In, Out>,
  ctx: Ctx,
  input: unknown,
  elsewhere?: readonly string[],
): Out {
  const { viewer } = ctx
  mayCall(viewer, target)
  const visible = target.sharedBy === 'plan' && viewer.kind !== 'plan' ? { ...ctx, viewer: planViewer(viewer) } : ctx
  try {
    const run = () => target.run(visible, target.check(input, elsewhere))
    const out = TRACED ? inSpan(target.name, {}, run) : run()
    if (!(out instanceof Promise)) return out
    return out.catch((error: unknown) => {
      throw withFamilyCode(error, target)
    }) as Out
  } catch (error) {
    throw withFamilyCode(error, target)
  }
}

/** Gives an error (404, 409, 422) the code of the verb's family, if it has one; other errors are unchanged. */
export function withFamilyCode(error: unknown, { familyError }: { familyError: ErrorCode | null }): unknown {
  if (!familyError || !(error instanceof ServiceError)) return error
  if (error.code !== 'VALIDATION_ERROR' && error.code !== 'NOT_FOUND' && error.code !== 'CONFLICT') return error
  return recoded(error, familyError)
}
