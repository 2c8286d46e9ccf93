// The change feed of the catalogue: an addition to the interface.
import { type ChangePage, type ChangesCtx, ChangeSchema, listChanges } from '#catalogue/list-changes.ts'
import { Type } from '#core/input.ts'
import type { Route } from '#http/route.ts'

export const changeRoutes: Route<ChangesCtx>[] = [
  {
    method: 'GET',
    path: '/changes',
    verb: listChanges,
    summary: 'List catalogue changes',
    description:
      'Items, categories and prices that changed since a cursor, in commit order. Each object appears once per page, ' +
      'and `with_data=1` adds its current data; apply a page from first to last. An `item` replaces the item with all its prices. ' +
      'Changes are kept for 7 days: an older cursor returns 410, then start again from a dump. Professional and above.',
    tag: 'Catalogue',
    answer: ({ changes, next, more }: ChangePage) => ({ data: changes, extra: { next, more } }),
    data: Type.Array(ChangeSchema),
    extra: {
      next: Type.String({ description: 'Send it as `after` to continue' }),
      more: Type.Boolean({ description: 'Whether to continue at once: with `kinds`, a page may be empty although changes follow it' }),
    },
    errors: ['CURSOR_EXPIRED'],
  },
]
