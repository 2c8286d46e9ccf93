// Operator API: collections of accounts.
import { changeCollection } from '#collections/change-collection.ts'
import { createCollection } from '#collections/create-collection.ts'
import { deleteCollection } from '#collections/delete-collection.ts'
import { listStoredCollections } from '#collections/list-stored-collections.ts'
import { type StoredCollection, StoredCollectionSchema } from '#collections/types.ts'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Route } from '#http/routes.ts'

const tag = 'Collections'

export const collectionRoutes: Route<WriteCtx>[] = [
  {
    method: 'POST',
    path: '/collections',
    verb: createCollection,
    summary: 'Open a collection for an account',
    tag,
    status: 201,
    answer: (collection: StoredCollection) => ({ data: collection, message: 'The collection is open' }),
    data: StoredCollectionSchema,
    errors: ['INVALID_JSON', 'IDEMPOTENCY_CONFLICT', 'VALIDATION_ERROR'],
  },
  {
    method: 'GET',
    path: '/collections',
    verb: listStoredCollections,
    summary: 'All collections, oldest first',
    tag,
    answer: ({ rows, pagination }: Page<StoredCollection>) => ({ data: rows, pagination }),
    data: Type.Array(StoredCollectionSchema),
    paged: true,
    errors: ['VALIDATION_ERROR'],
  },
  {
    method: 'PATCH',
    path: '/collections/:id',
    verb: changeCollection,
    summary: 'Rename a collection, describe it anew or change who may see it',
    tag,
    answer: (collection: StoredCollection) => ({ data: collection, message: 'The collection is changed' }),
    data: StoredCollectionSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'VALIDATION_ERROR'],
  },
  {
    method: 'DELETE',
    path: '/collections/:id',
    verb: deleteCollection,
    summary: 'Delete a collection with all its records',
    tag,
    answer: () => ({ data: undefined, message: 'The collection is deleted' }),
    errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  },
]
