// The ledger of an account's highlight credits, newest entry first.
import { filter, id, PeriodFields, periodOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { fetchAccount, pageOfCreditEntries } from './store.ts'
import type { CreditEntry, ReadCtx } from './types.ts'

export const listCredits = verb(
  {
    name: 'listCredits',
    needs: 'operator',
    input: Type.Object(
      {
        id: id('account'),
        search: filter('Part of the reason, in any case'),
        ...PeriodFields,
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { id, search, from, to, page = 1, per_page: perPage = 20 }): Promise<Page<CreditEntry>> => {
    const on = ctx.db.kysely
    await fetchAccount(on, id)
    const wanted = { accountId: id, search, ...periodOf({ from, to }) }
    const { rows, total } = await pageOfCreditEntries(on, wanted, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
