// Merges items and undoes merges: the one way, for a pair that an operator names and for all twins of a catalogue at once.
import type { Note, WriteCtx } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'

/** An item to be merged into another, by id. */
export interface ItemPair {
  from: number
  into: number
}

/**
 * Merges each `from` into its `into`, in the caller's transaction and set by set: thousands of pairs take a few statements.
 * Prices, history, held prices, foreign ids, listings, sales and collection records move; the emptied item goes, and its
 * id is an alias of the survivor from then on. `into` may be an alias, and also the `from` of another pair: the last
 * survivor gets everything. Locks are taken here, in the one order that all writers keep; a caller that has written
 * items before in its transaction calls `lockIdentity(tx)` first of all. Nodes are told by `note`, each merge is audited.
 * @returns the ids of the merges, in the order of the pairs; `undoMerges` takes any of them
 * @throws NOT_FOUND for an id that no item has or had, CONFLICT for an item that is merged already, is given twice, or
 *   would be merged into itself
 */
export declare function mergeItems(ctx: Pick<WriteCtx, 'viewer' | 'now'>, tx: Tx, note: Note, pairs: readonly ItemPair[]): Promise<number[]>

/**
 * Undoes merges in the caller's transaction: what each moved and is still there goes back, the item has its id again. What
 * came in after the merge stays with the survivor.
 * @throws NOT_FOUND, CONFLICT for a merge that is undone already, or whose survivor was merged on (undo that first, or in
 *   the same call), or whose item's ref or slug another item has now
 */
export declare function undoMerges(ctx: Pick<WriteCtx, 'viewer' | 'now'>, tx: Tx, note: Note, ids: readonly number[]): Promise<void>

/** Keeps merges, undos and catalogue imports of others waiting until the transaction ends; call it before any other lock. */
export declare function lockIdentity(tx: Tx): Promise<void>
