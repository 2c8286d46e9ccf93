// Refused rows of imports counted by reason; null for imports of a program that did not count them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table imports add column reasons jsonb').execute(db)
}
