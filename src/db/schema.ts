// Row types of every table, as the driver returns and accepts them: those of the database, with the contents of JSON and of some texts.
import type { ColumnType, Generated, JSONColumnType, Kysely, Selectable, Transaction } from 'kysely'
import type { Market } from '#core/markets.ts'
import type { Plan } from '#core/plans.ts'
import type { Params, Problem, Reason } from '#core/problems.ts'
import type { Rule } from '#core/problem-texts/rules.ts'
import type { Role } from '#core/roles.ts'
import type { Database } from './connection/pool.ts'
import type { Tables } from './tables.generated.ts'

export type Db = Database<Schema>
export type Tx = Transaction<Schema>
/** A pool or a transaction; reads accept either. */
export type Queryable = Kysely<Schema>

/** A rejected row as imports store it; rows from before files were named lack `file`. */
interface RefusedRow {
  row: number
  message: string
  file?: string | null
  field?: string
  rule?: Rule
  params?: Params
}

interface RefusalReason extends Omit<RefusedRow, 'row' | 'message' | 'file'> {
  reason: string
  count: number
  samples: RefusedRow[]
}

/** Columns that the database describes less precisely. */
interface Columns {
  accounts: { plan: Plan }
  people: { roles: Role[] }
  categories: { market: Market }
  items: {
    market: Market
    images: JSONColumnType<{ url: string; order: number }[]>
    attributes: JSONColumnType<{ name: string; value: string }[]>
    details: JSONColumnType<object>
  }
  source_records: { facts: JSONColumnType<object> }
  source_statements: { facts: JSONColumnType<object> | null }
  category_codes: { shop_ids: JSONColumnType<object[]> }
  category_changes: {
    market: Market
    before: JSONColumnType<object> | null
    after: JSONColumnType<object>
  }
  match_queue: {
    reasons: JSONColumnType<object[]>
    candidates: JSONColumnType<object[]>
  }
  decided_matches: {
    reasons: JSONColumnType<object[]>
    candidates: JSONColumnType<object[]>
    pairs: JSONColumnType<object[]>
  }
  merges: {
    item: JSONColumnType<object>
    moved: JSONColumnType<object, string | undefined, string>
  }
  splits: {
    pairs: JSONColumnType<object, string, string>
    ended: JSONColumnType<object, string, string>
  }
  item_aliases: { market: Market }
  price_reviews: { state: 'held' | 'disputed' }
  imports: {
    market: Market | null
    errors: ColumnType<RefusedRow[], string | undefined, string>
    reasons: ColumnType<RefusalReason[] | null, undefined, string>
    params: ColumnType<Params | null, undefined, string | null>
  }
  source_fetches: {
    status: 'downloading' | 'done' | 'failed'
    progress: JSONColumnType<object | null, string | null, string | null>
    files: JSONColumnType<object[], string | undefined, string>
    params: ColumnType<Params | null, string | null, string | null>
  }
  held_price_params: { params: JSONColumnType<Params> }
  price_decisions: { filter: JSONColumnType<object | null, string | null, string> }
  price_decision_prices: { before: JSONColumnType<object | null, string | null, string> }
  price_mappings: { mapping: JSONColumnType<object, string, string> }
  listings: {
    images: JSONColumnType<{ url: string; order: number }[]>
    approved: JSONColumnType<object> | null
    changed_by: JSONColumnType<ChangedBy> | null
    certificate: JSONColumnType<StoredCertificate> | null
  }
  sales: { certificate: JSONColumnType<StoredCertificate> | null }
  collection_items: { certificate: JSONColumnType<StoredCertificate> | null }
  price_job_rows: {
    refused: JSONColumnType<Problem[]> | null
    why: JSONColumnType<Reason> | null
    old_changed_by: JSONColumnType<ChangedBy> | null
    reason: JSONColumnType<Reason> | null
    warnings: JSONColumnType<Reason[]> | null
  }
  listing_decisions: {
    facts: JSONColumnType<object | null, string | null, string>
    before: JSONColumnType<object | null, string | null, string>
  }
  approval_rules: { conditions: JSONColumnType<object, string, string> }
  approval_rule_versions: { conditions: JSONColumnType<object, string, string> }
  listing_columns: { columns: JSONColumnType<object[], string, string> }
  collection_columns: { columns: JSONColumnType<object[], string, string> }
  repricing_rules: { terms: JSONColumnType<object> }
  parked_listings: {
    entry: JSONColumnType<object>
    params: JSONColumnType<object>
    candidates: JSONColumnType<object[]>
  }
  orders: { result: JSONColumnType<object> }
  sale_cancellations: { listing_status: ListingStatus | null }
  collection_parked_rows: {
    entry: JSONColumnType<object>
    candidates: JSONColumnType<object[]>
  }
  parked_row_reasons: { params: JSONColumnType<Params> }
  audit_log: {
    before: JSONColumnType<object> | null
    after: JSONColumnType<object> | null
  }
  notifications: { params: JSONColumnType<object> }
  webhook_attempts: { kind: 'sale' | 'expire' }
  erasures: { counts: JSONColumnType<Record<string, number>, string | undefined, string> }
}

/** Whether a default gives the time: then it would be the database's, but what the product promises goes by the node's clock. */
type TimeByDefault<T, K extends keyof T> = [T[K]] extends [Generated<Date>] ? ([Generated<Date>] extends [T[K]] ? K : never) : never

/** Tables whose times mean nothing to the product. */
type OfMachines = 'person_keys' | 'start_marks'

/** An insert states every time that is part of the product, although the database has a default. */
type Stated<T extends keyof Tables> = T extends OfMachines
  ? Tables[T]
  : { [K in keyof Tables[T]]: K extends TimeByDefault<Tables[T], K> ? Date : Tables[T][K] }

type Precise<T extends keyof Tables> = T extends keyof Columns ? Omit<Stated<T>, keyof Columns[T]> & Columns[T] : Stated<T>

/** Tables by name. NUMERIC and DATE are returned as text, the former as an exact decimal. */
export type Schema = { [T in keyof Tables]: Precise<T> } & {
  /** a view: sales without those that were cancelled */
  uncancelled_sales: Tables['sales']
}

/**
 * Kinds of the change log. `evidence`: verdicts and figures of current prices, packed; a change of a price does not alter them.
 * `rates`: days since 1970 that have new exchange rates.
 */
export type ChangeKind = Schema['change_log']['kind']

/** The job or rule that last set price or quantity of a listing. */
export interface ChangedBy {
  kind: 'price_job' | 'repricing_rule'
  id: number
  /** ISO 8601, UTC */
  at: string
}

/** A certificate of a graded card. */
export interface StoredCertificate {
  grader: string
  grade: string
  cert: string
  qualifier: string | null
  subgrades: { centering: number | null; corners: number | null; edges: number | null; surface: number | null } | null
}

export type ListingStatus = Selectable<Tables['listings']>['status']
