// Lists the ledger of an account's highlight credits, newest entry first.
import { filter, id, PeriodFields, periodOf } from '#core/fields.ts'
import { listVerb } from '#core/paging.ts'
import { jsonReady } from '#db/json-ready.ts'
import { contains, pageOf } from '#db/page.ts'
import { fetchAccount } from './account-store.ts'
import type { ReadCtx } from './credentials/credential-types.ts'

export const listCredits = listVerb(
  { name: 'listCredits', needs: 'operator', filters: { id: id('account'), search: filter('Part of the reason, case-insensitive'), ...PeriodFields } },
  async ({ db }: ReadCtx, { id, search, ...period }, range) => {
    const account = await fetchAccount(db.kysely, id)
    const { from, to } = periodOf(period)
    let entries = db.kysely.selectFrom('credit_entries').where('account_id', '=', account.id)
    if (search) entries = entries.where(contains('reason', search))
    if (from) entries = entries.where('created_at', '>=', from)
    if (to) entries = entries.where('created_at', '<', to)
    return pageOf(entries.select(['id', 'amount', 'balance', 'reason', 'created_at']).orderBy('id', 'desc'), range, jsonReady)
  },
)
