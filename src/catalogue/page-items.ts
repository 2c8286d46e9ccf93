// Pages through items by cursor: the filters and sorts of the item list, right also while items come and go.
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueCtx } from './context.ts'
import { itemCursor, readItemCursor } from './cursor.ts'
import { AfterParam, CategoryParam, GameParam, MarketParam, SearchParam, SortByParam, SortOrderParam } from './params.ts'
import { sortValue } from './snapshot/sorts.ts'

export const ITEMS_FIRST = { default: 20, max: 100 }

/** A page of rows of the catalogue in memory. */
export interface ItemSlice {
  rows: Int32Array
  hasNextPage: boolean
  /** null for an empty page */
  endCursor: () => string | null
}

export const pageItems = verb(
  {
    name: 'pageItems',
    needs: OPERATION_PLAN.listItems,
    input: Type.Object(
      {
        search: Type.Optional(SearchParam),
        categoryId: Type.Optional(CategoryParam),
        game: Type.Optional(GameParam),
        market: Type.Optional(MarketParam),
        sortBy: Type.Optional(SortByParam),
        sortOrder: Type.Optional(SortOrderParam),
        first: Type.Optional(Type.Integer({ minimum: 1, maximum: ITEMS_FIRST.max, default: ITEMS_FIRST.default })),
        after: Type.Optional(AfterParam),
      },
      { additionalProperties: false },
    ),
  },
  ({ catalogue }: CatalogueCtx, input): ItemSlice => {
    const { sortBy = 'name', sortOrder = 'asc', first = ITEMS_FIRST.default, after, ...filter } = input
    const from = after === undefined ? null : readItemCursor(after, sortBy, sortOrder)
    const { rows, more } = catalogue.queries.pageAfter(filter, sortBy, sortOrder, from, first)
    const endCursor = () => {
      const last = rows.at(-1)
      if (last === undefined) return null
      return itemCursor(sortBy, sortOrder, sortValue(catalogue.items, sortBy, last), catalogue.items.id[last]!)
    }
    return { rows, hasNextPage: more, endCursor }
  },
)
