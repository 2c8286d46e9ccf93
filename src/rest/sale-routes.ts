// Sales of an account: its order lines, and its monthly statement.
import { Readable } from 'node:stream'
import { csvLine } from '#core/files/csv.ts'
import { paged, type FileAnswer, type Route } from '#http/route.ts'
import { listMyOrders } from '#market/seller/list-my-orders.ts'
import { type ReadStatement, readStatement } from '#market/seller/read-statement.ts'
import type { MarketCtx } from '#market/marketplace-types.ts'
import { OwnSaleSchema, type StatementLine, StatementSchema } from '#market/sale-schemas.ts'

const tag = 'Listings'

export const saleRoutes: Route<MarketCtx>[] = [
  {
    path: '/plus/orders',
    ...paged(listMyOrders, OwnSaleSchema),
    summary: 'List your sales by order line, newest first',
    description: '`commission` and `payout` are those of the sale and do not change if it is cancelled; then `cancelled_at` and `refunded` are set.',
    tag,
  },
  {
    method: 'GET',
    path: '/plus/statement',
    verb: readStatement,
    summary: 'Read your sales and refunds of a month',
    description:
      'Totals cover all lines of the month, exact to the kuruş. A refund is a line with negative amounts in the ' +
      'month its sale was cancelled. `Accept: text/csv` returns all lines as CSV, ignoring the page.',
    tag,
    answer: ({ statement, pagination }: ReadStatement) => ({ data: statement, pagination }),
    csv: statementCsv,
    data: StatementSchema,
    paged: true,
  },
]

const COLUMNS: Record<string, (line: StatementLine) => string | number | null> = {
  kind: (line) => line.kind,
  at: (line) => line.at,
  order_id: (line) => line.order_id,
  line: (line) => line.line,
  listing_id: (line) => line.listing_id,
  item_id: (line) => line.item.id,
  item_name: (line) => line.item.name,
  item_code: (line) => line.item.code,
  label: (line) => line.label,
  quantity: (line) => line.quantity,
  unit_price: (line) => line.unit_price,
  amount: (line) => line.amount,
  commission: (line) => line.commission,
  payout: (line) => line.payout,
}

function statementCsv({ statement: { month }, allLines }: ReadStatement): FileAnswer {
  return {
    headers: ['content-type', 'text/csv; charset=utf-8', 'content-disposition', `attachment; filename="statement-${month}.csv"`],
    body: Readable.from(csvOf(allLines()), { highWaterMark: 1 }),
  }
}

async function* csvOf(batches: AsyncIterable<StatementLine[]>): AsyncIterable<string> {
  yield csvLine(Object.keys(COLUMNS))
  for await (const lines of batches) yield lines.map((line) => csvLine(Object.values(COLUMNS).map((cell) => cell(line)))).join('')
}
