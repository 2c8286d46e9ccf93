// Splits of source records from items, with their decisions, so that they can be reverted. They share the id sequence of merges.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      // pairs: the match_decisions that the split wrote; ended: those that it removed.
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
