// The keys of an account, revoked and expired ones too, without the keys themselves.
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { id } from '#core/fields.ts'
import { fetchAccount, pageOfKeys } from './store.ts'
import type { ApiKey, ReadCtx } from './types.ts'

export const listKeys = verb(
  {
    needs: 'operator',
    input: Type.Object({ account_id: id('account'), ...pageParams(20) }, { additionalProperties: false }),
  },
  async (ctx: ReadCtx, { account_id, page = 1, per_page: perPage = 20 }): Promise<Page<ApiKey>> => {
    const account = await fetchAccount(ctx.db.kysely, account_id)
    const { rows, total } = await pageOfKeys(ctx.db.kysely, account.id, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
