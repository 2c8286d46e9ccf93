// SQL of an account's sales: order lines, and the sales and refunds of a month.
import { type RawBuilder, sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'

export interface LineRow {
  order_id: number
  line: number
  listing_id: number | null
  item_id: number
  name: string
  code: string | null
  slug: string
  label: string
  quantity: number
  unit_price: string
  commission: string
  payout: string
}

/** The columns of an order line of a sale `s` with its `NAMES`. */
export const LINE = sql`s.order_id, s.line, s.listing_id, s.item_id, i.name, i.code, i.slug, g.name as label, s.quantity, s.unit_price`
export const AMOUNT = sql`s.unit_price * s.quantity`
export const NAMES = sql`join items i on i.id = s.item_id join groups g on g.id = s.label_id`

/** The account and month of a statement: from a time (inclusive) to another (exclusive). */
export interface StatementKey {
  sellerId: number
  from: Date
  to: Date
}

/** The position of a statement line: by time, a sale before a refund, then by sale. */
export interface StatementPosition {
  at: Date
  /** 0 for a sale, 1 for its refund */
  turn: number
  sale_id: number
}

export type StatementRow = LineRow & StatementPosition & { amount: string }

/** Sales and refunds of the month. `turn` also gives the sign of the amounts: 1 - 2 × turn. */
function entries({ sellerId, from, to }: StatementKey): RawBuilder<unknown> {
  return sql`(
    select s.sold_at as at, 0 as turn, s.id as sale_id from sales s
    where s.seller_id = ${sellerId} and s.sold_at >= ${from} and s.sold_at < ${to}
    union all
    select c.cancelled_at, 1, c.sale_id from sale_cancellations c
    where c.seller_id = ${sellerId} and c.cancelled_at >= ${from} and c.cancelled_at < ${to}
  )`
}

const SIGN = sql`(1 - 2 * e.turn)`

export interface StatementTotals {
  sales: string
  refunds: string
  commission: string
  payout: string
  total: number
}

/** Sums and number of all lines of the month. */
export async function totalsOfStatement(on: Queryable, key: StatementKey): Promise<StatementTotals> {
  const { rows } = await sql<StatementTotals>`
    select coalesce(sum(${SIGN} * ${AMOUNT}) filter (where e.turn = 0), 0) as sales,
      coalesce(sum(${SIGN} * ${AMOUNT}) filter (where e.turn = 1), 0) as refunds,
      coalesce(sum(${SIGN} * (${AMOUNT} - s.payout)), 0) as commission, coalesce(sum(${SIGN} * s.payout), 0) as payout,
      count(*)::int4 as total
    from ${entries(key)} e join sales s on s.id = e.sale_id`.execute(on)
  return rows[0]!
}

/** Lines of the month in order, from an offset or after the line at a position. */
export async function linesOfStatement(
  on: Queryable,
  key: StatementKey,
  limit: number,
  { offset = 0, after = null }: { offset?: number; after?: StatementPosition | null },
): Promise<StatementRow[]> {
  const later = after ? sql`where (e.at, e.turn, e.sale_id) > (${after.at}, ${after.turn}::int4, ${after.sale_id}::int4)` : sql``
  const { rows } = await sql<StatementRow>`
    select e.at, e.turn, e.sale_id, ${LINE}, ${SIGN} * ${AMOUNT} as amount, ${SIGN} * (${AMOUNT} - s.payout) as commission,
      ${SIGN} * s.payout as payout
    from (select * from ${entries(key)} e ${later} order by at, turn, sale_id limit ${limit} offset ${offset}) e
    join sales s on s.id = e.sale_id ${NAMES} order by e.at, e.turn, e.sale_id`.execute(on)
  return rows
}
