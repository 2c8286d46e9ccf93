// Operator API: price sources, setting one aside, and the ids and figures that items share.
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'
import { listSharedIds, type SharedId, SharedIdSchema } from '#prices/list-shared-ids.ts'
import { listSources, type PriceSource, PriceSourceSchema, type SourcesCtx } from '#prices/list-sources.ts'
import { setSourceAside, type SourceTrust, SourceTrustSchema, takeSourceBack } from '#prices/source-trust.ts'
import type { PriceWriteCtx } from '#prices/types.ts'

export const sourceRoutes: Route<PriceWriteCtx & SourcesCtx>[] = [
  {
    method: 'GET',
    path: '/sources',
    verb: listSources,
    summary: 'Price sources: age of the newest feed, and the shares of prices that are confirmed, trusted, disputed, stale and held',
    tag: 'Price sources',
    answer: (sources: PriceSource[]) => ({ data: sources }),
    data: Type.Array(PriceSourceSchema),
  },
  {
    method: 'POST',
    path: '/sources/:market/set-aside',
    verb: setSourceAside,
    summary: 'Set a source aside',
    description: 'Its prices are stale at once and no evidence against others, until it is used again.',
    tag: 'Price sources',
    answer: (source: SourceTrust) => ({ data: source, message: 'Source set aside' }),
    data: SourceTrustSchema,
    errors: ['CONFLICT', 'INVALID_JSON'],
  },
  {
    method: 'POST',
    path: '/sources/:market/take-back',
    verb: takeSourceBack,
    summary: 'Use a source again that was set aside',
    tag: 'Price sources',
    answer: (source: SourceTrust) => ({ data: source, message: 'Source in use again' }),
    data: SourceTrustSchema,
    errors: ['CONFLICT', 'INVALID_JSON'],
  },
  {
    method: 'GET',
    path: '/shared-ids',
    verb: listSharedIds,
    summary: 'Shop ids on several items, and prices of several items that are alike in all figures',
    tag: 'Price sources',
    answer: ({ rows, pagination }: Page<SharedId>) => ({ data: rows, pagination }),
    data: Type.Array(SharedIdSchema),
    paged: true,
  },
]
