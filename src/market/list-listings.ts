// Listings as operators see them, newest first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { STATUSES } from './rules.ts'
import { pageOfListings, storedListing } from './store.ts'
import type { StoredListing } from './types.ts'

export const listListings = verb(
  {
    needs: 'operator',
    input: Type.Object(
      {
        status: Type.Optional(Type.Enum([...STATUSES])),
        seller_id: Type.Optional(Type.Integer()),
        item_id: Type.Optional(Type.Integer()),
        search: filter('Part of the title, in any case'),
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { page = 1, per_page: perPage = 20, ...wanted }): Promise<Page<StoredListing>> => {
    const now = ctx.now()
    const { rows, total } = await pageOfListings(ctx.db.kysely, { ...wanted, now }, perPage, (page - 1) * perPage)
    return { rows: rows.map((row) => storedListing(row, now)), pagination: pagination(page, perPage, total) }
  },
)
