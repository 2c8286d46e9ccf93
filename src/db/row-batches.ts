// Reads a large result in batches, with a cursor of the transaction.
import { type RawBuilder, sql } from 'kysely'
import type { Queryable } from './schema.ts'

/** The rows of a query, `size` at a time. A transaction reads one result at a time in this way. */
export async function* rowBatches<Row>(tx: Queryable, query: RawBuilder<unknown>, size: number, signal?: AbortSignal): AsyncGenerator<Row[]> {
  await sql`declare row_batches no scroll cursor for ${query}`.execute(tx)
  for (;;) {
    signal?.throwIfAborted()
    const { rows } = await sql<Row>`fetch forward ${sql.lit(size)} from row_batches`.execute(tx)
    if (rows.length === 0) break
    yield rows
  }
  await sql`close row_batches`.execute(tx)
}
