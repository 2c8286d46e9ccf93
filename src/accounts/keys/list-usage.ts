// Lists the usage of an account's keys in the last 30 days, by day and operation, latest day first.
import { sql } from 'kysely'
import { boundedId, id } from '#core/fields.ts'
import { listVerb } from '#core/paging.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { countIn, withTotal } from '#db/page.ts'
import { fetchAccount } from '../account-store.ts'
import { firstDay, readUsage } from './usage.ts'

export const listUsage = listVerb(
  { name: 'listUsage', needs: 'operator', filters: { account_id: id('account'), key_id: boundedId('Only this key') } },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { account_id: accountId, key_id: keyId = null }, { limit, offset }) => {
    const on = ctx.db.kysely
    const account = await fetchAccount(on, accountId)
    const matching = sql`
      from api_key_usage u join api_keys k on k.id = u.key_id
      where k.account_id = ${account.id} and u.day >= ${firstDay(ctx.now())}::date and (${keyId}::int4 is null or u.key_id = ${keyId}::int4)`
    const rows = readUsage(on, sql`${matching} order by u.day desc, u.key_id, u.operation limit ${limit} offset ${offset}`)
    return withTotal(rows, countIn(on, matching))
  },
)
