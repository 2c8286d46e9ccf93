// Exchange rates that operators have loaded, newest first.
import { type Static, Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'

export const RateSchema = Type.Object({ day: Type.String({ format: 'date' }), currency: Type.String(), TRY: Type.Number() }, { title: 'Rate' })
export type StoredRate = Static<typeof RateSchema>

const RATES_PER_PAGE = 100

export const listRates = verb(
  { name: 'listRates', needs: 'operator', input: Type.Object(pageParams(RATES_PER_PAGE), { additionalProperties: false }) },
  (ctx: ReadCtx, input): Promise<Page<StoredRate>> =>
    readPage(
      input,
      async (_all, limit, offset) => {
        const rates = ctx.db.kysely.selectFrom('rates')
        const [rows, { total }] = await Promise.all([
          rates.selectAll().orderBy('day', 'desc').orderBy('currency').limit(limit).offset(offset).execute(),
          rates.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
        ])
        return { rows: rows.map(({ day, currency, try_rate }) => ({ day, currency, TRY: Number(try_rate) })), total }
      },
      RATES_PER_PAGE,
    ),
)
