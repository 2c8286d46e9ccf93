// Creates a collection for an account.
import { refuseErased } from '#accounts/account-store.ts'
import { invalid } from '#core/errors.ts'
import { idForSql, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { COLLECTION_FIELDS } from './records/fields.ts'
import { insertCollection } from './records/store.ts'
import type { StoredCollection } from './records/types.ts'

export const createCollection = verb(
  {
    name: 'createCollection',
    needs: 'support',
    input: Type.Object({
      account_id: Type.Integer({ description: 'Account that owns it' }),
      name: name('Name of the collection'),
      ...COLLECTION_FIELDS,
    }),
  },
  (ctx: WriteCtx, { account_id, name: title, description = '', visibility = 'private' }): Promise<StoredCollection> =>
    change(ctx, async (tx, note) => {
      const account = await tx.selectFrom('accounts').select('id').where('id', '=', idForSql(account_id)).executeTakeFirst()
      if (!account) throw invalid('account_id', 'unknown_id', { thing: 'account', id: account_id })
      await refuseErased(tx, account_id)
      const collection = await insertCollection(tx, { account_id, name: title.trim(), description, visibility }, note.at)
      note.audit({ action: 'collection.create', subject: 'collection', id: collection.id, after: collection })
      return collection
    }),
)
