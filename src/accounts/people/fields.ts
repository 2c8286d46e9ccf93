// Input fields of the people verbs, and the check whether a caller may act for a person.
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { ROLES } from '#core/roles.ts'
import { PERSON_NAME } from '#core/text.ts'
import type { Viewer } from '#core/verb.ts'

const NAME_LENGTH = 60

export const personName = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH,
  pattern: PERSON_NAME,
  allowed: reason('person_name', { max: NAME_LENGTH }),
  description: 'Sign-in name, also shown in the audit log; case-insensitive',
})

export const roles = Type.Array(Type.Enum([...ROLES]), {
  minItems: 1,
  maxItems: ROLES.length,
  description: '`owner` may do everything and `read_only` may only read; the other roles may read everything and change their own area',
})

/** @throws FORBIDDEN if a person who is not an owner changes another person */
export function selfOrOwner({ viewer }: { viewer: Viewer }, personId: number): void {
  const person = viewer.kind === 'operator' ? viewer.person : undefined
  if (!person || person.id === personId || (person.roles.includes('owner') && !person.unfinished)) return
  throw new ServiceError('FORBIDDEN', reason('own_account_only'))
}
