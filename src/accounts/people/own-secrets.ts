// Changes of one's own sign-in secrets in a console session: password and authenticator app.
import { invalid, ServiceError } from '#core/errors.ts'
import { bodyReader, Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import type { Person } from '#core/roles.ts'
import type { Viewer } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { countAttempt, forgetAttempts } from './attempts.ts'
import { type AppSecret, newAppSecret, stepOf } from './authenticator-codes.ts'
import { checkPassword, hashPassword, isPassword } from './password.ts'
import type { PeopleParts } from './sign-in.ts'
import { endSessions, findSecrets, noteChangedPermissions } from './people-store.ts'

const secret = Type.String({ maxLength: 2_000 })
const closed = { additionalProperties: false }
const readPasswords = bodyReader(Type.Object({ current_password: secret, password: secret }, closed))
const readPassword = bodyReader(Type.Object({ current_password: secret }, closed))
const readCode = bodyReader(Type.Object({ code: Type.String({ maxLength: 20 }) }, closed))

/** Changes the password; all other sessions of the person end. @throws VALIDATION_ERROR, RATE_LIMITED */
export async function changePassword(parts: PeopleParts, ctx: WriteCtx, body: unknown): Promise<{ id: number }> {
  const { current_password: current, password } = readPasswords(body)
  const { id, name, sessionId } = await confirmedByPassword(parts, ctx.viewer, current)
  await checkPassword(password, name)
  const hash = await hashPassword(password)
  await change(ctx, async (tx, note) => {
    await tx.updateTable('people').set({ password_hash: hash }).where('id', '=', id).execute()
    await endSessions(tx, id, sessionId === undefined ? {} : { except: sessionId })
    note.audit({ action: 'person.change-password', subject: 'person', id })
    noteChangedPermissions(note, id)
  })
  return { id }
}

/** Creates a secret for an authenticator app; it takes effect once one of its codes is confirmed. @throws VALIDATION_ERROR, RATE_LIMITED */
export async function beginTwoFactor(parts: PeopleParts, ctx: WriteCtx, body: unknown): Promise<AppSecret> {
  const { id, name } = await confirmedByPassword(parts, ctx.viewer, readPassword(body).current_password)
  const appSecret = newAppSecret(name)
  const sealed = parts.sealing.seal(appSecret.secret, id)
  await change(ctx, async (tx, note) => {
    await tx.updateTable('people').set({ totp_pending: sealed }).where('id', '=', id).execute()
    note.audit({ action: 'person.begin-two-factor', subject: 'person', id })
  })
  return appSecret
}

/** Makes the pending secret the current one. @throws VALIDATION_ERROR for a wrong code, CONFLICT if none is pending */
export async function confirmTwoFactor({ db, sealing, now }: PeopleParts, ctx: WriteCtx, body: unknown): Promise<{ id: number }> {
  const { code } = readCode(body)
  const { id } = personOf(ctx.viewer)
  const pending = (await findSecrets(db, { id }))?.totp_pending
  if (!pending) throw new ServiceError('CONFLICT', reason('two_factor_not_begun'))
  const key = `two-factor ${id}`
  await countAttempt(db, key, now())
  const step = stepOf(code, sealing.unseal(pending, id), now())
  if (step === null) throw invalid('code', 'two_factor_code')
  await change(ctx, async (tx, note) => {
    const confirm = tx.updateTable('people').set({ totp_secret: pending, totp_pending: null, totp_step: step })
    const confirmed = await confirm.where('id', '=', id).where('totp_pending', '=', pending).returning('id').executeTakeFirst()
    if (!confirmed) throw new ServiceError('CONFLICT', reason('two_factor_not_begun'))
    note.audit({ action: 'person.set-two-factor', subject: 'person', id })
    noteChangedPermissions(note, id)
  })
  await forgetAttempts(db, key)
  return { id }
}

/** Checks the password again, so that an unattended console is not enough to take over the account; a limited number of times. */
async function confirmedByPassword(
  { db, now }: PeopleParts,
  viewer: Viewer,
  password: string,
): Promise<{ id: number; name: string; sessionId?: number }> {
  const { id, sessionId } = personOf(viewer)
  const person = (await findSecrets(db, { id }))!
  // Not those of sign-ins: strangers could use these up.
  const key = `password ${id}`
  await countAttempt(db, key, now())
  if (!(await isPassword(password, person.password_hash))) throw invalid('current_password', 'wrong_password')
  await forgetAttempts(db, key)
  return { id, name: person.name, ...(sessionId !== undefined && { sessionId }) }
}

function personOf(viewer: Viewer): Person {
  if (viewer.kind === 'operator' && viewer.person) return viewer.person
  throw new ServiceError('FORBIDDEN', reason('only_people'))
}
