// Conditional writes: write only if the resource has not changed since the caller read it.
import { invalid, ServiceError } from './errors.ts'
import { reason } from './problems.ts'

/** Whether a resource with this entity tag is the version that the caller read; null if the caller set no condition. */
export type Precondition = ((tag: string) => boolean) | null

export interface HasPrecondition {
  precondition: Precondition
}

/** @throws PRECONDITION_FAILED if the resource has changed since the caller read it */
export function requireCurrent({ precondition }: HasPrecondition, tag: string): void {
  if (!precondition || precondition(tag)) return
  throw new ServiceError('PRECONDITION_FAILED', reason('changed_since_read'))
}

/** Why `If-Match` is rejected on a write that cannot be conditional: ignoring it could overwrite a change. */
export function conditionUnsupported(): ServiceError {
  return invalid('If-Match', 'not_supported')
}
