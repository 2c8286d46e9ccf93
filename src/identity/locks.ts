// Locks of a merge or undo, in the order used by all writers.
import { sql } from 'kysely'
import { lockIdentity } from '#catalogue/identity-lock.ts'
import { missing } from '#core/fields.ts'
import { MARKETS } from '#core/markets.ts'
import type { Tx } from '#db/schema.ts'
import { lockListingsOf } from '#market/merged-listings.ts'
import { lockMarkets } from '#prices/writer.ts'

/**
 * Keeps whatever could refer to the items or give them prices waiting until the transaction ends. Each lock comes where
 * the writers that take several of them take it: imports a market before the items, orders a listing before its item.
 * @param emptied items whose listings will be given to others
 * @throws NOT_FOUND
 */
export async function lockItems(tx: Tx, itemIds: readonly number[], emptied: readonly number[]): Promise<void> {
  await lockIdentity(tx)
  await lockMarkets(tx, MARKETS.keys())
  await lockListingsOf(tx, emptied)
  const { rows } = await sql<{ id: number }>`
    select id from items where id = any(${`{${itemIds.join(',')}}`}::int4[]) order by id for update`.execute(tx)
  const found = new Set(rows.map((row) => row.id))
  for (const id of itemIds) if (!found.has(id)) throw missing('item', id)
}
