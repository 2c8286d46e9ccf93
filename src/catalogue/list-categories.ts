// Categories as operators see them, oldest first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { closed, market } from './fields.ts'
import { pageOfCategories } from './stored-categories.ts'
import type { StoredCategory } from './stored-schemas.ts'

export const listCategories = verb(
  {
    name: 'listCategories',
    needs: 'operator',
    input: Type.Object(
      {
        market: Type.Optional(market()),
        game: filter('Such as `pokemon`'),
        parent_id: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, description: 'Directly below this one; 0 for those at the top' })),
        search: filter('Part of name or ref, in any case'),
        ...pageParams(20),
      },
      closed,
    ),
  },
  async (ctx: ReadCtx, { page = 1, per_page: perPage = 20, parent_id: parentId, ...rest }): Promise<Page<StoredCategory>> => {
    const { rows, total } = await pageOfCategories(ctx.db.kysely, { ...rest, parentId }, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
