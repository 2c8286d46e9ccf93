// Finds prices of different items of one market that are the same in amount and in every figure: one of them is of another card.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { IDENTICAL } from './current.ts'

/** A price whose mark is not right: whether it is identical to that of another item. */
export interface IdenticalPrice {
  itemId: number
  market: number
  labelId: number
  identical: boolean
}

const hasAverages = sql.raw('(p.avg_7 is not null or p.avg_30 is not null)')
const hasOffers = sql.raw('(p.low is not null and p.mid is not null)')

/**
 * Prices that are identical to that of another item and not flagged so, and those that are flagged and identical no more.
 * `identityOf` (evidence/identical-figures.ts) is the rule.
 * @param markets positions in MARKETS
 * @param noiseMinor amounts below these are noise, by market
 * @param byName whether prices without figures are compared, by the names of their items, and not left as they are flagged
 */
export async function findIdenticalPrices(
  on: Queryable,
  markets: Iterable<number>,
  noiseMinor: readonly number[],
  byName: boolean,
): Promise<IdenticalPrice[]> {
  const named = byName ? sql`` : sql`and (${hasAverages} or ${hasOffers})`
  const wanted = sql`${`{${[...markets].join(',')}}`}::int2[]`
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; identical: boolean }>`
    with noise as materialized (
      select (n - 1)::int2 as market, minor / 100 as least
      from unnest(${`{${noiseMinor.join(',')}}`}::numeric[]) with ordinality as u(minor, n)
    ), identical as materialized (
      select market, label_id, unnest(items) as item_id from (
        select p.market, p.label_id, array_agg(p.item_id) as items
        from prices p left join items i on i.id = p.item_id and not (${hasAverages} or ${hasOffers})
        where p.market = any(${wanted}) ${named}
        group by p.market, p.label_id, p.price, case when ${hasAverages} then 'a' when ${hasOffers} then 'o' else lower(i.name) end,
          case when ${hasAverages} then p.avg_7 when ${hasOffers} then p.low end,
          case when ${hasAverages} then p.avg_30 when ${hasOffers} then p.mid end
        having count(*) > 1 and p.price >= (select least from noise where noise.market = p.market)
      ) same
    )
    select item_id, market, label_id, true as identical
    from identical join prices p using (item_id, market, label_id) where p.flags & ${sql.lit(IDENTICAL)} = 0
    union all
    select item_id, market, label_id, false
    from prices p where market = any(${wanted}) ${named} and flags & ${sql.lit(IDENTICAL)} <> 0
      and not exists (select from identical i where (i.item_id, i.market, i.label_id) = (p.item_id, p.market, p.label_id))`.execute(on)
  return rows.map(({ item_id: itemId, market, label_id: labelId, identical }) => ({ itemId, market, labelId, identical }))
}
