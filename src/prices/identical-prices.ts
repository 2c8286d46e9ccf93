// Finds prices of different items of one market that are the same in amount and in every figure: one of them is of another card.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { IDENTICAL } from './current.ts'
import { bitsOf } from './evidence/types.ts'
import { shopSources } from './shared-ids.ts'

/** A price whose mark is not right: whether it is identical to that of another item. */
export interface IdenticalPrice {
  itemId: number
  market: number
  labelId: number
  identical: boolean
}

const SHARED = bitsOf(['shared_id'])

/**
 * Prices that are identical to that of another item and not flagged so, and those that are flagged and identical no more.
 * `identityOf` (evidence/identical-figures.ts) is the rule; without two figures beside it a price counts only where the items
 * share the id of a shop.
 * @param markets positions in MARKETS
 * @param noiseMinor amounts below these are noise, by market
 */
export async function findIdenticalPrices(on: Queryable, markets: Iterable<number>, noiseMinor: readonly number[]): Promise<IdenticalPrice[]> {
  const wanted = sql`${`{${[...markets].join(',')}}`}::int2[]`
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; identical: boolean }>`
    with noise as materialized (
      select (n - 1)::int2 as market, minor / 100 as least
      from unnest(${`{${noiseMinor.join(',')}}`}::numeric[]) with ordinality as u(minor, n)
    ), identical as materialized (
      select market, label_id, unnest(items) as item_id from (
        select market, label_id, array_agg(item_id) as items from prices
        where market = any(${wanted}) and num_nonnulls(avg_1, avg_7, avg_30, low, mid, high) >= 2
        group by market, label_id, price, avg_1, avg_7, avg_30, low, mid, high
        having count(*) > 1 and price >= (select least from noise where noise.market = prices.market)
      ) same
      union
      select a.market, a.label_id, a.item_id
      from prices a join noise using (market)
      join item_foreign_ids f on f.item_id = a.item_id and f.source = any(${shopSources})
      join item_foreign_ids o on (o.source, o.foreign_id, o.finish) = (f.source, f.foreign_id, f.finish) and o.item_id <> f.item_id
      join prices b on (b.item_id, b.market, b.label_id, b.price) = (o.item_id, a.market, a.label_id, a.price)
      where a.market = any(${wanted}) and a.price >= noise.least and a.flags & ${sql.lit(SHARED)} <> 0
        and num_nonnulls(a.avg_1, a.avg_7, a.avg_30, a.low, a.mid, a.high) < 2
    )
    select item_id, market, label_id, true as identical
    from identical join prices p using (item_id, market, label_id) where p.flags & ${sql.lit(IDENTICAL)} = 0
    union all
    select item_id, market, label_id, false
    from prices p where market = any(${wanted}) and flags & ${sql.lit(IDENTICAL)} <> 0
      and not exists (select from identical i where (i.item_id, i.market, i.label_id) = (p.item_id, p.market, p.label_id))`.execute(on)
  return rows.map(({ item_id: itemId, market, label_id: labelId, identical }) => ({ itemId, market, labelId, identical }))
}
