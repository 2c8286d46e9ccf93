// Operator API: the service at a glance.
import type { Route } from '#http/route.ts'
import type { SourcesCtx } from '#prices/list-sources.ts'
import { readStats, type Stats, StatsSchema } from './read-stats.ts'

export const statsRoutes: Route<SourcesCtx>[] = [
  {
    method: 'GET',
    path: '/stats',
    verb: readStats,
    summary: 'Counts by status, sales by day, queues, and the health of the price sources',
    tag: 'Stats',
    answer: (stats: Stats) => ({ data: stats }),
    data: StatsSchema,
  },
]
