// Moves French One Piece cards to the world of the English ones, so that they can be the same items; the next import or `mintmark match` joins them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`update source_records set world = 'onepiece-en' where world = 'onepiece-fr'`.execute(db)
  for (const table of ['match_queue', 'match_set_maps', 'decided_matches']) {
    await sql`update ${sql.table(table)} set world = 'onepiece-en' where world = 'onepiece-fr'`.execute(db)
  }
}
