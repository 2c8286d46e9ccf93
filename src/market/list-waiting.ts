// The moderation queue: listings that wait for approval, longest waiting first, with what changed since the last one.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { ListingFilters, type ListingsCtx, storedPage } from './list-listings.ts'
import { QUEUED } from './rules.ts'

export const listWaiting = verb(
  { name: 'listWaiting', needs: 'operator', input: Type.Object(ListingFilters, { additionalProperties: false }) },
  (ctx: ListingsCtx, input) => storedPage(ctx, { ...input, status: QUEUED }, 'waiting'),
)
