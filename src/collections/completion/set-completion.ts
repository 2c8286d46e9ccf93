// How much of each set a collection has: one grouped statement, and the catalogue in memory.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, offsetOf, pageParams, pagination } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { Queryable } from '#db/schema.ts'
import { requireCollection } from '../records/store.ts'
import type { CollectionReadCtx } from '../records/types.ts'
import { GOAL_FIELDS, percentOf, type SetCompletion } from './completion-types.ts'
import { itemsIn } from './copies.ts'
import { ANY_LANGUAGE, type Goal, GoalCards } from './goals.ts'

export const SETS_PER_PAGE = 100

export const readSetCompletion = verb(
  {
    name: 'readSetCompletion',
    needs: OPERATION_PLAN.readSetCompletion,
    input: Type.Object({ id: id('collection'), ...GOAL_FIELDS, ...pageParams(SETS_PER_PAGE) }),
  },
  async (ctx: CollectionReadCtx, input): Promise<Page<SetCompletion>> => {
    await requireCollection(ctx.db.kysely, ctx.viewer, input.id)
    const { page = 1, per_page: perPage = SETS_PER_PAGE, goal = 'complete', language = ANY_LANGUAGE } = input
    const sets = await completionBySet(ctx.catalogue, ctx.db.kysely, input.id, goal, language)
    const from = offsetOf(page, perPage)
    return { rows: sets.slice(from, from + perPage), pagination: pagination(page, perPage, sets.length) }
  },
)

/** Every set of which the collection has an item, the fullest first; sets without a card of the goal last. */
export async function completionBySet(
  catalogue: Catalogue,
  on: Queryable,
  collectionId: number,
  goal: Goal,
  language: string,
): Promise<SetCompletion[]> {
  const owned = new Set<number>()
  for (const itemId of await itemsIn(on, collectionId)) owned.add(catalogue.items.rowOf(itemId))
  owned.delete(-1)
  const { items } = catalogue
  const ids = [...new Set(Array.from(owned, (row) => items.categoryId[row]!))]
  const cards = new GoalCards(catalogue, goal, language)
  const sets: SetCompletion[] = []
  const addSets = (from: number, to: number) => {
    for (const categoryId of ids.slice(from, to)) {
      const category = catalogue.categories.get(categoryId)
      if (!category) continue
      const all = new Set<string>()
      const had = new Set<string>()
      items.categoryRows.forEach([categoryId], (row) => {
        if (items.categoryId[row] !== categoryId || !items.live.has(row) || !cards.has(row)) return
        const card = cards.cardOf(row)
        all.add(card)
        if (owned.has(row)) had.add(card)
      })
      const { name, slug, game, image } = category
      const shown = image === null ? null : catalogue.addresses.ofCategory(categoryId, image)
      const counts = { owned: had.size, of: all.size, percent: percentOf(had.size, all.size) }
      sets.push({ category_id: categoryId, name, slug, game, image: shown, ...counts })
    }
  }
  await runInSlices(ids.length, addSets, 1)
  return sets.sort((a, b) => (b.percent ?? -1) - (a.percent ?? -1) || b.owned - a.owned || a.category_id - b.category_id)
}
