// Tables with data about people: whose each row and column is, and what an erasure does with it; a test requires a word for every column.

/** Whose data can be exported and erased: an account (an API client, a seller or a collector), or a buyer by the shop's reference. */
export type PersonKind = 'account' | 'buyer'

/** The column with the account's id or the buyer's reference, or the column that leads to a row of another table, with that table and its column. */
export type Link = string | readonly [column: string, table: string, target: string]

/** A column that an erasure overwrites. */
interface Change {
  of: PersonKind
  /** `pseudonym`: the pseudonym of the erased person; otherwise an SQL literal */
  to: 'pseudonym' | "''" | 'null'
}

export interface TableOfPeople {
  /** how a row leads to the account that it is about; of several links, the first is the owner of the personal columns */
  account?: readonly Link[]
  buyer?: readonly Link[]
  /** whether an erasure of the account removes its rows */
  removed?: boolean
  /** personal columns of the account, removed with their row */
  personal?: string
  /** personal columns of rows that stay, with what replaces them */
  changes?: Readonly<Record<string, Change>>
  /** columns without personal data: ids, amounts, times, states; they stay, because an id without a name is a pseudonym */
  plain?: string
  /** columns about operators: they stay as long as the row, because decisions must be accountable */
  operator?: string
  /** columns about people outside the service: removed with the row, by retention; not exported */
  others?: string
  /** hashes and sealed secrets: never exported */
  secret?: string
}

const account = (column = 'account_id'): readonly Link[] => [column]
const via = (column: string, table: string, target = 'id'): readonly Link[] => [[column, table, target]]

