// Decisions of people about usual ratios of sets that are too far from the game's to be applied without one; an index of reverted imports.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // ratio: the one that the decision was about. The key is that of usual_ratios, whose rows come and go with the prices.
  await sql`
    create table usual_ratio_decisions (
      game text not null,
      category_id integer not null,
      finish text not null,
      market_a smallint not null,
      market_b smallint not null,
      decision text not null check (decision in ('confirmed', 'rejected')),
      ratio real not null,
      author text not null,
      at timestamptz(3) not null,
      primary key (game, category_id, finish, market_a, market_b)
    )`.execute(db)
  // Every batch of prices skips the feeds of reverted imports.
  await sql`create index imports_reverted on imports (id) where reverted_by_import_id is not null`.execute(db)
}
