// Why an import failed, a price was held and a row was parked, as rule and parameters; null in rows of earlier programs.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table imports add column rule text, add column params jsonb').execute(db)
  await sql.raw('alter table held_prices add column params jsonb').execute(db)
  await sql.raw('alter table collection_parked_rows add column rule text, add column params jsonb').execute(db)
}
