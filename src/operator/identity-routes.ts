// Operator API: merging of items, splitting them, and reverting either.
import { paged, type Route } from '#http/route.ts'
import { type Batch, BatchSchema } from '#identity/merge/batches.ts'
import { listMerges } from '#identity/merge/list-merges.ts'
import { mergeItem } from '#identity/merge/merge-item.ts'
import { revertBatch } from '#identity/revert-batch.ts'
import { type Merge, MergeSchema } from '#identity/merge/stored-merges.ts'
import { splitItem } from '#identity/merge/split-item.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

export const identityRoutes: Route<PriceWriteCtx>[] = [
  {
    method: 'POST',
    path: '/items/:id/merge',
    verb: mergeItem,
    queryFields: ['dry_run'],
    summary: 'Merge an item into another one',
    description:
      'Moves prices with their history, held prices, foreign ids, listings, sales and collection records to ' +
      '`into`, which keeps its name and other facts. From then on, the id of the merged item refers to `into` everywhere. With ' +
      '`dry_run=1`, it only counts what it would move.',
    tag: 'Catalogue',
    answer: (merge: Merge) => ({
      data: merge,
      message: merge.dry_run ? 'Preview only; nothing was changed' : 'Items merged',
    }),
    data: MergeSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    path: '/merges',
    ...paged(listMerges, MergeSchema),
    summary: 'List merges of items, newest first',
    tag: 'Catalogue',
  },
  {
    method: 'POST',
    path: '/items/:id/split',
    verb: splitItem,
    summary: 'Split a source record from an item',
    description:
      'The record becomes a separate item, also for later imports. Listings, sales and other user data stay with the item. A record ' +
      'that came from a merge becomes that item again, with everything the merge moved.',
    tag: 'Catalogue',
    answer: (batch: Batch) => ({ data: batch, message: 'Item split' }),
    data: BatchSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/batches/:id/revert',
    verb: revertBatch,
    summary: 'Revert a merge or a split',
    description:
      'Reverting a merge restores the item with its id and everything the merge moved; later additions stay with the remaining item. If that ' +
      'item has been merged again since, revert that merge first. Reverting a split merges the new item back.',
    tag: 'Catalogue',
    answer: (batch: Batch) => ({ data: batch, message: batch.kind === 'merge' ? 'Merge reverted' : 'Split reverted' }),
    data: BatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]
