// Returns one category by id.
import { missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueCtx } from '../context.ts'
import { IdParam } from '../params.ts'
import type { Category } from '../index/category-tree.ts'

export const readCategory = verb(
  { name: 'readCategory', needs: OPERATION_PLAN.getCategory, sharedBy: 'plan', input: Type.Object({ id: IdParam }) },
  ({ catalogue }: CatalogueCtx, { id }): Category => {
    const category = catalogue.categories.get(id)
    if (!category) throw missing('category', id)
    return category
  },
)
