// Undoes merges: moves everything back to the merged item and restores its id, ref and slug.
import { sql } from 'kysely'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { CatalogueNames, recompose } from '#catalogue/items/compose-items.ts'
import { refKey } from '#catalogue/records/facts.ts'
import { replaceTakenSlugs, restoreItems } from '#catalogue/items/merged-items.ts'
import { conflict } from '#core/errors.ts'
import { missing } from '#core/fields.ts'
import { actorOf, type Note } from '#db/changes/change.ts'
import { mergeIds, type MergePair } from '#db/merge-pairs.ts'
import { moveRowsBack } from '#db/merged-rows.ts'
import type { Tx } from '#db/schema.ts'
import { movedListings, pricesAfterUndo } from '#market/merged-listings.ts'
import { noteChangedItems } from '#prices/records/changed-items.ts'
import { judgePrices } from '#prices/judging/judge-prices.ts'
import { movePricesBack, recordComputedPrices } from '#prices/writing/merged-prices.ts'
import { refreshOwnPriceDetails, refreshServicePrices } from '#prices/writing/service-price.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { lockItems } from './locks.ts'
import { adoptEarlierRows, ITEM_SOURCES, MOVED_ROWS } from './moved-rows.ts'

/**
 * Undoes merges in the caller's transaction, in bulk: rows that each merge moved are moved back if they still exist. Rows that were added after the
 * merge stay with the survivor: prices, listings, sales, collection records, and held prices that were decided. Locks and `note` are used as in
 * `mergeItems`.
 * @throws NOT_FOUND, or CONFLICT if the merge is already undone, if its survivor was itself merged later (undo that first or in the same call), or if
 * another item now has the ref or slug
 */
export async function undoMerges(ctx: Pick<PriceWriteCtx, 'viewer' | 'now' | 'rules'>, tx: Tx, note: Note, ids: readonly number[]): Promise<void> {
  await lockIdentity(tx)
  await adoptEarlierRows(tx)
  let open = await fetchPairs(tx, [...new Set(ids)])
  const judged = new Set<number>()
  while (open.length > 0) {
    const merged = await mergedOn(tx, open)
    const next = open.filter(({ intoId }) => !merged.has(intoId))
    if (next.length === 0) {
      const [{ mergeId, intoId }] = open as [MergePair]
      throw conflict('merged_on', { id: mergeId, other: merged.get(intoId)!, item: intoId })
    }
    await undoAll(ctx, tx, note, next)
    open = open.filter((pair) => !next.includes(pair))
    for (const { fromId, intoId } of next) judged.add(fromId).add(intoId)
  }
  await judgePrices(ctx, tx, note, judged)
}

/** @throws NOT_FOUND, CONFLICT */
async function fetchPairs(tx: Tx, ids: readonly number[]): Promise<MergePair[]> {
  const { rows } = await sql<MergePair & { undone: boolean }>`
    select id as "mergeId", from_item as "fromId", into_item as "intoId", undone_at is not null as undone
    from merges where id = any(${ids}::int8[]) order by id desc`.execute(tx)
  const found = new Map(rows.map((row) => [row.mergeId, row]))
  for (const id of ids) if (!found.has(id)) throw missing('batch', id)
  for (const { mergeId, undone } of rows) if (undone) throw conflict('batch_reverted', { id: mergeId })
  return rows
}

/** The active merges that emptied survivors, by the survivor's id. */
async function mergedOn(tx: Tx, pairs: readonly MergePair[]): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; from_item: number }>`
    select id, from_item from merges where from_item = any(${pairs.map(({ intoId }) => intoId)}::int4[]) and undone_at is null`.execute(tx)
  return new Map(rows.map((row) => [row.from_item, row.id]))
}

async function undoAll(ctx: Pick<PriceWriteCtx, 'viewer' | 'now' | 'rules'>, tx: Tx, note: Note, pairs: MergePair[]): Promise<void> {
  const survivors = [...new Set(pairs.map(({ intoId }) => intoId))]
  await lockItems(tx, survivors, survivors)
  const now = ctx.now()
  await sql`update merges set undone_by = ${actorOf(ctx.viewer)}, undone_at = ${now} where id = any(${mergeIds(pairs)})`.execute(tx)
  await moveRowsBack(tx, pairs, ITEM_SOURCES)
  await restoreRefs(tx, note, pairs)
  await restoreItems(tx, pairs)
  const { listingIds, soldItems } = await movedListings(tx, pairs)
  const { soldKeys, cancelledKeys } = await pricesAfterUndo(tx, pairs)
  for (const rows of MOVED_ROWS) await moveRowsBack(tx, pairs, rows)
  await movePricesBack(tx, note, pairs)
  await recordComputedPrices(tx, await refreshServicePrices(ctx, tx, note, soldKeys))
  await refreshServicePrices(ctx, tx, note, cancelledKeys)
  const changed = pairs.flatMap(({ fromId, intoId }) => [fromId, intoId])
  await refreshOwnPriceDetails(ctx, tx, changed)
  await noteChangedItems(tx, changed, now)
  note.changed('items', changed)
  if (listingIds.length > 0) note.changed('listings', listingIds)
  if (soldItems.length > 0) note.changed('sales', soldItems)
  for (const { mergeId, fromId, intoId } of pairs) {
    note.audit({ action: 'item.split', subject: 'item', id: fromId, after: { merge: mergeId, from: intoId } })
  }
}

/** Restores the ref and slug of survivors that had taken them from a merged item of a higher-ranked source. */
async function restoreRefs(tx: Tx, note: Note, pairs: readonly MergePair[]): Promise<void> {
  const { rows } = await sql<{ id: number; market: string; ref: string; shared: boolean }>`
    select i.id, m.item->>'market' as market, m.item->>'ref' as ref,
      i.slug = m.item->>'slug' or (i.ref = m.item->>'ref' and i.market = m.item->>'market') as shared
    from merges m join items i on i.id = m.into_item where m.id = any(${mergeIds(pairs)})`.execute(tx)
  const ids = new Set(rows.flatMap(({ id, shared }) => (shared ? [id] : [])))
  if (ids.size === 0) return
  await recompose(tx, note, new CatalogueNames(tx), [...ids], new Set(rows.map(({ market, ref }) => refKey(market, ref))))
  await replaceTakenSlugs(tx, pairs)
}
