// Indexes for the sort orders of the account and order lists.
import { type Kysely, sql } from 'kysely'

const STATEMENTS = [
  'create index accounts_by_name on accounts (lower(name), id)',
  'create index accounts_by_credits on accounts (highlight_credits, id)',
  'create index orders_by_time on orders (sold_at, order_id)',
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}
