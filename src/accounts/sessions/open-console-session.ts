// Signs an operator in to the console: a session that lasts 12 hours, or until its token is revoked or its person removed.
import { MINUTE_MS } from '#core/duration.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { hashKey, newKey } from '../credentials/key-format.ts'
import type { NewSession } from './session-routes.ts'
import { insertConsoleSession } from '../account-store.ts'

const SESSION_MS = 12 * 60 * MINUTE_MS
const MAX_USER_AGENT_LENGTH = 300

/** The viewer was just authenticated, by the token if there is one. */
export const openConsoleSession = verb(
  {
    name: 'openConsoleSession',
    needs: 'self',
    secret: true,
    input: Type.Object({
      token: Type.Optional(Type.String()),
      by_provider: Type.Optional(Type.Boolean()),
      address: Type.String(),
      browser: Type.String(),
    }),
  },
  (ctx: WriteCtx, { token, by_provider: byProvider = false, address, browser }) =>
    change(ctx, async (tx, note): Promise<NewSession> => {
      const now = ctx.now()
      const session = newKey('session')
      const hash = hashKey(session)
      const expiresAt = new Date(now.getTime() + SESSION_MS)
      const person = ctx.viewer.kind === 'operator' ? ctx.viewer.person : undefined
      const tokenHash = token === undefined ? null : hashKey(token)
      let id: number
      if (person) {
        await tx.deleteFrom('person_sessions').where('expires_at', '<', now).execute()
        const tokenId = tokenHash && (await tokenOf(tx, 'person_tokens', tokenHash))
        const seen = { address, browser: browser.slice(0, MAX_USER_AGENT_LENGTH), created_at: now, expires_at: expiresAt }
        const insert = tx.insertInto('person_sessions').values({ hash, person_id: person.id, token_id: tokenId, by_provider: byProvider, ...seen })
        id = (await insert.returning('id').executeTakeFirstOrThrow()).id
      } else {
        await tx.deleteFrom('console_sessions').where('expires_at', '<', now).execute()
        const tokenId = await tokenOf(tx, 'operator_tokens', tokenHash!)
        id = await insertConsoleSession(tx, {
          hash,
          token_id: tokenId,
          bootstrap_hash: tokenId === null ? tokenHash : null,
          created_at: now,
          expires_at: expiresAt,
        })
      }
      note.audit({ action: 'console.sign-in', subject: 'console-session', id, ...(byProvider && { after: { by_provider: true } }) })
      return { session, expiresAt }
    }),
)

async function tokenOf(tx: Tx, table: 'person_tokens' | 'operator_tokens', hash: Buffer): Promise<number | null> {
  return (await tx.selectFrom(table).select('id').where('hash', '=', hash).executeTakeFirst())?.id ?? null
}
