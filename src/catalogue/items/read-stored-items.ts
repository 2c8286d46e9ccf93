// Reads items as operators see them: lists them, or reads one or what its sources state.
import { filter, id, MAX_INTEGER } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { sortParams } from '#db/sorting.ts'
import type { CatalogueNode } from '../context.ts'
import { readFieldQuery } from '../field-query/field-query.ts'
import { market } from '../records/fields.ts'
import { statedSourcesOf } from './item-sources.ts'
import { CategoryParam, QueryParam } from '../params.ts'
import type { ItemFilter } from '../snapshot/queries.ts'
import { SORT_FIELDS, type SortDirection, type SortField } from '../index/sort-keys.ts'
import { fetchItem, fetchPricedItem, idsOfItems, itemsInOrder, pageOfItems, type StoredItemCtx } from './stored-items.ts'
import type { ListedItem, PricedItem, StatedItemSource } from '../stored-schemas.ts'

const MAX_IDS = 100

export interface ListedItems extends Page<ListedItem> {
  /** canonical form of the field query, if any */
  query?: string | undefined
}

/** Lists items as operators see them, each with its price, oldest first unless a sort is requested. */
export const listStoredItems = verb(
  {
    name: 'listStoredItems',
    needs: 'operator',
    input: Type.Object({
      market: Type.Optional(market('Market of the catalogue the item comes from')),
      game: filter('Such as `pokemon`'),
      ref: filter('Exact ref'),
      id: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: MAX_INTEGER }), {
          maxItems: MAX_IDS,
          description: 'Id of an item; repeat it for several',
        }),
      ),
      category_id: Type.Optional(CategoryParam),
      search: filter('Part of the name, code or ref, case-insensitive'),
      query: Type.Optional(QueryParam),
      ...sortParams(SORT_FIELDS),
      ...pageParams(),
    }),
  },
  async (
    ctx: StoredItemCtx & CatalogueNode,
    { category_id: categoryId, id: named, query, sort_by: field, sort_order: direction = 'asc', ...input },
  ): Promise<ListedItems> => {
    const fieldQuery = query === undefined ? undefined : readFieldQuery(query)
    const page = await readPage(input, async ({ game, ...filter }, range) => {
      if (field === undefined) {
        const found = fieldQuery && idsInOrder(ctx, { query: fieldQuery }, 'id', 'asc')
        const ids = found && named ? found.filter((id) => named.includes(id)) : (found ?? named)
        return pageOfItems(ctx, { ...filter, game, categoryId, ids }, range)
      }
      // Sort orders exist only in memory, so filters that only the database supports are applied to the sorted ids.
      const sorted = idsInOrder(ctx, { query: fieldQuery, categoryId, game }, field, direction)
      const among = Object.keys(filter).length > 0 ? await idsOfItems(ctx, filter) : null
      const ids = sorted.filter((id) => (!among || among.has(id)) && (!named || named.includes(id)))
      return { rows: await itemsInOrder(ctx, ids.slice(range.offset, range.offset + range.limit)), total: ids.length }
    })
    return { ...page, query: fieldQuery?.canonical }
  },
)

function idsInOrder({ catalogue: { items, queries } }: CatalogueNode, filter: ItemFilter, field: SortField, direction: SortDirection): number[] {
  return Array.from(queries.page(filter, field, direction, 0, items.rows).rows, (row) => items.id[row]!)
}

/** Returns one item as operators see it, with the prices of all markets. */
export const getStoredItem = verb(
  { name: 'getStoredItem', needs: 'operator', input: Type.Object({ id: id('item') }) },
  (ctx: StoredItemCtx, { id }): Promise<PricedItem> => fetchPricedItem(ctx, id),
)

/** Lists what each source states about an item, in order of precedence. */
export const listItemSources = verb(
  { name: 'listItemSources', needs: 'operator', input: Type.Object({ id: id('item') }) },
  async ({ db }: ReadCtx, { id }): Promise<StatedItemSource[]> => statedSourcesOf(db.kysely, (await fetchItem(db.kysely, id)).id),
)
