// Daily worth of collections, immutable once recorded. day: in the time zone of the service; at: when it was recorded.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `create table collection_worth_days (
    collection_id integer not null references collections on delete cascade,
    day date not null,
    at timestamptz(3) not null,
    without_price integer not null,
    without_trusted_price integer not null,
    without_cost integer not null,
    primary key (collection_id, day)
  )`,
  `create table collection_worth_amounts (
    collection_id integer not null,
    day date not null,
    currency text not null,
    value numeric(24, 2) not null,
    cost numeric(24, 2) not null,
    gain numeric(24, 2),
    primary key (collection_id, day, currency),
    foreign key (collection_id, day) references collection_worth_days on delete cascade
  )`,
]
