// SQL of orders and the sales they consist of.
import { sql } from 'kysely'
import { missing } from '#core/fields.ts'
import type { Queryable, StoredCertificate, Tx } from '#db/schema.ts'
import { COLUMNS as LISTING_COLUMNS } from '../listing-store.ts'
import type { Cancellation, Order, StoredOrder } from '../sale-schemas.ts'

/** Inserts the id of an order. False if it exists; waits for a concurrent insert. */
export async function claimOrder(tx: Tx, orderId: number, requestHash: Buffer, soldAt: Date, now: Date): Promise<boolean> {
  const claimed = await tx
    .insertInto('orders')
    .values({ order_id: orderId, request_hash: requestHash, result: '{}', sold_at: soldAt, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('order_id')
    .executeTakeFirst()
  return claimed !== undefined
}

export async function fetchOrder(on: Queryable, orderId: number): Promise<{ requestHash: Buffer; order: Order }> {
  const row = await on.selectFrom('orders').select(['request_hash', 'result']).where('order_id', '=', orderId).executeTakeFirst()
  if (!row) throw missing('order', orderId)
  return { requestHash: row.request_hash, order: asAnswered(row.result as Order) }
}

/** With the fields in the order of the first response; jsonb does not preserve it. */
export function asAnswered({ order_id, sold_at, lines }: Order): Order {
  return {
    order_id,
    sold_at,
    lines: lines.map(({ listing_id, quantity, unit_price, seller_payout, listing_status }) => ({
      listing_id,
      quantity,
      unit_price,
      seller_payout,
      listing_status,
    })),
  }
}

/** An order with the current state of its lines. @throws NOT_FOUND */
export async function fetchStoredOrder(on: Queryable, orderId: number): Promise<StoredOrder> {
  if (!Number.isSafeInteger(orderId)) throw missing('order', orderId)
  const [stored] = await withSales(on, [(await fetchOrder(on, orderId)).order])
  return stored!
}

interface SaleRow extends Omit<Cancellation, 'refunded' | 'cancelled_at' | 'cancelled_by' | 'reason'> {
  order_id: number
  line: number
  seller_id: number
  amount: string
  commission: string
  cancelled_at: Date | null
  cancelled_by: string | null
  reason: string | null
  buyer_reference: string | null
  buyer_account_id: number | null
}

/** Orders with the current state of their lines. */
export async function withSales(on: Queryable, orders: Order[]): Promise<StoredOrder[]> {
  const { rows } = await sql<SaleRow>`
    select s.order_id, s.line, s.seller_id, s.unit_price * s.quantity as amount, s.unit_price * s.quantity - s.payout as commission,
      c.cancelled_at, c.cancelled_by, c.reason, c.listing_status, b.reference as buyer_reference, b.account_id as buyer_account_id
    from sales s left join sale_cancellations c on c.sale_id = s.id left join order_buyers b on b.order_id = s.order_id
    where s.order_id = any(${orders.map((order) => order.order_id)}::int8[])`.execute(on)
  const saleOf = new Map(rows.map((row) => [`${row.order_id} ${row.line}`, row]))
  return orders.map((order) => {
    const sales = order.lines.map((_line, i) => saleOf.get(`${order.order_id} ${i + 1}`)!)
    return {
      order_id: order.order_id,
      sold_at: order.sold_at,
      buyer_reference: sales[0]!.buyer_reference,
      buyer_account_id: sales[0]!.buyer_account_id,
      lines: order.lines.map((line, i) => {
        const { seller_id, commission } = sales[i]!
        return { line: i + 1, ...line, seller_id, commission: Number(commission), cancellation: cancellationOf(sales[i]!) }
      }),
    }
  })
}

function cancellationOf({ amount, cancelled_at: at, cancelled_by: by, reason, listing_status }: SaleRow): Cancellation | null {
  return at && { cancelled_at: at.toISOString(), cancelled_by: by!, reason: reason!, refunded: Number(amount), listing_status }
}

export async function saveBuyer(tx: Tx, orderId: number, reference: string | null, accountId: number | null): Promise<void> {
  await tx.insertInto('order_buyers').values({ order_id: orderId, reference, account_id: accountId }).execute()
}

export async function saveOrderResult(tx: Tx, order: Order): Promise<void> {
  await tx
    .updateTable('orders')
    .set({ result: JSON.stringify(order) })
    .where('order_id', '=', order.order_id)
    .execute()
}

/** Listings of an order with their items' names, locked in the order of their ids, so that orders never deadlock. */
export async function lockForSale(tx: Tx, ids: number[]) {
  const rows = await tx
    .selectFrom('listings as l')
    .select(LISTING_COLUMNS.map((column) => `l.${column}` as const))
    // A subquery, not a join: a join would miss a listing that was moved to another item while this statement waited for the lock.
    .select((e) => e.selectFrom('items as i').select('i.name').whereRef('i.id', '=', 'l.item_id').$asScalar().$notNull().as('item_name'))
    .where('l.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .orderBy('l.id')
    .forUpdate('l')
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Which of the sellers are suspended; locked, so that none is suspended or resumed until the transaction ends. */
export async function lockSuspended(tx: Tx, sellerIds: number[]): Promise<Set<number>> {
  const rows = await tx
    .selectFrom('accounts')
    .select(['id', 'suspended'])
    .where('id', '=', (eb) => eb.fn.any(eb.val(sellerIds)))
    .orderBy('id')
    .forShare()
    .execute()
  return new Set(rows.filter(({ suspended }) => suspended).map(({ id }) => id))
}

export type ForSale = Awaited<ReturnType<typeof lockForSale>> extends Map<number, infer Row> ? Row : never

export interface NewSale {
  order_id: number
  line: number
  listing_id: number
  seller_id: number
  item_id: number
  label_id: number
  quantity: number
  unit_price: string
  payout: string
  sold_at: Date
  /** of the copy that was sold */
  certificate?: StoredCertificate | null
}

/** @returns their ids, in the order of the sales */
export async function insertSales(tx: Tx, sales: NewSale[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    insert into sales (order_id, line, listing_id, seller_id, item_id, label_id, quantity, unit_price, payout, sold_at, certificate)
    select * from unnest(
      ${sales.map((s) => s.order_id)}::int8[], ${sales.map((s) => s.line)}::int4[], ${sales.map((s) => s.listing_id)}::int4[],
      ${sales.map((s) => s.seller_id)}::int4[], ${sales.map((s) => s.item_id)}::int4[], ${sales.map((s) => s.label_id)}::int4[],
      ${sales.map((s) => s.quantity)}::int4[], ${sales.map((s) => s.unit_price)}::numeric[], ${sales.map((s) => s.payout)}::numeric[],
      ${sales.map((s) => s.sold_at.toISOString())}::timestamptz[],
      ${sales.map((s) => (s.certificate ? JSON.stringify(s.certificate) : null))}::jsonb[])
    returning id`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Stores the cheapest other offers at the time of sales, in TL. */
export async function saveAsks(tx: Tx, asks: readonly { saleId: number; lowest: string }[]): Promise<void> {
  if (asks.length === 0) return
  await sql`
    insert into sale_asks (sale_id, lowest)
    select * from unnest(${asks.map(({ saleId }) => saleId)}::int4[], ${asks.map(({ lowest }) => lowest)}::numeric[])`.execute(tx)
}
