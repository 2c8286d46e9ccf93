// The operator API's shared tokens: list, create and revoke them.
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { hashKey, last4, newKey } from '../credentials/key-format.ts'
import { insertToken, lockToken, markTokenRevoked, TOKEN_COLUMNS } from '../account-store.ts'
import type { NewOperatorToken, ReadCtx } from '../credentials/credential-types.ts'

/** Lists all operator tokens, including revoked ones, without secrets. */
export const listOperatorTokens = listVerb({ name: 'listOperatorTokens', needs: 'owner' }, ({ db }: ReadCtx, _all, range) =>
  pageOf(db.kysely.selectFrom('operator_tokens').select(TOKEN_COLUMNS).orderBy('id'), range, jsonReady),
)

/** Creates a token for the operator API; the token is only in the result. */
export const createOperatorToken = verb(
  {
    name: 'createOperatorToken',
    needs: 'owner',
    secret: true,
    input: Type.Object({ label: name('Who or what uses the token') }),
  },
  (ctx: WriteCtx, { label }) =>
    change(ctx, async (tx, note): Promise<NewOperatorToken> => {
      const token = newKey('operator')
      const stored = await insertToken(tx, { label: label.trim(), hash: hashKey(token), last4: last4(token), created_at: note.at })
      note.audit({ action: 'operator-token.create', subject: 'operator-token', id: stored.id, after: stored })
      note.changed('operators', [stored.id])
      return { ...stored, token }
    }),
)

/** Permanently revokes an operator token; revoking it again changes nothing. */
export const revokeOperatorToken = verb(
  { name: 'revokeOperatorToken', needs: 'owner', input: Type.Object({ id: id('operator token') }) },
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
