// Prices at earlier times, from the history.
import { sql } from 'kysely'
import { parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'

/** Identifies a price. */
export interface PriceKey {
  itemId: number
  /** position in MARKETS */
  market: number
  labelId: number
}

/** The price in minor units at each of the times, by key and time; null if there was none yet. */
export async function pricesAgo(on: Queryable, keys: readonly PriceKey[], moments: readonly Date[]): Promise<(number | null)[][]> {
  const ago = keys.map((): (number | null)[] => moments.map(() => null))
  if (keys.length === 0) return ago
  const { rows } = await sql<{ k: number; m: number; price: string }>`
    select k.n::int4 - 1 as k, m.n::int4 - 1 as m, p.price
    from unnest(${keys.map((key) => key.itemId)}::int4[], ${keys.map((key) => key.market)}::int2[], ${keys.map((key) => key.labelId)}::int4[])
      with ordinality as k(item_id, market, label_id, n)
    cross join unnest(${[...moments]}::timestamptz[]) with ordinality as m(at, n)
    cross join lateral (
      select price from price_points p
      where p.item_id = k.item_id and p.market = k.market and p.label_id = k.label_id and p.updated_at <= m.at
      order by p.updated_at desc limit 1
    ) p`.execute(on)
  for (const { k, m, price } of rows) ago[k]![m] = parseMinor(price)
  return ago
}
