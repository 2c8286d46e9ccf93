// Pages of items and categories: the arguments of lists turned into verbs, and the connection types.
import { browseCategories, type CategorySlice } from '#catalogue/categories/browse-categories.ts'
import { ITEMS_FIRST, type ItemSlice, pageItems } from '#catalogue/items/page-items.ts'
import { call } from '#core/verb.ts'
import { idOf, marketOf, withoutNulls } from './arguments.ts'
import { cost, type Refs } from './builder.ts'
import type { GraphqlCtx } from '../execution/context.ts'
import { itemSources } from '../execution/item-source.ts'

/** The cost of a page of items besides its items: filter and search scan the whole catalogue. */
export const ITEMS_COST = cost({ weight: 50, first: ITEMS_FIRST })

export interface ItemsArgs {
  game?: string | null
  market?: string | null
  search?: string | null
  query?: string | null
  updatedSince?: string | null
  categoryId?: string | number | null
  first?: number | null
  after?: string | null
  sortBy?: string | null
  sortOrder?: string | null
}

export interface CategoriesArgs {
  game?: string | null
  market?: string | null
  parentId?: string | number | null
  first?: number | null
  after?: string | null
}

export function itemsPage(args: ItemsArgs, ctx: GraphqlCtx): ItemSlice {
  const input = withoutNulls(args)
  if (input.market !== undefined) input.market = marketOf(input.market)
  if (input.categoryId !== undefined) input.categoryId = idOf(input.categoryId)
  // An empty search finds everything, as over REST.
  if (input.search === '') delete input.search
  const page = call(pageItems, ctx, input)
  ctx.reads?.push(page.isCurrent)
  return page
}

export function categoriesPage(args: CategoriesArgs, ctx: GraphqlCtx): CategorySlice {
  const { market, parentId: _, ...rest } = withoutNulls(args)
  return call(browseCategories, ctx, {
    ...rest,
    ...(market !== undefined && { market: marketOf(market) }),
    ...(args.parentId !== undefined && { parentId: args.parentId === null ? null : idOf(args.parentId) }),
  })
}

export function implementPages(refs: Refs): void {
  refs.pageInfo.implement({
    description: 'Position of a page in its list.',
    fields: (t) => ({
      hasNextPage: t.exposeBoolean('hasNextPage', { nullable: false, description: 'Whether there is a next page.' }),
      endCursor: t.string({
        description: 'Pass it as `after` to get the next page; null for an empty page.',
        resolve: ({ endCursor }) => endCursor(),
      }),
    }),
  })
  refs.itemPage.implement({
    description: 'A page of items.',
    fields: (t) => ({
      nodes: t.field({
        type: [refs.item],
        nullable: false,
        description: 'Items of the page.',
        resolve: ({ rows }) => itemSources(rows),
      }),
      pageInfo: t.field({ type: refs.pageInfo, nullable: false, description: 'Position of the page.', resolve: (page) => page }),
      suggestions: t.stringList({
        description: 'Up to three similar searches with results, if a search finds nothing; otherwise null.',
        resolve: ({ suggestions }) => {
          const found = suggestions()
          return found && [...found]
        },
      }),
      query: t.string({ description: 'The field query in canonical form; null if none was sent.', resolve: ({ query }) => query }),
    }),
  })
  refs.categoryPage.implement({
    description: 'A page of categories.',
    fields: (t) => ({
      nodes: t.field({
        type: [refs.category],
        nullable: false,
        description: 'Categories of the page.',
        resolve: ({ categories }) => categories,
      }),
      pageInfo: t.field({ type: refs.pageInfo, nullable: false, description: 'Position of the page.', resolve: (page) => page }),
    }),
  })
}
