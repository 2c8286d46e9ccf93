// Collections of all accounts as operators see them, oldest first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { closed } from './fields.ts'
import { pageOfCollections } from './store.ts'
import { type StoredCollection, VISIBILITIES } from './types.ts'

export const listStoredCollections = verb(
  {
    name: 'listStoredCollections',
    needs: 'operator',
    input: Type.Object(
      {
        account_id: Type.Optional(Type.Integer({ description: 'Only this account' })),
        visibility: Type.Optional(Type.Enum([...VISIBILITIES])),
        search: filter('Part of the name, case-insensitive'),
        ...pageParams(),
      },
      closed,
    ),
  },
  (ctx: ReadCtx, { account_id: accountId, ...input }): Promise<Page<StoredCollection>> =>
    readPage(input, (filter, limit, offset) => pageOfCollections(ctx.db.kysely, { accountId, ...filter }, limit, offset)),
)
