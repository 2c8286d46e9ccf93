// The rule and parameters of a failed import, a held price and a parked row; missing for rows from before this migration.
import { type Kysely, sql } from 'kysely'

// Separate tables: earlier releases read held prices and parked rows with a prepared `select *`, which a new column breaks.
const STATEMENTS = [
  'alter table imports add column rule text, add column params jsonb',
  `create table held_price_params (
    held_price_id bigint primary key references held_prices on delete cascade,
    params jsonb not null
  )`,
  `create table parked_row_reasons (
    parked_row_id integer primary key references collection_parked_rows on delete cascade,
    rule text not null,
    params jsonb not null
  )`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
