// Reads what it would cost to move the service's own prices.
import { sql } from 'kysely'
import { parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'
import type { CostToMove } from './cost-to-move.ts'
import { WINDOW_DAYS } from './own-price.ts'
import type { PriceKey } from './own-sales.ts'

/** Of the prices of these items, or of all if null. */
export async function costsToMove(on: Queryable, itemIds: readonly number[] | null): Promise<(PriceKey & CostToMove)[]> {
  const where = itemIds === null ? sql`` : sql`where item_id = any(${itemIds}::int4[])`
  const { rows } = await sql<{ item_id: number; label_id: number; cost: string; cost_buyers: number; cost_sellers: number }>`
    select item_id, label_id, cost, cost_buyers, cost_sellers from own_prices ${where}`.execute(on)
  return rows.map((row) => ({
    itemId: row.item_id,
    labelId: row.label_id,
    minor: parseMinor(row.cost)!,
    buyers: row.cost_buyers,
    sellers: row.cost_sellers,
    days: WINDOW_DAYS,
  }))
}
