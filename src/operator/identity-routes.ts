// Operator API: merging of items, and undoing it.
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Route } from '#http/route.ts'
import { listMerges } from '#identity/list-merges.ts'
import { mergeItem } from '#identity/merge-item.ts'
import { type Merge, MergeSchema } from '#identity/stored-merges.ts'
import { undoMerge } from '#identity/undo-merge.ts'

export const identityRoutes: Route<WriteCtx>[] = [
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
    path: '/merges/:id/undo',
    verb: undoMerge,
    summary: 'Undo a merge',
    description:
      'The item has its id again, and what the merge moved. What came in since stays with the survivor. If that was merged ' +
      'into another item since, undo that merge first.',
    tag: 'Catalogue',
    answer: (merge: Merge) => ({ data: merge, message: `Merge ${merge.id} undone; item ${merge.from.id} is restored` }),
    data: MergeSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]
