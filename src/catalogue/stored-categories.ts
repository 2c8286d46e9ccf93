// SQL of categories as operators see them.
import { existing, idForSql, missing } from '#core/fields.ts'
import type { Market } from '#core/markets.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { escapeLike } from './like.ts'
import type { StoredCategory } from './stored-schemas.ts'

const COLUMNS = ['id', 'ref', 'name', 'slug', 'game', 'market', 'parent_id', 'image', 'created_at', 'updated_at'] as const

export interface CategoryFilter {
  id?: number
  market?: Market
  game?: string
  /** 0: root categories */
  parentId?: number
  search?: string
}

/** @throws NOT_FOUND */
export async function fetchCategory(on: Queryable, id: number): Promise<StoredCategory> {
  const row = await on.selectFrom('categories').select(COLUMNS).where('id', '=', existing('category', id)).executeTakeFirst()
  if (!row) throw missing('category', id)
  return jsonReady(row)
}

/** Returns the category and locks it until the transaction ends; null if it does not exist. */
export async function lockCategory(tx: Tx, id: number): Promise<StoredCategory | null> {
  const row = await tx.selectFrom('categories').select(COLUMNS).where('id', '=', idForSql(id)).forShare().executeTakeFirst()
  return row ? jsonReady(row) : null
}

export async function pageOfCategories(
  on: Queryable,
  filter: CategoryFilter,
  limit: number,
  offset: number,
): Promise<{ rows: StoredCategory[]; total: number }> {
  let matching = on.selectFrom('categories')
  if (filter.id !== undefined) matching = matching.where('id', '=', filter.id)
  if (filter.market !== undefined) matching = matching.where('market', '=', filter.market)
  if (filter.game !== undefined) matching = matching.where('game', '=', filter.game)
  if (filter.parentId === 0) matching = matching.where('parent_id', 'is', null)
  else if (filter.parentId !== undefined) matching = matching.where('parent_id', '=', filter.parentId)
  if (filter.search !== undefined) {
    const like = `%${escapeLike(filter.search)}%`
    matching = matching.where((eb) => eb.or([eb('name', 'ilike', like), eb('ref', 'ilike', like)]))
  }
  const [rows, counted] = await Promise.all([
    matching.select(COLUMNS).orderBy('id').limit(limit).offset(offset).execute(),
    matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
  ])
  return { rows: rows.map(jsonReady), total: counted.total }
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
