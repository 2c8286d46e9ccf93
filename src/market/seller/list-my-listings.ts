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

const ORDERS = ['latest', 'title', 'price_low', 'price_high', 'quantity_low', 'quantity_high', 'expiring', 'changed'] as const

export const listMyListings = listVerb(
  {
    name: 'listMyListings',
    needs: OPERATION_PLAN.listMyListings,
    filters: {
      status: Type.Optional(Type.Enum([...STATUSES])),
      search: filter('Part of the title or SKU, case-insensitive'),
      sort_by: Type.Optional(Type.Enum([...ORDERS], { default: 'latest' })),
      ...FlagParams,
    },
  },
  (ctx: MarketCtx, { status, search, sort_by: order = 'latest', ...flagParams }, range) => {
    const sellerId = ctx.viewer.kind === 'account' ? ctx.viewer.accountId : 0
    const flags = flagsOf(flagParams)
    return pageOfListings(ctx.db.kysely, { seller_id: sellerId, now: ctx.now(), status, search }, range, order, (row) => ownListing(ctx, row, flags))
  },
)
