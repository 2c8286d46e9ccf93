// Creates an API key for an account; the key is only in the result.
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type Note, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { id, moment, momentOf, orNull, remark } from '#core/fields.ts'
import { hashKey, last4, newKey } from '../credentials/key-format.ts'
import { type KeyScope, NO_SCOPE, ScopeFields, scopeOf } from '../credentials/key-scope.ts'
import { fetchAccount, insertKey, refuseErased } from '../account-store.ts'
import type { NewApiKey } from '../credentials/credential-types.ts'

export const createKey = verb(
  {
    name: 'createKey',
    needs: 'support',
    secret: true,
    input: Type.Object({
      account_id: id('account'),
      label: remark('Label of the key'),
      expires_at: Type.Optional(orNull(moment('When the key expires; must be in the future. Default: never'))),
      ...ScopeFields,
    }),
  },
  (ctx: WriteCtx, { account_id, label = '', expires_at = null, ...limits }) =>
    change(ctx, async (tx, note) => {
      const expiresAt = expiryOf(expires_at, ctx.now())
      const scope = { ...NO_SCOPE, ...scopeOf(limits) }
      const account = await fetchAccount(tx, account_id)
      await refuseErased(tx, account.id)
      return issueKey(tx, note, 'key.create', { account_id: account.id, label: label.trim(), expires_at: expiresAt }, scope)
    }),
)

/** The expiry of a key. @throws VALIDATION_ERROR for a time that is not in the future */
export function expiryOf(text: string | null, now: Date): Date | null {
  const expiresAt = text === null ? null : momentOf('expires_at', text)
  if (expiresAt && expiresAt <= now) throw invalid('expires_at', 'in_future')
  return expiresAt
}

/** Stores a new key with its audit entry, which contains neither the key nor its hash. */
export async function issueKey(
  tx: Tx,
  note: Note,
  action: string,
  values: { account_id: number; label: string; expires_at: Date | null },
  scope: KeyScope,
): Promise<NewApiKey> {
  const key = newKey('api')
  const stored = await insertKey(tx, { ...values, hash: hashKey(key), last4: last4(key), created_at: note.at }, scope)
  note.audit({ action, subject: 'key', id: stored.id, after: stored })
  note.changed('accounts', [stored.account_id])
  return { ...stored, key }
}
