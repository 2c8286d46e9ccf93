// Moves listings and sales of the emptied item to the survivor when items are merged, and back.
import { sql } from 'kysely'
import { mergeIds, type MergePair, pairTable } from '#db/merge-pairs.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceKey } from '#prices/writing/service-price.ts'

/** The moved rows. */
interface MovedListing {
  listingIds: number[]
  /** items whose sales have changed */
  soldItems: number[]
  /** of survivors: prices to recompute */
  soldKeys: PriceKey[]
}

interface MovedBack extends MovedListing {
  /** of both items: sales that were cancelled while the items were merged */
  cancelledKeys: PriceKey[]
}

/** Locks the listings of items in the order of ids, as orders do before they lock the items. */
export async function lockListingsOf(tx: Tx, itemIds: readonly number[]): Promise<void> {
  await sql`select from listings where item_id = any(${`{${itemIds.join(',')}}`}::int4[]) order by id for update`.execute(tx)
}

/** Moves listings and sales to the survivors. The approved content also names the survivor, because the owner changed nothing. */
export async function moveListings(tx: Tx, pairs: readonly MergePair[]): Promise<MovedListing> {
  const { rows: listings } = await sql<{ listing_id: number }>`
    with moved as (
      update listings l set item_id = m.into_item, approved = ${approvedItem('m.from_item', 'm.into_item')}
      from ${pairTable(pairs)} where l.item_id = m.from_item
      returning m.merge_id, l.id
    )
    insert into merged_listings (merge_id, listing_id) select merge_id, id from moved returning listing_id`.execute(tx)
  const { rows: sold } = await sql<{ from_item: number; into_item: number; label_id: number }>`
    with moved as (
      update sales s set item_id = m.into_item from ${pairTable(pairs)} where s.item_id = m.from_item
      returning m.merge_id, m.from_item, m.into_item, s.id, s.label_id
    ), noted as (
      insert into merged_sales (merge_id, sale_id) select merge_id, id from moved
    )
    select distinct from_item, into_item, label_id from moved`.execute(tx)
  return {
    listingIds: listings.map((row) => row.listing_id),
    soldItems: [...new Set(sold.flatMap((row) => [row.from_item, row.into_item]))],
    soldKeys: sold.map((row) => ({ itemId: row.into_item, labelId: row.label_id })),
  }
}

/**
 * Moves the rows of undone merges back, unless they have moved again; later sales remain with the survivor.
 * `soldKeys` are the prices for which the survivor's sales differ from those before the merge.
 */
export async function moveListingsBack(tx: Tx, pairs: readonly MergePair[]): Promise<MovedBack> {
  const ids = mergeIds(pairs)
  const { rows: listings } = await sql<{ id: number }>`
    update listings l set item_id = m.from_item, approved = ${approvedItem('m.into_item', 'm.from_item')}
    from ${pairTable(pairs)} join merged_listings x on x.merge_id = m.merge_id
    where l.id = x.listing_id and l.item_id = m.into_item
    returning l.id`.execute(tx)
  const { rows: changed } = await sql<{ item_id: number; label_id: number }>`
    select distinct m.into_item as item_id, s.label_id
    from ${pairTable(pairs)} join merges u on u.id = m.merge_id
    join merged_sales x on x.merge_id = m.merge_id join sales s on s.id = x.sale_id
    where exists (
      select from sales n join orders o using (order_id)
      -- Orders that began before the merge may have been written after it.
      where n.item_id = m.into_item and n.label_id = s.label_id and o.created_at >= u.at - interval '10 minutes'
        and not exists (select from merged_sales y where y.merge_id = m.merge_id and y.sale_id = n.id)
    ) or exists (
      -- Another item whose sales were the survivor's then and are not now, or the other way round.
      select from merges o
      where o.into_item = m.into_item and o.id <> all(${ids}) and (o.moved->>'sales')::int > 0
        and (o.undone_at is null or o.undone_at >= u.at) and (o.id < u.id) <> (o.undone_at is null)
    )`.execute(tx)
  const { rows: cancelled } = await sql<{ from_item: number; into_item: number; label_id: number }>`
    select distinct m.from_item, m.into_item, s.label_id
    from ${pairTable(pairs)} join merges u on u.id = m.merge_id
    join sales s on s.item_id = m.into_item join sale_cancellations c on c.sale_id = s.id and c.cancelled_at >= u.at`.execute(tx)
  const { rows: sold } = await sql<{ from_item: number; into_item: number }>`
    with moved as (
      update sales s set item_id = m.from_item from ${pairTable(pairs)} join merged_sales x on x.merge_id = m.merge_id
      where s.id = x.sale_id and s.item_id = m.into_item
      returning m.from_item, m.into_item
    )
    select distinct from_item, into_item from moved`.execute(tx)
  await sql`delete from merged_listings where merge_id = any(${ids})`.execute(tx)
  await sql`delete from merged_sales where merge_id = any(${ids})`.execute(tx)
  return {
    listingIds: listings.map((row) => row.id),
    soldItems: [...new Set(sold.flatMap((row) => [row.from_item, row.into_item]))],
    soldKeys: changed.map((row) => ({ itemId: row.item_id, labelId: row.label_id })),
    cancelledKeys: cancelled.flatMap((row) => [row.from_item, row.into_item].map((itemId) => ({ itemId, labelId: row.label_id }))),
  }
}

function approvedItem(from: string, into: string) {
  return sql.raw(`case when (l.approved->>'item_id')::int4 = ${from} then jsonb_set(l.approved, '{item_id}', to_jsonb(${into})) else l.approved end`)
}
