// Creates a category.
import { newId } from '#core/process/time-and-chance.ts'
import { conflict } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { CategoryBody, checkParent } from './category-fields.ts'
import { categoriesByRef, saveCategory } from '../records/category-store.ts'
import { fetchCategory } from './stored-categories.ts'
import type { StoredCategory } from '../stored-schemas.ts'
import { refuseTaken } from '../records/unique-violations.ts'

export const createCategory = verb(
  { name: 'createCategory', needs: 'catalogue', input: Type.Object(CategoryBody) },
  (ctx: WriteCtx, { ref = `manual:${newId()}`, parent_id: parentId = null, image = null, ...fields }) =>
    change(ctx, async (tx, note): Promise<StoredCategory> => {
      if (parentId !== null) await checkParent(tx, parentId, fields.market)
      const earlier = (await categoriesByRef(tx, fields.market, [ref])).get(ref)
      if (earlier) throw conflict('ref_taken_by', { thing: 'category', id: earlier.id, ref, market: fields.market })
      const { id } = await refuseTaken('category', () => saveCategory(tx, note, { ...fields, ref, image }, parentId))
      const category = await fetchCategory(tx, id)
      if (fields.slug !== undefined && category.slug !== fields.slug) throw conflict('taken', { thing: 'category', field: 'slug' })
      note.audit({ action: 'category.create', subject: 'category', id, after: category })
      return category
    }),
)
