// How often searches returned an own listing, by day.
import { sql } from 'kysely'
import { id, missing } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { Queryable } from '#db/schema.ts'
import { findListing } from '../listing-store.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { lastDays, VIEW_DAYS } from './listing-views.ts'

/** Days of the sum that lists show. */
const SUM_DAYS = 7

export const ListingViewsSchema = Type.Object(
  {
    views_7_days: Type.Integer({ description: 'Views of the last 7 days, including today' }),
    days: Type.Array(
      Type.Object(
        {
          day: Type.String({ format: 'date', description: 'UTC' }),
          views: Type.Integer({ description: 'How often a search returned the listing to another account, at most once for each key and hour' }),
        },
        { title: 'ListingViewsOfDay', description: 'Views of a listing on one day' },
      ),
      { description: `The last ${VIEW_DAYS} days including today, oldest first` },
    ),
  },
  { title: 'ListingViews', description: 'How often searches returned a listing' },
)
export type ListingViewsByDay = Static<typeof ListingViewsSchema>

export const readListingViews = verb(
  {
    name: 'readListingViews',
    needs: OPERATION_PLAN.readListingViews,
    input: Type.Object({ id: id('listing') }),
  },
  async ({ db, viewer, now }: MarketCtx, input): Promise<ListingViewsByDay> => {
    const listing = await findListing(db.kysely, input.id)
    if (!listing || viewer.kind !== 'account' || viewer.accountId !== listing.seller_id) throw missing('listing', input.id)
    const days = lastDays(now(), VIEW_DAYS)
    const { rows } = await sql<{ day: string; views: number }>`
      select day::text as day, views from listing_views where listing_id = ${input.id} and day >= ${days[0]!}::date`.execute(db.kysely)
    const views = new Map(rows.map((row) => [row.day, row.views]))
    const byDay = days.map((day) => ({ day, views: views.get(day) ?? 0 }))
    return { views_7_days: byDay.slice(-SUM_DAYS).reduce((sum, day) => sum + day.views, 0), days: byDay }
  },
)

/** Views of the last seven days by listing; those without any are missing. */
export async function recentViews(on: Queryable, listingIds: readonly number[], now: Date): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; views: number }>`
    select listing_id as id, sum(views)::float8 as views from listing_views
    where listing_id = any(${listingIds}::int4[]) and day >= ${lastDays(now, SUM_DAYS)[0]!}::date
    group by listing_id`.execute(on)
  return new Map(rows.map(({ id, views }) => [id, views]))
}
