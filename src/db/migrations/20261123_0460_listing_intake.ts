// Accounts that may add listings from files, and parked rows of such files whose item is undecided.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table listing_intakes (
    account_id integer primary key references accounts,
    quota integer not null check (quota > 0)
  )`,
  // key: the row's SKU, otherwise its content; the same row of a later file replaces it.
  `create table parked_listings (
    id integer generated always as identity primary key,
    account_id integer not null references accounts,
    key text not null,
    line integer not null,
    entry jsonb not null,
    rule text not null,
    params jsonb not null,
    candidates jsonb not null,
    parked_at timestamptz(3) not null,
    unique (account_id, key)
  )`,
]
