// Operator API: the exchange rates by which prices of several currencies are compared.
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Route } from '#http/route.ts'
import { listRates, RateSchema, type StoredRate } from '#prices/list-rates.ts'
import { setRates } from '#prices/set-rates.ts'

export const rateRoutes: Route<WriteCtx>[] = [
  {
    method: 'POST',
    path: '/rates',
    verb: setRates,
    summary: 'Load exchange rates',
    description:
      'One rate or a list: Turkish lira for one unit of a currency, from that day on until the next. One that is there already ' +
      'is replaced. Used to compare prices of several currencies, never to change one.',
    tag: 'Rates',
    bodyField: 'rates',
    answer: (loaded: { rates: number }) => ({ data: loaded }),
    data: Type.Object({ rates: Type.Integer({ description: 'How many' }) }, { title: 'LoadedRates' }),
    errors: ['INVALID_JSON'],
  },
  {
    method: 'GET',
    path: '/rates',
    verb: listRates,
    summary: 'Exchange rates, newest first',
    tag: 'Rates',
    answer: ({ rows, pagination }: Page<StoredRate>) => ({ data: rows, pagination }),
    data: Type.Array(RateSchema),
    paged: true,
  },
]
