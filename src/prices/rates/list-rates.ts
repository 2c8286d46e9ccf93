// Lists exchange rates that operators have loaded, newest first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { pageOf } from '#db/page.ts'

export const RateSchema = Type.Object(
  {
    currency: Type.String({ examples: ['USD'] }),
    day: Type.String({ format: 'date', description: 'First day the rate applies' }),
    rate: Type.Number({ description: 'Turkish lira for one unit', examples: [41.87] }),
    TRY: Type.Number({ description: 'Deprecated alias of `rate`' }),
  },
  { title: 'Rate' },
)

export const listRates = listVerb(
  {
    name: 'listRates',
    needs: 'operator',
    filters: { currency: filter('Only this currency; an unknown currency returns an empty list') },
    perPage: 100,
  },
  ({ db }: ReadCtx, { currency }, range) => {
    const rates = db.kysely.selectFrom('rates').where((e) => e.and({ currency }))
    return pageOf(rates.select(['currency', 'day', 'try_rate']).orderBy('day', 'desc').orderBy('currency'), range, ({ try_rate: rate, ...row }) => ({
      ...row,
      rate: Number(rate),
      TRY: Number(rate),
    }))
  },
)
