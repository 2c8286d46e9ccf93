// SQL of people who sign in with the identity provider.
import { PERSON_NAME } from '#core/text.ts'
import type { Role } from '#core/roles.ts'
import type { Tx } from '#db/schema.ts'
import { nameKey } from '../people/attempts.ts'
import type { Identity } from './identity-provider.ts'

const NAME = new RegExp(PERSON_NAME, 'u')
/** Leaves room for the number of a name that is taken. */
const NAME_LENGTH = 50

/** The person of an identity, locked; undefined at the first sign-in. Removed people are found, too. */
export function lockIdentity(tx: Tx, { issuer, subject }: Identity) {
  const found = tx.selectFrom('people').select(['id', 'name', 'roles', 'removed_at'])
  return found.where('provider_issuer', '=', issuer).where('provider_subject', '=', subject).forUpdate().executeTakeFirst()
}

/** Adds the person of an identity, under its name or the name with a number; undefined if a concurrent sign-in has added it. */
export async function insertIdentity(tx: Tx, identity: Identity, roles: Role[], now: Date): Promise<{ id: number; name: string } | undefined> {
  const base = nameOf(identity)
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base} (${number})`
    const values = { name, name_key: nameKey(name), roles, provider_issuer: identity.issuer, provider_subject: identity.subject, created_at: now }
    const insert = tx
      .insertInto('people')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
    const added = await insert.returning(['id', 'name']).executeTakeFirst()
    if (added || (await lockIdentity(tx, identity))) return added
  }
}

/** The provider's name of a person, without what names may not contain. */
function nameOf({ name }: Identity): string {
  const cleaned = name
    .normalize('NFC')
    .replaceAll(/[\p{C}#]/gu, '')
    .replaceAll(/[\s\p{Z}]+/gu, ' ')
  const short = [...cleaned.trim()].slice(0, NAME_LENGTH).join('').trim()
  return NAME.test(short) ? short : 'Operator'
}
