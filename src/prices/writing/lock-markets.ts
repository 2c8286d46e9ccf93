// Locks markets for writing prices.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'

/**
 * Writes to one market are serialised, so that prices read for it stay valid until the commit. Merges of items lock all markets.
 * @returns the database's snapshot before the first lock: everything it does not include may have committed since
 */
export async function lockMarkets(tx: Tx, markets: Iterable<number>): Promise<string> {
  const sorted = [...new Set(markets)].sort((a, b) => a - b)
  const { rows } = await sql<{ snapshot: string }>`
    select pg_current_snapshot()::text as snapshot, pg_advisory_xact_lock(7307, market)
    from unnest(${`{${sorted.join(',')}}`}::int4[]) as market`.execute(tx)
  return rows[0]?.snapshot ?? ''
}
