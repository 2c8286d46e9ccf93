// Lists the keys of an account, including revoked and expired ones, without secrets.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { filter, id } from '#core/fields.ts'
import { fetchAccount, pageOfKeys } from './store.ts'
import { type ApiKey, KEY_STATES } from './types.ts'

export const listKeys = verb(
  {
    name: 'listKeys',
    needs: 'operator',
    input: Type.Object(
      {
        account_id: id('account'),
        search: filter('Part of the label, case-insensitive, or the last four characters of the key'),
        state: Type.Optional(Type.Enum([...KEY_STATES], { description: 'Current state of the key' })),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { account_id, ...input }): Promise<Page<ApiKey>> => {
    const account = await fetchAccount(ctx.db.kysely, account_id)
    const keys = { accountId: account.id, now: ctx.now() }
    return readPage(input, (filter, limit, offset) => pageOfKeys(ctx.db.kysely, { ...keys, ...filter }, limit, offset))
  },
)
