// Exchange rates that operators have loaded, newest first.
import { type Static, Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'

export const RateSchema = Type.Object(
  { day: Type.String({ format: 'date' }), currency: Type.String(), TRY: Type.Number() },
  { title: 'Rate' },
)
export type StoredRate = Static<typeof RateSchema>

export const listRates = verb(
  { name: 'listRates', needs: 'operator', input: Type.Object(pageParams(100), { additionalProperties: false }) },
  async (ctx: ReadCtx, { page = 1, per_page: perPage = 100 }): Promise<Page<StoredRate>> => {
    const rates = ctx.db.kysely.selectFrom('rates')
    const [rows, { total }] = await Promise.all([
      rates.selectAll().orderBy('day', 'desc').orderBy('currency').limit(perPage).offset((page - 1) * perPage).execute(),
      rates.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    ])
    return {
      rows: rows.map(({ day, currency, try_rate }) => ({ day, currency, TRY: Number(try_rate) })),
      pagination: pagination(page, perPage, total),
    }
  },
)
