// The field query of a public caller: the plan determines which fields it may use.
import { ServiceError } from '#core/errors.ts'
import { PLAN_NAMES } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import type { PlanViewer } from '#core/verb.ts'
import { shapeFor } from './context.ts'
import { gatedTerm } from './field-query/compile.ts'
import { type FieldQuery, readFieldQuery } from './field-query/field-query.ts'

/**
 * The query; undefined without a text.
 * @throws VALIDATION_ERROR as `readFieldQuery` does
 * @throws PLAN_UPGRADE_REQUIRED naming the first field whose values the plan does not include
 */
export function readPublicQuery(text: string | undefined, viewer: PlanViewer): FieldQuery | undefined {
  if (text === undefined) return undefined
  const read = readFieldQuery(text)
  const gated = shapeFor(viewer) === 'starter' ? gatedTerm(read.query) : undefined
  if (!gated) return read
  const { professional: plan, [viewer.plan]: has } = PLAN_NAMES
  throw new ServiceError('PLAN_UPGRADE_REQUIRED', reason('query_plan', { name: gated.field!, at: gated.at, plan, has }))
}
