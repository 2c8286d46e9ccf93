// Merges items and undoes merges: the one way, for a pair that an operator names and for all twins of a catalogue at once.
import { sql } from 'kysely'
import type { Note, WriteCtx } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'

/** An item to be merged into another, by id. */
export interface ItemPair {
  from: number
  into: number
}

/** Placeholder until the module of merges is there. */
export function mergeItems(_ctx: Pick<WriteCtx, 'viewer' | 'now'>, _tx: Tx, _note: Note, pairs: readonly ItemPair[]): Promise<number[]> {
  throw new Error(`${pairs.length} items are to be merged, which is not possible yet`)
}

/** Keeps merges, undos and catalogue imports of others waiting until the transaction ends; call it before any other lock. */
export async function lockIdentity(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(7310, 0)`.execute(tx)
}
