// Operator API: exchange rates used to compare prices in different currencies.
import { Type } from '#core/input.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { paged, type Route } from '#http/route.ts'
import { listRates, RateSchema } from '#prices/rates/list-rates.ts'
import { setRates } from '#prices/rates/set-rates.ts'

export const rateRoutes: Route<WriteCtx>[] = [
  {
    method: 'POST',
    path: '/rates',
    verb: setRates,
    summary: 'Load exchange rates',
    description:
      'One rate or a list: Turkish lira for one unit of a currency, valid from that day until the next rate. An existing rate ' +
      'is replaced. Rates are used to compare prices in different currencies and to convert price lists when they are imported, never to change a price later.',
    tag: 'Rates',
    bodyField: 'rates',
    answer: (loaded: { rates: number }) => ({ data: loaded }),
    data: Type.Object({ rates: Type.Integer({ description: 'Number of prices' }) }, { title: 'LoadedRates' }),
    errors: ['INVALID_JSON'],
  },
  {
    path: '/rates',
    ...paged(listRates, RateSchema),
    summary: 'List exchange rates, newest first',
    tag: 'Rates',
  },
]
