// Operator API: exports and erasures of what the service stores about an account or a buyer.
import type { Readable } from 'node:stream'
import { paged, type Route } from '#http/route.ts'
import { erasePerson, getErasure, listErasures } from '#privacy/erase-person.ts'
import { exportAccountData, exportBuyerData } from '#privacy/export-person.ts'
import { type Erasure, ErasureSchema, PersonalDataSchema, type PrivacyCtx } from '#privacy/erasure-types.ts'

const tag = 'Personal data'

const document = (body: Readable) => ({
  headers: [
    'content-type',
    'application/json; charset=utf-8',
    'cache-control',
    'no-store',
    'content-disposition',
    'attachment; filename="personal-data.json"',
  ],
  body,
})

export const privacyRoutes: Route<PrivacyCtx>[] = [
  {
    method: 'GET',
    path: '/accounts/:account_id/personal-data',
    verb: exportAccountData,
    summary: 'Export everything about an account',
    description:
      'Rows of every table about the account, and its audit entries, as one JSON document. Hashes and secrets are left out. The request is recorded.',
    tag,
    answer: document,
    data: PersonalDataSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/buyers/personal-data',
    verb: exportBuyerData,
    summary: 'Export everything about a buyer',
    description: 'The same for the reference by which the shop knows a buyer: orders, offers, cancellations and audit entries.',
    tag,
    answer: document,
    data: PersonalDataSchema,
  },
  {
    method: 'POST',
    path: '/erasures',
    verb: erasePerson,
    summary: 'Erase an account or a buyer',
    description:
      'Owners only, and final. The account is suspended at once; a task then removes its rows, and overwrites names and texts in rows of sales, which stay. ' +
      'Refused with 409 while offers by or to the person are open. A second request for the same person returns the first one.',
    tag,
    status: 202,
    answer: (erasure: Erasure) => ({ data: erasure, message: 'Erasure started' }),
    data: ErasureSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
  {
    path: '/erasures',
    ...paged(listErasures, ErasureSchema),
    summary: 'List requests for erasure, newest first',
    tag,
  },
  {
    method: 'GET',
    path: '/erasures/:id',
    verb: getErasure,
    summary: 'Read a request for erasure and what was done',
    tag,
    answer: (erasure: Erasure) => ({ data: erasure }),
    data: ErasureSchema,
    errors: ['NOT_FOUND'],
  },
]
