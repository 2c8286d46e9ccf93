// The change feed of the catalogue: an addition to the interface.
import { type ChangePage, type ChangesCtx, ChangeSchema, listChanges } from '#catalogue/list-changes.ts'
import { Type } from '#core/input.ts'
import type { Route } from '#http/route.ts'

export const changeRoutes: Route<ChangesCtx>[] = [
  {
    method: 'GET',
    path: '/changes',
    verb: listChanges,
    summary: 'What changed in the catalogue',
    description:
      'Items, categories and prices that changed since a cursor, in the order of commits. Within a page each is told once, and what ' +
      '`with_data=1` adds is what is there now; apply a page from first to last. An `item` replaces the item with all its prices. ' +
      'Kept for 7 days: an older cursor is answered with 410, and a dump is where to begin again. Professional and above.',
    tag: 'Catalogue',
    answer: ({ changes, next }: ChangePage) => ({ data: changes, extra: { next } }),
    data: Type.Array(ChangeSchema),
    extra: { next: Type.String({ description: 'Send it as `after` to go on' }) },
    errors: ['CURSOR_EXPIRED'],
  },
]
