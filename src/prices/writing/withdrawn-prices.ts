// Prices that people withdrew: the same amount is not published again until its feed has stated a different one.
import { sql } from 'kysely'
import { parseMinor } from '#core/money.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceChange } from '../records/price-payload.ts'

/** Rule under which withdrawn prices are stored among the held ones. */
export const WITHDRAWN = 'withdrawn'

/**
 * Whether a feed repeats a withdrawn price.
 * @param lastAtMs date of the previous published price; null for the first. One later than the withdrawn price ends the withdrawal
 */
export type IsWithdrawn = (price: PriceChange, lastAtMs: number | null) => boolean

/** Reads the withdrawn prices of these items. */
export async function withdrawnPrices(tx: Tx, itemIds: Iterable<number>): Promise<IsWithdrawn> {
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; price: string; at_ms: number }>`
    select item_id, market, label_id, price, (extract(epoch from updated_at) * 1000)::float8 as at_ms
    from held_prices where rule = ${sql.lit(WITHDRAWN)} and item_id = any(${`{${[...new Set(itemIds)].join(',')}}`}::int4[])`.execute(tx)
  if (rows.length === 0) return () => false
  const latest = new Map<string, number>()
  for (const row of rows) {
    const key = `${row.item_id} ${row.market} ${row.label_id} ${parseMinor(row.price)}`
    latest.set(key, Math.max(row.at_ms, latest.get(key) ?? 0))
  }
  return ({ itemId, market, labelId, minor }, lastAtMs) => {
    const withdrawnMs = latest.get(`${itemId} ${market} ${labelId} ${minor}`)
    return withdrawnMs !== undefined && (lastAtMs === null || lastAtMs < withdrawnMs)
  }
}
