// Rows and bytes that a price job stores, so that an account's jobs have a limit; null for jobs of a node with the earlier release during an
// upgrade. ignored_columns: columns of the CSV that were not read.
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `alter table price_jobs
    add stored_rows integer,
    add stored_bytes integer,
    add ignored_columns text[] not null default '{}'`,
  // An average row of earlier releases has about 300 bytes.
  'update price_jobs set stored_rows = rows_total, stored_bytes = rows_total * 300',
  'create index price_jobs_with_rows on price_jobs (account_id, id) where stored_rows > 0',
  `alter table listing_imports add ignored_columns text[] not null default '{}'`,
]
