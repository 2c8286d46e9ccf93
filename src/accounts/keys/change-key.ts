// Changes the label, expiry and restrictions of an API key; the key itself stays the same.
import { conflict, invalid } from '#core/errors.ts'
import { id, moment, orNull, remark } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { expiryOf } from './create-key.ts'
import { ScopeFields, scopeOf } from '../credentials/key-scope.ts'
import { endedState } from './rotate-key.ts'
import { lockKey, updateKey } from '../account-store.ts'

const CHANGES = {
  label: remark('Label of the key'),
  expires_at: Type.Optional(orNull(moment('When the key expires; must be in the future. null: never'))),
  ...ScopeFields,
}

export const changeKey = verb({ name: 'changeKey', needs: 'support', input: Type.Object({ id: id('key'), ...CHANGES }) }, (ctx: WriteCtx, input) =>
  change(ctx, async (tx, note) => {
    const { id, label, expires_at, ...limits } = input
    if (Object.keys(input).length === 1) throw invalid('body', 'at_least_one', { fields: Object.keys(CHANGES) })
    const before = await lockKey(tx, id)
    const state = endedState(before, ctx.now())
    if (state) throw conflict('key_ended', { state })
    const values = {
      ...(label !== undefined && { label: label.trim() }),
      ...(expires_at !== undefined && { expires_at: expiryOf(expires_at, ctx.now()) }),
    }
    const after = await updateKey(tx, id, values, scopeOf(limits))
    note.audit({ action: 'key.change', subject: 'key', id, before, after })
    note.changed('accounts', [before.account_id])
    return after
  }),
)
