// Makes an API key for an account; the key itself is in the result and nowhere else.
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type Note, type WriteCtx } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { id, moment, momentOf, orNull, remark } from '#core/fields.ts'
import { hashKey, last4, newKey } from './key-format.ts'
import { fetchAccount, insertKey } from './store.ts'
import type { NewApiKey } from './types.ts'

export const createKey = verb(
  {
    name: 'createKey',
    needs: 'operator',
    secret: true,
    input: Type.Object(
      {
        account_id: id('account'),
        label: remark('What the key is for'),
        expires_at: Type.Optional(orNull(moment('When the key ends, in the future; null or absent: never'))),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: WriteCtx, { account_id, label = '', expires_at = null }) =>
    change(ctx, async (tx, note) => {
      const expiresAt = expires_at === null ? null : momentOf('expires_at', expires_at)
      if (expiresAt && expiresAt <= ctx.now()) throw invalid('expires_at', 'in_future')
      const account = await fetchAccount(tx, account_id)
      return issueKey(tx, note, 'key.create', { account_id: account.id, label: label.trim(), expires_at: expiresAt })
    }),
)

/** Stores a new key with its audit row, which knows neither key nor hash. */
export async function issueKey(
  tx: Tx,
  note: Note,
  action: string,
  values: { account_id: number; label: string; expires_at: Date | null },
): Promise<NewApiKey> {
  const key = newKey('api')
  const stored = await insertKey(tx, { ...values, hash: hashKey(key), last4: last4(key) })
  note.audit({ action, subject: 'key', id: stored.id, after: stored })
  note.changed('accounts', [stored.account_id])
  return { ...stored, key }
}
