// SQL of cancelled order lines.
import { sql } from 'kysely'
import { missing } from '#core/fields.ts'
import type { ListingStatus, Tx } from '#db/schema.ts'

/** Ids of the listings of an order, except deleted ones. @throws NOT_FOUND for an unknown order */
export async function listingsOfOrder(tx: Tx, orderId: number): Promise<number[]> {
  const rows = Number.isSafeInteger(orderId) ? await tx.selectFrom('sales').select('listing_id').where('order_id', '=', orderId).execute() : []
  if (rows.length === 0) throw missing('order', orderId)
  return [...new Set(rows.flatMap((row) => row.listing_id ?? []))]
}

export type OrderLine = Awaited<ReturnType<typeof lockLines>>[number]

/** The lines of an order, locked, so that no merge of items moves them until the transaction ends. */
export async function lockLines(tx: Tx, orderId: number) {
  const { rows } = await sql<{
    id: number
    line: number
    listing_id: number | null
    seller_id: number
    item_id: number
    label_id: number
    quantity: number
    sold_at: Date
    cancelled: boolean
  }>`
    select s.id, s.line, s.listing_id, s.seller_id, s.item_id, s.label_id, s.quantity, s.sold_at,
      exists (select from sale_cancellations c where c.sale_id = s.id) as cancelled
    from sales s where s.order_id = ${orderId} order by s.line for share of s`.execute(tx)
  return rows
}

export interface NewCancellation {
  sale: OrderLine
  cancelledAt: Date
  listingStatus: ListingStatus | null
}

/** Cancels the lines that are not cancelled yet; waits for concurrent cancellations. @returns the ids of the cancelled sales */
export async function insertCancellations(tx: Tx, lines: readonly NewCancellation[], by: string, reason: string): Promise<Set<number>> {
  const { rows } = await sql<{ sale_id: number }>`
    insert into sale_cancellations (sale_id, seller_id, cancelled_at, cancelled_by, reason, listing_status)
    select sale_id, seller_id, cancelled_at, ${by}, ${reason}, listing_status
    from unnest(
      ${lines.map(({ sale }) => sale.id)}::int4[], ${lines.map(({ sale }) => sale.seller_id)}::int4[],
      ${lines.map(({ cancelledAt }) => cancelledAt.toISOString())}::timestamptz[], ${lines.map(({ listingStatus }) => listingStatus)}::text[]
    ) as cancelled(sale_id, seller_id, cancelled_at, listing_status)
    on conflict do nothing returning sale_id`.execute(tx)
  return new Set(rows.map((row) => row.sale_id))
}
