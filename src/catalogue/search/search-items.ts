// Searches items, best match first (interface.md, "GET /api/v1/items/search").
import { momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { marketPosition } from '#core/markets.ts'
import { pageParams, pagination } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { countedTerm } from '#index/counted-term.ts'
import { type CatalogueCtx, shapeWithStats } from '../context.ts'
import type { ItemPage } from '../items/list-items.ts'
import { readPublicQuery } from '../public-query.ts'
import { CategoryParam, GameParam, MarketParam, QueryParam, StatsParam, UpdatedSinceParam } from '../params.ts'

const RESULTS_PER_PAGE = 50

export const searchItems = verb(
  {
    name: 'searchItems',
    needs: OPERATION_PLAN.searchItems,
    sharedBy: 'plan',
    input: Type.Object({
      q: Type.String({
        minLength: 2,
        maxLength: 200,
        description:
          'All words must match names, code, set, finish, rarity or language; words of four letters or more may have one typo. Exact codes and names come first.',
        examples: ['charizard', '4/102', 'OP01-001'],
      }),
      query: Type.Optional(QueryParam),
      updated_since: Type.Optional(UpdatedSinceParam),
      category_id: Type.Optional(CategoryParam),
      game: Type.Optional(GameParam),
      market: Type.Optional(MarketParam),
      with_stats: Type.Optional(StatsParam),
      ...pageParams(RESULTS_PER_PAGE),
    }),
  },
  (ctx: CatalogueCtx, input): ItemPage => {
    const { page = 1, per_page = RESULTS_PER_PAGE } = input
    const filter = {
      market: input.market,
      game: input.game,
      categoryId: input.category_id,
      query: readPublicQuery(input.query, ctx.viewer),
      changedSinceMs: input.updated_since === undefined ? undefined : momentOf('updated_since', input.updated_since).getTime(),
    }
    const found = ctx.catalogue.queries.search(input.q, filter, (page - 1) * per_page, per_page)
    return {
      rows: found.rows,
      shape: shapeWithStats(ctx.viewer, input.with_stats),
      market: marketPosition(input.market),
      pagination: pagination(page, per_page, found.total),
      query: filter.query?.canonical,
      isCurrent: ctx.catalogue.follow(found.rows, (queries) => queries.listVersion(filter, null)),
      ...(page === 1 && { term: countedTerm(input.q) }),
      ...(found.total === 0 && { suggestions: ctx.catalogue.queries.suggestions(input.q, filter) }),
    }
  },
)
