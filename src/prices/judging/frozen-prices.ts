// Finds prices that their source only repeats while another market reports moves, from the stored history.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'
import type { Conditions } from '../evidence/judge.ts'
import { isFrozen } from '../evidence/frozen.ts'
import { FROZEN } from '../records/current.ts'
import type { MarkedPrice } from './price-judge.ts'

const SERVICE = MARKETS.indexOf('service')

interface Repeated {
  item_id: number
  market: number
  label_id: number
  updated_ms: number
  confirmed_ms: number
  flagged: boolean
  /** the other market whose newest price has moved; null if none has */
  other: number | null
  before: string | null
  since: string[] | null
}

/**
 * Unflagged prices of the items that are frozen, and flagged ones that are not. The rule is `isFrozen` (evidence/frozen.ts); the database only leaves out
 * prices that are not old enough, and other markets whose newest price has not moved.
 */
export async function findFrozenPrices(
  on: Queryable,
  { thresholds, noiseMinor }: Pick<Conditions, 'thresholds' | 'noiseMinor'>,
  itemIds: readonly number[],
): Promise<MarkedPrice[]> {
  const { rows } = await sql<Repeated>`
    with repeated as (
      select item_id, market, label_id, updated_at, confirmed_at, flags & ${sql.lit(FROZEN)} <> 0 as flagged from prices p
      where item_id = any(${`{${itemIds.join(',')}}`}::int4[]) and market <> ${sql.lit(SERVICE)}
        and (confirmed_at - updated_at >= make_interval(days => ${thresholds.frozenDays}::int4) or flags & ${sql.lit(FROZEN)} <> 0)
    )
    select r.item_id, r.market::int4 as market, r.label_id, r.flagged, (extract(epoch from r.updated_at) * 1000)::float8 as updated_ms,
      (extract(epoch from coalesce(r.confirmed_at, r.updated_at)) * 1000)::float8 as confirmed_ms, m.other::int4 as other, m.before, m.since
    from repeated r left join lateral (
      select o.market as other, b.price as before, array(
        select q.price::text from price_points q
        where q.item_id = o.item_id and q.market = o.market and q.label_id = o.label_id and q.updated_at > r.updated_at order by q.updated_at
      ) as since
      from prices o cross join lateral (
        select q.price from price_points q
        where q.item_id = o.item_id and q.market = o.market and q.label_id = o.label_id and q.updated_at <= r.updated_at
        order by q.updated_at desc limit 1
      ) b
      where o.item_id = r.item_id and o.label_id = r.label_id and o.market not in (${sql.lit(SERVICE)}, r.market) and o.updated_at > r.updated_at
        and greatest(o.price / b.price, b.price / o.price) >= ${thresholds.frozenFactor}::float8
    ) m on true`.execute(on)
  const wrong: MarkedPrice[] = []
  for (const ofPrice of Map.groupBy(rows, (row) => `${row.item_id} ${row.market} ${row.label_id}`).values()) {
    const { item_id: itemId, market, label_id: labelId, flagged } = ofPrice[0]!
    const frozen = ofPrice.some(({ other, before, since, updated_ms: updatedAtMs, confirmed_ms: confirmedAtMs }) => {
      if (other === null) return false
      const amounts = since!.map((text) => parseMinor(text)!)
      return isFrozen({ updatedAtMs, confirmedAtMs }, parseMinor(before!)!, amounts, thresholds, noiseMinor[other]!)
    })
    if (frozen !== flagged) wrong.push({ itemId, market, labelId, frozen })
  }
  return wrong
}
