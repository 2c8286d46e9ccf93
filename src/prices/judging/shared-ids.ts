// Shop ids shared by several items; prices with such an id can belong to any of them.
import { sql } from 'kysely'
import { type Market, MARKETS } from '#core/markets.ts'
import type { Queryable } from '#db/schema.ts'
import { bitsOf } from '../evidence/evidence-types.ts'

/** Sources of foreign ids by which prices of a market are matched. */
export const SHOPS: Readonly<Record<Market, readonly string[]>> = {
  service: [],
  source_a: ['pricecharting'],
  source_b: ['cardmarket'],
  source_c: ['tcgplayer', 'tcgplayer-sku'],
}

const SHARED = bitsOf(['shared_id'])

/** The markets of each source, as bits by position in MARKETS. */
const MARKETS_OF = new Map<string, number>()
for (const [position, market] of MARKETS.entries()) {
  for (const source of SHOPS[market]) MARKETS_OF.set(source, (MARKETS_OF.get(source) ?? 0) | (1 << position))
}

/** Names of all shops, as SQL. */
export const shopSources = sql`${[...MARKETS_OF.keys()]}::text[]`

/**
 * Which of the items share a shop id, for the same finish, with another item.
 * @returns by item, the markets whose prices are matched by such an id, as bits by position in MARKETS
 */
export async function itemsWithSharedIds(on: Queryable, itemIds: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await sql<{ item_id: number; source: string }>`
    select f.item_id, f.source from item_foreign_ids f
    where f.item_id = any(${`{${itemIds.join(',')}}`}::int4[]) and f.source = any(${shopSources}) and exists (
      select from item_foreign_ids o
      where o.source = f.source and o.foreign_id = f.foreign_id and o.finish = f.finish and o.item_id <> f.item_id
    )`.execute(on)
  const found = new Map<number, number>()
  for (const { item_id: id, source } of rows) found.set(id, (found.get(id) ?? 0) | MARKETS_OF.get(source)!)
  return found
}

/** The given items and all items that share or shared a shop id with them. */
export async function itemsSharingWith(on: Queryable, itemIds: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ item_id: number }>`
    select o.item_id from item_foreign_ids f join item_foreign_ids o using (source, foreign_id)
    where f.item_id = any(${`{${itemIds.join(',')}}`}::int4[]) and f.source = any(${shopSources})
    union select unnest(${`{${itemIds.join(',')}}`}::int4[])`.execute(on)
  return rows.map((row) => row.item_id)
}

/** Items whose prices have a wrong shared-id flag after foreign ids of any items changed. */
export async function itemsWithOtherSharing(on: Queryable): Promise<number[]> {
  const markets = [...MARKETS_OF].flatMap(([source, bits]) => MARKETS.flatMap((_, market) => ((bits >> market) & 1 ? [{ source, market }] : [])))
  const { rows } = await sql<{ item_id: number }>`
    with sources as (
      select * from unnest(${markets.map(({ source }) => source)}::text[], ${markets.map(({ market }) => market)}::int2[]) as s(source, market)
    ), shared as (
      select distinct unnest(item_ids) as item_id, market
      from (
        select source, array_agg(item_id) as item_ids from item_foreign_ids
        where source = any(${shopSources}) and exists (select from prices) group by source, foreign_id, finish having count(*) > 1
      ) f join sources using (source)
    )
    select item_id from prices p where p.flags & ${sql.lit(SHARED)} <> 0
      and not exists (select from shared s where s.item_id = p.item_id and s.market = p.market)
    union
    select item_id from shared s join prices p using (item_id, market) where p.flags & ${sql.lit(SHARED)} = 0`.execute(on)
  return rows.map((row) => row.item_id)
}
