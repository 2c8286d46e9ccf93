// The prices stated by imports: reverting an import must keep the prices that later imports state.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // One row per written batch, in order. payload: src/prices/writing/statements.ts, already compressed.
  `create table price_statements (
    id bigint generated always as identity primary key,
    import_id integer not null,
    at timestamptz(3) not null,
    payload bytea not null
  )`,
  'alter table price_statements alter column payload set storage external',
  'create index price_statements_by_import on price_statements (import_id)',
]
