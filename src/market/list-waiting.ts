// The moderation queue: listings that wait for approval, longest waiting first, with what changed since the last one.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { pageOfWaiting, storedListing } from './store.ts'
import type { StoredListing } from './types.ts'

export const listWaiting = verb(
  {
    needs: 'operator',
    input: Type.Object(
      {
        seller_id: Type.Optional(Type.Integer()),
        item_id: Type.Optional(Type.Integer()),
        search: filter('Part of the title, in any case'),
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { page = 1, per_page: perPage = 20, ...wanted }): Promise<Page<StoredListing>> => {
    const { rows, total } = await pageOfWaiting(ctx.db.kysely, wanted, perPage, (page - 1) * perPage)
    return { rows: rows.map((row) => storedListing(row, ctx.now())), pagination: pagination(page, perPage, total) }
  },
)
