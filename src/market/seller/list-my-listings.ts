// The caller's own listings in every status, newest first (interface.md, "GET /api/v1/plus/my-listings").
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { FlagParams, flagsOf } from '../listings/listing-flags.ts'
import { STATUSES } from '../records/rules.ts'
import { ownListing } from '../listings/own-listing.ts'
import { pageOfListings } from '../listing-pages.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { recentViews } from '../views/read-listing-views.ts'

const ORDERS = ['latest', 'title', 'price_low', 'price_high', 'quantity_low', 'quantity_high', 'expiring', 'changed'] as const

/** As many as a page of records can have. */
const MAX_RECORDS = 100

export const listMyListings = listVerb(
  {
    name: 'listMyListings',
    needs: OPERATION_PLAN.listMyListings,
    filters: {
      status: Type.Optional(Type.Enum([...STATUSES])),
      search: filter('Part of the title or SKU, case-insensitive'),
      record_id: Type.Optional(
        Type.Array(Type.Integer(), { maxItems: MAX_RECORDS, description: '`record_id[]`: only listings of these records of your collections' }),
      ),
      sort_by: Type.Optional(Type.Enum([...ORDERS], { default: 'latest' })),
      with_views: Type.Optional(Type.Boolean({ default: false, description: '`1` adds `views_7_days`' })),
      ...FlagParams,
    },
  },
  async (
    ctx: MarketCtx,
    { status, search, record_id: recordIds, sort_by: order = 'latest', with_views: withViews = false, ...flagParams },
    range,
  ) => {
    const sellerId = ctx.viewer.kind === 'account' ? ctx.viewer.accountId : 0
    const flags = flagsOf(flagParams)
    const filter = { seller_id: sellerId, now: ctx.now(), status, search, record_ids: recordIds }
    const page = await pageOfListings(ctx.db.kysely, filter, range, order, (row) => ownListing(ctx, row, flags))
    if (!withViews || page.rows.length === 0) return page
    const ids = page.rows.map(({ id }) => id)
    const views = await recentViews(ctx.db.kysely, ids, ctx.now())
    return { ...page, rows: page.rows.map((listing) => ({ ...listing, views_7_days: views.get(listing.id) ?? 0 })) }
  },
)
