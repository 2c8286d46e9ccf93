// One moment of the database, for reads that take several statements.
import type { Db } from './schema.ts'

export interface Snapshot {
  /** everything read by it is of the moment at which it was opened */
  db: Db
  /** has to be called: until then a connection is taken and the database keeps what it has replaced */
  close: () => Promise<void>
}

/** Opens a read-only transaction of one moment for what comes by `db`. */
export async function openSnapshot({ db }: { db: Db }): Promise<Snapshot> {
  const tx = await db.kysely.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute()
  return { db: { ...db, kysely: tx }, close: () => tx.rollback().execute() }
}
