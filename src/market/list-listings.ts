// Listings as operators see them, newest first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { STATUSES } from './rules.ts'
import { pageOfListings, storedListing } from './store.ts'
import type { StoredListing } from './types.ts'

const Status = Type.Optional(Type.Enum([...STATUSES]))

/** What operators' lists of listings may be narrowed by, beside the status. */
export const ListingFilters = {
  seller_id: Type.Optional(Type.Integer()),
  item_id: Type.Optional(Type.Integer()),
  search: filter('Part of the title or SKU, in any case'),
  ...pageParams(),
}

const Input = Type.Object({ status: Status, ...ListingFilters }, { additionalProperties: false })

export type ListingsCtx = Pick<WriteCtx, 'db' | 'viewer' | 'now'>

export const listListings = verb(
  { name: 'listListings', needs: 'operator', input: Input },
  async (ctx: ListingsCtx, input): Promise<Page<StoredListing>> => {
    const now = ctx.now()
    const { rows, pagination } = await readPage(input, (filter, limit, offset) => pageOfListings(ctx.db.kysely, { ...filter, now }, limit, offset))
    return { rows: rows.map((row) => storedListing(row, now)), pagination }
  },
)
