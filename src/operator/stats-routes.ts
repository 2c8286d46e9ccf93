// Operator API: the service at a glance.
import type { Route } from '#http/route.ts'
import { readStats, type Stats, type StatsCtx, StatsSchema } from './read-stats.ts'

export const statsRoutes: Route<StatsCtx>[] = [
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
