// What a restored database contains, compared with production.
import { query } from './restored-server.ts'

export interface Content {
  /** rows by table */
  rows: Record<string, number>
  /** sums that must agree, as decimal text */
  balances: Record<string, string>
  /** time of the newest row of the audit log, which has one for every write */
  lastWrite: Date | null
}

/** Derived, or cleared at their own times. */
const LEFT_OUT = [
  'change_log',
  'change_log_floor',
  'catalogue_log_floor',
  'idempotency_keys',
  'rate_limit_leases',
  'workers',
  'start_marks',
  'watch_progress',
]

const BALANCES = `select
  (select coalesce(sum(highlight_credits), 0) from accounts)::text as "highlight credits of accounts",
  (select coalesce(sum(amount), 0) from credit_entries)::text as "entries of highlight credits",
  (select coalesce(sum(quantity * unit_price), 0) from sales)::text as "sales",
  (select coalesce(sum(payout), 0) from sales)::text as "payouts"`

export async function contentOf(url: string): Promise<Content> {
  const tables = await query<{ name: string }>(
    url,
    `select relname as name from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  const counted = tables.map(({ name }) => name).filter((name) => !LEFT_OUT.includes(name))
  const counts = counted.map((name) => `select '${name}' as name, count(*)::int as rows from "${name}"`)
  const rows = Object.fromEntries(
    (await query<{ name: string; rows: number }>(url, counts.join(' union all '))).map(({ name, rows }) => [name, rows]),
  )
  const [balances] = await query<Record<string, string>>(url, BALANCES)
  const [newest] = await query<{ at: Date | null }>(url, 'select max(at) as at from audit_log')
  return { rows, balances: balances!, lastWrite: newest!.at }
}

/** Lines of a table: what differs, and the totals. */
export function differences(restored: Content, production: Content): string[] {
  const lines = Object.entries(production.rows).flatMap(([table, rows]) => {
    const here = restored.rows[table] ?? 0
    return here === rows ? [] : [`${table}: ${here} rows restored, ${rows} in production`]
  })
  const sums = Object.entries(production.balances).flatMap(([name, sum]) =>
    restored.balances[name] === sum ? [] : [`${name}: ${restored.balances[name]} restored, ${sum} in production`],
  )
  return [...lines, ...sums]
}
