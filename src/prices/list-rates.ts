// Lists exchange rates that operators have loaded, newest first.
import { filter } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'

export const RateSchema = Type.Object(
  {
    currency: Type.String({ examples: ['USD'] }),
    day: Type.String({ format: 'date', description: 'First day the rate applies' }),
    rate: Type.Number({ description: 'Turkish lira for one unit', examples: [41.87] }),
    TRY: Type.Number({ description: 'Deprecated alias of `rate`' }),
  },
  { title: 'Rate' },
)
export type StoredRate = Static<typeof RateSchema>

const RATES_PER_PAGE = 100

export const listRates = verb(
  {
    name: 'listRates',
    needs: 'operator',
    input: Type.Object(
      { currency: filter('Only this currency; an unknown currency returns an empty list'), ...pageParams(RATES_PER_PAGE) },
      { additionalProperties: false },
    ),
  },
  (ctx: ReadCtx, input): Promise<Page<StoredRate>> =>
    readPage(
      input,
      async ({ currency }, limit, offset) => {
        let rates = ctx.db.kysely.selectFrom('rates')
        if (currency !== undefined) rates = rates.where('currency', '=', currency)
        const [rows, { total }] = await Promise.all([
          rates.select(['currency', 'day', 'try_rate']).orderBy('day', 'desc').orderBy('currency').limit(limit).offset(offset).execute(),
          rates.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
        ])
        return { rows: rows.map(({ currency, day, try_rate: rate }) => ({ currency, day, rate: Number(rate), TRY: Number(rate) })), total }
      },
      RATES_PER_PAGE,
    ),
)
