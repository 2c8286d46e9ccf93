// The last fetch of each public source: its state, what was downloaded and the import of it.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table source_fetches (
      source text primary key,
      status text not null check (status in ('downloading', 'done', 'failed')),
      started_at timestamptz not null,
      finished_at timestamptz,
      checked_at timestamptz,
      fetched_at timestamptz,
      progress jsonb,
      files jsonb not null default '[]',
      import_id integer,
      rule text,
      params jsonb,
      message text
    )`.execute(db)
}
