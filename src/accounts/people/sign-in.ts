// Signs a person in with name, password and code; the error does not reveal which was wrong or whether the name exists.
import { addressOf, type Caller, type FailedAuthentications } from '#accounts/limits/failed-authentications.ts'
import { invalidFields } from '#core/errors.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import type { Sealing } from '#core/sealing.ts'
import type { Viewer } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { countCode, countSignIn, isKnownAddress, nameKey, noteSignIn } from './attempts.ts'
import { acceptCode } from './authenticator-codes.ts'
import { isPassword } from './password.ts'
import { findSecrets, personViewer } from './people-store.ts'
import { PASSWORD_LENGTH } from './people-types.ts'

export interface PeopleParts {
  db: Db
  now: () => Date
  /** of operators' credentials; failed names, codes and tokens of an address are counted together */
  failures: FailedAuthentications
  /** encrypts the secrets of authenticator apps */
  sealing: Sealing
}

const MAX_NAME_LENGTH = 200

/**
 * Authenticates a person. A code is required only of people who have set it up; without one they may only set it up.
 * @throws UNAUTHENTICATED, RATE_LIMITED by address or name, VALIDATION_ERROR for fields that are not text
 */
export async function signInPerson({ db, now, failures, sealing }: PeopleParts, body: Record<string, unknown>, caller: Caller): Promise<Viewer> {
  failures.check(caller)
  const { name, password, code } = fieldsOf(body)
  const key = nameKey(name)
  const person = await findSecrets(db, { key })
  const address = addressOf(caller)
  const fromUsualAddress = person !== undefined && (await isKnownAddress(db.kysely, person.id, address, now()))
  await countSignIn(db, { key, address, fromUsualAddress }, now())
  const secret = person?.totp_secret ?? null
  const matches = await isPassword(password, person?.password_hash ?? null)
  const accepted =
    matches &&
    (secret === null ||
      ((await countCode(db, { key, address, fromUsualAddress }, now())) &&
        (await acceptCode(db.kysely, { id: person!.id, totp_secret: secret }, code, { sealing, now: now() }))))
  if (!accepted) throw failures.refuse(caller, reason('sign_in'))
  await noteSignIn(db, { key, address }, person!.id, now())
  return personViewer(person!, { unfinished: secret === null })
}

function fieldsOf({ name, password, code = '' }: Record<string, unknown>): { name: string; password: string; code: string } {
  const problems: Problem[] = []
  const text = (field: string, value: unknown, min: number, max: number) => {
    if (typeof value !== 'string' || value.length < min || value.length > max) problems.push(problem(field, 'text', { min, max }))
    return value as string
  }
  const fields = {
    name: text('name', name, 1, MAX_NAME_LENGTH),
    password: text('password', password, 1, PASSWORD_LENGTH.max),
    code: text('code', code, 0, 20),
  }
  if (problems.length > 0) throw invalidFields(problems)
  return fields
}
