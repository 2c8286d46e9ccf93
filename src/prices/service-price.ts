// The service's own price of an item and label: the median of its last sales (decisions.md, "Catalogue").
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import type { Note } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { ensureMonth } from './months.ts'
import { packPrices } from './payload.ts'

const SALES = 10
const DAYS = 90
/** position of `service` in MARKETS */
const SERVICE = 0
/** the one batch that all prices of our own belong to (made by the migration) */
const FORMAT = 'service-price'

export interface Sale {
  /** price of one piece in kuruş */
  minor: number
  soldAtMs: number
}

/**
 * Kuruş: the median of the last 10 sales, none older than 90 days, of two middle ones their mean rounded half up; null
 * without such a sale. Of sales at the same moment the one that stands later is the newer.
 */
export function servicePrice(sales: readonly Sale[], nowMs: number): number | null {
  const latest = sales
    .filter((sale) => sale.soldAtMs > nowMs - DAYS * DAY_MS)
    .map((sale, position) => ({ ...sale, position }))
    .sort((a, b) => b.soldAtMs - a.soldAtMs || b.position - a.position)
    .slice(0, SALES)
    .map((sale) => sale.minor)
    .sort((a, b) => a - b)
  if (latest.length === 0) return null
  const upper = latest[latest.length >> 1]!
  const lower = latest[(latest.length - 1) >> 1]!
  return Math.floor((lower + upper + 1) / 2)
}

/**
 * Sets the service's price after a sale, in its transaction; the history gets a point where the price changes.
 * @param labelId the label that the sale counts for: its grade, or Near Mint without one
 */
export async function refreshServicePrice(tx: Tx, note: Note, itemId: number, labelId: number, now: Date): Promise<void> {
  const rows = await tx
    .selectFrom('sales')
    .select(['unit_price', 'sold_at'])
    .where('item_id', '=', itemId)
    .where('label_id', '=', labelId)
    .where('sold_at', '>', new Date(now.getTime() - DAYS * DAY_MS))
    .orderBy('sold_at', 'desc')
    .orderBy('id', 'desc')
    .limit(SALES)
    .execute()
  const sales = rows.reverse().map((row) => ({ minor: parseMinor(row.unit_price)!, soldAtMs: row.sold_at.getTime() }))
  const minor = servicePrice(sales, now.getTime())
  if (minor === null) return
  await ensureMonth(tx, now.getTime())
  const { rows: set } = await sql`
    with batch as (select id from imports where format = ${FORMAT} limit 1), changed as (
      insert into prices (item_id, market, label_id, price, updated_at, import_id)
      select ${itemId}, ${SERVICE}, ${labelId}, ${minor}::numeric / 100, ${now}, id from batch
      on conflict (item_id, market, label_id) do update
        set price = excluded.price, updated_at = excluded.updated_at, import_id = excluded.import_id
        where prices.price <> excluded.price
      returning item_id, market, label_id, price, updated_at, import_id
    )
    insert into price_points (item_id, market, label_id, price, updated_at, import_id)
    select item_id, market, label_id, price, updated_at, import_id from changed
    on conflict (item_id, market, label_id, updated_at) do update
      set price = excluded.price, import_id = excluded.import_id
    returning item_id`.execute(tx)
  if (set.length === 0) return
  await note.changedPrices(packPrices([{ itemId, market: SERVICE, labelId, minor, updatedAtMs: now.getTime() }]))
}
