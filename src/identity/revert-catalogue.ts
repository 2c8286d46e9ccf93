// Reverts or restores the statements of a catalogue import; statements of other imports are unaffected.
import { sql } from 'kysely'
import { reinstateCategories, revertCategories } from '#catalogue/categories/category-changes.ts'
import { withdrawStatements } from '#catalogue/items/source-records.ts'
import { deleteItems, itemsInUse } from '#catalogue/records/item-store.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { settle } from './merge/settle.ts'
import { undoMerges } from './merge/undo.ts'

/** How many records changed, and how many were kept because their items are in use. */
export interface RevertedCatalogue {
  records: number
  kept: number
}

/**
 * Reverts the import: removes records that only it states together with their items, returns other records to what the other imports state, and
 * undoes its merges. Items with other prices, listings, sales or collection records are kept. The caller holds `lockIdentity` and has already
 * withdrawn the import's prices.
 * @param by the batch of the revert
 * @throws CONFLICT if a merge of the import cannot be undone
 */
export async function revertCatalogue(
  ctx: PriceWriteCtx,
  tx: Tx,
  note: Note,
  { importId, by }: { importId: number; by: number },
): Promise<RevertedCatalogue> {
  const { rows: merges } = await sql<{ id: number }>`
    select m.id from import_merges i join merges m on m.id = i.merge_id
    where i.import_id = ${importId}::int4 and m.undone_at is null`.execute(tx)
  await undoMerges(
    ctx,
    tx,
    note,
    merges.map((row) => row.id),
  )
  const kept = await recordsInUse(tx, importId)
  const records = await withdrawStatements(tx, importId, true, kept)
  await deleteItems(tx, note, await itemsWithoutRecords(tx, records))
  await settleAll(ctx, tx, note, records, by)
  await revertCategories(tx, note, importId)
  return { records: records.length, kept: kept.length }
}

/** Restores a reverted import. The caller holds `lockIdentity`. */
export async function reinstateCatalogue(ctx: PriceWriteCtx, tx: Tx, note: Note, importId: number): Promise<RevertedCatalogue> {
  await reinstateCategories(tx, note, importId)
  const records = await withdrawStatements(tx, importId, false)
  await settleAll(ctx, tx, note, records, importId)
  return { records: records.length, kept: 0 }
}

/** Records that only this import states, but whose items are in use or were edited by an operator. */
async function recordsInUse(tx: Tx, importId: number): Promise<number[]> {
  const { rows: linked } = await sql<{ item_id: number }>`
    select distinct s.item_id from source_statements t join item_sources s on s.record_id = t.record_id
    where t.import_id = ${importId}::int4 and not t.withdrawn`.execute(tx)
  const items = linked.map((row) => row.item_id)
  const used = await itemsInUse(tx, items)
  const { rows: edited } = await sql<{ item_id: number }>`
    select s.item_id from item_sources s join source_records r on r.id = s.record_id
    where s.item_id = any(${items}::int4[]) and r.source = 'operator'`.execute(tx)
  for (const { item_id: id } of edited) used.add(id)
  const { rows } = await sql<{ record_id: number }>`
    select distinct s.record_id
    from source_statements t join item_sources s on s.record_id = t.record_id
    where t.import_id = ${importId}::int4 and not t.withdrawn and s.item_id = any(${[...used]}::int4[]) and not exists (
      select from item_sources o join source_records r on r.id = o.record_id
      where o.item_id = s.item_id and r.active and r.facts ?& array['name', 'market', 'ref'] and (
        exists (select from source_statements u where u.record_id = r.id and u.import_id <> t.import_id and not u.withdrawn)
        or not exists (select from source_statements u where u.record_id = r.id)
      )
    )`.execute(tx)
  return rows.map((row) => row.record_id)
}

/** Items of these records that have no active record left. */
async function itemsWithoutRecords(tx: Tx, recordIds: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select distinct i.id from item_sources s join items i on i.id = s.item_id
    where s.record_id = any(${recordIds}::int4[]) and not exists (
      select from item_sources o join source_records r on r.id = o.record_id where o.item_id = i.id and r.active
    )`.execute(tx)
  return rows.map((row) => row.id)
}

async function settleAll(ctx: PriceWriteCtx, tx: Tx, note: Note, recordIds: readonly number[], importId: number): Promise<void> {
  const { rows } = await sql<{ id: number; game: string; world: string }>`
    select id, game, world from source_records where id = any(${recordIds}::int4[]) order by id`.execute(tx)
  for (const [, records] of Map.groupBy(rows, ({ game, world }) => `${game}\t${world}`)) {
    await settle(ctx, tx, note, records[0]!, { importId, touched: new Set(records.map((record) => record.id)) })
  }
}
