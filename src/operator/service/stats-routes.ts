// Operator API: overview of the service, activity in a period, and health.
import { type Health, type HealthCtx, HealthSchema, readHealth } from '#health/read-health.ts'
import type { Route } from '#http/route.ts'
import type { MarketWriteCtx } from '#market/marketplace-types.ts'
import type { SourcesCtx } from '#prices/reviews/list-sources.ts'
import { type Activity, ActivitySchema, readActivity } from '#stats/read-activity.ts'
import { listSearches, type SearchesCtx, type SearchReport, SearchReportSchema } from '#stats/searches/list-searches.ts'
import { readStats, type Stats, StatsSchema } from '#stats/read-stats.ts'

export const statsRoutes: Route<SourcesCtx & MarketWriteCtx & HealthCtx & SearchesCtx>[] = [
  {
    method: 'GET',
    path: '/stats',
    verb: readStats,
    summary: 'Read counts by status, sales by day, queues and price source health',
    tag: 'Stats',
    answer: (stats: Stats) => ({ data: stats }),
    data: StatsSchema,
  },
  {
    method: 'GET',
    path: '/stats/activity',
    verb: readActivity,
    summary: 'Read the activity of a period by day, and of the previous period',
    description:
      'Sales, commission, payouts, refunds, decisions about listings, requests and webhook deliveries of every day, with totals, and the items, sellers ' +
      'and callers with the most sales or requests. The previous period has the same length. Amounts are exact and exclude cancelled sales.',
    tag: 'Stats',
    answer: (activity: Activity) => ({ data: activity }),
    data: ActivitySchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/stats/searches',
    verb: listSearches,
    summary: 'Read what people searched for in a week',
    description:
      'Counts only, of terms that at least 20 people searched for, by the account and the address of the caller. `items` and `listings` are what a term finds ' +
      'now. Only the first page of a search counts.',
    tag: 'Stats',
    answer: (report: SearchReport) => ({ data: report }),
    data: SearchReportSchema,
  },
  {
    method: 'GET',
    path: '/health',
    verb: readHealth,
    summary: 'Read the findings of `mintmark doctor`, as seen from this node',
    tag: 'Stats',
    answer: (health: Health) => ({ data: health }),
    data: HealthSchema,
  },
]
