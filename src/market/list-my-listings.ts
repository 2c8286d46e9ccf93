// The caller's own listings in every status, newest first (interface.md, "GET /api/v1/plus/my-listings").
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { FlagParams, flagsOf } from './listing-flags.ts'
import { STATUSES } from './rules.ts'
import { ownListing } from './own-listing.ts'
import { pageOfListings } from './store.ts'
import type { MarketCtx, OwnListing } from './types.ts'

const ORDERS = ['latest', 'title', 'price_low', 'price_high', 'quantity_low', 'quantity_high', 'expiring', 'changed'] as const

export const listMyListings = verb(
  {
    name: 'listMyListings',
    needs: OPERATION_PLAN.listMyListings,
    input: Type.Object(
      {
        status: Type.Optional(Type.Enum([...STATUSES])),
        search: filter('Part of the title or SKU, case-insensitive'),
        sort_by: Type.Optional(Type.Enum([...ORDERS], { default: 'latest' })),
        ...FlagParams,
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: MarketCtx, input): Promise<Page<OwnListing>> => {
    const sellerId = ctx.viewer.kind === 'account' ? ctx.viewer.accountId : 0
    const own = { seller_id: sellerId, now: ctx.now() }
    const { rows, pagination } = await readPage(input, ({ status, search, sort_by: order }, limit, offset) =>
      pageOfListings(ctx.db.kysely, { ...own, status, search }, limit, offset, order),
    )
    const flags = flagsOf(input)
    return { rows: rows.map((row) => ownListing(ctx, row, flags)), pagination }
  },
)
