// Prices of a batch as a table in SQL, and the transaction in which they are written.
import { sql } from 'kysely'
import { minorToText } from '#core/money.ts'
import type { Note } from '#db/changes/change.ts'
import type { Db, Tx } from '#db/schema.ts'
import type { PriceBatch } from '../records/price-batch.ts'

/** The import and transaction of a write. */
export interface Write {
  db: Db
  tx: Tx
  note: Note
  importId: number
  /** a person has reviewed the prices: they are always published, and have no line in a file */
  accepted: boolean
  /** repeats statements made earlier */
  replay: boolean
}

/** Prices of a batch as a table, one column each; amounts are passed as exact decimal text. */
export function batchTable(batch: PriceBatch, positions: readonly number[]) {
  return sql`unnest(${batch.column('itemId', positions)}::int4[], ${batch.column('market', positions)}::int2[], ${batch.column('labelId', positions)}::int4[],
    ${amounts(batch, positions)}::numeric[], ${batch.column('updatedAtMs', positions)}::float8[])
    with ordinality as g(item_id, market, label_id, price, at_ms, n)`
}

export function amounts({ minor }: PriceBatch, positions: readonly number[]): string {
  return `{${positions.map((i) => minorToText(minor[i]!)).join(',')}}`
}
