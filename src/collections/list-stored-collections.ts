// Collections of all accounts as operators see them, oldest first.
import { filter, idForSql } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { contains, pageOf } from '#db/page.ts'
import { STORED_COLUMNS } from './records/store.ts'
import { VISIBILITIES } from './records/types.ts'

export const listStoredCollections = listVerb(
  {
    name: 'listStoredCollections',
    needs: 'operator',
    filters: {
      account_id: Type.Optional(Type.Integer({ description: 'Only this account' })),
      visibility: Type.Optional(Type.Enum([...VISIBILITIES])),
      search: filter('Part of the name, case-insensitive'),
    },
  },
  ({ db }: ReadCtx, { account_id: accountId, visibility, search }, range) => {
    const account = accountId === undefined ? undefined : idForSql(accountId)
    let collections = db.kysely.selectFrom('collections').where((e) => e.and({ account_id: account, visibility }))
    if (search !== undefined) collections = collections.where(contains('name', search))
    return pageOf(collections.select(STORED_COLUMNS).orderBy('id'), range, jsonReady)
  },
)
