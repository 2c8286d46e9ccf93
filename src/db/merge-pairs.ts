// Pairs of merged items as a table in SQL, with which each module applies a merge to its own tables.
import { type RawBuilder, sql } from 'kysely'
import type { Tx } from './schema.ts'

/** A merge that is carried out or undone: its id, the emptied item and the surviving item. */
export interface MergePair {
  mergeId: number
  fromId: number
  intoId: number
}

/** From this many merges on, their new rows are a large part of a table. */
const MIN_PAIRS_TO_ANALYZE = 1_000

/** Updates the planner's statistics after many merges: it would expect a few rows and choose nested loops. */
export async function analyzeAfterMerges(tx: Tx, pairs: readonly MergePair[], table: 'merges' | 'merged_points' | 'merged_rows'): Promise<void> {
  if (pairs.length >= MIN_PAIRS_TO_ANALYZE) await sql`analyze ${sql.table(table)}`.execute(tx)
}

/** The pairs as a table expression `m(merge_id, from_item, into_item)`. */
export function pairTable(pairs: readonly MergePair[]): RawBuilder<unknown> {
  const column = (idOf: (pair: MergePair) => number) => `{${pairs.map(idOf).join(',')}}`
  return sql`unnest(${column((pair) => pair.mergeId)}::int4[], ${column((pair) => pair.fromId)}::int4[],
    ${column((pair) => pair.intoId)}::int4[]) as m(merge_id, from_item, into_item)`
}

/** The ids of the merges as an array of SQL. */
export function mergeIds(pairs: readonly MergePair[]): RawBuilder<unknown> {
  return sql`${`{${pairs.map((pair) => pair.mergeId).join(',')}}`}::int4[]`
}
