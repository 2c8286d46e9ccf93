// Addresses from which people have signed in: other people's wrong passwords do not lock a sign-in from them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table sign_in_addresses (
    person_id integer not null references people,
    address text not null,
    last_used_at timestamptz(3) not null,
    primary key (person_id, address)
  )`.execute(db)
}
