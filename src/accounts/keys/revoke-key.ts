// Permanently revokes an API key; revoking it again changes nothing.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { id } from '#core/fields.ts'
import { lockKey, updateKey } from '../account-store.ts'

export const revokeKey = verb({ name: 'revokeKey', needs: 'support', input: Type.Object({ id: id('key') }) }, (ctx: WriteCtx, { id }) =>
  change(ctx, async (tx, note) => {
    const before = await lockKey(tx, id)
    if (before.revoked_at !== null) return before
    const after = await updateKey(tx, id, { revoked_at: ctx.now() })
    note.audit({ action: 'key.revoke', subject: 'key', id, before, after })
    note.changed('accounts', [before.account_id])
    return after
  }),
)
