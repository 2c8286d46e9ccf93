// Turns violations of unique indexes into human-readable errors.
import { conflict } from '#core/errors.ts'
import type { Market } from '#core/markets.ts'
import type { Queryable } from '#db/schema.ts'
import { mapUniqueViolation } from '#db/unique.ts'

/**
 * Rejects a ref that is already taken. A merged item keeps its ref, so that undoing the merge can restore it.
 * @throws CONFLICT if an item, or a merged one, has the ref
 */
export async function refuseTakenRef(on: Queryable, market: Market, ref: string): Promise<void> {
  const item = await on.selectFrom('items').select('id').where('market', '=', market).where('ref', '=', ref).executeTakeFirst()
  if (item) throw conflict('ref_taken_by', { thing: 'item', id: item.id, ref, market })
  const merged = await on.selectFrom('item_aliases').select('item_id').where('market', '=', market).where('ref', '=', ref).executeTakeFirst()
  if (merged) throw conflict('ref_merged', { ref, id: merged.item_id })
}

/** Runs a write; a ref or slug that is already taken, possibly by a concurrent write, causes a 409. */
export function refuseTaken<T>(thing: 'item' | 'category', write: () => Promise<T>): Promise<T> {
  return mapUniqueViolation(write, (index) => conflict('taken', { thing, field: index.includes('slug') ? 'slug' : 'ref' }))
}
