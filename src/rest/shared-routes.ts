// What anyone with the link of a shared collection may read, without a key.
import { readSharedCollection, type SharedCtx, type SharedPage } from '#collections/sharing/read-shared.ts'
import { SharedCollectionSchema } from '#collections/sharing/shared-types.ts'
import { PaginationSchema } from '#core/paging.ts'
import type { Route } from '#http/route.ts'

export const sharedRoutes: Route<SharedCtx>[] = [
  {
    method: 'GET',
    path: '/shared/:token',
    verb: readSharedCollection,
    summary: 'Read a shared collection, without a key',
    description:
      'What the page at `shared_url` shows: records, worth and completion, never costs, notes, codes, dates or who owns it; `pagination` is that of ' +
      '`items`. A link that its owner has revoked returns 404, like one that never existed. Requests are limited by address.',
    tag: 'Collections',
    answer: ({ collection: data, pagination }: SharedPage) => ({ data, pagination }),
    data: SharedCollectionSchema,
    extra: { pagination: PaginationSchema },
    errors: ['NOT_FOUND'],
  },
]
