// Lists the usage of an account's keys in the last 30 days, by day and operation, latest day first.
import { boundedId, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { fetchAccount } from './store.ts'
import { type KeyUsageRow, pageOfUsage } from './usage.ts'

export const listUsage = verb(
  {
    name: 'listUsage',
    needs: 'operator',
    input: Type.Object({ account_id: id('account'), key_id: boundedId('Only this key'), ...pageParams() }, { additionalProperties: false }),
  },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { account_id, key_id: keyId, ...input }): Promise<Page<KeyUsageRow>> => {
    const { id: accountId } = await fetchAccount(ctx.db.kysely, account_id)
    const wanted = { accountId, now: ctx.now(), ...(keyId !== undefined && { keyId }) }
    return readPage(input, (_all, limit, offset) => pageOfUsage(ctx.db.kysely, wanted, limit, offset))
  },
)
