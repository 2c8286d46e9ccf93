// A parsed and validated field query, with the canonical form returned in responses.
import { ServiceError } from '#core/errors.ts'
import { PLAN_NAMES } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import type { PlanViewer } from '#core/verb.ts'
import { shapeFor } from '../context.ts'
import { gatedTerm, usesPrices, withFullNames } from './compile.ts'
import { canonical, parseFieldQuery, type Query } from './parse.ts'

export interface FieldQuery {
  canonical: string
  /** with the full name of each field */
  query: Query
  /** whether price changes alone can change its result */
  asksPrices: boolean
}

/** @throws VALIDATION_ERROR naming the error and its position; values are validated when the query runs */
export function readFieldQuery(text: string): FieldQuery {
  const query = withFullNames(parseFieldQuery(text))
  return { canonical: canonical(query), query, asksPrices: usesPrices(query) }
}

/**
 * The field query of a public caller; undefined without a text.
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
