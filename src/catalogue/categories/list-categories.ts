// Lists categories with their item counts, by id: all that match, the roots, or the children of one.
import { MAX_INTEGER, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { PER_PAGE, type Page, pageParams, pagination } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { fold, words } from '#index/fold.ts'
import type { CatalogueCtx } from '../context.ts'
import { market } from '../records/fields.ts'
import { GameParam } from '../params.ts'

export const CategoryEntrySchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ examples: ['Base Set'] }),
    slug: Type.String({ description: 'Unique', examples: ['base-set'] }),
    parent_id: orNull(Type.Integer(), { description: 'Parent category; null for a root' }),
    items_count: Type.Integer({ description: 'Number of items in it and in all categories below it' }),
  },
  { title: 'CategoryEntry' },
)
export type CategoryEntry = Static<typeof CategoryEntrySchema>

export const listCategories = verb(
  {
    name: 'listCategories',
    needs: OPERATION_PLAN.listCategories,
    sharedBy: 'plan',
    input: Type.Object({
      game: Type.Optional(GameParam),
      market: Type.Optional(market('Market of the catalogue they come from')),
      parent_id: Type.Optional(
        Type.Integer({ minimum: 0, maximum: MAX_INTEGER, description: 'Only direct children of this category; 0 for the roots' }),
      ),
      id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'Only this category' })),
      search: Type.Optional(
        Type.String({ maxLength: 200, description: 'All words must be in the name, ignoring case and accents', examples: ['base set'] }),
      ),
      ...pageParams(),
    }),
  },
  ({ catalogue: { categories, items } }: CatalogueCtx, input): Page<CategoryEntry> => {
    const { game, market, parent_id: parentId, id: only, search = '', page = 1, per_page: perPage = PER_PAGE } = input
    const parts = words(fold(search))
    const isNamed = (name: string) => parts.every((part) => fold(name).includes(part))
    const found = categories
      .ids()
      .map((id) => categories.get(id)!)
      .filter(
        (category) =>
          (only === undefined || category.id === only) &&
          (game === undefined || category.game === game) &&
          (market === undefined || category.market === market) &&
          (parentId === undefined || (category.parentId ?? 0) === parentId) &&
          isNamed(category.name),
      )
    const shown = found.slice((page - 1) * perPage, page * perPage)
    return {
      rows: shown.map(({ id, name, slug, parentId: above }) => ({
        id,
        name,
        slug,
        parent_id: above,
        items_count: items.countIn(categories.subtree(id)),
      })),
      pagination: pagination(page, perPage, found.length),
    }
  },
)
