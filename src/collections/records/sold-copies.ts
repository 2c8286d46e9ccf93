// Disposals of records by sales in the market: recorded with the sale and reversed by its refund.
import { sql } from 'kysely'
import { minorToText } from '#core/money.ts'
import type { Tx } from '#db/schema.ts'

/** A line of an order whose listing sells copies of a record; amounts in TL kuruş. */
export interface SoldCopies {
  recordId: number
  orderId: number
  line: number
  quantity: number
  /** price and commission of all copies */
  gross: number
  fees: number
}

/**
 * Takes sold copies out of their records. A record gives at most what it still has: a sale is never refused because of a collection,
 * and of a line with more copies the disposal has its share of the amounts. Records that were deleted are passed over.
 * @param day the day of the sale in the service's time zone
 */
export async function disposeSoldCopies(tx: Tx, lines: readonly SoldCopies[], currency: string, day: string, now: Date): Promise<void> {
  if (lines.length === 0) return
  const sold = lines.map(({ recordId, orderId, line, quantity, gross, fees }) => ({
    record_id: recordId,
    order_id: orderId,
    line,
    quantity,
    gross: minorToText(gross),
    fees: minorToText(fees),
  }))
  await lockRecords(
    tx,
    sold.map((line) => line.record_id),
  )
  await sql`
    with sold as (
      select * from json_to_recordset(${JSON.stringify(sold)}::json)
        as s(record_id int4, order_id int8, line int4, quantity int4, gross numeric, fees numeric)
    ), taken as (
      select sold.*, least(sold.quantity, greatest(0, r.quantity - coalesce(sum(sold.quantity) over earlier, 0)))::int4 as copies
      from sold join collection_items r on r.id = sold.record_id
      window earlier as (partition by record_id order by line rows between unbounded preceding and 1 preceding)
    ), disposed as (
      insert into collection_disposals (record_id, at, quantity, gross, fees, currency, order_id, line, created_at)
      select record_id, ${day}::date, copies, round(gross * copies / quantity, 2), round(fees * copies / quantity, 2), ${currency},
             order_id, line, ${now}
      from taken where copies > 0
    )
    update collection_items r
    set quantity = r.quantity - t.copies, for_trade = least(r.for_trade, r.quantity - t.copies), revision = r.revision + 1, updated_at = ${now}
    from (select record_id, sum(copies)::int4 as copies from taken group by record_id) t
    where r.id = t.record_id and t.copies > 0`.execute(tx)
}

/** Returns the copies of refunded order lines to the records that gave them, each line once. */
export async function returnSoldCopies(tx: Tx, orderId: number, lines: readonly number[], day: string, now: Date): Promise<void> {
  const given = await tx.selectFrom('collection_disposals').select('record_id').where('order_id', '=', orderId).execute()
  await lockRecords(
    tx,
    given.map((disposal) => disposal.record_id),
  )
  await sql`
    with returned as (
      update collection_disposals d set returned_at = greatest(d.at, ${day}::date)
      where d.order_id = ${orderId} and d.line = any(${lines}::int4[]) and d.returned_at is null
      returning d.record_id, d.quantity
    )
    update collection_items r set quantity = r.quantity + b.copies, revision = r.revision + 1, updated_at = ${now}
    from (select record_id, sum(quantity)::int4 as copies from returned group by record_id) b where r.id = b.record_id`.execute(tx)
}

/** A statement of its own: the next one sees the copies that concurrent transactions left before they released their locks. */
async function lockRecords(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await sql`select from collection_items where id = any(${[...new Set(ids)]}::int4[]) order by id for update`.execute(tx)
}
