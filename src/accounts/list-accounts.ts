// Lists all accounts, oldest first unless another order is requested.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { PLANS } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { namesOf, sortParams } from '#db/sorting.ts'
import { ACCOUNT_SORTING, pageOfAccounts } from './store.ts'
import type { Account, ReadCtx } from './types.ts'

export const listAccounts = verb(
  {
    name: 'listAccounts',
    needs: 'operator',
    input: Type.Object(
      {
        search: filter('Part of the name, case-insensitive'),
        plan: Type.Optional(Type.Enum([...PLANS])),
        suspended: Type.Optional(Type.Boolean()),
        ...sortParams(namesOf(ACCOUNT_SORTING)),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: ReadCtx, input): Promise<Page<Account>> => readPage(input, (filter, limit, offset) => pageOfAccounts(ctx.db.kysely, filter, limit, offset)),
)
