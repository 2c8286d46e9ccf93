// Listings as operators see them: list them, or read one.
import { invalid } from '#core/errors.ts'
import { filter, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { type SortDirection, sortParams } from '#db/sorting.ts'
import { STATUSES } from '../records/rules.ts'
import { fetchListing } from '../listing-store.ts'
import { type ListingOrder, pageOfListings } from '../listing-pages.ts'
import { storedListing } from '../listing-content.ts'
import type { StoredListing } from '../marketplace-types.ts'

const Status = Type.Optional(Type.Enum([...STATUSES]))

/** Filters of operators' lists of listings, in addition to the status. */
export const ListingFilters = {
  seller_id: Type.Optional(Type.Integer()),
  item_id: Type.Optional(Type.Integer()),
  search: filter('Part of the title or SKU, case-insensitive'),
}

const ORDERS = {
  price: { asc: 'price_low', desc: 'price_high' },
  quantity: { asc: 'quantity_low', desc: 'quantity_high' },
  created_at: { asc: 'oldest', desc: 'latest' },
} as const satisfies Record<string, Record<SortDirection, ListingOrder>>

const Input = Type.Object({ status: Status, ...ListingFilters, ...pageParams(), ...sortParams(Object.keys(ORDERS) as (keyof typeof ORDERS)[]) })

export type ListingsCtx = Pick<WriteCtx, 'db' | 'viewer' | 'now'>

/** Listings as operators see them, newest first unless the caller sorts them. */
export const listListings = verb(
  { name: 'listListings', needs: 'operator', input: Input },
  (ctx: ListingsCtx, input): Promise<Page<StoredListing>> => {
    const { sort_by: name, seller_id: sellerId, item_id: itemId } = input
    // Prices and stock have no index: an index on them would make each new price write to all indexes of its listing.
    if ((name === 'price' || name === 'quantity') && sellerId === undefined && itemId === undefined)
      throw invalid('sort_by', 'only_with', { name, values: ['seller_id', 'item_id'] })
    const now = ctx.now()
    return readPage(input, ({ sort_by: by, sort_order: direction = 'asc', ...filter }, range) =>
      pageOfListings(ctx.db.kysely, { ...filter, now }, range, by ? ORDERS[by][direction] : 'latest', (row) => storedListing(row, now)),
    )
  },
)

/** One listing as operators see it. */
export const getStoredListing = verb(
  { name: 'getStoredListing', needs: 'operator', input: Type.Object({ id: id('listing') }) },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { id }): Promise<StoredListing> =>
    storedListing(await fetchListing(ctx.db.kysely, id), ctx.now()),
)
