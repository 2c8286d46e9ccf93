// Merges items, given as pairs by operators or found as duplicates in a catalogue.
import { sql } from 'kysely'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { replaceByAliases } from '#catalogue/items/merged-items.ts'
import { conflict } from '#core/errors.ts'
import { existing } from '#core/fields.ts'
import { actorOf, type Note } from '#db/changes/change.ts'
import { resolveAliases } from '#db/live-item.ts'
import { analyzeAfterMerges, type MergePair } from '#db/merge-pairs.ts'
import { moveRows } from '#db/merged-rows.ts'
import type { Tx } from '#db/schema.ts'
import { movedListings } from '#market/merged-listings.ts'
import { noteChangedItems } from '#prices/records/changed-items.ts'
import { judgePrices } from '#prices/judging/judge-prices.ts'
import { movePrices, recordComputedPrices } from '#prices/writing/merged-prices.ts'
import { refreshServicePrices } from '#prices/writing/service-price.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { deleteEqualWatches } from '#watches/merged-watches.ts'
import { lockItems } from './locks.ts'
import { adoptEarlierRows, ITEM_SOURCES, MOVED_ROWS } from './moved-rows.ts'
import { countMoved } from './stored-merges.ts'

/** An item to be merged into another, by id. */
export interface ItemPair {
  from: number
  into: number
}

/**
 * Merges each `from` into its `into` within the caller's transaction, set by set: thousands of pairs take a few statements. Prices, history, held
 * prices, foreign ids, listings, sales and collection records move to the survivor. The emptied item is deleted, and its id becomes an alias of the
 * survivor. `into` may be an alias or the `from` of another pair; the last survivor gets everything. This function takes its locks in the order that
 * all writers use; a caller that has already written in its transaction calls `lockIdentity` (catalogue) first. `note` informs the other nodes, and
 * each merge is audited.
 * @returns the ids of the merges, in the order of the pairs; `undoMerges` accepts any of them
 * @throws NOT_FOUND for an id that no item has or had, CONFLICT for an item that is already merged, is given twice, or would be merged into itself
 */
export async function mergeItems(
  ctx: Pick<PriceWriteCtx, 'viewer' | 'now' | 'rules'>,
  tx: Tx,
  note: Note,
  pairs: readonly ItemPair[],
): Promise<number[]> {
  if (pairs.length === 0) return []
  await lockIdentity(tx)
  await adoptEarlierRows(tx)
  const resolved = await resolvePairs(tx, pairs)
  const emptied = resolved.map(({ from }) => from)
  await lockItems(tx, [...emptied, ...new Set(resolved.map(({ into }) => into))], emptied)
  const now = ctx.now()
  const merges = await insertMerges(tx, resolved, actorOf(ctx.viewer), now)
  await movePrices(tx, merges, now)
  await deleteEqualWatches(tx, merges)
  for (const rows of [ITEM_SOURCES, ...MOVED_ROWS]) await moveRows(tx, merges, rows)
  await analyzeAfterMerges(tx, merges, 'merged_rows')
  const { listingIds, soldItems, soldKeys } = await movedListings(tx, merges)
  await replaceByAliases(tx, merges)
  await recordComputedPrices(tx, await refreshServicePrices(ctx, tx, note, soldKeys))
  await countMoved(tx, merges)
  const changed = merges.flatMap(({ fromId, intoId }) => [fromId, intoId])
  await noteChangedItems(tx, changed, now)
  note.changed('items', changed)
  if (listingIds.length > 0) note.changed('listings', listingIds)
  if (soldItems.length > 0) note.changed('sales', soldItems)
  for (const { mergeId, fromId, intoId } of merges) {
    note.audit({ action: 'item.merge', subject: 'item', id: fromId, after: { merge: mergeId, into: intoId } })
  }
  await judgePrices(
    ctx,
    tx,
    note,
    merges.map(({ intoId }) => intoId),
  )
  return merges.map(({ mergeId }) => mergeId)
}

/** The pairs with the ids of existing items, each with its last survivor. @throws as `mergeItems` does */
async function resolvePairs(tx: Tx, pairs: readonly ItemPair[]): Promise<ItemPair[]> {
  for (const { from, into } of pairs) for (const id of [from, into]) existing('item', id)
  const survivors = await resolveAliases(tx, [...new Set(pairs.flatMap(({ from, into }) => [from, into]))])
  const intoOf = new Map<number, number>()
  for (const { from, into } of pairs) {
    const survivor = survivors.get(from)
    if (survivor !== undefined) throw conflict('merged_already', { id: from, into: survivor })
    if (intoOf.has(from)) throw conflict('merged_twice', { id: from })
    intoOf.set(from, survivors.get(into) ?? into)
  }
  return pairs.map(({ from }) => {
    let into = intoOf.get(from)!
    for (const seen = new Set([from]); ; into = intoOf.get(into)!) {
      if (seen.has(into)) throw conflict('merged_into_itself', { id: from })
      if (!intoOf.has(into)) return { from, into }
      seen.add(into)
    }
  })
}

async function insertMerges(tx: Tx, pairs: readonly ItemPair[], author: string, now: Date): Promise<MergePair[]> {
  const { rows } = await sql<MergePair>`
    insert into merges (from_item, into_item, item, author, at)
    select i.id, g.into_item, to_jsonb(i), ${author}, ${now}
    from unnest(${`{${pairs.map(({ from }) => from).join(',')}}`}::int4[], ${`{${pairs.map(({ into }) => into).join(',')}}`}::int4[])
      with ordinality as g(from_item, into_item, n)
    join items i on i.id = g.from_item
    order by g.n
    returning id as "mergeId", from_item as "fromId", into_item as "intoId"`.execute(tx)
  await analyzeAfterMerges(tx, rows, 'merges')
  return rows
}
