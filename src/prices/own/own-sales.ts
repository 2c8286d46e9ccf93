// Reads the sales that the service's own prices are computed from.
import { sql } from 'kysely'
import { parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'
import type { OwnSale } from './own-price.ts'

/** Identifies a price. */
export interface PriceKey {
  itemId: number
  labelId: number
}

/** Latest sales read for a price; earlier ones do not count. It limits the work of one sale. */
const LATEST_SALES = 300

interface SaleRow {
  n: number
  id: number
  order_id: number
  line: number
  seller_id: number
  reference: string | null
  account_id: number | null
  unit_price: string
  sold_at: Date
  cancelled: boolean
  lowest: string | null
}

/**
 * The latest sales of each key, newest first.
 * @returns by position of the key
 */
export async function ownSalesOf(on: Queryable, keys: readonly PriceKey[]): Promise<OwnSale[][]> {
  const { rows } = await sql<SaleRow>`
    select k.n::int4 as n, s.*
    from unnest(${keys.map((key) => key.itemId)}::int4[], ${keys.map((key) => key.labelId)}::int4[]) with ordinality as k(item_id, label_id, n)
    cross join lateral (
      select s.id, s.order_id, s.line, s.seller_id, b.reference, b.account_id, s.unit_price, s.sold_at, c.sale_id is not null as cancelled, a.lowest
      from sales s left join order_buyers b using (order_id) left join sale_cancellations c on c.sale_id = s.id left join sale_asks a on a.sale_id = s.id
      where s.item_id = k.item_id and s.label_id = k.label_id
      order by s.sold_at desc, s.id desc limit ${sql.lit(LATEST_SALES)}
    ) s order by k.n, s.sold_at desc, s.id desc`.execute(on)
  const sales = keys.map((): OwnSale[] => [])
  for (const { n, ...row } of rows) sales[n - 1]!.push(saleOf(row))
  return sales
}

function saleOf(row: Omit<SaleRow, 'n'>): OwnSale {
  return {
    id: row.id,
    orderId: row.order_id,
    line: row.line,
    sellerId: row.seller_id,
    // An account identifies a person better than a reference.
    buyer: row.account_id === null ? row.reference && `reference ${row.reference}` : `account ${row.account_id}`,
    buyerAccountId: row.account_id,
    minor: parseMinor(row.unit_price)!,
    soldAtMs: row.sold_at.getTime(),
    isCancelled: row.cancelled,
    lowestAskMinor: row.lowest === null ? null : parseMinor(row.lowest)!,
  }
}
