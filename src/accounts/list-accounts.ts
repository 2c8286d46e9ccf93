// All accounts, oldest first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { PLANS } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { pageOfAccounts } from './store.ts'
import type { Account, ReadCtx } from './types.ts'

export const listAccounts = verb(
  {
    name: 'listAccounts',
    needs: 'operator',
    input: Type.Object(
      {
        search: filter('Part of the name, in any case'),
        plan: Type.Optional(Type.Enum([...PLANS])),
        suspended: Type.Optional(Type.Boolean()),
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { page = 1, per_page: perPage = 20, ...wanted }): Promise<Page<Account>> => {
    const { rows, total } = await pageOfAccounts(ctx.db.kysely, wanted, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
