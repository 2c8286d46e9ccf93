// Uses a one-time link: a person chooses a password with it, or becomes the first owner.
import { addressOf, type Caller } from '#accounts/limits/failed-authentications.ts'
import { bodyReader, type Static, Type } from '#core/input.ts'
import { ServiceError, unauthenticated } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Viewer } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/changes/change.ts'
import type { Db } from '#db/schema.ts'
import { isWellFormed } from '../credentials/key-format.ts'
import { nameKey, noteSignIn } from './attempts.ts'
import { personName } from './fields.ts'
import { checkPassword, hashPassword } from './password.ts'
import type { PeopleParts } from './sign-in.ts'
import { endSessions, findLink, findSecrets, noteChangedPermissions, personViewer, spendLink, spendOwnerLink } from './people-store.ts'

const Body = Type.Object(
  { link: Type.String({ maxLength: 200 }), name: Type.Optional(personName), password: Type.String({ maxLength: 2_000 }) },
  { additionalProperties: false },
)
const read = bodyReader(Body)

/**
 * Signs in the person who uses a link; they may only set up two-factor sign-in.
 * @param body `link`, `password`, and for the first owner `name`
 * @throws UNAUTHENTICATED for a used, expired or unknown link, RATE_LIMITED, VALIDATION_ERROR, CONFLICT if the name is taken
 */
export async function joinByLink({ db, failures }: PeopleParts, ctx: Omit<WriteCtx, 'viewer'>, body: unknown, caller: Caller): Promise<Viewer> {
  failures.check(caller)
  const unknown = () => unauthenticated(reason('credential', { credential: 'link', state: 'unknown' }))
  // Every rejection counts, even one of a valid link, because checking a password occupies the process for a third of a second.
  const refused = (error: unknown) => (error instanceof ServiceError ? failures.refuse(caller, error) : error)
  const { link, name, password } = await acceptable(db, body, ctx.now(), unknown).catch((error: unknown) => {
    throw refused(error)
  })
  const hash = await hashPassword(password)
  const now = ctx.now()
  const id = await change({ ...ctx, viewer: { kind: 'operator', name: 'link' } }, async (tx, note) => {
    const linked = await spendLink(tx, link, hash, now)
    const joined = linked ?? (name === undefined ? null : await spendOwnerLink(tx, link, name, hash, now))
    if (joined === null) return null
    await endSessions(tx, joined)
    const { name: stored, roles } = await tx.selectFrom('people').select(['name', 'roles']).where('id', '=', joined).executeTakeFirstOrThrow()
    const actor = actorOf(personViewer({ id: joined, name: stored, roles }, {}))
    note.audit({ action: 'person.join', subject: 'person', id: joined, after: { name: stored, roles }, actor })
    noteChangedPermissions(note, joined)
    return joined
  })
  if (id === null) throw refused(unknown())
  const person = (await findSecrets(db, { id }))!
  await noteSignIn(db, { key: nameKey(person.name), address: addressOf(caller) }, id, now)
  return personViewer(person, { unfinished: true })
}

/** The fields of a request with a valid link and a good password; the link first, because checking a password takes much longer. */
async function acceptable(db: Db, body: unknown, now: Date, unknown: () => ServiceError): Promise<Static<typeof Body>> {
  const fields = read(body)
  const { link, name, password } = fields
  const valid = isWellFormed(link, 'link') ? await findLink(db, link, now) : undefined
  if (!valid) throw unknown()
  await checkPassword(password, name ?? valid.name ?? '')
  return fields
}
