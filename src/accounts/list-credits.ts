// Lists the ledger of an account's highlight credits, newest entry first.
import { filter, id, PeriodFields, periodOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
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
        search: filter('Part of the reason, case-insensitive'),
        ...PeriodFields,
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { id, search, from, to, ...input }): Promise<Page<CreditEntry>> => {
    const on = ctx.db.kysely
    await fetchAccount(on, id)
    const wanted = { accountId: id, search, ...periodOf({ from, to }) }
    return readPage(input, (_all, limit, offset) => pageOfCreditEntries(on, wanted, limit, offset))
  },
)
