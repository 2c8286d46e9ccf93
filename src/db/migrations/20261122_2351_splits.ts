// Splits of source records out of items, with what each decided, so that it can be reverted. Their ids are batch ids as those of merges.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      // pairs are the rows of match_decisions that the split wrote, ended those that it removed.
      `create table splits (
        id integer primary key default nextval(pg_get_serial_sequence('merges', 'id')),
        item_id integer not null,
        split_item integer not null,
        source text not null,
        foreign_id text not null,
        pairs jsonb not null,
        ended jsonb not null,
        author text not null,
        at timestamptz(3) not null,
        reverted_by text,
        reverted_at timestamptz(3),
        check ((reverted_by is null) = (reverted_at is null))
      )`,
    )
    .execute(db)
}
