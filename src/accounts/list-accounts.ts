// Lists all accounts, oldest first unless another order is requested.
import { sql } from 'kysely'
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { PLANS } from '#core/plans.ts'
import { jsonReady } from '#db/json-ready.ts'
import { contains, pageOf } from '#db/page.ts'
import { namesOf, orderBy, type Sorting, sortParams } from '#db/sorting.ts'
import { ACCOUNT_COLUMNS } from './account-store.ts'
import type { ReadCtx } from './credentials/credential-types.ts'

const id = sql.ref('id')
const SORTING = {
  by: { name: sql`lower(name)`, highlight_credits: sql.ref('highlight_credits'), created_at: id },
  id,
  usual: { by: id, direction: 'asc' },
} satisfies Sorting<string>

export const listAccounts = listVerb(
  {
    name: 'listAccounts',
    needs: 'operator',
    filters: {
      search: filter('Part of the name, case-insensitive'),
      plan: Type.Optional(Type.Enum([...PLANS])),
      suspended: Type.Optional(Type.Boolean()),
      ...sortParams(namesOf(SORTING)),
    },
  },
  ({ db }: ReadCtx, { search, plan, suspended, ...sort }, range) => {
    let accounts = db.kysely.selectFrom('accounts').where((e) => e.and({ plan, suspended }))
    if (search !== undefined) accounts = accounts.where(contains('name', search))
    return pageOf(accounts.select(ACCOUNT_COLUMNS).orderBy(orderBy(SORTING, sort)), range, jsonReady)
  },
)
