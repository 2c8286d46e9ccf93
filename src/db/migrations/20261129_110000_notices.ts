// Notices of infringement: who claims which right in a listing, until when it must be decided, and the decision.
import { type Kysely, sql } from 'kysely'

const STATEMENTS = [
  // listing_id is null once the listing was deleted. who, evidence: of the person who gave notice.
  `create table notices (
    id integer generated always as identity primary key,
    listing_id integer references listings on delete set null,
    seller_id integer not null references accounts,
    who text not null,
    "right" text not null,
    evidence text not null,
    state text not null default 'received' check (state in ('received', 'hidden', 'kept')),
    received_at timestamptz(3) not null,
    due_at timestamptz(3) not null,
    note text,
    decided_at timestamptz(3),
    decided_by text,
    check ((state = 'received') = (decided_at is null))
  )`,
  `create index notices_open on notices (due_at, id) where state = 'received'`,
  'create index notices_by_listing on notices (listing_id) where listing_id is not null',
  'create index notices_by_seller on notices (seller_id)',
  'create index notices_decided on notices (decided_at) where decided_at is not null',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
