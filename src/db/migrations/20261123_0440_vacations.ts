// Vacations of sellers: the latest one per account, which may be over.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table vacations (
    account_id integer primary key references accounts,
    starts_at timestamptz(3) not null,
    ends_at timestamptz(3) not null,
    check (ends_at > starts_at)
  )`.execute(db)
}
