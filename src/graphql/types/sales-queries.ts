// Query.orders and Query.statement, as under /plus/orders and /plus/statement over REST.
import { Type } from '#core/input.ts'
import { type Page, PaginationSchema } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { listMyOrders } from '#market/seller/list-my-orders.ts'
import { readStatement } from '#market/seller/read-statement.ts'
import { type OwnSale, OwnSaleSchema, StatementLineSchema, StatementSchema } from '#market/sale-schemas.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, type Refs, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, objectFrom } from '../building/from-schema.ts'
import { itemSource } from '../execution/item-source.ts'
import { callByFields } from './mutating.ts'

/** Lines that a statement is charged for. */
const LINES = 100

export function implementSales(builder: Builder, refs: Refs): void {
  const page = objectFrom(builder, PaginationSchema, { name: 'PageNumbers', description: 'Position of a page in a numbered list.' })
  const line = { omit: ['item'], types: { order_id: 'Float' } } as const
  const sale = objectFrom(builder, OwnSaleSchema, {
    ...line,
    description: 'One of your sales, with its price at the time and any refund. Times are local, with offset.',
  })
  const statementLine = objectFrom(builder, StatementLineSchema, {
    ...line,
    description: 'A sale or a refund of the month. Refund amounts are negative.',
  })
  for (const ref of [sale, statementLine]) addItem(builder, refs, ref)
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
  const statement = objectFrom(builder, Type.Object({ ...StatementSchema.properties, pagination: PaginationSchema }, { title: 'Statement' }), {
    description: 'Your sales and refunds of a month. Totals cover the lines of all pages.',
    entries: { lines: LINES },
    texts: { pagination: 'Position of the page.' },
  })
  builder.queryField('orders', (t) =>
    t.field({
      type: sales,
      description: 'Your sales by order line, newest first. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listMyOrders) },
      args: argumentsFrom(t.arg, listMyOrders.input, { types: { order_id: 'Float', listing_id: 'Int' } }),
      resolve: (_root, args, ctx, info) => callByFields(listMyOrders, ctx, info, withoutNulls(args)),
    }),
  )
  builder.queryField('statement', (t) =>
    t.field({
      type: statement,
      description: 'Your sales and refunds of a month. Plus and Enterprise.',
      extensions: { ...cost({ weight: 50 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readStatement) },
      args: argumentsFrom(t.arg, readStatement.input),
      resolve: async (_root, args, ctx, info) => {
        const { statement, pagination } = await callByFields(readStatement, ctx, info, withoutNulls(args))
        return { ...statement, pagination }
      },
    }),
  )
}

function addItem(builder: Builder, refs: Refs, line: ReturnType<typeof builder.objectRef<Pick<OwnSale, 'item'>>>): void {
  builder.objectField(line, 'item', (t) =>
    t.field({
      type: refs.item,
      description: 'Item that was sold.',
      resolve: ({ item }, _args, { catalogue }) => {
        const row = catalogue.items.rowOf(item.id)
        return row < 0 ? null : itemSource(row)
      },
    }),
  )
}
