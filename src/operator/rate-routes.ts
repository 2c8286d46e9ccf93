// Operator API: exchange rates used to compare prices in different currencies, and price indices for profits in real lira.
import { Readable } from 'node:stream'
import { Type } from '#core/input.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { paged, type Route } from '#http/route.ts'
import { IndexSchema, listIndices } from '#prices/indices/list-indices.ts'
import { indicesOfCsv } from '#prices/indices/indices-file.ts'
import { setIndices } from '#prices/indices/set-indices.ts'
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
  {
    method: 'POST',
    path: '/indices',
    verb: setIndices,
    summary: 'Load price indices',
    description:
      'One month or a list. An existing value of the same index and month is replaced. `TRY_CPI`, the consumer prices of Türkiye, states the profit of ' +
      'collections in real lira (`currency=TRY_REAL`): its last published month applies until you load the next one. A CSV (`text/csv`) has the columns ' +
      '`index`, `month` and `value`. If a row is invalid, nothing is loaded; a problem in a CSV is named by its line and column, such as `line_4.month`.',
    tag: 'Rates',
    bodyField: 'indices',
    bodies: { 'text/csv': (body, { now }) => indicesOfCsv({ bytes: Readable.from([body]), fileName: null }, now()) },
    answer: (loaded: { indices: number }) => ({ data: loaded }),
    data: Type.Object({ indices: Type.Integer({ description: 'Number of months' }) }, { title: 'LoadedIndices' }),
    errors: ['INVALID_JSON'],
  },
  {
    path: '/indices',
    ...paged(listIndices, IndexSchema),
    summary: 'List price indices, newest month first',
    tag: 'Rates',
  },
]
