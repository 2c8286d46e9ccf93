// Operator API: price sources, setting one aside, and the ids and figures that items share.
import { Type } from '#core/input.ts'
import { paged, type Route } from '#http/route.ts'
import { listSharedIds, SharedIdSchema } from '#prices/reviews/list-shared-ids.ts'
import { listSources, type PriceSource, PriceSourceSchema, type SourcesCtx } from '#prices/reviews/list-sources.ts'
import { type ChangedSource, ChangedSourceSchema, changeSource } from '#prices/reviews/change-source.ts'
import { restoreSource, setSourceAside, type SourceTrust, SourceTrustSchema, takeSourceBack } from '#prices/reviews/source-trust.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

const restoreRoute = {
  method: 'POST',
  tag: 'Price sources',
  answer: (source: SourceTrust) => ({ data: source, message: 'Source restored' }),
  data: SourceTrustSchema,
  errors: ['CONFLICT', 'INVALID_JSON'],
} satisfies Partial<Route<PriceWriteCtx>>

export const sourceRoutes: Route<PriceWriteCtx & SourcesCtx>[] = [
  {
    method: 'GET',
    path: '/sources',
    verb: listSources,
    summary: 'List price sources with feed age and the shares of confirmed, trusted, disputed, stale and held prices',
    tag: 'Price sources',
    answer: (sources: PriceSource[]) => ({ data: sources }),
    data: Type.Array(PriceSourceSchema),
  },
  {
    method: 'PATCH',
    path: '/sources/:market',
    verb: changeSource,
    summary: 'Set what may be done with the prices of a source, and their licence',
    description:
      'Readers, copies and computed figures follow within a second. A dump that exists already keeps the prices it has: create a new one with `POST /dumps`.',
    tag: 'Price sources',
    answer: (source: ChangedSource) => ({ data: source, message: 'Source updated' }),
    data: ChangedSourceSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'POST',
    path: '/sources/:market/set-aside',
    verb: setSourceAside,
    summary: 'Set a source aside',
    description: 'Its prices become stale immediately and are not used as evidence against other prices until you restore it.',
    tag: 'Price sources',
    answer: (source: SourceTrust) => ({ data: source, message: 'Source set aside' }),
    data: SourceTrustSchema,
    errors: ['CONFLICT', 'INVALID_JSON'],
  },
  {
    ...restoreRoute,
    path: '/sources/:market/restore',
    verb: restoreSource,
    summary: 'Restore a source that was set aside',
  },
  {
    ...restoreRoute,
    path: '/sources/:market/take-back',
    verb: takeSourceBack,
    summary: 'Restore a source that was set aside, by the former path',
    description: 'Use `/sources/{market}/restore`.',
    deprecated: true,
  },
  {
    path: '/shared-ids',
    ...paged(listSharedIds, SharedIdSchema),
    summary: 'List shop ids shared by several items, and identical price figures of several items',
    tag: 'Price sources',
  },
]
