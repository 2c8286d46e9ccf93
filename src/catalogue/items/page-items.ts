// Pages through items by cursor, with the filters and sorts of the item list and the search order; consistent while items are added and
// removed.
import { momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { marketPosition } from '#core/markets.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueCtx } from '../context.ts'
import { itemCursor, matchCursor, readItemCursor, readMatchCursor } from '../cursor.ts'
import {
  AfterParam,
  CategoryParam,
  GameParam,
  MarketParam,
  QueryParam,
  SearchParam,
  SortByParam,
  SortOrderParam,
  UpdatedSinceParam,
} from '../params.ts'
import { readPublicQuery } from '../public-query.ts'
import { areSameRows, type ItemFilter, type ItemQueries } from '../snapshot/queries.ts'

export const ITEMS_FIRST = { default: 20, max: 100 }

/** A page of rows of the in-memory catalogue. */
export interface ItemSlice {
  rows: Int32Array
  hasNextPage: boolean
  /** returns null for an empty page */
  endCursor: () => string | null
  /** canonical form of the field query, if any */
  query?: string | undefined
  /** returns other searches that have results; null without a search, or if this one has results */
  suggestions: () => readonly string[] | null
  /** whether the page would be the same now */
  isCurrent: () => boolean
}

export const pageItems = verb(
  {
    name: 'pageItems',
    needs: OPERATION_PLAN.listItems,
    sharedBy: 'plan',
    input: Type.Object({
      search: Type.Optional(SearchParam),
      query: Type.Optional(QueryParam),
      updatedSince: Type.Optional(UpdatedSinceParam),
      categoryId: Type.Optional(CategoryParam),
      game: Type.Optional(GameParam),
      market: Type.Optional(MarketParam),
      sortBy: Type.Optional(SortByParam),
      sortOrder: Type.Optional(SortOrderParam),
      first: Type.Optional(Type.Integer({ minimum: 1, maximum: ITEMS_FIRST.max, default: ITEMS_FIRST.default })),
      after: Type.Optional(AfterParam),
    }),
  },
  ({ catalogue, viewer }: CatalogueCtx, input): ItemSlice => {
    const { first = ITEMS_FIRST.default, after, search, query, updatedSince, ...equal } = input
    const filter = {
      ...equal,
      query: readPublicQuery(query, viewer),
      changedSinceMs: updatedSince === undefined ? undefined : momentOf('updatedSince', updatedSince).getTime(),
    }
    if (input.sortBy === undefined && input.sortOrder === undefined && search?.trim()) return pageMatches(catalogue, search, filter, first, after)
    const { sortBy = 'name', sortOrder = 'asc' } = input
    const from = after === undefined ? null : readItemCursor(after, sortBy, sortOrder, filter.market)
    const read = (queries: ItemQueries) => queries.pageAfter({ ...filter, search }, sortBy, sortOrder, from, first)
    const { rows, more } = read(catalogue.queries)
    const endCursor = () => {
      const last = rows.at(-1)
      if (last === undefined) return null
      const value = catalogue.queries.sorts.cursorValue(sortBy, marketPosition(filter.market), last)
      return itemCursor(sortBy, sortOrder, value, catalogue.items.id[last]!)
    }
    const suggestions = suggestionsOf(catalogue, rows, search, filter, after)
    const isSame = (queries: ItemQueries) => {
      const again = read(queries)
      return again.more === more && areSameRows(rows, again.rows)
    }
    const isCurrent = catalogue.follow(rows, (queries) => queries.listVersion({ ...filter, search }, sortBy, sortOrder), isSame)
    return { rows, hasNextPage: more, endCursor, query: filter.query?.canonical, suggestions, isCurrent }
  },
)

/** The page of a search without a sort: best match first, like `searchItems`. */
function pageMatches(catalogue: CatalogueCtx['catalogue'], search: string, filter: ItemFilter, first: number, after: string | undefined): ItemSlice {
  const { queries, items } = catalogue
  const { rows, rank, more } = queries.searchAfter(search, filter, after === undefined ? null : readMatchCursor(after), first)
  const endCursor = () => {
    const last = rows.at(-1)
    return last === undefined ? null : matchCursor({ rank, name: queries.sorts.value('name', null, last) as string, id: items.id[last]! })
  }
  const suggestions = suggestionsOf(catalogue, rows, search, filter, after)
  const isCurrent = catalogue.follow(rows, (of) => of.listVersion(filter, null))
  return { rows, hasNextPage: more, endCursor, query: filter.query?.canonical, suggestions, isCurrent }
}

/** Suggests other searches. An empty page after a cursor is the end of the list, not a search without results. */
function suggestionsOf(
  { queries }: CatalogueCtx['catalogue'],
  rows: Int32Array,
  search: string | undefined,
  filter: ItemFilter,
  after: string | undefined,
): ItemSlice['suggestions'] {
  return () => (rows.length === 0 && after === undefined && search?.trim() ? queries.suggestions(search, filter) : null)
}
