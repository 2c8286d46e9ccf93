// Query.orders and Query.statement, as under /plus/orders and /plus/statement over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import type { Page, Pagination } from '#core/paging.ts'
import { listMyOrders } from '#market/seller/list-my-orders.ts'
import { type ReadStatement, readStatement } from '#market/seller/read-statement.ts'
import type { OwnSale, StatementLine } from '#market/types.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan, type Refs } from '../building/builder.ts'
import { itemSource } from '../execution/item-source.ts'
import { callByFields } from './mutating.ts'

/** Lines that a statement is charged for. */
const LINES = 100

export function implementSales(builder: Builder, refs: Refs): void {
  const page = builder.objectRef<Pagination>('PageNumbers').implement({
    description: 'Position of a page in a numbered list.',
    fields: (t) => ({
      currentPage: t.exposeInt('current_page', { nullable: false, description: 'Page number, from 1.' }),
      perPage: t.exposeInt('per_page', { nullable: false, description: 'Entries per page.' }),
      total: t.exposeInt('total', { nullable: false, description: 'Number of entries on all pages.' }),
      lastPage: t.exposeInt('last_page', { nullable: false, description: 'Last page number, at least 1.' }),
      hasMore: t.exposeBoolean('has_more', { nullable: false, description: 'Whether there is a next page.' }),
    }),
  })
  const sale = addLineType<OwnSale>(
    builder,
    refs,
    'OwnSale',
    'One of your sales, with its price at the time and any refund. Times are local, with offset.',
  )
  builder.objectFields(sale, (t) => ({
    soldAt: t.exposeString('sold_at', { nullable: false, description: 'When it was sold.' }),
    cancelledAt: t.exposeString('cancelled_at', { nullable: true, description: 'When it was cancelled; null if it was not.' }),
    refunded: t.exposeFloat('refunded', { nullable: false, description: 'Amount refunded to the buyer, in TL: the full amount or 0.' }),
  }))
  const sales = builder.objectRef<Page<OwnSale>>('OwnSales').implement({
    description: 'Your sales, newest first.',
    fields: (t) => ({
      lines: t.field({
        type: [sale],
        nullable: { list: false, items: false },
        description: 'Sales on the page.',
        extensions: cost({ entries: 20 }),
        resolve: ({ rows }) => rows,
      }),
      pagination: t.field({ type: page, nullable: false, description: 'Position of the page.', resolve: ({ pagination }) => pagination }),
    }),
  })
  const line = addLineType<StatementLine>(builder, refs, 'StatementLine', 'A sale or a refund of the month. Refund amounts are negative.')
  builder.objectFields(line, (t) => ({
    kind: t.exposeString('kind', { nullable: false, description: '`sale` or `refund`.' }),
    at: t.exposeString('at', { nullable: false, description: 'When it was sold or cancelled; local time with offset.' }),
    amount: t.exposeFloat('amount', { nullable: false, description: 'In TL: unit price × quantity.' }),
  }))
  const statement = builder.objectRef<ReadStatement>('Statement').implement({
    description: 'Your sales and refunds of a month. Totals cover the lines of all pages.',
    fields: (t) => ({
      month: t.string({ nullable: false, description: 'Such as `2026-11`.', resolve: (of) => of.statement.month }),
      sales: t.float({ nullable: false, description: 'Sum of `amount` of the sales, in TL.', resolve: (of) => of.statement.sales }),
      refunds: t.float({
        nullable: false,
        description: 'Sum of `amount` of the refunds, in TL; 0 or negative.',
        resolve: (of) => of.statement.refunds,
      }),
      commission: t.float({ nullable: false, description: 'Sum of `commission` of all lines, in TL.', resolve: (of) => of.statement.commission }),
      payout: t.float({ nullable: false, description: 'Sum of `payout` of all lines, in TL.', resolve: (of) => of.statement.payout }),
      lines: t.field({
        type: [line],
        nullable: { list: false, items: false },
        description: 'Lines on the page, by time.',
        extensions: cost({ entries: LINES }),
        resolve: (of) => of.statement.lines,
      }),
      pagination: t.field({ type: page, nullable: false, description: 'Position of the page.', resolve: ({ pagination }) => pagination }),
    }),
  })
  builder.queryField('orders', (t) =>
    t.field({
      type: sales,
      description: 'Your sales by order line, newest first. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listMyOrders) },
      args: {
        orderId: t.arg.float({ description: 'Only lines of this order.' }),
        listingId: t.arg.int({ description: 'Only lines of this listing.' }),
        from: t.arg.string({ description: 'Start of the range (ISO 8601), inclusive.' }),
        to: t.arg.string({ description: 'End of the range, exclusive.' }),
        page: t.arg.int({ description: 'Page number, from 1.' }),
        perPage: t.arg.int({ description: 'Lines per page, 1 to 100; default: 20.' }),
      },
      resolve: (_root, args, ctx, info) => callByFields(listMyOrders, ctx, info, withoutNulls(args)),
    }),
  )
  builder.queryField('statement', (t) =>
    t.field({
      type: statement,
      description: 'Your sales and refunds of a month. Plus and Enterprise.',
      extensions: { ...cost({ weight: 50 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readStatement) },
      args: {
        month: t.arg.string({ description: "Such as `2026-11`, in the service's time zone; default: the current month." }),
        page: t.arg.int({ description: 'Page of the lines, from 1.' }),
        perPage: t.arg.int({ description: 'Lines per page, 1 to 10,000; default: 10,000.' }),
      },
      resolve: (_root, args, ctx, info) => callByFields(readStatement, ctx, info, withoutNulls(args)),
    }),
  )
}

type SoldLine = Pick<StatementLine, keyof OwnSale & keyof StatementLine>

/** An object type with the fields that a sale and a statement line share. */
function addLineType<Line extends SoldLine>(builder: Builder, refs: Refs, name: string, description: string) {
  return builder.objectRef<Line>(name).implement({
    description,
    fields: (t) => ({
      orderId: t.float({ nullable: false, description: 'Order id assigned by the shop.', resolve: (of) => of.order_id }),
      line: t.int({ nullable: false, description: 'Line number in the order, from 1.', resolve: (of) => of.line }),
      listingId: t.id({ nullable: true, description: 'null if the listing was deleted.', resolve: (of) => of.listing_id }),
      item: t.field({
        type: refs.item,
        description: 'Item that was sold.',
        resolve: ({ item }, _args, { catalogue }) => {
          const row = catalogue.items.rowOf(item.id)
          return row < 0 ? null : itemSource(row)
        },
      }),
      label: t.string({ nullable: false, description: 'Condition or grade.', resolve: (of) => of.label }),
      quantity: t.int({ nullable: false, description: 'Units.', resolve: (of) => of.quantity }),
      unitPrice: t.float({ nullable: false, description: 'Price of one unit, in TL.', resolve: (of) => of.unit_price }),
      commission: t.float({ nullable: false, description: 'In TL: unit price × quantity minus the payout.', resolve: (of) => of.commission }),
      payout: t.float({ nullable: false, description: 'For all units, in TL.', resolve: (of) => of.payout }),
    }),
  })
}
