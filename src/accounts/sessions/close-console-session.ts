// Signs an operator out of the console; every node rejects the session within a second.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { hashKey } from '../credentials/key-format.ts'
import { ownerOf } from '../people/people-store.ts'
import { BOOTSTRAP_ID } from '../key-holders.ts'

export const closeConsoleSession = verb(
  { name: 'closeConsoleSession', needs: 'self', input: Type.Object({ session: Type.String() }) },
  (ctx: WriteCtx, { session }) =>
    change(ctx, async (tx, note): Promise<void> => {
      const ended = await end(tx, hashKey(session))
      if (!ended) return
      note.audit({ action: 'console.sign-out', subject: 'console-session', id: ended.id })
      note.changed('operators', [ended.owner])
    }),
)

/** The session's id, and the id that identifies its owner in the change log. */
async function end(tx: Tx, hash: Buffer): Promise<{ id: number; owner: number } | null> {
  const own = await tx.deleteFrom('person_sessions').where('hash', '=', hash).returning(['id', 'person_id']).executeTakeFirst()
  if (own) return { id: own.id, owner: ownerOf(own.person_id) }
  const shared = await tx.deleteFrom('console_sessions').where('hash', '=', hash).returning(['id', 'token_id']).executeTakeFirst()
  return shared ? { id: shared.id, owner: shared.token_id ?? BOOTSTRAP_ID } : null
}
