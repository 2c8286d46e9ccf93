// Operator API: merging of items, splitting them, and reverting either.
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'
import { type Batch, BatchSchema } from '#identity/batches.ts'
import { listMerges } from '#identity/list-merges.ts'
import { mergeItem } from '#identity/merge-item.ts'
import { revertBatch } from '#identity/revert-batch.ts'
import { type Merge, MergeSchema } from '#identity/stored-merges.ts'
import { splitItem } from '#identity/split-item.ts'
import type { PriceWriteCtx } from '#prices/types.ts'

export const identityRoutes: Route<PriceWriteCtx>[] = [
  {
    method: 'POST',
    path: '/items/:id/merge',
    verb: mergeItem,
    summary: 'Merge an item into another one',
    description:
      'Prices with their history, held prices, foreign ids, listings, sales and collection records become those of `into`; ' +
      'its own name and other facts stay. The id of the merged item means `into` from then on, wherever an item is named.',
    tag: 'Catalogue',
    answer: (merge: Merge) => ({ data: merge, message: `Item ${merge.from.id} merged into item ${merge.into.id}` }),
    data: MergeSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/merges',
    verb: listMerges,
    summary: 'Merges of items, newest first',
    tag: 'Catalogue',
    answer: ({ rows, pagination }: Page<Merge>) => ({ data: rows, pagination }),
    data: Type.Array(MergeSchema),
    paged: true,
  },
  {
    method: 'POST',
    path: '/items/:id/split',
    verb: splitItem,
    summary: 'Split what a source states out of an item',
    description:
      'The record becomes an item of its own, and later imports leave it apart. What people hung on the item stays with it. A record ' +
      'that came by a merge is that item again, with all that the merge moved.',
    tag: 'Catalogue',
    answer: (batch: Batch) => ({ data: batch, message: `Item ${batch.from.id} split from item ${batch.into.id}` }),
    data: BatchSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/batches/:id/revert',
    verb: revertBatch,
    summary: 'Revert a merge or a split',
    description:
      'After a merge, the item has its id again, and what the merge moved. What came in since stays with the survivor. If that was merged ' +
      'into another item since, revert that merge first. What a split made is merged back.',
    tag: 'Catalogue',
    answer: (batch: Batch) => ({ data: batch, message: revertedText(batch) }),
    data: BatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]

function revertedText({ batch_id: id, kind, from, into }: Batch): string {
  return kind === 'merge'
    ? `Merge ${id} reverted; item ${from.id} is restored`
    : `Split ${id} reverted; item ${from.id} is merged into item ${into.id}`
}
