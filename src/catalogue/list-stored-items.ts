// Items as operators see them, each with its price, oldest first.
import { filter, LARGEST_INTEGER } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueNode } from './context.ts'
import { type FieldQuery, readFieldQuery } from './field-query/field-query.ts'
import { closed, market } from './fields.ts'
import { CategoryParam, QueryParam } from './params.ts'
import { pageOfItems, type StoredItemCtx } from './stored-items.ts'
import type { ListedItem } from './stored-schemas.ts'

const MOST_IDS = 100

export interface ListedItems extends Page<ListedItem> {
  /** canonical form of the field query, where there was one */
  query?: string | undefined
}

export const listStoredItems = verb(
  {
    name: 'listStoredItems',
    needs: 'operator',
    input: Type.Object(
      {
        market: Type.Optional(market('Market whose catalogue the item came from')),
        game: filter('Such as `pokemon`'),
        ref: filter('Exactly this ref'),
        id: Type.Optional(
          Type.Array(Type.Integer({ minimum: 1, maximum: LARGEST_INTEGER }), {
            maxItems: MOST_IDS,
            description: 'Id of an item; may be repeated for several',
          }),
        ),
        category_id: Type.Optional(CategoryParam),
        search: filter('Part of name, code or ref, in any case'),
        query: Type.Optional(QueryParam),
        ...pageParams(),
      },
      closed,
    ),
  },
  async (ctx: StoredItemCtx & CatalogueNode, { category_id: categoryId, id: named, query, ...input }): Promise<ListedItems> => {
    const asked = query === undefined ? undefined : readFieldQuery(query)
    const found = asked && idsFound(ctx, asked)
    const ids = found && named ? found.filter((id) => named.includes(id)) : (found ?? named)
    const page = await readPage(input, (filter, limit, offset) => pageOfItems(ctx, { ...filter, categoryId, ids }, limit, offset))
    return { ...page, query: asked?.canonical }
  },
)

function idsFound({ catalogue: { items, queries } }: CatalogueNode, query: FieldQuery): number[] {
  return Array.from(queries.page({ query }, 'id', 'asc', 0, items.rows).rows, (row) => items.id[row]!)
}
