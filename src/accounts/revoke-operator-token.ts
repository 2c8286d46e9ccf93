// Permanently revokes an operator token; revoking it again changes nothing.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { id } from '#core/fields.ts'
import { lockToken, markTokenRevoked } from './store.ts'

export const revokeOperatorToken = verb(
  { name: 'revokeOperatorToken', needs: 'owner', input: Type.Object({ id: id('operator token') }, { additionalProperties: false }) },
  (ctx: WriteCtx, { id }) =>
    change(ctx, async (tx, note) => {
      const before = await lockToken(tx, id)
      if (before.revoked_at !== null) return before
      const after = await markTokenRevoked(tx, id, ctx.now())
      note.audit({ action: 'operator-token.revoke', subject: 'operator-token', id, before, after })
      note.changed('operators', [id])
      return after
    }),
)
