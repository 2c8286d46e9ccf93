// Row types of every table, as the driver returns and accepts them (in snake_case, as in SQL).
import type { ColumnType, Generated, GeneratedAlways, JSONColumnType, Kysely, Transaction } from 'kysely'
import type { Market } from '#core/markets.ts'
import type { Plan } from '#core/plans.ts'
import type { Params, Problem, Reason, Rule } from '#core/problems.ts'
import type { Role } from '#core/roles.ts'
import type { Database } from './connection/pool.ts'

export type Db = Database<Schema>
export type Tx = Transaction<Schema>
/** A pool or a transaction; reads accept either. */
export type Queryable = Kysely<Schema>

/** NUMERIC is returned as exact decimal text. */
type Numeric = string

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

export interface Schema {
  accounts: {
    id: GeneratedAlways<number>
    name: string
    plan: Plan
    highlight_credits: Generated<number>
    suspended: Generated<boolean>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  listing_intakes: { account_id: number; quota: number }
  credit_entries: {
    id: GeneratedAlways<number>
    account_id: number
    amount: number
    balance: number
    reason: string
    created_at: Generated<Date>
  }
  api_keys: {
    id: GeneratedAlways<number>
    account_id: number
    label: Generated<string>
    hash: Buffer
    last4: string
    created_at: Generated<Date>
    last_used_at: Date | null
    expires_at: Date | null
    revoked_at: Date | null
  }
  api_key_scopes: {
    key_id: number
    read_only: Generated<boolean>
    strict: Generated<boolean>
    allowed_origins: Generated<string[]>
    allowed_addresses: Generated<string[]>
  }
  /** `day` is returned as text */
  api_key_usage: { key_id: number; day: string; operation: string; requests: number }
  operator_tokens: {
    id: GeneratedAlways<number>
    label: string
    hash: Buffer
    last4: string
    created_at: Generated<Date>
    last_used_at: Date | null
    revoked_at: Date | null
  }
  console_sessions: {
    id: GeneratedAlways<number>
    hash: Buffer
    token_id: number | null
    bootstrap_hash: Buffer | null
    created_at: Generated<Date>
    last_used_at: Date | null
    expires_at: Date
  }
  people: {
    id: GeneratedAlways<number>
    name: string
    /** the name in the form that sign-ins compare */
    name_key: string
    roles: Role[]
    password_hash: string | null
    totp_secret: Buffer | null
    totp_pending: Buffer | null
    totp_step: Generated<number>
    created_at: Date
    removed_at: Date | null
  }
  person_links: {
    hash: Buffer
    /** null: the link that creates the first owner */
    person_id: number | null
    expires_at: Date
  }
  person_tokens: {
    id: GeneratedAlways<number>
    person_id: number
    label: string
    hash: Buffer
    last4: string
    parent_id: number | null
    created_at: Date
    last_used_at: Date | null
    revoked_at: Date | null
  }
  person_sessions: {
    id: GeneratedAlways<number>
    hash: Buffer
    person_id: number
    token_id: number | null
    address: string
    browser: string
    created_at: Date
    last_used_at: Date | null
    expires_at: Date
  }
  sign_in_addresses: {
    person_id: number
    address: string
    last_used_at: Date
  }
  sign_in_attempts: {
    name_hash: Buffer
    attempts: number
    ends_at: Date
  }
  seller_sessions: {
    id: GeneratedAlways<number>
    hash: Buffer
    key_id: number
    created_at: Generated<Date>
    last_used_at: Date
    expires_at: Date
  }
  /** marks of start files */
  start_marks: { mark: string; at: Generated<Date> }
  demo_record: { singleton: Generated<boolean>; made_at: Date; last_account: number; last_item: number; last_import: number }
  rate_limit_leases: {
    account_id: number
    ends_at: Date
    leased: number
    granted: number
    node: number
    shared_at: Date
  }
  groups: { id: GeneratedAlways<number>; parent_id: number | null; name: string; slug: string }
  categories: {
    id: GeneratedAlways<number>
    market: Market
    ref: string
    name: string
    slug: string
    game: string
    parent_id: number | null
    image: string | null
    printed_total: number | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  items: {
    id: GeneratedAlways<number>
    market: Market
    ref: string
    name: string
    code: string | null
    slug: string
    genre: string
    game: string
    category_id: number
    images: JSONColumnType<{ url: string; order: number }[]>
    attributes: JSONColumnType<{ name: string; value: string }[]>
    group_ids: number[]
    details: JSONColumnType<object>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  item_foreign_ids: { source: string; foreign_id: string; item_id: number; finish: Generated<string> }
  source_records: {
    id: GeneratedAlways<number>
    source: string
    foreign_id: string
    finish: Generated<string>
    game: string
    world: string
    facts: JSONColumnType<object>
    active: Generated<boolean>
  }
  source_statements: { import_id: number; record_id: number; facts: JSONColumnType<object> | null; withdrawn: Generated<boolean> }
  item_sources: {
    record_id: number
    item_id: number
    whole: Generated<boolean>
    method: string
    confidence: number
    decided_by: string | null
    decided_at: Generated<Date>
  }
  merged_sources: {
    merge_id: number
    record_id: number
    whole: boolean
    method: string
    confidence: number
    decided_by: string | null
    decided_at: Date
    moved: boolean
  }
  import_merges: { import_id: number; merge_id: number }
  category_codes: { category_id: number; codes: string[]; shop_ids: JSONColumnType<object[]> }
  category_changes: {
    import_id: number
    category_id: number
    market: Market
    ref: string
    before: JSONColumnType<object> | null
    after: JSONColumnType<object>
  }
  match_decisions: {
    id: GeneratedAlways<number>
    kind: 'same' | 'apart' | 'set' | 'postponed'
    a: string
    b: Generated<string>
    author: string
    decided_at: Generated<Date>
  }
  sealed_aliases: { words: string; means: string }
  synonyms: { word: string; means: string }
  match_queue: {
    id: GeneratedAlways<number>
    record_id: number
    record_ids: number[]
    game: string
    world: string
    set_ref: string | null
    postponed: boolean
    reasons: JSONColumnType<object[]>
    candidates: JSONColumnType<object[]>
    waiting_since: Generated<Date>
  }
  decided_matches: {
    id: number
    record_id: number
    record_ids: number[]
    game: string
    world: string
    set_ref: string | null
    reasons: JSONColumnType<object[]>
    candidates: JSONColumnType<object[]>
    waiting_since: Date
    decision: 'accepted' | 'separated'
    item_id: number
    pairs: JSONColumnType<object[]>
    merge_ids: Generated<number[]>
    author: string
    decided_at: Date
  }
  set_decision_merges: { from_ref: string; merge_id: number }
  match_set_maps: {
    from_ref: string
    to_ref: string
    game: string
    world: string
    agree: number
    cards: number
    decided: boolean
    decided_by: string | null
  }
  merges: {
    id: GeneratedAlways<number>
    from_item: number
    into_item: number
    item: JSONColumnType<object>
    moved: JSONColumnType<object, string | undefined, string>
    author: string
    at: Date
    undone_by: string | null
    undone_at: Date | null
  }
  splits: {
    id: Generated<number>
    item_id: number
    split_item: number
    source: string
    foreign_id: string
    pairs: JSONColumnType<object, string, string>
    ended: JSONColumnType<object, string, string>
    author: string
    at: Date
    reverted_by: string | null
    reverted_at: Date | null
  }
  item_aliases: { old_id: number; item_id: number; merge_id: number; market: Market; ref: string; slug: string }
  merged_foreign_ids: { merge_id: number; source: string; foreign_id: string; finish: string; moved: boolean }
  merged_prices: {
    merge_id: number
    item_id: number
    market: number
    label_id: number
    price: Numeric
    updated_at: Date
    import_id: number
    confirmed_at: Date | null
    line: number | null
    flags: number | null
    avg_1: Numeric | null
    avg_7: Numeric | null
    avg_30: Numeric | null
    low: Numeric | null
    mid: Numeric | null
    high: Numeric | null
    samples: number | null
  }
  merged_points: {
    merge_id: number
    import_id: number
    market: number
    label_id: number
    updated_at: Date
    price: Numeric
    state: 'seen' | 'covered' | 'withdrawn' | 'made'
    placed: boolean
  }
  merged_held_prices: { merge_id: number; held_id: number; decision: string | null; discarded: boolean }
  merged_listings: { merge_id: number; listing_id: number }
  merged_sales: { merge_id: number; sale_id: number }
  merged_records: { merge_id: number; record_id: number }
  prices: {
    item_id: number
    market: number
    label_id: number
    price: Numeric
    updated_at: Date
    import_id: number
    confirmed_at: Date | null
    line: number | null
    state: Generated<number>
    confidence: Generated<number>
    flags: Generated<number>
    avg_1: Numeric | null
    avg_7: Numeric | null
    avg_30: Numeric | null
    low: Numeric | null
    mid: Numeric | null
    high: Numeric | null
    samples: number | null
  }
  usual_ratios: {
    game: string
    category_id: number
    finish: string
    market_a: number
    market_b: number
    ratio: number
    spread: number
    cards: number
  }
  price_feeds: { market: number; import_id: number; newest: Date; prices: number }
  price_statements: { id: Generated<number>; import_id: number; at: Date; payload: Buffer }
  price_reviews: {
    item_id: number
    state: 'held' | 'disputed'
    cause: string | null
    times_off: number | null
    value: number | null
    markets: number[]
    label_ids: number[]
    import_ids: number[]
  }
  price_review_changes: { item_id: number }
  sources_set_aside: { market: number; author: string; reason: string; at: Date }
  changed_items: { item_id: number; changed_at: Date }
  price_points: {
    item_id: number
    market: number
    label_id: number
    updated_at: Date
    price: Numeric
    import_id: number
  }
  price_archives: {
    month: string
    file: string | null
    rows: string
    checksum: string
    replaced_before: Date
    import_ids: number[]
    earlier_files: Generated<string[]>
    archived_at: Date
  }
  imports: {
    id: GeneratedAlways<number>
    format: string
    market: Market | null
    file_name: string | null
    author: string
    dry_run: Generated<boolean>
    status: 'queued' | 'running' | 'done' | 'failed'
    rows_read: Generated<number>
    created: Generated<number>
    updated: Generated<number>
    accepted: Generated<number>
    unchanged: Generated<number>
    held: Generated<number>
    rejected: Generated<number>
    percent: Generated<number>
    errors: ColumnType<RefusedRow[], string | undefined, string>
    reasons: ColumnType<RefusalReason[] | null, undefined, string>
    message: string | null
    rule: string | null
    params: ColumnType<Params | null, undefined, string | null>
    reverts_import_id: number | null
    reverted_by_import_id: number | null
    started_at: Generated<Date>
    finished_at: Date | null
  }
  import_refusals: {
    import_id: number
    part: number
    csv: Buffer
  }
  held_prices: {
    id: GeneratedAlways<number>
    import_id: number
    item_id: number
    market: number
    label_id: number
    price: Numeric
    updated_at: Date
    rule: string
    reason: string
    compared_price: Numeric | null
    times_off: number | null
    held_at: Generated<Date>
    decision: 'accepted' | 'discarded' | 'reverted' | null
    decided_by: string | null
    decided_at: Date | null
  }
  held_price_params: {
    held_price_id: number
    params: JSONColumnType<Params>
  }
  price_decisions: {
    id: GeneratedAlways<number>
    decision: 'accept' | 'discard' | 'confirm' | 'withdraw'
    filter: JSONColumnType<object | null, string | null, string>
    author: string
    at: Date
    undone_by: string | null
    undone_at: Date | null
  }
  price_decision_prices: {
    decision_id: number
    item_id: number
    market: number
    label_id: number
    updated_at: Date
    price: Numeric
    import_id: number
    held_id: number | null
    before: JSONColumnType<object | null, string | null, string>
    after_price: Numeric | null
    after_updated_at: Date | null
    after_import_id: number | null
    in_history: Generated<boolean>
    kept: 'newer_price' | 'reverted_import' | 'merged_item' | 'decided_since' | null
  }
  confirmed_prices: {
    item_id: number
    market: number
    label_id: number
    updated_at: Date
    price: Numeric
    decision_id: number | null
    author: string
    at: Date
  }
  hidden_points: {
    import_id: number
    item_id: number
    market: number
    label_id: number
    updated_at: Date
    price: Numeric
    withdrawn: boolean
  }
  price_mappings: { name: string; mapping: JSONColumnType<object, string, string>; author: string; saved_at: Date }
  rates: { currency: string; day: string; try_rate: Numeric }
  listings: {
    id: Generated<number>
    seller_id: number
    item_id: number
    grade_id: number | null
    label_id: number
    title: string
    description: Generated<string>
    price: Numeric
    quantity: number
    language: string | null
    images: JSONColumnType<{ url: string; order: number }[]>
    shipping_payer: Generated<'buyer' | 'seller'>
    offers_enabled: Generated<boolean>
    min_offer_price: Numeric | null
    status: Generated<ListingStatus>
    approved_price: Numeric | null
    approved: JSONColumnType<object> | null
    approved_at: Date | null
    rejection_reason: string | null
    waiting_since: Date | null
    published_at: Date | null
    expires_at: Date | null
    highlighted_until: Date | null
    sku: string | null
    changed_by: JSONColumnType<ChangedBy> | null
    priced_version: number | null
    stocked_version: number | null
    edited_version: number | null
    version: Generated<number>
    created_at: Date
    updated_at: Date
  }
  price_jobs: {
    id: GeneratedAlways<number>
    account_id: number
    rule_id: number | null
    policy: 'all' | 'good_rows'
    state: Generated<'planned' | 'applied' | 'undone'>
    rows_total: number
    rows_refused: number
    changed: Generated<number>
    reversed: Generated<number>
    kept: Generated<number>
    failed: Generated<number>
    created_at: Date
    expires_at: Date
    applied_at: Date | null
    undone_at: Date | null
    stored_rows: number | null
    stored_bytes: number | null
    ignored_columns: Generated<string[]>
  }
  price_job_rows: {
    job_id: number
    position: number
    listing_id: number | null
    sku: string | null
    old_price: Numeric | null
    new_price: Numeric | null
    old_quantity: number | null
    new_quantity: number | null
    payout: Numeric | null
    rank: number | null
    refused: JSONColumnType<Problem[]> | null
    outcome: 'changed' | 'reversed' | 'kept' | 'failed' | null
    why: JSONColumnType<Reason> | null
    old_changed_by: JSONColumnType<ChangedBy> | null
    new_version: number | null
    old_priced_version: number | null
    old_stocked_version: number | null
    reason: JSONColumnType<Reason> | null
    market_price: Numeric | null
    warnings: JSONColumnType<Reason[]> | null
  }
  listing_decisions: {
    id: GeneratedAlways<number>
    listing_id: number
    listing_version: number | null
    seller_id: number
    at: Date
    facts: JSONColumnType<object | null, string | null, string>
    decision: 'approve' | 'reject' | 'request_change' | null
    note: string | null
    decided_at: Date | null
    decided_by: string | null
    before: JSONColumnType<object | null, string | null, string>
    after_version: number | null
    rule_id: number | null
    rule_version: number | null
    undone_at: Date | null
    undone_by: string | null
  }
  approval_rules: {
    id: GeneratedAlways<number>
    name: string
    mode: 'off' | 'shadow' | 'on'
    version: Generated<number>
    conditions: JSONColumnType<object, string, string>
    max_rejected_percent: number
    min_decisions: number
    created_at: Date
    updated_at: Date
  }
  approval_rule_versions: {
    rule_id: number
    version: number
    conditions: JSONColumnType<object, string, string>
    author: string
    at: Date
  }
  approval_rule_log: {
    decision_id: number
    rule_id: number
    rule_version: number
    mode: 'shadow' | 'on'
    approves: boolean
  }
  repricing_rules: {
    id: GeneratedAlways<number>
    account_id: number
    name: string
    enabled: Generated<boolean>
    terms: JSONColumnType<object>
    simulated_at: Date | null
    last_run_at: Date | null
    created_at: Date
    updated_at: Date
  }
  vacations: { account_id: number; starts_at: Date; ends_at: Date }
  listing_imports: {
    id: GeneratedAlways<number>
    account_id: number
    created: Generated<number>
    parked: Generated<number>
    refused: Generated<number>
    passed_over: Generated<number>
    created_at: Date
    undone_at: Date | null
    removed: number | null
    kept: number | null
    dropped: number | null
    ignored_columns: Generated<string[]>
  }
  listing_import_rows: { import_id: number; listing_id: number }
  parked_listings: {
    id: GeneratedAlways<number>
    account_id: number
    key: string
    line: number
    entry: JSONColumnType<object>
    rule: string
    params: JSONColumnType<object>
    candidates: JSONColumnType<object[]>
    parked_at: Date
    import_id: number | null
  }
  orders: {
    order_id: number
    request_hash: Buffer
    result: JSONColumnType<object>
    sold_at: Date
    created_at: Date
  }
  order_buyers: { order_id: number; reference: string }
  sales: {
    id: GeneratedAlways<number>
    order_id: number
    line: number
    listing_id: number | null
    seller_id: number
    item_id: number
    label_id: number
    quantity: number
    unit_price: Numeric
    payout: Numeric
    sold_at: Date
  }
  /** a view: sales without those that were cancelled */
  uncancelled_sales: Schema['sales']
  sale_cancellations: {
    sale_id: number
    seller_id: number
    cancelled_at: Date
    cancelled_by: string
    reason: string
    listing_status: ListingStatus | null
  }
  collections: {
    id: GeneratedAlways<number>
    account_id: number
    name: string
    description: Generated<string>
    visibility: Generated<'private' | 'unlisted' | 'public'>
    items_count: Generated<number>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  collection_items: {
    id: Generated<number>
    collection_id: number
    item_id: number
    grade_id: number | null
    quantity: number
    purchase_price: Numeric | null
    sale_price: Numeric | null
    purchase_date: string | null
    card_uniq_id: string | null
    note: string | null
    import_key: string | null
    revision: Generated<number>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  collection_worth_days: {
    collection_id: number
    day: string
    at: Date
    without_price: number
    without_trusted_price: number
    without_cost: number
  }
  collection_worth_amounts: {
    collection_id: number
    day: string
    currency: string
    value: Numeric
    cost: Numeric
    gain: Numeric | null
  }
  collection_parked_rows: {
    id: GeneratedAlways<number>
    collection_id: number
    format: string
    line: number
    import_key: string
    reason: string
    entry: JSONColumnType<object>
    candidates: JSONColumnType<object[]>
    decision: 'placed' | 'discarded' | null
    decided_by: string | null
    decided_at: Date | null
    parked_at: Generated<Date>
  }
  parked_row_reasons: {
    parked_row_id: number
    rule: string
    params: JSONColumnType<Params>
  }
  change_log: {
    seq: GeneratedAlways<number>
    xact: Generated<string>
    kind: ChangeKind
    ids: number[] | null
    payload: Buffer | null
    at: Generated<Date>
  }
  change_log_floor: { xact: string }
  catalogue_log_floor: { xact: string }
  audit_log: {
    id: GeneratedAlways<number>
    at: Generated<Date>
    actor: string
    action: string
    subject_type: string
    subject_id: string
    before: JSONColumnType<object> | null
    after: JSONColumnType<object> | null
    request_id: string | null
  }
  published_dump: { one: Generated<boolean>; as_of: Date }
  audit_archives: {
    month: string
    file: string | null
    rows: string
    checksum: string
    earlier_files: Generated<string[]>
    emptied: boolean
    archived_at: Date
  }
  webhooks: {
    account_id: number
    url: string
    on_sale: boolean
    on_expire: boolean
    is_active: boolean
    sealed_secret: Buffer
    previous_sealed_secret: Buffer | null
    previous_valid_until: Date | null
    failing: Generated<boolean>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  webhook_events: {
    id: GeneratedAlways<number>
    account_id: number
    kind: 'sale' | 'expire'
    test: Generated<boolean>
    body: string
    state: Generated<'queued' | 'delivered' | 'failed' | 'cancelled'>
    attempts: Generated<number>
    /** number of the last allowed attempt */
    last_attempt: Generated<number>
    due_at: Date
    lease_until: Date | null
    created_at: Date
    /** whether the pending attempt is a replay */
    replay: Generated<boolean>
  }
  event_counters: { account_id: number; last: number; forgotten: Generated<number> }
  event_positions: { account_id: number; position: number; event_id: number }
  webhook_turns: { account_id: number; action: 'check' | 'replay'; at: Date }
  webhook_attempts: {
    id: GeneratedAlways<number>
    event_id: number
    account_id: number
    kind: 'sale' | 'expire'
    test: boolean
    attempt: number
    status_code: number | null
    success: Generated<boolean>
    error: string | null
    response_excerpt: Generated<string>
    started_at: Date
    finished_at: Date | null
    mark: 'replay' | 'check' | null
  }
  workers: {
    id: string
    host: string
    last_seen_at: Date
    stopped: Generated<boolean>
  }
  /** `day` is returned as text */
  day_counts: { day: string; name: string; count: number }
  idempotency_keys: {
    scope: string
    key: string
    request_hash: Buffer
    result: Buffer
    created_at: Generated<Date>
  }
}

export type ChangeKind =
  | 'synonyms'
  | 'items'
  | 'categories'
  | 'groups'
  | 'prices'
  /** verdicts and figures of current prices, packed; a change of a price does not alter them */
  | 'evidence'
  /** days since 1970 that have new exchange rates */
  | 'rates'
  | 'accounts'
  | 'operators'
  | 'listings'
  | 'sales'

/** The job or rule that last set price or quantity of a listing. */
export interface ChangedBy {
  kind: 'price_job' | 'repricing_rule'
  id: number
  /** ISO 8601, UTC */
  at: string
}

export type ListingStatus = 'pending' | 'active' | 'paused' | 'rejected' | 'expired' | 'sold'
