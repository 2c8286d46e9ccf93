// Orders, sales and statements as returned by verbs.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import { STATUSES } from './records/rules.ts'
import { Status, Time, TimeOrNull } from './marketplace-types.ts'

export const RecentSaleSchema = Type.Object(
  {
    item: Type.Object({ id: Type.Integer(), name: Type.String(), code: orNull(Type.String()), slug: Type.String() }),
    price: Type.Number({ description: 'Per unit, in TL' }),
    sold_at: Time('Local time with offset'),
  },
  { title: 'RecentSale' },
)

const RecordedLine = {
  listing_id: Type.Integer(),
  quantity: Type.Integer(),
  unit_price: Type.Number(),
  seller_payout: Type.Number({ description: 'Unit price × quantity minus the commission' }),
  listing_status: Type.Enum([...STATUSES], { description: 'Stock after the sale' }),
}

/** An order as shown in its first response. */
export const OrderSchema = Type.Object(
  { order_id: Type.Integer(), sold_at: Time('UTC'), lines: Type.Array(Type.Object(RecordedLine)) },
  { title: 'Order' },
)

export type Order = Static<typeof OrderSchema>

const CancellationSchema = Type.Object(
  {
    cancelled_at: Time('UTC'),
    cancelled_by: Type.String({ examples: ['operator:console'] }),
    reason: Type.String(),
    refunded: Type.Number({ description: 'TRY: unit price × quantity' }),
    listing_status: orNull(Status, { description: 'Status of the listing after its stock was returned; null if it had been deleted' }),
  },
  { title: 'SaleCancellation' },
)

/** An order with the current state of its lines. */
export const StoredOrderSchema = Type.Object(
  {
    order_id: Type.Integer(),
    sold_at: Time('UTC'),
    buyer_reference: orNull(Type.String(), { description: "The shop's own reference of the buyer; sellers never see it" }),
    buyer_account_id: orNull(Type.Integer(), { description: 'Account of the buyer; sellers never see it' }),
    lines: Type.Array(
      Type.Object(
        {
          line: Type.Integer({ description: 'From 1' }),
          ...RecordedLine,
          seller_id: Type.Integer(),
          commission: Type.Number({ description: 'Unit price × quantity minus the payout' }),
          cancellation: orNull(CancellationSchema),
        },
        { title: 'OrderLine' },
      ),
    ),
  },
  { title: 'StoredOrder' },
)

export type StoredOrder = Static<typeof StoredOrderSchema>

export type Cancellation = Static<typeof CancellationSchema>

/** A sale as operators see it. */
export const StoredSaleSchema = Type.Object(
  {
    id: Type.Integer(),
    order_id: Type.Integer(),
    listing_id: orNull(Type.Integer(), { description: 'null if the listing was deleted' }),
    seller_id: Type.Integer(),
    item_id: Type.Integer(),
    item_name: Type.String(),
    label: Type.String({ description: 'Condition or grade', examples: ['Near Mint'] }),
    quantity: Type.Integer(),
    unit_price: Type.Number({ description: 'TRY' }),
    seller_payout: Type.Number({ description: 'For all units, in TRY' }),
    sold_at: Type.String({ format: 'date-time', description: 'UTC' }),
    cancelled_at: TimeOrNull('UTC; null if it was not cancelled'),
  },
  { title: 'StoredSale' },
)

const LineAmounts = {
  quantity: Type.Integer({ description: 'Units' }),
  unit_price: Type.Number({ description: 'In TL' }),
  commission: Type.Number({ description: 'In TL: unit price × quantity minus the payout' }),
  payout: Type.Number({ description: 'For all units, in TL' }),
}

const LineSold = {
  order_id: Type.Integer({ description: 'Order id assigned by the shop' }),
  line: Type.Integer({ description: 'Line number in the order, from 1' }),
  listing_id: orNull(Type.Integer(), { description: 'null if the listing was deleted' }),
  item: RecentSaleSchema.properties.item,
  label: Type.String({ description: 'Condition or grade', examples: ['Near Mint'] }),
}

/** A sale as its seller sees it: the agreed terms, and the refund if there was one. */
export const OwnSaleSchema = Type.Object(
  {
    ...LineSold,
    ...LineAmounts,
    sold_at: Time('Local time with offset'),
    cancelled_at: TimeOrNull('Local time with offset; null if it was not cancelled'),
    refunded: Type.Number({ description: 'Amount refunded to the buyer, in TL: the full amount or 0' }),
  },
  { title: 'OwnSale' },
)

export type OwnSale = Static<typeof OwnSaleSchema>

export const STATEMENT_KINDS = namedValues('StatementLineKind', ['sale', 'refund'])

/** A sale or a refund of a month; amounts of a refund are those of its sale with the opposite sign. */
export const StatementLineSchema = Type.Object(
  {
    kind: Type.Enum([...STATEMENT_KINDS]),
    at: Time('When it was sold or cancelled; local time with offset'),
    ...LineSold,
    ...LineAmounts,
    amount: Type.Number({ description: 'In TL: unit price × quantity; negative for a refund, as are commission and payout' }),
  },
  { title: 'StatementLine' },
)

export type StatementLine = Static<typeof StatementLineSchema>

export const StatementSchema = Type.Object(
  {
    month: Type.String({ description: 'Such as `2026-11`', examples: ['2026-11'] }),
    sales: Type.Number({ description: 'In TL: sum of `amount` of the sales' }),
    refunds: Type.Number({ description: 'In TL: sum of `amount` of the refunds; 0 or negative' }),
    commission: Type.Number({ description: 'In TL: sum of `commission` of all lines' }),
    payout: Type.Number({ description: 'In TL: sum of `payout` of all lines (sales + refunds − commission)' }),
    lines: Type.Array(StatementLineSchema, { description: 'Lines on the page, by time' }),
  },
  { title: 'Statement' },
)

export type Statement = Static<typeof StatementSchema>
