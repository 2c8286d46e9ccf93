// Operator API: price sources, setting one aside, and the ids and figures that items share.
import { Type } from '#core/input.ts'
import { paged, type Route } from '#http/route.ts'
import { confirmUsualRatio, rejectUsualRatio } from '#prices/reviews/decide-usual-ratio.ts'
import { listSharedIds, SharedIdSchema } from '#prices/reviews/list-shared-ids.ts'
import { listUsualRatios, type UsualRatio, UsualRatioSchema } from '#prices/reviews/list-usual-ratios.ts'
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

const decideRatioRoute = {
  method: 'POST',
  tag: 'Price sources',
  data: UsualRatioSchema,
  errors: ['CONFLICT', 'NOT_FOUND', 'INVALID_JSON'],
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
  {
    path: '/usual-ratios',
    ...paged(listUsualRatios, UsualRatioSchema),
    summary: 'List sets whose usual ratio between two markets is more than 3 times that of the game, furthest first',
    description:
      'Such a ratio is not applied until you confirm it, because a wrong mapping of the set is more likely: until then, its prices are compared with ' +
      '3 times the ratio of the game, or a third of it. Ratios are learned every hour and with each price list.',
    tag: 'Price sources',
  },
  {
    ...decideRatioRoute,
    path: '/usual-ratios/confirm',
    verb: confirmUsualRatio,
    summary: 'Confirm the usual ratio of a set',
    description:
      'It is applied immediately, and the prices of the set are judged again. Beyond the confirmed ratio, later ones need another decision.',
    answer: (ratio: UsualRatio) => ({ data: ratio, message: 'Ratio confirmed' }),
  },
  {
    ...decideRatioRoute,
    path: '/usual-ratios/reject',
    verb: rejectUsualRatio,
    summary: 'Reject the usual ratio of a set',
    description: 'The prices of the set are judged again by the ratio of the game, so those that contradict it become `disputed`.',
    answer: (ratio: UsualRatio) => ({ data: ratio, message: 'Ratio rejected' }),
  },
]
