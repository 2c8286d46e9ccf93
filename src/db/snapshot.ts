// A consistent snapshot of the database, for reads with several statements.
import type { Db } from './schema.ts'

export interface Snapshot {
  /** reads through it see the database as of the time it was opened */
  db: Db
  /** must be called: until then a connection is in use and the database keeps old row versions */
  close: () => Promise<void>
}

/** Opens a read-only transaction with one snapshot for reads through `db`. */
export async function openSnapshot({ db }: { db: Db }): Promise<Snapshot> {
  const tx = await db.kysely.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute()
  return { db: { ...db, kysely: tx }, close: () => tx.rollback().execute() }
}
