// Which item an import means must not change while it runs: catalogue imports and merges of items keep each other waiting.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'

const LOCK = 7309

/** Keeps merges, undos and catalogue imports of others waiting until the transaction ends; comes before every other lock. */
export async function lockIdentity(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(tx)
}

/** Keeps only merges and undos waiting; comes before every other lock. */
export async function shareIdentity(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${sql.lit(LOCK)})`.execute(tx)
}
