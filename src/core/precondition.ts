// Conditional writes: the caller wants a write only if the thing is still as it was read.
import { invalid, ServiceError } from './errors.ts'
import { reason } from './problems.ts'

/** Whether a thing with this entity tag is the one the caller means; null if the caller set no condition. */
export type Precondition = ((tag: string) => boolean) | null

export interface Conditional {
  precondition: Precondition
}

/** @throws PRECONDITION_FAILED when the thing was changed since the caller read it */
export function requireCurrent({ precondition }: Conditional, tag: string): void {
  if (!precondition || precondition(tag)) return
  throw new ServiceError('PRECONDITION_FAILED', reason('changed_since_read'))
}

/** Why a write that cannot be conditional is refused with `If-Match`: without the check it would do what nobody asked for. */
export function conditionUnsupported(): ServiceError {
  return invalid('If-Match', 'not_supported')
}
