// What the columns of the caller's collection files hold; used for files of no known format.
import type { Static } from '#core/input.ts'
import { savedColumnsOf } from '#intake/saved-columns.ts'
import { COLLECTION_FIELDS } from './columns.ts'

export const {
  schema: CollectionColumnsSchema,
  get: getCollectionColumns,
  set: setCollectionColumns,
  bySpelling: savedCollectionColumns,
} = savedColumnsOf({
  of: 'collection',
  fields: COLLECTION_FIELDS,
  title: 'CollectionColumn',
  examples: [
    { column: 'Karta', field: 'name' },
    { column: 'Regal', field: null },
  ],
})
export type CollectionColumns = Static<typeof CollectionColumnsSchema>
