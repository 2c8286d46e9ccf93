// Lists categories as operators see them, oldest first.
import { boundedId, filter, MAX_INTEGER } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { closed, market } from './fields.ts'
import { pageOfCategories } from './stored-categories.ts'
import type { StoredCategory } from './stored-schemas.ts'

export const listStoredCategories = verb(
  {
    name: 'listStoredCategories',
    needs: 'operator',
    input: Type.Object(
      {
        market: Type.Optional(market()),
        game: filter('Such as `pokemon`'),
        parent_id: Type.Optional(
          Type.Integer({ minimum: 0, maximum: MAX_INTEGER, description: 'Only direct children of this category; 0 for the roots' }),
        ),
        id: boundedId('This category'),
        search: filter('Part of the name or ref, case-insensitive'),
        ...pageParams(),
      },
      closed,
    ),
  },
  (ctx: ReadCtx, { parent_id: parentId, ...input }): Promise<Page<StoredCategory>> =>
    readPage(input, (filter, limit, offset) => pageOfCategories(ctx.db.kysely, { ...filter, parentId }, limit, offset)),
)
