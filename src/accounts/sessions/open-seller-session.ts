// Signs a seller in to the desk: the session lasts 12 hours, 2 without use, or until its API key becomes invalid or loses the required plan.
import { MINUTE_MS } from '#core/duration.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { hashKey, newKey } from '../credentials/key-format.ts'
import type { NewSession } from './session-routes.ts'
import { DESK_PLAN } from '../key-holders.ts'

const SESSION_MS = 12 * 60 * MINUTE_MS

export const openSellerSession = verb({ name: 'openSellerSession', needs: DESK_PLAN, secret: true, input: Type.Object({}) }, (ctx: WriteCtx) => {
  const { viewer } = ctx
  if (viewer.kind !== 'account') throw new Error('Only API keys sign in to the desk')
  // Read-only keys may sign in, too: nothing of the account changes, and the session has the same rights as its key.
  return change({ ...ctx, viewer: { ...viewer, readOnly: false } }, async (tx, note): Promise<NewSession> => {
    const now = ctx.now()
    await tx.deleteFrom('seller_sessions').where('expires_at', '<', now).execute()
    const session = newKey('session')
    const expiresAt = new Date(now.getTime() + SESSION_MS)
    const values = { hash: hashKey(session), key_id: viewer.keyId, created_at: now, last_used_at: now, expires_at: expiresAt }
    const { id } = await tx.insertInto('seller_sessions').values(values).returning('id').executeTakeFirstOrThrow()
    note.audit({ action: 'desk.sign-in', subject: 'seller-session', id })
    return { session, expiresAt }
  })
})
