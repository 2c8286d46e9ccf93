// Writes that the caller wants only if the thing is still as it was read.
import { ServiceError } from './errors.ts'

/** Whether a thing with this entity tag is the one the caller means; null where the caller set no condition. */
export type Precondition = ((tag: string) => boolean) | null

export interface Conditional {
  precondition: Precondition
}

/** @throws PRECONDITION_FAILED when the thing was changed since the caller read it */
export function requireCurrent({ precondition }: Conditional, tag: string): void {
  if (!precondition || precondition(tag)) return
  throw new ServiceError('PRECONDITION_FAILED', 'It was changed since it was read: read it again and repeat the change')
}
