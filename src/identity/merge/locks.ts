// Locks of a merge or undo, in the order used by all writers.
import { sql } from 'kysely'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { missing } from '#core/fields.ts'
import { MARKETS } from '#core/markets.ts'
import type { Tx } from '#db/schema.ts'
import { lockListingsOf } from '#market/merged-listings.ts'
import { lockMarkets } from '#prices/writing/lock-markets.ts'

/**
 * Blocks everything that could refer to the items or price them until the transaction ends. Locks are taken in the order that other
 * writers use: imports lock a market before its items, orders a listing before its item.
 * @param emptied items whose listings move to other items
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
