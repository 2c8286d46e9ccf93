// Decisions about listings, newest first.
import { boundedId } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { actorOf } from '#db/change.ts'
import { pageOfDecisions, type StoredDecision } from './approval/decisions.ts'
import type { ListingsCtx } from './list-listings.ts'

export const listListingDecisions = verb(
  {
    name: 'listListingDecisions',
    needs: 'operator',
    input: Type.Object(
      {
        listing_id: boundedId('Only this listing'),
        seller_id: boundedId('Only listings of this account'),
        mine: Type.Optional(Type.Boolean({ default: false, description: "`1`: only the caller's own" })),
        undoable: Type.Optional(Type.Boolean({ default: false, description: '`1`: only those that can be undone now' })),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: ListingsCtx, { mine = false, ...input }): Promise<Page<StoredDecision>> =>
    readPage(input, (filter, limit, offset) =>
      pageOfDecisions(ctx.db.kysely, { ...filter, ...(mine && { by: actorOf(ctx.viewer) }) }, ctx.now(), limit, offset),
    ),
)
