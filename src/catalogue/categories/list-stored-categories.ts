// Lists categories as operators see them, oldest first.
import { boundedId, filter, MAX_INTEGER } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { market } from '../records/fields.ts'
import { escapeLike } from '../records/like.ts'
import { CATEGORY_COLUMNS } from './stored-categories.ts'

export const listStoredCategories = listVerb(
  {
    name: 'listStoredCategories',
    needs: 'operator',
    filters: {
      market: Type.Optional(market()),
      game: filter('Such as `pokemon`'),
      parent_id: Type.Optional(
        Type.Integer({ minimum: 0, maximum: MAX_INTEGER, description: 'Only direct children of this category; 0 for the roots' }),
      ),
      id: boundedId('This category'),
      search: filter('Part of the name or ref, case-insensitive'),
    },
  },
  ({ db }: ReadCtx, { market, game, parent_id: above, id, search }, range) => {
    const parent = above === 0 ? null : above
    let categories = db.kysely.selectFrom('categories').where((e) => e.and({ id, market, game, parent_id: parent }))
    if (search !== undefined) {
      const like = `%${escapeLike(search)}%`
      categories = categories.where((e) => e.or([e('name', 'ilike', like), e('ref', 'ilike', like)]))
    }
    return pageOf(categories.select(CATEGORY_COLUMNS).orderBy('id'), range, jsonReady)
  },
)
