// Listings and sales of merged items: how listings move to the survivor, and which sales and prices that changes.
import { sql } from 'kysely'
import { mergeIds, type MergePair, pairTable } from '#db/merge-pairs.ts'
import { type MovedRows, recordedRows } from '#db/merged-rows.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceKey } from '#prices/writing/service-price.ts'

/** The approved content also names the survivor, because the owner changed nothing. */
export const LISTINGS: MovedRows = {
  table: 'listings',
  assign: (from, into) =>
    sql`approved = case when (r.approved->>'item_id')::int4 = ${from} then jsonb_set(r.approved, '{item_id}', to_jsonb(${into})) else r.approved end`,
}

/** What merges have moved. */
interface MovedListings {
  listingIds: number[]
  /** items whose sales have changed */
  soldItems: number[]
  /** of survivors: prices to recompute */
  soldKeys: PriceKey[]
}

/** Locks the listings of items in the order of ids, as orders do before they lock the items. */
export async function lockListingsOf(tx: Tx, itemIds: readonly number[]): Promise<void> {
  await sql`select from listings where item_id = any(${`{${itemIds.join(',')}}`}::int4[]) order by id for update`.execute(tx)
}

/** The listings and sales that merges have recorded as moved. */
export async function movedListings(tx: Tx, pairs: readonly MergePair[]): Promise<MovedListings> {
  const { rows: listings } = await sql<{ id: number }>`select k.id from ${recordedRows(pairs, 'listings')}`.execute(tx)
  const { rows: sold } = await sql<{ from_item: number; into_item: number; label_id: number }>`
    select distinct m.from_item, m.into_item, s.label_id from ${recordedRows(pairs, 'sales')} join sales s on s.id = k.id`.execute(tx)
  return {
    listingIds: listings.map((row) => row.id),
    soldItems: [...new Set(sold.flatMap((row) => [row.from_item, row.into_item]))],
    soldKeys: sold.map((row) => ({ itemId: row.into_item, labelId: row.label_id })),
  }
}

interface PricesAfterUndo {
  /** of survivors: their sales differ from those before the merge */
  soldKeys: PriceKey[]
  /** of both items: sales that were cancelled while the items were merged */
  cancelledKeys: PriceKey[]
}

/** The prices that change when the sales of merges move back, before they do; the merges are already marked as undone. */
export async function pricesAfterUndo(tx: Tx, pairs: readonly MergePair[]): Promise<PricesAfterUndo> {
  const { rows: changed } = await sql<{ item_id: number; label_id: number }>`
    select distinct m.into_item as item_id, s.label_id
    from ${recordedRows(pairs, 'sales')} join merges u on u.id = m.merge_id join sales s on s.id = k.id
    where exists (
      select from sales n join orders o using (order_id)
      -- Orders that began before the merge may have been written after it.
      where n.item_id = m.into_item and n.label_id = s.label_id and o.created_at >= u.at - interval '10 minutes'
        and not exists (
          select from merged_rows y where y.merge_id = m.merge_id and y.name = 'sales' and y.content = jsonb_build_object('id', n.id)
        )
    ) or exists (
      -- Another item whose sales were the survivor's then and are not now, or the other way round.
      select from merges o
      where o.into_item = m.into_item and o.id <> all(${mergeIds(pairs)}) and (o.moved->>'sales')::int > 0
        and (o.undone_at is null or o.undone_at >= u.at) and (o.id < u.id) <> (o.undone_at is null)
    )`.execute(tx)
  const { rows: cancelled } = await sql<{ from_item: number; into_item: number; label_id: number }>`
    select distinct m.from_item, m.into_item, s.label_id
    from ${pairTable(pairs)} join merges u on u.id = m.merge_id
    join sales s on s.item_id = m.into_item join sale_cancellations c on c.sale_id = s.id and c.cancelled_at >= u.at`.execute(tx)
  return {
    soldKeys: changed.map((row) => ({ itemId: row.item_id, labelId: row.label_id })),
    cancelledKeys: cancelled.flatMap((row) => [row.from_item, row.into_item].map((itemId) => ({ itemId, labelId: row.label_id }))),
  }
}
