// Decisions about listings, newest first.
import { sql } from 'kysely'
import { boundedId } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { actorOf } from '#db/change.ts'
import { countIn, where, withTotal } from '#db/page.ts'
import { decisionsOf, UNCHANGED, UNDO_MS } from './approval/decisions.ts'
import type { ListingsCtx } from './list-listings.ts'

export const listListingDecisions = listVerb(
  {
    name: 'listListingDecisions',
    needs: 'operator',
    filters: {
      listing_id: boundedId('Only this listing'),
      seller_id: boundedId('Only listings of this account'),
      mine: Type.Optional(Type.Boolean({ default: false, description: "`1`: only the caller's own" })),
      undoable: Type.Optional(Type.Boolean({ default: false, description: '`1`: only those that can be undone now' })),
    },
  },
  ({ db, viewer, now: clock }: ListingsCtx, { listing_id: listingId, seller_id: sellerId, mine = false, undoable = false }, { limit, offset }) => {
    const now = clock()
    const from = sql`from listing_decisions d left join listings l on l.id = d.listing_id ${where(
      sql`d.decision is not null`,
      listingId !== undefined && sql`d.listing_id = ${listingId}`,
      sellerId !== undefined && sql`d.seller_id = ${sellerId}`,
      mine && sql`d.decided_by = ${actorOf(viewer)}`,
      undoable && sql`d.decided_at > ${new Date(now.getTime() - UNDO_MS)} and ${UNCHANGED}`,
    )}`
    const rows = decisionsOf(db.kysely, sql`${from} order by d.decided_at desc, d.id desc limit ${limit} offset ${offset}`, now)
    return withTotal(rows, countIn(db.kysely, from))
  },
)
