// Statement of the caller's sales and refunds in a month of the service's time zone, with exact totals.
import { Type } from '#core/input.ts'
import { offsetOf, pagination, type Pagination } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { localTime } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { linesOfStatement, type StatementKey, type StatementRow, totalsOfStatement } from './own-sales-store.ts'
import { soldLine } from './sold-line.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'
import { type Statement, type StatementLine, STATEMENT_KINDS } from '../sale-schemas.ts'

/** More lines than most sellers have in a month, so that one response is usually the whole statement. */
const MAX_LINES = 10_000

const MONTH = '^(19[7-9]\\d|2\\d{3})-(0[1-9]|1[0-2])$'

export interface ReadStatement {
  statement: Statement
  pagination: Pagination
  /** all lines of the month, not only the page; read in batches */
  allLines: () => AsyncIterable<StatementLine[]>
}

export const readStatement = verb(
  {
    name: 'readStatement',
    needs: OPERATION_PLAN.readStatement,
    input: Type.Object({
      month: Type.Optional(
        Type.String({
          pattern: MONTH,
          maxLength: 7,
          allowed: reason('date', { from: '1970-01', to: '2999-12', format: 'YYYY-MM' }),
          description: "Month in the service's time zone; default: the current month",
          examples: ['2026-11'],
        }),
      ),
      page: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1, description: 'Page of the lines, from 1' })),
      per_page: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_LINES,
          default: MAX_LINES,
          description: 'Lines per page; totals always cover the whole month',
        }),
      ),
    }),
  },
  async (
    { db, viewer, market: { timeZone }, now }: Pick<MarketWriteCtx, 'db' | 'viewer' | 'market' | 'now'>,
    { month = localTime(now(), timeZone).slice(0, 7), page = 1, per_page: perPage = MAX_LINES },
  ): Promise<ReadStatement> => {
    const key = { sellerId: viewer.kind === 'account' ? viewer.accountId : 0, ...boundsOf(month, timeZone) }
    // One snapshot for both, so that a concurrent sale is in the totals and the lines, or in neither.
    const { totals, rows } = await inTransaction(
      db,
      async (tx) => ({
        totals: await totalsOfStatement(tx, key),
        rows: await linesOfStatement(tx, key, perPage, { offset: offsetOf(page, perPage) }),
      }),
      { isolation: 'repeatable read' },
    )
    const { sales, refunds, commission, payout, total } = totals
    const amounts = { sales: Number(sales), refunds: Number(refunds), commission: Number(commission), payout: Number(payout) }
    return {
      statement: { month, ...amounts, lines: rows.map((row) => shownLine(row, timeZone)) },
      pagination: pagination(page, perPage, total),
      allLines: () => allLines(db, key, timeZone),
    }
  },
)

/** The first instant of a month and of the next one in a time zone. */
function boundsOf(month: string, zone: string): { from: Date; to: Date } {
  const first = Temporal.PlainDate.from(`${month}-01`)
  const startOf = (day: Temporal.PlainDate) => new Date(day.toZonedDateTime(zone).epochMilliseconds)
  return { from: startOf(first), to: startOf(first.add({ months: 1 })) }
}

function shownLine(row: StatementRow, zone: string): StatementLine {
  return { kind: STATEMENT_KINDS[row.turn]!, at: localTime(row.at, zone), ...soldLine(row), amount: Number(row.amount) }
}

const BATCH = 5_000

async function* allLines(db: Db, key: StatementKey, zone: string): AsyncIterable<StatementLine[]> {
  for (let after: StatementRow | null = null; ; ) {
    const rows: StatementRow[] = await linesOfStatement(db.kysely, key, BATCH, { after })
    if (rows.length > 0) yield rows.map((row) => shownLine(row, zone))
    if (rows.length < BATCH) return
    after = rows.at(-1)!
  }
}
