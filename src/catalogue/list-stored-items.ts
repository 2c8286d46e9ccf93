// Items as operators see them, each with its price, oldest first.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { closed, market } from './fields.ts'
import { CategoryParam } from './params.ts'
import { pageOfItems, type StoredItemCtx } from './stored-items.ts'
import type { ListedItem } from './stored-schemas.ts'

export const listStoredItems = verb(
  {
    name: 'listStoredItems',
    needs: 'operator',
    input: Type.Object(
      {
        market: Type.Optional(market('Market whose catalogue the item came from')),
        game: filter('Such as `pokemon`'),
        ref: filter('Exactly this ref'),
        category_id: Type.Optional(CategoryParam),
        search: filter('Part of name, code or ref, in any case'),
        ...pageParams(),
      },
      closed,
    ),
  },
  (ctx: StoredItemCtx, { category_id: categoryId, ...input }): Promise<Page<ListedItem>> =>
    readPage(input, (filter, limit, offset) => pageOfItems(ctx, { ...filter, categoryId }, limit, offset)),
)
