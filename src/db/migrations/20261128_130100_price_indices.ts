// Price indices by month, such as consumer prices: amounts of different months become comparable by them.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create table price_indices (
        name text not null,
        month text not null check (month ~ '^\\d{4}-\\d{2}$'),
        value numeric(16,6) not null check (value > 0),
        primary key (name, month)
      )`,
    )
    .execute(db)
}
