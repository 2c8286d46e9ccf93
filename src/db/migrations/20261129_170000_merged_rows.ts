// One log of the rows that merges have moved, instead of a table for each kind of row.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // name: the table. content: the row as it was, or its id and what must be unchanged. placed: the survivor received it; otherwise it had the same
  // row, or a later price. Points of the price history stay in merged_points: as jsonb, they would take 13 times as long to read.
  `create table merged_rows (
    merge_id integer not null,
    name text not null,
    content jsonb not null,
    placed boolean not null
  )`,
  'create index merged_rows_by_merge on merged_rows (merge_id, name)',
  `create index merged_rows_by_record on merged_rows (((content->>'record_id')::int4)) where name = 'item_sources'`,
  // Nodes of 0.2.0 still write the other merged_* tables; this release takes their rows over before each merge and undo. The next one drops them.
  `insert into merged_rows (merge_id, name, content, placed)
    select merge_id, 'watches', jsonb_build_object('id', watch_id), true from merged_watches`,
  'drop table merged_watches',
  // Such a node would undo a merge of this release without moving anything back. It answers 503 for this code, and another node succeeds.
  `create function refuse_undo_without_rows() returns trigger language plpgsql as $$
    begin
      if exists (select from merged_rows where merge_id = new.id and placed) then
        raise exception 'Only nodes of a later release can undo merge %', new.id using errcode = '53400';
      end if;
      return null;
    end
  $$`,
  `create constraint trigger refuse_undo_without_rows after update of undone_at on merges deferrable initially deferred
    for each row when (new.undone_at is not null) execute function refuse_undo_without_rows()`,
]
