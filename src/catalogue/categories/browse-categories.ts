// Pages through categories by cursor, ordered by id: all that match, the roots, or the children of one.
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueCtx } from '../context.ts'
import { categoryCursor, readCategoryCursor } from '../cursor.ts'
import { AfterParam, GameParam, MarketParam } from '../params.ts'
import type { Category, CategoryTree } from '../index/category-tree.ts'

export const CATEGORIES_FIRST = { default: 100, max: 500 }

export interface CategorySlice {
  categories: Category[]
  hasNextPage: boolean
  /** returns null for an empty page */
  endCursor: () => string | null
}

export const browseCategories = verb(
  {
    name: 'browseCategories',
    needs: OPERATION_PLAN.listCategories,
    sharedBy: 'plan',
    input: Type.Object({
      game: Type.Optional(GameParam),
      market: Type.Optional(MarketParam),
      parentId: Type.Optional(orNull(Type.Integer())),
      first: Type.Optional(Type.Integer({ minimum: 1, maximum: CATEGORIES_FIRST.max, default: CATEGORIES_FIRST.default })),
      after: Type.Optional(AfterParam),
    }),
  },
  ({ catalogue: { categories: tree } }: CatalogueCtx, input): CategorySlice => {
    const { game, market, parentId, first = CATEGORIES_FIRST.default } = input
    const after = input.after === undefined ? -Infinity : readCategoryCursor(input.after)
    const ids = parentId === undefined ? tree.ids() : sortedChildIds(tree, parentId)
    const found: Category[] = []
    for (let i = firstAbove(ids, after); i < ids.length && found.length <= first; i += 1) {
      const category = tree.get(ids[i]!)!
      if ((game === undefined || category.game === game) && (market === undefined || category.market === market)) {
        found.push(category)
      }
    }
    const categories = found.slice(0, first)
    const last = categories.at(-1)
    return { categories, hasNextPage: found.length > first, endCursor: () => (last ? categoryCursor(last.id) : null) }
  },
)

/** Direct children of a category, ordered by id. */
export function childrenOf(tree: CategoryTree, id: number): Category[] {
  return sortedChildIds(tree, id).map((childId) => tree.get(childId)!)
}

function sortedChildIds(tree: CategoryTree, id: number | null): number[] {
  return tree.childIds(id).toSorted((a, b) => a - b)
}

/** Position of the first id above a bound, in ascending ids. */
function firstAbove(ids: readonly number[], bound: number): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ids[middle]! > bound) high = middle
    else low = middle + 1
  }
  return low
}
