// Serialises catalogue imports and merges, because the item that an import refers to must not change while it runs.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'

const LOCK = 7309

/** Blocks merges, undos and other catalogue imports until the transaction ends; must be taken before any other lock. */
export async function lockIdentity(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(tx)
}
