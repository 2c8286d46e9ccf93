// Adds the seller's stock-keeping unit to listings, and the job or rule that last changed them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // changed_by: {"kind", "id", "at"} of the job or rule that last set price or quantity; null if a person did.
  'alter table listings add column sku text, add column changed_by jsonb',
  'create unique index listings_by_sku on listings (seller_id, sku) where sku is not null',
]
