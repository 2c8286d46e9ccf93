// What the operator API answers with, as far as the console reads it.

export const PLANS = ['starter', 'professional', 'plus', 'enterprise'] as const
export const MARKETS = ['service', 'source_a', 'source_b', 'source_c'] as const
export const LISTING_STATUSES = ['pending', 'active', 'paused', 'rejected', 'expired', 'sold'] as const
export const IMPORT_STATUSES = ['queued', 'running', 'done', 'failed'] as const
export const HELD_STATES = ['open', 'accepted', 'discarded'] as const
export const EVENT_KINDS = ['sale', 'expire'] as const
export const EVENT_STATES = ['queued', 'delivered', 'failed', 'cancelled'] as const

export const HOLD_RULES = ['foreign_id', 'future_date', 'jump', 'disagreement', 'grade_order'] as const

export type Market = (typeof MARKETS)[number]
export type ListingStatus = (typeof LISTING_STATUSES)[number]

export interface Account {
  id: number
  name: string
  plan: (typeof PLANS)[number]
  highlight_credits: number
  suspended: boolean
  created_at: string
}

export interface CreditEntry {
  id: number
  amount: number
  balance: number
  reason: string
  created_at: string
}

export interface ApiKey {
  id: number
  label: string
  last4: string
  created_at: string
  last_used_at: string | null
  expires_at: string | null
  revoked_at: string | null
}

export const KEY_STATES = ['valid', 'expired', 'revoked'] as const

export type NewApiKey = ApiKey & { key: string }

export interface Collection {
  id: number
  account_id: number
  name: string
  description: string
  visibility: string
  items_count: number
}

export interface WebhookEvent {
  id: number
  account_id: number
  event: string
  state: (typeof EVENT_STATES)[number]
  test: boolean
  attempts: number
  due_at: string | null
  body: Record<string, unknown>
  created_at: string
}

export interface AccountWebhook {
  url: string
  on_sale: boolean
  on_expire: boolean
  is_active: boolean
  /** its last delivery failed */
  failing: boolean
  updated_at: string
}

export interface WebhookAttempt {
  id: number
  event_id: number
  event: string
  attempt: number
  status_code: number | null
  success: boolean
  error: string | null
  response_excerpt: string
  started_at: string
  finished_at: string
  test: boolean
}

export interface Category {
  id: number
  ref: string
  name: string
  slug: string
  game: string
  market: Market
  parent_id: number | null
  image: string | null
}

export interface Item {
  id: number
  ref: string
  name: string
  code: string | null
  slug: string
  genre: string
  game: string
  market: Market
  category_id: number
  category: { id: number; name: string; slug: string }
  images: { url: string; order: number }[]
  attributes: { name: string; value: string }[]
  groups: number[]
  details: ItemDetails
  foreign_ids: { source: string; id: string; finish?: string }[]
  updated_at: string
}

/** An item of a list, with the price of its own market. */
export type ListedItem = Item & { price: Price | null }

export interface ItemDetails {
  rarity?: string
  illustrator?: string
  hp?: number
  types?: string[]
  dex_ids?: number[]
  stage?: string
  evolve_from?: string
  suffix?: string
  level?: number
}

export interface Price {
  market: Market
  label: string
  price: number
  updated_at: string
  import_id: number
}

export type PricedItem = Item & { prices: Price[] }

export interface Group {
  id: number
  name: string
  types: { id: number; label: string }[]
}

export interface ImportFormat {
  name: string
  kind: 'catalogue' | 'prices'
  title: string
  market: Market | null
}

export interface Import {
  id: number
  format: string
  market: Market | null
  file_name: string | null
  author: string
  dry_run: boolean
  status: (typeof IMPORT_STATUSES)[number]
  percent: number
  rows_read: number
  created: number
  updated: number
  accepted: number
  unchanged: number
  held: number
  rejected: number
  message: string | null
  reverts_import_id: number | null
  reverted_by_import_id: number | null
  started_at: string
  finished_at: string | null
}

export interface RefusedRow {
  file: string | null
  line: number
  reason: string
}

export interface ImportDetail extends Import {
  /** the first thousand */
  errors: RefusedRow[]
  /** most frequent first; counts all refused rows */
  reasons: { reason: string; count: number; samples: RefusedRow[] }[]
  held_by_rule?: Record<string, number>
  /** the ten furthest off */
  worst_held?: HeldPrice[]
}

export interface HeldPrice {
  id: number
  import_id: number
  item: { id: number; name: string; ref: string }
  market: Market
  label: string
  price: number
  updated_at: string
  rule: (typeof HOLD_RULES)[number]
  reason: string
  compared_price: number | null
  times_off: number | null
  held_at: string
  state: (typeof HELD_STATES)[number]
  decided_by: string | null
}

export interface Listing {
  id: number
  /** names this state of the listing: writes send it as `If-Match` */
  etag: string
  seller_id: number
  item_id: number
  grade_id: number | null
  title: string
  slug: string
  description: string
  price: number
  quantity: number
  language: string | null
  images: { url: string; order: number }[]
  shipping_payer: string
  offers_enabled: boolean
  min_offer_price: number | null
  status: ListingStatus
  approved_price: number | null
  approved_at: string | null
  rejection_reason: string | null
  waiting_since: string | null
  published_at: string | null
  expires_at: string | null
  highlighted_until: string | null
  created_at: string
  updated_at: string
  changed_since_approval: { field: string; approved: unknown; now: unknown }[] | null
}

export interface OrderLine {
  listing_id: number | null
  quantity: number
  unit_price: number
  seller_payout: number
  listing_status: ListingStatus | null
}

export interface Order {
  order_id: number
  sold_at: string
  lines: OrderLine[]
}

export interface Sale {
  id: number
  order_id: number
  listing_id: number | null
  seller_id: number
  item_id: number
  item_name: string
  label: string
  quantity: number
  unit_price: number
  seller_payout: number
  sold_at: string
}

export interface AuditRow {
  id: number
  at: string
  actor: string
  action: string
  subject_type: string
  subject_id: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  request_id: string | null
}

export interface Stats {
  items: number
  listings: Partial<Record<ListingStatus, number>>
  imports: Partial<Record<Import['status'], number>>
  /** by rule */
  held_prices: Record<string, number>
  webhook_events: Partial<Record<WebhookEvent['state'], number>>
  webhooks_failing: number
  waiting_since: { approval: string | null; webhook_event: string | null }
  /** days with sales, newest first */
  sales: { day: string; sales: number; quantity: number; turnover: number; payouts: number }[]
  sources: Source[]
}

/** How fresh and complete the prices of a source are, by group of labels. */
export interface Source {
  market: Market
  group: string
  last_price_at: string | null
  last_feed_at: string | null
  prices: number
  coverage: number
  held: number
}
