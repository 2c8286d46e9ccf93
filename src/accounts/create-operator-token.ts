// Creates a token for the operator API; the token is only in the result.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { name } from '#core/fields.ts'
import { hashKey, last4, newKey } from './key-format.ts'
import { insertToken } from './store.ts'
import type { NewOperatorToken } from './types.ts'

export const createOperatorToken = verb(
  {
    name: 'createOperatorToken',
    needs: 'owner',
    secret: true,
    input: Type.Object({ label: name('Who or what uses the token') }, { additionalProperties: false }),
  },
  (ctx: WriteCtx, { label }) =>
    change(ctx, async (tx, note): Promise<NewOperatorToken> => {
      const token = newKey('operator')
      const stored = await insertToken(tx, { label: label.trim(), hash: hashKey(token), last4: last4(token) })
      note.audit({ action: 'operator-token.create', subject: 'operator-token', id: stored.id, after: stored })
      note.changed('operators', [stored.id])
      return { ...stored, token }
    }),
)
