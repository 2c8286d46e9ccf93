// What accounts say that the columns of their collection files hold.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // columns: a list of {"column", "field"} in the account's order; a field of null means that the column is ignored.
  await sql`create table collection_columns (
    account_id integer primary key references accounts,
    columns jsonb not null check (jsonb_typeof(columns) = 'array')
  )`.execute(db)
}
