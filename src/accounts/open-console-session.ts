// Signs an operator in to the console: a session that lasts 12 hours, or until its token is revoked.
import { MINUTE_MS } from '#core/duration.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { hashKey, newKey } from './key-format.ts'
import type { NewSession } from './session-routes.ts'
import { insertConsoleSession } from './store.ts'

const SESSION_MS = 12 * 60 * MINUTE_MS

/** The token is known to be the viewer's: whoever calls has just found the viewer by it. */
export const openConsoleSession = verb(
  { name: 'openConsoleSession', needs: 'operator', secret: true, input: Type.Object({ token: Type.String() }, { additionalProperties: false }) },
  (ctx: WriteCtx, { token }) =>
    change(ctx, async (tx, note): Promise<NewSession> => {
      const now = ctx.now()
      const hash = hashKey(token)
      await tx.deleteFrom('console_sessions').where('expires_at', '<', now).execute()
      const stored = await tx.selectFrom('operator_tokens').select('id').where('hash', '=', hash).executeTakeFirst()
      const session = newKey('session')
      const expiresAt = new Date(now.getTime() + SESSION_MS)
      const id = await insertConsoleSession(tx, {
        hash: hashKey(session),
        token_id: stored?.id ?? null,
        bootstrap_hash: stored ? null : hash,
        expires_at: expiresAt,
      })
      note.audit({ action: 'console.sign-in', subject: 'console-session', id })
      return { session, expiresAt }
    }),
)
