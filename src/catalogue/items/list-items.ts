// Lists items: filters, any of the sorts, pages by number with exact totals (interface.md, "GET /api/v1/items").
import { momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { marketPosition } from '#core/markets.ts'
import { PER_PAGE, pageParams, pagination, type Pagination } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { countedTerm } from '#index/counted-term.ts'
import { type CatalogueCtx, shapeWithStats } from '../context.ts'
import { readPublicQuery } from '../public-query.ts'
import {
  CategoryParam,
  GameParam,
  GenreParam,
  MarketParam,
  QueryParam,
  SearchParam,
  SortByParam,
  SortOrderParam,
  StatsParam,
  UpdatedSinceParam,
} from '../params.ts'
import type { ItemShape } from '../snapshot/item-json.ts'
import { areSameRows, type ItemQueries } from '../snapshot/queries.ts'

/** Rows of the in-memory catalogue, and the shape and market to show them in. */
export interface ItemRows {
  rows: Int32Array
  shape: ItemShape
  /** position in MARKETS of the requested market; null for none */
  market: number | null
}

export interface ItemPage extends ItemRows {
  pagination: Pagination
  /** canonical form of the field query, if any */
  query?: string | undefined
  /** what was searched for, on the first page */
  term?: string | undefined
  /** other searches that have results, if this one has none */
  suggestions?: readonly string[] | undefined
  /** whether the page would be the same now */
  isCurrent: () => boolean
}

export const listItems = verb(
  {
    name: 'listItems',
    needs: OPERATION_PLAN.listItems,
    sharedBy: 'plan',
    input: Type.Object({
      ...pageParams(),
      search: Type.Optional(SearchParam),
      query: Type.Optional(QueryParam),
      updated_since: Type.Optional(UpdatedSinceParam),
      category_id: Type.Optional(CategoryParam),
      game: Type.Optional(GameParam),
      market: Type.Optional(MarketParam),
      genre: Type.Optional(GenreParam),
      sort_by: Type.Optional(SortByParam),
      sort_order: Type.Optional(SortOrderParam),
      with_stats: Type.Optional(StatsParam),
    }),
  },
  (ctx: CatalogueCtx, input): ItemPage => {
    const { page = 1, per_page = PER_PAGE, sort_by = 'name', sort_order = 'asc' } = input
    const { search } = input
    const filter = {
      market: input.market,
      game: input.game,
      genre: input.genre,
      categoryId: input.category_id,
      search,
      query: readPublicQuery(input.query, ctx.viewer),
      changedSinceMs: input.updated_since === undefined ? undefined : momentOf('updated_since', input.updated_since).getTime(),
    }
    const read = (queries: ItemQueries) => queries.page(filter, sort_by, sort_order, (page - 1) * per_page, per_page)
    const found = read(ctx.catalogue.queries)
    const isSame = (queries: ItemQueries) => {
      const again = read(queries)
      return again.total === found.total && areSameRows(found.rows, again.rows)
    }
    return {
      rows: found.rows,
      shape: shapeWithStats(ctx.viewer, input.with_stats),
      market: marketPosition(input.market),
      pagination: pagination(page, per_page, found.total),
      query: filter.query?.canonical,
      isCurrent: ctx.catalogue.follow(found.rows, (queries) => queries.listVersion(filter, sort_by, sort_order), isSame),
      ...(page === 1 && search !== undefined && { term: countedTerm(search) }),
      ...(found.total === 0 && search?.trim() && { suggestions: ctx.catalogue.queries.suggestions(search, filter) }),
    }
  },
)
