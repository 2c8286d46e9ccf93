// The market price of each row of a price plan, and what its seller should check before applying it; null in plans of earlier releases.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table price_job_rows add market_price numeric(14,2), add warnings jsonb`.execute(db)
}
