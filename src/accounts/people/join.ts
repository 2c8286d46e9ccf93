// Uses a one-time link: a person chooses a password with it, or becomes the first owner.
import type { Caller } from '#accounts/failed-authentications.ts'
import { bodyReader, Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import type { Viewer } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/change.ts'
import { isWellFormed } from '../key-format.ts'
import { forgetAttempts, nameKey } from './attempts.ts'
import { personName } from './fields.ts'
import { checkPassword, hashPassword } from './password.ts'
import type { PeopleParts } from './sign-in.ts'
import { endSessions, findSecrets, nameOfLink, noteChangedPermissions, personViewer, spendLink, spendOwnerLink } from './store.ts'

const read = bodyReader(
  Type.Object(
    { link: Type.String({ maxLength: 200 }), name: Type.Optional(personName), password: Type.String({ maxLength: 2_000 }) },
    { additionalProperties: false },
  ),
)

/**
 * Signs in the person who uses a link; they may only set up two-factor sign-in.
 * @param given `link`, `password`, and for the first owner `name`
 * @throws UNAUTHENTICATED for a used, expired or unknown link, RATE_LIMITED, VALIDATION_ERROR, CONFLICT if the name is taken
 */
export async function joinByLink({ db, failures }: PeopleParts, ctx: Omit<WriteCtx, 'viewer'>, given: unknown, caller: Caller): Promise<Viewer> {
  failures.check(caller)
  const { link, name, password } = read(given)
  const unknown = () => failures.refuse(caller, reason('credential', { credential: 'link', state: 'unknown' }))
  if (!isWellFormed(link, 'link')) throw unknown()
  await checkPassword(password, name ?? (await nameOfLink(db, link)) ?? '')
  const hash = await hashPassword(password)
  const now = ctx.now()
  const id = await change({ ...ctx, viewer: { kind: 'operator', name: 'link' } }, async (tx, note) => {
    const known = await spendLink(tx, link, hash, now)
    const joined = known ?? (name === undefined ? null : await spendOwnerLink(tx, link, name, hash, now))
    if (joined === null) return null
    await endSessions(tx, joined)
    const { name: stored, roles } = await tx.selectFrom('people').select(['name', 'roles']).where('id', '=', joined).executeTakeFirstOrThrow()
    const actor = actorOf(personViewer({ id: joined, name: stored, roles }, {}))
    note.audit({ action: 'person.join', subject: 'person', id: joined, after: { name: stored, roles }, actor })
    noteChangedPermissions(note, joined)
    return joined
  })
  if (id === null) throw unknown()
  const person = (await findSecrets(db, { id }))!
  await forgetAttempts(db, nameKey(person.name))
  return personViewer(person, { unfinished: true })
}
