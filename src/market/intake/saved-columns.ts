// What the columns of the caller's listing files hold; used before anything is guessed.
import type { Static } from '#core/input.ts'
import { savedColumnsOf } from '#intake/saved-columns.ts'
import { LISTING_FIELDS } from './listing-columns.ts'

export const {
  schema: ListingColumnsSchema,
  get: getListingColumns,
  set: setListingColumns,
  bySpelling: savedListingColumns,
} = savedColumnsOf({
  of: 'listing',
  fields: LISTING_FIELDS,
  title: 'ListingColumn',
  examples: [
    { column: 'Cena', field: 'price' },
    { column: 'Regal', field: null },
  ],
})
export type ListingColumns = Static<typeof ListingColumnsSchema>
