// SQL of categories as operators see them.
import { existing, idForSql, missing } from '#core/fields.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { StoredCategory } from '../stored-schemas.ts'

export const CATEGORY_COLUMNS = ['id', 'ref', 'name', 'slug', 'game', 'market', 'parent_id', 'image', 'created_at', 'updated_at'] as const

/** @throws NOT_FOUND */
export async function fetchCategory(on: Queryable, id: number): Promise<StoredCategory> {
  const row = await on.selectFrom('categories').select(CATEGORY_COLUMNS).where('id', '=', existing('category', id)).executeTakeFirst()
  if (!row) throw missing('category', id)
  return jsonReady(row)
}

/** Returns the category and locks it until the transaction ends; null if it does not exist. */
export async function lockCategory(tx: Tx, id: number): Promise<StoredCategory | null> {
  const row = await tx.selectFrom('categories').select(CATEGORY_COLUMNS).where('id', '=', idForSql(id)).forShare().executeTakeFirst()
  return row ? jsonReady(row) : null
}

/** Whether a category is below another one, or the same. */
export async function isWithin(tx: Tx, id: number, above: number): Promise<boolean> {
  const found = await tx
    .withRecursive('up', (db) =>
      db
        .selectFrom('categories')
        .select(['id', 'parent_id'])
        .where('id', '=', id)
        .union(db.selectFrom('categories as c').innerJoin('up', 'up.parent_id', 'c.id').select(['c.id', 'c.parent_id'])),
    )
    .selectFrom('up')
    .select('id')
    .where('id', '=', above)
    .executeTakeFirst()
  return found !== undefined
}
