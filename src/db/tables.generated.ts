// Row types of every table; test/db/table-types.test.ts writes this file from a migrated database with RECORD_TABLES=1.
import type { Generated, GeneratedAlways } from 'kysely'

/** Tables by name. A column whose type is `unknown` is JSON; `schema.ts` says what it contains. */
export interface Tables {
  accounts: {
    id: GeneratedAlways<number>
    name: string
    plan: 'starter' | 'professional' | 'plus' | 'enterprise'
    highlight_credits: Generated<number>
    suspended: Generated<boolean>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  api_key_scopes: {
    key_id: number
    read_only: Generated<boolean>
    allowed_origins: Generated<string[]>
    allowed_addresses: Generated<string[]>
    strict: Generated<boolean>
  }
  api_key_usage: {
    key_id: number
    day: string
    operation: string
    requests: number
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
  approval_rule_log: {
    decision_id: number
    rule_id: number
    rule_version: number
    mode: 'shadow' | 'on'
    approves: boolean
  }
  approval_rule_versions: {
    rule_id: number
    version: number
    conditions: unknown
    author: string
    at: Date
  }
  approval_rules: {
    id: GeneratedAlways<number>
    name: string
    mode: 'off' | 'shadow' | 'on'
    version: Generated<number>
    conditions: unknown
    max_rejected_percent: number
    min_decisions: number
    created_at: Date
    updated_at: Date
  }
  audit_archives: {
    month: string
    file: string | null
    rows: number
    checksum: string
    earlier_files: Generated<string[]>
    emptied: boolean
    archived_at: Date
    sealed: Generated<boolean>
  }
  audit_log: {
    id: GeneratedAlways<number>
    at: Generated<Date>
    actor: string
    action: string
    subject_type: string
    subject_id: string
    before: unknown
    after: unknown
    request_id: string | null
  }
  catalogue_log_floor: {
    xact: string
  }
  categories: {
    id: GeneratedAlways<number>
    market: string
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
  category_changes: {
    import_id: number
    category_id: number
    market: string
    ref: string
    before: unknown
    after: unknown
  }
  category_codes: {
    category_id: number
    codes: Generated<string[]>
    shop_ids: Generated<unknown>
  }
  certificates: {
    cert: string
    grader: string
    grade: string
    item_id: number
    label: string | null
    qualifier: string | null
    updated_at: Date
  }
  change_log: {
    seq: GeneratedAlways<number>
    xact: Generated<string>
    kind: 'items' | 'categories' | 'groups' | 'prices' | 'evidence' | 'rates' | 'synonyms' | 'sources' | 'settings' | 'accounts' | 'operators' | 'listings' | 'sales'
    ids: number[] | null
    payload: Buffer | null
    at: Generated<Date>
    traceparent: string | null
  }
  change_log_floor: {
    xact: string
  }
  changed_items: {
    item_id: number
    changed_at: Date
  }
  collection_columns: {
    account_id: number
    columns: unknown
  }
  collection_disposals: {
    id: GeneratedAlways<number>
    record_id: number
    at: string
    quantity: number
    gross: string
    fees: Generated<string>
    shipping: Generated<string>
    currency: string
    order_id: number | null
    line: number | null
    returned_at: string | null
    created_at: Date
  }
  collection_items: {
    id: Generated<number>
    collection_id: number
    item_id: number
    grade_id: number | null
    quantity: number
    purchase_price: string | null
    sale_price: string | null
    purchase_date: string | null
    card_uniq_id: string | null
    note: string | null
    import_key: string | null
    revision: Generated<number>
    created_at: Generated<Date>
    updated_at: Generated<Date>
    for_trade: Generated<number>
    certificate: unknown
  }
  collection_lots: {
    id: GeneratedAlways<number>
    record_id: number
    acquired_at: string
    quantity: number
    unit_cost: string | null
    fees: Generated<string>
    currency: string
    source: 'bought' | 'pulled' | 'traded' | 'gift' | 'order'
    created_at: Date
  }
  collection_parked_rows: {
    id: GeneratedAlways<number>
    collection_id: number
    format: string
    line: number
    import_key: string
    reason: string
    entry: unknown
    candidates: unknown
    decision: 'placed' | 'discarded' | null
    decided_by: string | null
    decided_at: Date | null
    parked_at: Generated<Date>
  }
  collection_worth_amounts: {
    collection_id: number
    day: string
    currency: string
    value: string
    cost: string
    gain: string | null
  }
  collection_worth_days: {
    collection_id: number
    day: string
    at: Date
    without_price: number
    without_trusted_price: number
    without_cost: number
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
    method: Generated<'fifo' | 'average'>
    share_token: string | null
  }
  confirmed_prices: {
    item_id: number
    market: number
    label_id: number
    updated_at: Date
    price: string
    decision_id: number | null
    author: string
    at: Date
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
  credit_entries: {
    id: GeneratedAlways<number>
    account_id: number
    amount: number
    balance: number
    reason: string
    created_at: Generated<Date>
  }
  day_counts: {
    day: string
    name: string
    count: number
  }
  decided_matches: {
    id: number
    record_id: number
    record_ids: number[]
    game: string
    world: string
    set_ref: string | null
    reasons: unknown
    candidates: unknown
    waiting_since: Date
    decision: 'accepted' | 'separated'
    item_id: number
    pairs: unknown
    merge_ids: Generated<number[]>
    author: string
    decided_at: Date
  }
  demo_record: {
    singleton: Generated<boolean>
    made_at: Date
    last_account: number
    last_item: number
    last_import: number
  }
  erasures: {
    id: GeneratedAlways<number>
    kind: 'account' | 'buyer'
    account_id: number | null
    buyer_reference: string | null
    pseudonym: string
    reason: string
    requested_by: string
    state: Generated<'running' | 'done'>
    counts: Generated<unknown>
    started_xact: Generated<string>
    requested_at: Date
    finished_at: Date | null
    swept_at: Date | null
    storage_at: Date | null
  }
  event_counters: {
    account_id: number
    last: number
    forgotten: Generated<number>
  }
  event_positions: {
    account_id: number
    position: number
    event_id: number
  }
  groups: {
    id: GeneratedAlways<number>
    parent_id: number | null
    name: string
    slug: string
  }
  held_price_params: {
    held_price_id: number
    params: unknown
  }
  held_prices: {
    id: GeneratedAlways<number>
    import_id: number
    item_id: number
    market: number
    label_id: number
    price: string
    updated_at: Date
    rule: string
    reason: string
    held_at: Generated<Date>
    decision: 'accepted' | 'discarded' | 'reverted' | null
    decided_by: string | null
    decided_at: Date | null
    compared_price: string | null
    times_off: number | null
  }
  hidden_points: {
    import_id: number
    item_id: number
    market: number
    label_id: number
    updated_at: Date
    price: string
    withdrawn: boolean
  }
  idempotency_keys: {
    scope: string
    key: string
    request_hash: Buffer
    result: Buffer
    created_at: Generated<Date>
  }
  import_merges: {
    import_id: number
    merge_id: number
  }
  import_refusals: {
    import_id: number
    part: number
    csv: Buffer
  }
  imports: {
    id: GeneratedAlways<number>
    format: string
    market: string | null
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
    errors: Generated<unknown>
    message: string | null
    reverts_import_id: number | null
    started_at: Generated<Date>
    finished_at: Date | null
    reverted_by_import_id: number | null
    reasons: unknown
    rule: string | null
    params: unknown
    condition_known: Generated<boolean>
  }
  item_aliases: {
    old_id: number
    item_id: number
    merge_id: number
    market: string
    ref: string
    slug: string
  }
  item_foreign_ids: {
    source: string
    foreign_id: string
    item_id: number
    finish: Generated<string>
  }
  item_sources: {
    record_id: number
    item_id: number
    whole: Generated<boolean>
    method: string
    confidence: number
    decided_by: string | null
    decided_at: Generated<Date>
  }
  items: {
    id: GeneratedAlways<number>
    market: string
    ref: string
    name: string
    code: string | null
    slug: string
    genre: 'single' | 'card' | 'sealed' | 'bundle'
    game: string
    category_id: number
    images: Generated<unknown>
    attributes: Generated<unknown>
    group_ids: Generated<number[]>
    details: Generated<unknown>
    created_at: Generated<Date>
    updated_at: Generated<Date>
  }
  listing_columns: {
    account_id: number
    columns: unknown
  }
  listing_decisions: {
    id: GeneratedAlways<number>
    listing_id: number
    listing_version: number | null
    seller_id: number
    at: Date
    facts: unknown
    decision: 'approve' | 'reject' | 'request_change' | null
    note: string | null
    decided_at: Date | null
    decided_by: string | null
    before: unknown
    after_version: number | null
    rule_id: number | null
    rule_version: number | null
    undone_at: Date | null
    undone_by: string | null
  }
  listing_import_rows: {
    import_id: number
    listing_id: number
  }
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
  listing_intakes: {
    account_id: number
    quota: number
  }
  listing_views: {
    listing_id: number
    day: string
    views: number
  }
  listings: {
    id: Generated<number>
    seller_id: number
    item_id: number
    grade_id: number | null
    label_id: number
    title: string
    description: Generated<string>
    price: string
    quantity: number
    language: string | null
    images: Generated<unknown>
    shipping_payer: Generated<'buyer' | 'seller'>
    offers_enabled: Generated<boolean>
    min_offer_price: string | null
    status: Generated<'pending' | 'active' | 'paused' | 'rejected' | 'expired' | 'sold'>
    approved_price: string | null
    approved: unknown
    approved_at: Date | null
    rejection_reason: string | null
    waiting_since: Date | null
    published_at: Date | null
    expires_at: Date | null
    highlighted_until: Date | null
    version: Generated<number>
    created_at: Date
    updated_at: Date
    sku: string | null
    changed_by: unknown
    priced_version: number | null
    stocked_version: number | null
    edited_version: number | null
    record_id: number | null
    certificate: unknown
  }
  match_decisions: {
    id: GeneratedAlways<number>
    kind: 'same' | 'apart' | 'set' | 'postponed'
    a: string
    b: Generated<string>
    author: string
    decided_at: Generated<Date>
  }
  match_queue: {
    id: GeneratedAlways<number>
    record_id: number
    record_ids: number[]
    game: string
    world: string
    set_ref: string | null
    postponed: Generated<boolean>
    reasons: unknown
    candidates: unknown
    waiting_since: Generated<Date>
  }
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
  merged_foreign_ids: {
    merge_id: number
    source: string
    foreign_id: string
    finish: string
    moved: boolean
  }
  merged_held_prices: {
    merge_id: number
    held_id: number
    decision: string | null
    discarded: boolean
  }
  merged_listings: {
    merge_id: number
    listing_id: number
  }
  merged_points: {
    merge_id: number
    import_id: number
    market: number
    label_id: number
    updated_at: Date
    price: string
    state: 'seen' | 'covered' | 'withdrawn' | 'made'
    placed: boolean
  }
  merged_prices: {
    merge_id: number
    item_id: number
    market: number
    label_id: number
    price: string
    updated_at: Date
    import_id: number
    confirmed_at: Date | null
    line: number | null
    flags: number | null
    avg_1: string | null
    avg_7: string | null
    avg_30: string | null
    low: string | null
    mid: string | null
    high: string | null
    samples: number | null
  }
  merged_records: {
    merge_id: number
    record_id: number
  }
  merged_rows: {
    merge_id: number
    name: string
    content: unknown
    placed: boolean
  }
  merged_sales: {
    merge_id: number
    sale_id: number
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
  merges: {
    id: GeneratedAlways<number>
    from_item: number
    into_item: number
    item: unknown
    moved: Generated<unknown>
    author: string
    at: Date
    undone_by: string | null
    undone_at: Date | null
  }
  notices: {
    id: GeneratedAlways<number>
    listing_id: number | null
    seller_id: number
    who: string
    right: string
    evidence: string
    state: Generated<'received' | 'hidden' | 'kept'>
    received_at: Date
    due_at: Date
    note: string | null
    decided_at: Date | null
    decided_by: string | null
  }
  notification_deliveries: {
    id: GeneratedAlways<number>
    notification_id: number
    version: number
    channel: 'webhook' | 'email'
    body: string
    state: Generated<'queued' | 'delivered' | 'failed' | 'cancelled'>
    attempts: Generated<number>
    due_at: Date
    lease_until: Date | null
    finished_at: Date | null
    error: string | null
  }
  notification_reads: {
    notification_id: number
    reader: string
    version: number
  }
  notifications: {
    id: GeneratedAlways<number>
    account_id: number | null
    subject: string
    node: string
    kind: string
    severity: 'info' | 'warning' | 'critical'
    params: unknown
    state: string
    value: number | null
    version: Generated<number>
    since: Date
    changed_at: Date
    resolved_at: Date | null
  }
  offers: {
    id: GeneratedAlways<number>
    listing_id: number | null
    seller_id: number
    title: string
    listing_price: string
    content_hash: Buffer
    order_id: number
    buyer_reference: string
    buyer_account_id: number | null
    quantity: number
    unit_price: string
    counter_price: string | null
    status: 'open' | 'countered' | 'accepted' | 'declined' | 'withdrawn' | 'expired'
    created_at: Date
    changed_at: Date
    expires_at: Date
  }
  operator_tokens: {
    id: GeneratedAlways<number>
    label: string
    hash: Buffer
    last4: string
    created_at: Generated<Date>
    last_used_at: Date | null
    revoked_at: Date | null
  }
  order_buyers: {
    order_id: number
    reference: string | null
    account_id: number | null
  }
  orders: {
    order_id: number
    request_hash: Buffer
    result: unknown
    sold_at: Date
    created_at: Date
  }
  own_prices: {
    item_id: number
    label_id: number
    buyers: number
    sellers: number
    cost: string
    cost_buyers: number
    cost_sellers: number
    changes_at: Date
    is_last: boolean
  }
  parked_listings: {
    id: GeneratedAlways<number>
    account_id: number
    key: string
    line: number
    entry: unknown
    rule: string
    params: unknown
    candidates: unknown
    parked_at: Date
    import_id: number | null
  }
  parked_row_reasons: {
    parked_row_id: number
    rule: string
    params: unknown
  }
  people: {
    id: GeneratedAlways<number>
    name: string
    name_key: string
    roles: string[]
    password_hash: string | null
    totp_secret: Buffer | null
    totp_pending: Buffer | null
    totp_step: Generated<number>
    created_at: Date
    removed_at: Date | null
    provider_issuer: string | null
    provider_subject: string | null
  }
  person_keys: {
    id: GeneratedAlways<number>
    kind: 'account' | 'buyer'
    account_id: number | null
    reference_hash: Buffer | null
    key: Buffer
    created_at: Generated<Date>
  }
  person_links: {
    hash: Buffer
    person_id: number | null
    expires_at: Date
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
    by_provider: Generated<boolean>
  }
  person_tokens: {
    id: GeneratedAlways<number>
    person_id: number
    label: string
    hash: Buffer
    last4: string
    created_at: Date
    last_used_at: Date | null
    revoked_at: Date | null
    parent_id: number | null
  }
  photos: {
    id: GeneratedAlways<number>
    account_id: number
    sha256: Buffer
    key: string
    widths: number[]
    size_hashes: Buffer[]
    created_at: Date
    checked_at: Date
    unused_since: Date | null
    remove_after: Date | null
  }
  picture_copies: {
    id: GeneratedAlways<number>
    account_id: number
    url: string
    url_hash: Buffer
    photo_id: number | null
    attempts: Generated<number>
    next_at: Date | null
    problem: 'missing' | 'failed' | 'slow' | 'unusable' | 'full' | null
    created_at: Date
  }
  price_archives: {
    month: string
    file: string | null
    rows: number
    checksum: string
    replaced_before: Date
    import_ids: number[]
    earlier_files: Generated<string[]>
    archived_at: Date
  }
  price_decision_prices: {
    decision_id: number
    item_id: number
    market: number
    label_id: number
    updated_at: Date
    price: string
    import_id: number
    held_id: number | null
    before: unknown
    after_price: string | null
    after_updated_at: Date | null
    after_import_id: number | null
    in_history: Generated<boolean>
    kept: 'newer_price' | 'reverted_import' | 'merged_item' | 'decided_since' | null
  }
  price_decisions: {
    id: GeneratedAlways<number>
    decision: 'accept' | 'discard' | 'confirm' | 'withdraw'
    filter: unknown
    author: string
    at: Date
    undone_by: string | null
    undone_at: Date | null
  }
  price_feeds: {
    market: number
    import_id: number
    newest: Date
    prices: number
  }
  price_indices: {
    name: string
    month: string
    value: string
  }
  price_job_rows: {
    job_id: number
    position: number
    listing_id: number | null
    sku: string | null
    old_price: string | null
    new_price: string | null
    old_quantity: number | null
    new_quantity: number | null
    payout: string | null
    rank: number | null
    refused: unknown
    outcome: 'changed' | 'reversed' | 'kept' | 'failed' | null
    why: unknown
    old_changed_by: unknown
    reason: unknown
    new_version: number | null
    old_priced_version: number | null
    old_stocked_version: number | null
    market_price: string | null
    warnings: unknown
  }
  price_jobs: {
    id: GeneratedAlways<number>
    account_id: number
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
    rule_id: number | null
    stored_rows: number | null
    stored_bytes: number | null
    ignored_columns: Generated<string[]>
  }
  price_mappings: {
    name: string
    mapping: unknown
    author: string
    saved_at: Date
  }
  price_points: {
    item_id: number
    market: number
    label_id: number
    updated_at: Date
    price: string
    import_id: number
  }
  price_review_changes: {
    item_id: number
  }
  price_reviews: {
    item_id: number
    state: string
    cause: string | null
    times_off: number | null
    value: number | null
    markets: number[]
    label_ids: number[]
    import_ids: number[]
  }
  price_statements: {
    id: GeneratedAlways<number>
    import_id: number
    at: Date
    payload: Buffer
  }
  prices: {
    item_id: number
    market: number
    label_id: number
    price: string
    updated_at: Date
    import_id: number
    confirmed_at: Date | null
    line: number | null
    state: Generated<number>
    confidence: Generated<number>
    flags: Generated<number>
    avg_1: string | null
    avg_7: string | null
    avg_30: string | null
    low: string | null
    mid: string | null
    high: string | null
    samples: number | null
  }
  published_dump: {
    one: Generated<boolean>
    as_of: Date
  }
  rate_limit_leases: {
    account_id: number
    ends_at: Date
    leased: number
    granted: number
    node: number
    shared_at: Date
  }
  rates: {
    currency: string
    day: string
    try_rate: string
  }
  repricing_rules: {
    id: GeneratedAlways<number>
    account_id: number
    name: string
    enabled: Generated<boolean>
    terms: unknown
    simulated_at: Date | null
    last_run_at: Date | null
    created_at: Date
    updated_at: Date
  }
  sale_asks: {
    sale_id: number
    lowest: string
  }
  sale_cancellations: {
    sale_id: number
    seller_id: number
    cancelled_at: Date
    cancelled_by: string
    reason: string
    listing_status: string | null
  }
  sales: {
    id: GeneratedAlways<number>
    order_id: number
    line: number
    listing_id: number | null
    seller_id: number
    item_id: number
    label_id: number
    quantity: number
    unit_price: string
    payout: string
    sold_at: Date
    certificate: unknown
  }
  sandboxes: {
    id: GeneratedAlways<number>
    account_id: number
    hash: Buffer
    last4: string
    starts_at: Date
    seed: number
    now: Date
    status: 'creating' | 'ready' | 'advancing' | 'failed'
    generation: Generated<number>
    problem: string | null
    fired: Generated<unknown>
    fired_total: Generated<number>
    lease: string | null
    lease_until: Date | null
    created_at: Date
    last_used_at: Date
  }
  sealed_aliases: {
    words: string
    means: string
  }
  search_terms: {
    week: string
    term: string
    searches: number
    people: number
    marks: number[]
  }
  seller_sessions: {
    id: GeneratedAlways<number>
    hash: Buffer
    key_id: number
    created_at: Generated<Date>
    last_used_at: Date
    expires_at: Date
  }
  service_settings: {
    name: string
    value: string | null
    previous: string | null
    version: number
    author: string
    changed_at: Date
  }
  set_decision_merges: {
    from_ref: string
    merge_id: number
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
  source_fetches: {
    source: string
    status: 'downloading' | 'done' | 'failed'
    started_at: Date
    finished_at: Date | null
    checked_at: Date | null
    fetched_at: Date | null
    progress: unknown
    files: Generated<unknown>
    import_id: number | null
    rule: string | null
    params: unknown
    message: string | null
  }
  source_records: {
    id: GeneratedAlways<number>
    source: string
    foreign_id: string
    finish: Generated<string>
    game: string
    world: string
    facts: unknown
    active: Generated<boolean>
  }
  source_statements: {
    import_id: number
    record_id: number
    facts: unknown
    withdrawn: Generated<boolean>
  }
  source_terms: {
    market: number
    use: 'internal' | 'show' | 'redistribute'
    licence: string | null
    author: string | null
    at: Date
  }
  sources_set_aside: {
    market: number
    author: string
    reason: string
    at: Date
  }
  splits: {
    id: Generated<number>
    item_id: number
    split_item: number
    source: string
    foreign_id: string
    pairs: unknown
    ended: unknown
    author: string
    at: Date
    reverted_by: string | null
    reverted_at: Date | null
  }
  start_marks: {
    mark: string
    at: Generated<Date>
  }
  synonyms: {
    word: string
    means: string
  }
  usual_ratio_decisions: {
    game: string
    category_id: number
    finish: string
    market_a: number
    market_b: number
    decision: 'confirmed' | 'rejected'
    ratio: number
    author: string
    at: Date
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
  vacations: {
    account_id: number
    starts_at: Date
    ends_at: Date
  }
  watch_progress: {
    one: Generated<boolean>
    position: string | null
    last_seq: number | null
    server: string | null
    vacations_until: Date | null
    lease_until: Date | null
  }
  watches: {
    id: GeneratedAlways<number>
    account_id: number
    kind: 'offer_below' | 'price_below' | 'price_above' | 'goal_reopened'
    item_id: number | null
    label_id: number | null
    language: string | null
    amount: string | null
    currency: string | null
    removed: Generated<boolean>
    told_day: string | null
    told_price: string | null
    told_market: number | null
    told_listing_id: number | null
    due_day: string | null
    created_at: Date
    updated_at: Date
    collection_id: number | null
    category_id: number | null
    goal: 'base' | 'official' | 'complete' | 'master' | null
    complete: boolean | null
  }
  webhook_attempts: {
    id: GeneratedAlways<number>
    event_id: number
    account_id: number
    kind: string
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
  webhook_events: {
    id: GeneratedAlways<number>
    account_id: number
    kind: 'sale' | 'expire' | 'offer' | 'watch'
    test: Generated<boolean>
    body: string
    state: Generated<'queued' | 'delivered' | 'failed' | 'cancelled'>
    attempts: Generated<number>
    last_attempt: Generated<number>
    due_at: Date
    lease_until: Date | null
    created_at: Date
    replay: Generated<boolean>
    traceparent: string | null
  }
  webhook_turns: {
    account_id: number
    action: 'check' | 'replay'
    at: Date
  }
  webhooks: {
    account_id: number
    url: string
    on_sale: boolean
    on_expire: boolean
    is_active: boolean
    sealed_secret: Buffer
    failing: Generated<boolean>
    created_at: Generated<Date>
    updated_at: Generated<Date>
    previous_sealed_secret: Buffer | null
    previous_valid_until: Date | null
  }
  workers: {
    id: string
    host: string
    last_seen_at: Date
    stopped: Generated<boolean>
  }
}