/** In the order of an erasure: rows before those that they reference. */
export const TABLES_OF_PEOPLE: Readonly<Record<string, TableOfPeople>> = {
  // Sessions, keys and limits.
  seller_sessions: { account: via('key_id', 'api_keys'), removed: true, plain: 'id key_id created_at last_used_at expires_at', secret: 'hash' },
  api_key_scopes: {
    account: via('key_id', 'api_keys'),
    removed: true,
    personal: 'allowed_origins allowed_addresses',
    plain: 'key_id read_only strict',
  },
  api_key_usage: { account: via('key_id', 'api_keys'), removed: true, plain: 'key_id day operation requests' },
  api_keys: {
    account: account(),
    removed: true,
    personal: 'label',
    plain: 'id account_id created_at last_used_at expires_at revoked_at',
    secret: 'hash last4',
  },
  // Their databases are removed with the rows, by the next run of a task.
  sandboxes: {
    account: account(),
    removed: true,
    plain: 'id account_id starts_at seed now status generation problem fired fired_total lease lease_until created_at last_used_at',
    secret: 'hash last4',
  },
  rate_limit_leases: { account: account(), removed: true, plain: 'account_id ends_at leased granted node shared_at' },

  // Webhooks; the body of an event names listings and orders.
  notification_reads: { account: via('notification_id', 'notifications'), removed: true, plain: 'notification_id version', operator: 'reader' },
  notification_deliveries: {
    account: via('notification_id', 'notifications'),
    removed: true,
    personal: 'body',
    plain: 'id notification_id version channel state attempts due_at lease_until finished_at error',
  },
  notifications: {
    account: account(),
    removed: true,
    personal: 'params state',
    plain: 'id account_id subject node kind severity value version since changed_at resolved_at',
  },
  webhook_attempts: {
    account: account(),
    removed: true,
    personal: 'error response_excerpt',
    plain: 'id event_id account_id kind test attempt status_code success started_at finished_at mark',
  },
  event_positions: { account: account(), removed: true, plain: 'account_id position event_id' },
  webhook_events: {
    account: account(),
    removed: true,
    personal: 'body',
    plain: 'id account_id kind test state attempts last_attempt due_at lease_until created_at replay traceparent',
  },
  event_counters: { account: account(), removed: true, plain: 'account_id last forgotten' },
  webhook_turns: { account: account(), removed: true, plain: 'account_id action at' },
  webhooks: {
    account: account(),
    removed: true,
    personal: 'url',
    plain: 'account_id on_sale on_expire is_active failing created_at updated_at previous_valid_until',
    secret: 'sealed_secret previous_sealed_secret',
  },

  // Collections.
  watches: {
    account: account(),
    removed: true,
    plain:
      'id account_id kind item_id label_id language amount currency removed told_day told_price told_market told_listing_id due_day created_at ' +
      'updated_at collection_id category_id goal complete',
  },
  collection_worth_amounts: { account: via('collection_id', 'collections'), removed: true, plain: 'collection_id day currency value cost gain' },
  collection_worth_days: {
    account: via('collection_id', 'collections'),
    removed: true,
    plain: 'collection_id day at without_price without_trusted_price without_cost',
  },
  collection_lots: {
    account: via('record_id', 'collection_items'),
    removed: true,
    plain: 'id record_id acquired_at quantity unit_cost fees currency source created_at',
  },
  collection_disposals: {
    account: via('record_id', 'collection_items'),
    removed: true,
    plain: 'id record_id at quantity gross fees shipping currency order_id line returned_at created_at',
  },
  parked_row_reasons: { account: via('parked_row_id', 'collection_parked_rows'), removed: true, personal: 'params', plain: 'parked_row_id rule' },
  collection_parked_rows: {
    account: via('collection_id', 'collections'),
    removed: true,
    personal: 'import_key reason entry candidates',
    plain: 'id collection_id format line decision decided_at parked_at',
    operator: 'decided_by',
  },
  collection_items: {
    account: via('collection_id', 'collections'),
    removed: true,
    personal: 'card_uniq_id note import_key certificate',
    plain: 'id collection_id item_id grade_id quantity purchase_price sale_price purchase_date revision created_at updated_at for_trade',
  },
  collections: {
    account: account(),
    removed: true,
    personal: 'name description share_token',
    plain: 'id account_id visibility items_count created_at updated_at method',
  },
  collection_columns: { account: account(), removed: true, personal: 'columns', plain: 'account_id' },

  // Listings: removed, with their texts. Sales stay without them, as after a listing is deleted.
  listing_import_rows: { account: via('import_id', 'listing_imports'), removed: true, plain: 'import_id listing_id' },
  parked_listings: {
    account: account(),
    removed: true,
    personal: 'key entry params candidates',
    plain: 'id account_id line rule parked_at import_id',
  },
  listing_imports: {
    account: account(),
    removed: true,
    personal: 'ignored_columns',
    plain: 'id account_id created parked refused passed_over created_at undone_at removed kept dropped',
  },
  listing_columns: { account: account(), removed: true, personal: 'columns', plain: 'account_id' },
  listing_intakes: { account: account(), removed: true, plain: 'account_id quota' },
  price_job_rows: {
    account: via('job_id', 'price_jobs'),
    removed: true,
    personal: 'sku refused why reason warnings',
    plain:
      'job_id position listing_id old_price new_price old_quantity new_quantity payout rank outcome old_changed_by new_version old_priced_version ' +
      'old_stocked_version market_price',
  },
  price_jobs: {
    account: account(),
    removed: true,
    personal: 'ignored_columns',
    plain:
      'id account_id policy state rows_total rows_refused changed reversed kept failed created_at expires_at applied_at undone_at rule_id stored_rows ' +
      'stored_bytes',
  },
  repricing_rules: {
    account: account(),
    removed: true,
    personal: 'name terms',
    plain: 'id account_id enabled simulated_at last_run_at created_at updated_at',
  },
  vacations: { account: account(), removed: true, plain: 'account_id starts_at ends_at' },
  picture_copies: {
    account: account(),
    removed: true,
    personal: 'url',
    plain: 'id account_id photo_id attempts next_at problem created_at',
    secret: 'url_hash',
  },
  photos: {
    account: account(),
    removed: true,
    personal: 'key',
    plain: 'id account_id widths created_at checked_at unused_since remove_after',
    secret: 'sha256 size_hashes',
  },
  listing_views: { account: via('listing_id', 'listings'), removed: true, plain: 'listing_id day views' },
  notices: {
    account: account('seller_id'),
    changes: { evidence: { of: 'account', to: "''" }, note: { of: 'account', to: 'null' } },
    plain: 'id listing_id seller_id right state received_at due_at decided_at',
    operator: 'decided_by',
    others: 'who',
  },
  listing_decisions: {
    account: account('seller_id'),
    changes: { facts: { of: 'account', to: 'null' }, note: { of: 'account', to: 'null' }, before: { of: 'account', to: 'null' } },
    plain: 'id listing_id listing_version seller_id at decision decided_at after_version rule_id rule_version undone_at',
    operator: 'decided_by undone_by',
  },
  listings: {
    account: account('seller_id'),
    removed: true,
    personal: 'title description images approved rejection_reason sku certificate',
    plain:
      'id seller_id item_id grade_id label_id price quantity language shipping_payer offers_enabled min_offer_price status approved_price approved_at ' +
      'waiting_since published_at expires_at highlighted_until version created_at updated_at changed_by priced_version stocked_version edited_version ' +
      'record_id',
  },

  // Offers, orders, sales and credits stay without names: the law requires records of sales.
  offers: {
    account: ['seller_id', 'buyer_account_id'],
    buyer: ['buyer_reference'],
    changes: { title: { of: 'account', to: "''" }, buyer_reference: { of: 'buyer', to: 'pseudonym' } },
    plain:
      'id listing_id seller_id listing_price content_hash order_id buyer_account_id quantity unit_price counter_price status created_at changed_at ' +
      'expires_at',
  },
  sale_cancellations: {
    account: account('seller_id'),
    buyer: via('sale_id', 'sales'),
    changes: { reason: { of: 'buyer', to: "''" } },
    plain: 'sale_id seller_id cancelled_at listing_status',
    operator: 'cancelled_by',
  },
  sale_asks: { account: via('sale_id', 'sales'), plain: 'sale_id lowest' },
  sales: {
    account: account('seller_id'),
    buyer: via('order_id', 'order_buyers', 'order_id'),
    plain: 'id order_id line listing_id seller_id item_id label_id quantity unit_price payout sold_at certificate',
  },
  orders: {
    account: via('order_id', 'order_buyers', 'order_id'),
    buyer: via('order_id', 'order_buyers', 'order_id'),
    plain: 'order_id request_hash result sold_at created_at',
  },
  order_buyers: {
    account: account(),
    buyer: ['reference'],
    changes: { reference: { of: 'buyer', to: 'pseudonym' } },
    plain: 'order_id account_id',
  },
  credit_entries: {
    account: account(),
    changes: { reason: { of: 'account', to: "''" } },
    plain: 'id account_id amount balance created_at',
  },
  accounts: {
    account: account('id'),
    changes: { name: { of: 'account', to: 'pseudonym' } },
    plain: 'id plan highlight_credits suspended created_at updated_at',
  },
}

/** Tables whose rows lead to a person in their own ways, which the code that erases them knows. */
export const SPECIAL_TABLES: Readonly<Record<string, TableOfPeople>> = {
  // Fields of people in `before` and `after` are overwritten one by one, and sealed in archived months (audit-entries.ts).
  audit_log: { personal: 'before after', plain: 'id at action subject_type subject_id request_id', operator: 'actor' },
  // Results are encrypted with the caller's key, and deleted after 24 hours; an erasure deletes those of the account.
  idempotency_keys: { plain: 'scope created_at', secret: 'key request_hash result' },
  // A key per person, deleted by an erasure; never in a backup.
  person_keys: { plain: 'id kind account_id created_at', secret: 'reference_hash key' },
  // The record of requests: an erased buyer's reference is deleted when its erasure is done.
  erasures: {
    personal: 'buyer_reference',
    plain: 'id kind account_id pseudonym state counts started_xact requested_at finished_at swept_at storage_at',
    operator: 'requested_by reason',
  },
}
