// Signs an operator out of the console; every node refuses the session within a second.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { hashKey } from './key-format.ts'
import { BOOTSTRAP_ID } from './store.ts'

export const closeConsoleSession = verb(
  { name: 'closeConsoleSession', needs: 'operator', input: Type.Object({ session: Type.String() }, { additionalProperties: false }) },
  (ctx: WriteCtx, { session }) =>
    change(ctx, async (tx, note): Promise<void> => {
      const ended = await tx.deleteFrom('console_sessions').where('hash', '=', hashKey(session)).returning(['id', 'token_id']).executeTakeFirst()
      if (!ended) return
      note.audit({ action: 'console.sign-out', subject: 'console-session', id: ended.id })
      note.changed('operators', [ended.token_id ?? BOOTSTRAP_ID])
    }),
)
