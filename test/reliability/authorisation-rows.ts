// Who may do what: one row for every operation that a listener registers; authorisation.test.ts sends all of them.
import type { ErrorCode } from '#core/errors.ts'
import type { Plan } from '#core/plans.ts'
import type { Role } from '#core/roles.ts'

/** The kind of record that an operation accesses and that belongs to an account; `own`: lists of the caller's own records. */
type Owned = 'offer' | 'listing' | 'parked' | 'import' | 'collection' | 'job' | 'rule' | 'own'

export interface PublicRow {
  needs: Plan
  owned?: Owned
  /** error for another account's record, as documented in the interface; it never depends on the record's content */
  foreign?: ErrorCode
  query?: string
  body?: object
  /** a body that is a file */
  upload?: Buffer
  status?: number
  /** a POST that changes nothing */
  reads?: boolean
  /** responds with a file instead of JSON */
  file?: boolean
}

const LISTING = { needs: 'plus', owned: 'listing', foreign: 'PLUS_LISTING_ERROR' } as const
const PARKED = { needs: 'plus', owned: 'parked', foreign: 'PLUS_LISTING_ERROR' } as const
const RECORD = { needs: 'plus', owned: 'collection', foreign: 'PLUS_COLLECTION_ERROR' } as const
const JOB = { needs: 'plus', owned: 'job', foreign: 'NOT_FOUND' } as const
const OFFER = { needs: 'plus', owned: 'offer', foreign: 'NOT_FOUND' } as const
const OWN_RULE = { needs: 'plus', owned: 'rule', foreign: 'NOT_FOUND' } as const
const RULE = { target: { kind: 'cheapest', amount: -1 }, scope: { kind: 'all' }, floor: { price: 10 } }
/** A PNG of one pixel. */
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
const OWN = { needs: 'plus', owned: 'own' } as const

/** REST operations. A body may contain placeholders such as `ITEM`, `CURSOR` or `SOON`, which are replaced by ids. */
export const PUBLIC_ROWS: Record<string, PublicRow> = {
  'GET /api/v1/items': { needs: 'starter' },
  'GET /api/v1/items/search': { needs: 'starter', query: 'q=charizard' },
  'GET /api/v1/items/suggest': { needs: 'starter', query: 'q=char' },
  'POST /api/v1/items/lookup': { needs: 'starter', body: { ids: [{ source: 'cardmarket', id: '1' }] }, reads: true },
  'GET /api/v1/items/:id': { needs: 'starter' },
  'GET /api/v1/categories': { needs: 'starter' },
  'GET /api/v1/groups': { needs: 'starter' },
  'GET /api/v1/markets': { needs: 'starter' },
  'GET /api/v1/me': { needs: 'starter', owned: 'own' },
  'GET /api/v1/items/:id/price-history': { needs: 'professional' },
  'GET /api/v1/items/:id/price-chart': { needs: 'professional' },
  'GET /api/v1/items/:id/prices/explain': { needs: 'professional' },
  'GET /api/v1/changes': { needs: 'professional' },
  'GET /api/v1/dumps': { needs: 'professional' },
  'GET /api/v1/dumps/:name': { needs: 'professional', status: 404 },
  'GET /api/v1/plus/collections': OWN,
  'GET /api/v1/plus/collections/:id/items': RECORD,
  'GET /api/v1/plus/collections/:id/worth-history': { needs: 'plus', owned: 'collection', foreign: 'CONFLICT' },
  'POST /api/v1/plus/collections/:id/items': { ...RECORD, body: { item_id: 'ITEM' }, status: 201 },
  'GET /api/v1/plus/collections/:id/items/:itemId': RECORD,
  'PATCH /api/v1/plus/collections/:id/items/:itemId': { ...RECORD, body: { quantity: 3 } },
  'DELETE /api/v1/plus/collections/:id/items/:itemId': RECORD,
  'GET /api/v1/plus/listings': { needs: 'plus' },
  'GET /api/v1/plus/listings/:id': { needs: 'plus' },
  'GET /api/v1/plus/listings/:id/visibility': { needs: 'plus', owned: 'listing', foreign: 'NOT_FOUND' },
  'GET /api/v1/plus/listings/:id/views': { needs: 'plus', owned: 'listing', foreign: 'NOT_FOUND' },
  'GET /api/v1/plus/payout-preview': { needs: 'plus', query: 'price=100' },
  'GET /api/v1/plus/my-listings': OWN,
  'GET /api/v1/plus/recent-sales': { needs: 'plus' },
  'GET /api/v1/plus/orders': OWN,
  'GET /api/v1/plus/offers': OWN,
  'POST /api/v1/plus/offers/:id/accept': OFFER,
  'POST /api/v1/plus/offers/:id/decline': OFFER,
  'POST /api/v1/plus/offers/:id/counter': { ...OFFER, body: { price: 90 } },
  'GET /api/v1/plus/statement': OWN,
  'PATCH /api/v1/plus/listings/:id/price': { ...LISTING, body: { price: 150 } },
  'PATCH /api/v1/plus/listings/:id': { ...LISTING, body: { title: 'Another title' } },
  'POST /api/v1/plus/listings/:id/status': { ...LISTING, query: 'action=pause' },
  'DELETE /api/v1/plus/listings/:id': LISTING,
  'POST /api/v1/plus/make-highlight': { ...LISTING, body: { id: 'LISTING' } },
  'GET /api/v1/plus/repricing-rules': OWN,
  'POST /api/v1/plus/repricing-rules': { needs: 'plus', body: { name: 'Rule', ...RULE }, status: 201 },
  'PATCH /api/v1/plus/repricing-rules/:id': { ...OWN_RULE, body: { name: 'Another name' } },
  'DELETE /api/v1/plus/repricing-rules/:id': OWN_RULE,
  'POST /api/v1/plus/repricing-rules/:id/simulate': OWN_RULE,
  'POST /api/v1/plus/repricing-rules/:id/run': OWN_RULE,
  'POST /api/v1/plus/price-jobs': { needs: 'plus', body: { rows: [{ listing_id: 'LISTING', price: 150 }] }, status: 201 },
  'GET /api/v1/plus/price-jobs': { needs: 'plus' },
  'GET /api/v1/plus/price-jobs/:id': JOB,
  'POST /api/v1/plus/price-jobs/:id/apply': JOB,
  'POST /api/v1/plus/price-jobs/:id/undo': JOB,
  'POST /api/v1/plus/listings/renew': { needs: 'plus', body: { ids: ['LISTING'] } },
  'POST /api/v1/plus/listings': { needs: 'plus', body: { item_id: 'ITEM', price: 150 }, status: 201 },
  'POST /api/v1/plus/images': { needs: 'plus', upload: PIXEL, status: 201 },
  'POST /api/v1/plus/listings/import': { needs: 'plus', body: { rows: [{ item_id: 'ITEM', price: 150 }] } },
  'GET /api/v1/plus/listings/columns': { needs: 'plus' },
  'PUT /api/v1/plus/listings/columns': { needs: 'plus', body: { columns: [{ column: 'Cena', field: 'price' }] } },
  'GET /api/v1/plus/listings/export': { ...OWN, file: true },
  'GET /api/v1/plus/listings/imports': { needs: 'plus' },
  'POST /api/v1/plus/listings/imports/:id/undo': { needs: 'plus', owned: 'import', foreign: 'PLUS_LISTING_ERROR' },
  'GET /api/v1/plus/parked-listings': OWN,
  'POST /api/v1/plus/parked-listings/:id': { ...PARKED, body: { item_id: 'ITEM' }, status: 201 },
  'DELETE /api/v1/plus/parked-listings/:id': PARKED,
  'GET /api/v1/plus/vacation': { needs: 'plus' },
  'PUT /api/v1/plus/vacation': { needs: 'plus', body: { from: 'SOON', to: 'LATER' } },
  'DELETE /api/v1/plus/vacation': { needs: 'plus' },
  'GET /api/v1/plus/webhook': OWN,
  'PUT /api/v1/plus/webhook': { needs: 'plus', body: { url: 'https://example.com/new' } },
  'POST /api/v1/plus/webhook/rotate-secret': { needs: 'plus' },
  'GET /api/v1/plus/webhook/logs': OWN,
  'POST /api/v1/plus/webhook/test': { needs: 'plus', body: { event: 'sale' } },
  'POST /api/v1/plus/webhook/check': { needs: 'plus' },
  'GET /api/v1/plus/events': OWN,
  'POST /api/v1/plus/events/replay': { needs: 'plus', body: { until: 'CURSOR' } },
  'DELETE /api/v1/plus/webhook': { needs: 'plus', status: 204 },
}

export interface GraphqlRow {
  needs: Plan
  owned?: boolean
  foreign?: ErrorCode
  /**
   * the field with its arguments, with the placeholders `ITEM`, `LISTING`, `COLLECTION`, `RECORD`, `JOB`, `APPLIED`, `RULE`, `OFFER`, `CURSOR`, `SOON` and
   * `LATER`
   */
  field: string
}

const LISTING_MUTATION = { needs: 'plus', owned: true, foreign: 'PLUS_LISTING_ERROR' } as const
const RECORD_MUTATION = { needs: 'plus', owned: true, foreign: 'PLUS_COLLECTION_ERROR' } as const

const JOB_MUTATION = { needs: 'plus', owned: true, foreign: 'NOT_FOUND' } as const

/** Root fields of GraphQL. */
export const GRAPHQL_ROWS: Record<string, GraphqlRow> = {
  'query categories': { needs: 'starter', field: 'categories { nodes { id } }' },
  'query category': { needs: 'starter', field: 'category(id: 1) { id }' },
  'query events': { needs: 'plus', field: 'events { events { data { itemName } } }' },
  'query items': { needs: 'starter', field: 'items { nodes { id } }' },
  'query item': { needs: 'starter', field: 'item(id: ITEM) { id }' },
  'query groups': { needs: 'starter', field: 'groups { id }' },
  'query markets': { needs: 'starter', field: 'markets { code }' },
  'query repricingRules': { needs: 'plus', owned: true, field: 'repricingRules { name }' },
  'query collectionWorthHistory': {
    needs: 'plus',
    owned: true,
    foreign: 'CONFLICT',
    field: 'collectionWorthHistory(collectionId: COLLECTION) { day }',
  },
  'query vacation': { needs: 'plus', field: 'vacation { to }' },
  'query listing': { needs: 'plus', field: 'listing(id: LISTING) { id }' },
  'query orders': { needs: 'plus', owned: true, field: 'orders { lines { item { name } } }' },
  'query offers': { needs: 'plus', owned: true, field: 'offers { offers { title } }' },
  'query statement': { needs: 'plus', owned: true, field: 'statement { lines { item { name } } }' },
  'query priceJobs': { needs: 'plus', field: 'priceJobs { id }' },
  'query priceJob': { needs: 'plus', owned: true, field: 'priceJob(id: JOB) { rows { nodes { sku } } }' },
  'query listingVisibility': { needs: 'plus', owned: true, field: 'listingVisibility(listingId: LISTING) { visible }' },
  'query payoutPreview': { needs: 'plus', field: 'payoutPreview(price: 100) { payout }' },
  'query me': { needs: 'starter', owned: true, field: 'me { account { name } }' },
  'query changes': { needs: 'professional', field: 'changes { next }' },
  'query dump': { needs: 'professional', field: 'dump { asOf }' },
  'query suggestItems': { needs: 'starter', field: 'suggestItems(q: "char") { id }' },
  'query lookupItems': { needs: 'starter', field: 'lookupItems(ids: [{ source: "cardmarket", id: "1" }]) { state }' },
  'mutation addCollectionItem': { ...RECORD_MUTATION, field: 'addCollectionItem(collectionId: COLLECTION, input: { itemId: ITEM }) { id }' },
  'mutation updateCollectionItem': {
    ...RECORD_MUTATION,
    field: 'updateCollectionItem(collectionId: COLLECTION, itemId: RECORD, input: { quantity: 3 }) { id }',
  },
  'mutation removeCollectionItem': { ...RECORD_MUTATION, field: 'removeCollectionItem(collectionId: COLLECTION, itemId: RECORD) { success }' },
  'mutation createListing': { needs: 'plus', field: 'createListing(input: { itemId: ITEM, price: 150 }) { id }' },
  'mutation updateListingPrice': { ...LISTING_MUTATION, field: 'updateListingPrice(listingId: LISTING, price: 150) { id }' },
  'mutation updateListing': { ...LISTING_MUTATION, field: 'updateListing(listingId: LISTING, input: { title: "Another title" }) { id }' },
  'mutation setListingStatus': { ...LISTING_MUTATION, field: 'setListingStatus(listingId: LISTING, action: "pause") { id }' },
  'mutation createRepricingRule': {
    needs: 'plus',
    field:
      'createRepricingRule(input: { name: "Rule", target: { kind: "cheapest", amount: -1 }, scope: { kind: "all" }, floor: { price: 10 } }) { id }',
  },
  'mutation updateRepricingRule': { ...JOB_MUTATION, field: 'updateRepricingRule(id: RULE, input: { name: "Another name" }) { id }' },
  'mutation deleteRepricingRule': { ...JOB_MUTATION, field: 'deleteRepricingRule(id: RULE) { success }' },
  'mutation simulateRepricingRule': { ...JOB_MUTATION, field: 'simulateRepricingRule(id: RULE) { changed }' },
  'mutation runRepricingRule': { ...JOB_MUTATION, field: 'runRepricingRule(id: RULE) { changed }' },
  'mutation planPriceJob': { needs: 'plus', field: 'planPriceJob(rows: [{ listingId: LISTING, price: 150 }]) { id }' },
  'mutation applyPriceJob': { ...JOB_MUTATION, field: 'applyPriceJob(id: JOB) { rows { nodes { sku } } }' },
  'mutation undoPriceJob': { ...JOB_MUTATION, field: 'undoPriceJob(id: APPLIED) { rows { nodes { sku } } }' },
  'mutation acceptOffer': { ...JOB_MUTATION, field: 'acceptOffer(id: OFFER) { title }' },
  'mutation declineOffer': { ...JOB_MUTATION, field: 'declineOffer(id: OFFER) { title }' },
  'mutation counterOffer': { ...JOB_MUTATION, field: 'counterOffer(id: OFFER, price: 90) { title }' },
  'mutation renewListings': { needs: 'plus', field: 'renewListings(ids: [LISTING]) { more }' },
  'mutation setVacation': { needs: 'plus', field: 'setVacation(from: SOON, to: LATER) { to }' },
  'mutation endVacation': { needs: 'plus', field: 'endVacation { success }' },
  'mutation configureWebhook': { needs: 'plus', field: 'configureWebhook(input: { url: "https://example.com/new" }) { url }' },
  'mutation rotateWebhookSecret': { needs: 'plus', field: 'rotateWebhookSecret { previousValidUntil }' },
  'mutation testWebhook': { needs: 'plus', field: 'testWebhook(event: "sale") { id }' },
  'mutation checkWebhook': { needs: 'plus', field: 'checkWebhook { checks { ok } }' },
  'mutation replayEvents': { needs: 'plus', field: 'replayEvents(until: CURSOR) { queued }' },
  'mutation deleteWebhook': { needs: 'plus', field: 'deleteWebhook { success }' },
}

/** Fields of an item over GraphQL: the smallest plan that does not get null. */
export const ITEM_FIELD_ROWS: Record<string, Plan> = {
  id: 'starter',
  name: 'starter',
  code: 'starter',
  slug: 'starter',
  genre: 'starter',
  game: 'starter',
  category: 'starter',
  images: 'starter',
  groups: 'starter',
  attributes: 'starter',
  prices: 'professional',
  priceHistory: 'professional',
  priceChart: 'professional',
  rarity: 'professional',
  illustrator: 'professional',
  hp: 'professional',
  types: 'professional',
  dexIds: 'professional',
  stage: 'professional',
  evolveFrom: 'professional',
  suffix: 'professional',
  level: 'professional',
}

/** Operations of the operator's listener that require an operator token, or the console's session instead. */
export const OPERATOR_ROWS: readonly string[] = [
  ...['GET', 'POST'].flatMap((method) =>
    ['accounts', 'categories', 'items', 'collections', 'listings', 'orders', 'rates', 'dumps'].map((name) => `${method} /operator/v1/${name}`),
  ),
  'GET /operator/v1/accounts/:id',
  'PATCH /operator/v1/accounts/:id',
  'GET /operator/v1/accounts/:id/credits',
  'POST /operator/v1/accounts/:id/credits',
  'GET /operator/v1/accounts/:account_id/keys',
  'POST /operator/v1/accounts/:account_id/keys',
  'GET /operator/v1/accounts/:account_id/webhook',
  'GET /operator/v1/accounts/:account_id/webhook/attempts',
  'POST /operator/v1/accounts/:account_id/webhook/test',
  'GET /operator/v1/accounts/:account_id/usage',
  'PATCH /operator/v1/keys/:id',
  'POST /operator/v1/keys/:id/rotate',
  'DELETE /operator/v1/keys/:id',
  'GET /operator/v1/audit',
  'GET /operator/v1/synonyms',
  'PUT /operator/v1/synonyms',
  'PATCH /operator/v1/categories/:id',
  'GET /operator/v1/items/:id',
  'PATCH /operator/v1/items/:id',
  'GET /operator/v1/items/:id/price-history',
  'GET /operator/v1/items/:id/price-chart',
  'GET /operator/v1/items/:id/prices/explain',
  'POST /operator/v1/items/:id/merge',
  'GET /operator/v1/merges',
  'POST /operator/v1/items/:id/split',
  'POST /operator/v1/batches/:id/revert',
  'GET /operator/v1/items/:id/sources',
  'GET /operator/v1/matches',
  'GET /operator/v1/matches/:id',
  'POST /operator/v1/matches/:id/accept',
  'POST /operator/v1/matches/:id/separate',
  'POST /operator/v1/matches/:id/postpone',
  'POST /operator/v1/matches/:id/withdraw',
  'GET /operator/v1/set-matches',
  'POST /operator/v1/set-matches/:id/accept',
  'POST /operator/v1/set-matches/:id/separate',
  'POST /operator/v1/set-matches/:id/withdraw',
  'GET /operator/v1/groups',
  'GET /operator/v1/query-completions',
  'GET /operator/v1/import-formats',
  'PATCH /operator/v1/collections/:id',
  'DELETE /operator/v1/collections/:id',
  'GET /operator/v1/collections/:id/worth-history',
  'GET /operator/v1/collections/:id/export',
  'POST /operator/v1/collections/:id/import/:format',
  'GET /operator/v1/collections/:id/parked',
  'POST /operator/v1/collections/:id/parked/:row_id/place',
  'POST /operator/v1/collections/:id/parked/:row_id/discard',
  'GET /operator/v1/listings/waiting',
  'GET /operator/v1/listings/:id',
  'PATCH /operator/v1/listings/:id',
  'POST /operator/v1/listings/:id/approve',
  'POST /operator/v1/listings/:id/reject',
  'POST /operator/v1/listings/:id/request-change',
  'GET /operator/v1/listings/:id/review',
  'GET /operator/v1/listing-decisions',
  'GET /operator/v1/approval-rules',
  'POST /operator/v1/approval-rules',
  'PATCH /operator/v1/approval-rules/:id',
  'POST /operator/v1/approval-rules/:id/backtest',
  'GET /operator/v1/approval-rules/:id/log',
  'POST /operator/v1/approval-rules/:id/reopen',
  'POST /operator/v1/listings/:id/undo-decision',
  'GET /operator/v1/orders/:order_id',
  'POST /operator/v1/orders/:order_id/cancel',
  'GET /operator/v1/sales',
  'POST /operator/v1/offers',
  'GET /operator/v1/offers',
  'GET /operator/v1/offers/:id',
  'POST /operator/v1/offers/:id/accept',
  'POST /operator/v1/offers/:id/withdraw',
  'GET /operator/v1/held-prices',
  'POST /operator/v1/held-prices/:id/accept',
  'POST /operator/v1/held-prices/:id/discard',
  'POST /operator/v1/held-prices/accept',
  'POST /operator/v1/held-prices/discard',
  'GET /operator/v1/price-reviews',
  'GET /operator/v1/price-reviews/count',
  'POST /operator/v1/price-decisions',
  'GET /operator/v1/price-decisions',
  'POST /operator/v1/price-decisions/:id/undo',
  'GET /operator/v1/sources',
  'PATCH /operator/v1/sources/:market',
  'POST /operator/v1/sources/:market/set-aside',
  'POST /operator/v1/sources/:market/restore',
  'POST /operator/v1/sources/:market/take-back',
  'GET /operator/v1/shared-ids',
  'GET /operator/v1/stats',
  'GET /operator/v1/stats/activity',
  'GET /operator/v1/health',
  'POST /operator/v1/prices',
  'POST /operator/v1/items/:id/prices',
  'GET /operator/v1/imports',
  'GET /operator/v1/imports/:id',
  'GET /operator/v1/imports/:id/refusals.csv',
  'POST /operator/v1/imports/:id/revert',
  'POST /operator/v1/imports/:format',
  'GET /operator/v1/price-mappings',
  'GET /operator/v1/price-mappings/:name',
  'PUT /operator/v1/price-mappings/:name',
  'DELETE /operator/v1/price-mappings/:name',
  'GET /operator/v1/webhook-events',
  'POST /operator/v1/webhook-events/:id/redeliver',
  'GET /operator/v1/people',
  'POST /operator/v1/people',
  'GET /operator/v1/people/:id',
  'PATCH /operator/v1/people/:id',
  'DELETE /operator/v1/people/:id',
  'POST /operator/v1/people/:id/invite',
  'GET /operator/v1/people/:id/sessions',
  'DELETE /operator/v1/people/:id/sessions',
  'DELETE /operator/v1/people/:id/sessions/:session_id',
  'GET /operator/v1/people/:id/tokens',
  'POST /operator/v1/people/:id/tokens',
  'DELETE /operator/v1/people/:id/tokens/:token_id',
  'GET /operator/v1/first-steps',
]

const CATALOGUE: readonly Role[] = ['owner', 'catalogue']
const MARKET: readonly Role[] = ['owner', 'market']
const SUPPORT: readonly Role[] = ['owner', 'support']
const OWNERS: readonly Role[] = ['owner']

/**
 * Roles that may call an operation of the operator API; every role may call a GET that is not listed here. For people's own
 * sessions and tokens, these are the roles that may access those of others.
 */
export const OPERATOR_ROLES: Readonly<Record<string, readonly Role[]>> = {
  'POST /operator/v1/accounts': SUPPORT,
  'PATCH /operator/v1/accounts/:id': SUPPORT,
  'POST /operator/v1/accounts/:id/credits': SUPPORT,
  'POST /operator/v1/accounts/:account_id/keys': SUPPORT,
  'POST /operator/v1/accounts/:account_id/webhook/test': SUPPORT,
  'PATCH /operator/v1/keys/:id': SUPPORT,
  'POST /operator/v1/keys/:id/rotate': SUPPORT,
  'DELETE /operator/v1/keys/:id': SUPPORT,
  'POST /operator/v1/collections': SUPPORT,
  'PATCH /operator/v1/collections/:id': SUPPORT,
  'DELETE /operator/v1/collections/:id': SUPPORT,
  'POST /operator/v1/collections/:id/import/:format': SUPPORT,
  'POST /operator/v1/collections/:id/parked/:row_id/place': SUPPORT,
  'POST /operator/v1/collections/:id/parked/:row_id/discard': SUPPORT,
  'POST /operator/v1/webhook-events/:id/redeliver': SUPPORT,
  'POST /operator/v1/categories': CATALOGUE,
  'PATCH /operator/v1/categories/:id': CATALOGUE,
  'POST /operator/v1/items': CATALOGUE,
  'PATCH /operator/v1/items/:id': CATALOGUE,
  'POST /operator/v1/items/:id/merge': CATALOGUE,
  'POST /operator/v1/items/:id/split': CATALOGUE,
  'POST /operator/v1/batches/:id/revert': CATALOGUE,
  'POST /operator/v1/dumps': CATALOGUE,
  'POST /operator/v1/rates': CATALOGUE,
  'PUT /operator/v1/synonyms': CATALOGUE,
  'POST /operator/v1/matches/:id/accept': CATALOGUE,
  'POST /operator/v1/matches/:id/separate': CATALOGUE,
  'POST /operator/v1/matches/:id/postpone': CATALOGUE,
  'POST /operator/v1/matches/:id/withdraw': CATALOGUE,
  'POST /operator/v1/set-matches/:id/accept': CATALOGUE,
  'POST /operator/v1/set-matches/:id/separate': CATALOGUE,
  'POST /operator/v1/set-matches/:id/withdraw': CATALOGUE,
  'POST /operator/v1/held-prices/:id/accept': CATALOGUE,
  'POST /operator/v1/held-prices/:id/discard': CATALOGUE,
  'POST /operator/v1/held-prices/accept': CATALOGUE,
  'POST /operator/v1/held-prices/discard': CATALOGUE,
  'POST /operator/v1/price-decisions': CATALOGUE,
  'POST /operator/v1/price-decisions/:id/undo': CATALOGUE,
  'PATCH /operator/v1/sources/:market': CATALOGUE,
  'POST /operator/v1/sources/:market/set-aside': CATALOGUE,
  'POST /operator/v1/sources/:market/restore': CATALOGUE,
  'POST /operator/v1/sources/:market/take-back': CATALOGUE,
  'POST /operator/v1/prices': CATALOGUE,
  'POST /operator/v1/items/:id/prices': CATALOGUE,
  'POST /operator/v1/imports/:id/revert': CATALOGUE,
  'POST /operator/v1/imports/:format': CATALOGUE,
  'PUT /operator/v1/price-mappings/:name': CATALOGUE,
  'DELETE /operator/v1/price-mappings/:name': CATALOGUE,
  'POST /operator/v1/listings': MARKET,
  'PATCH /operator/v1/listings/:id': MARKET,
  'POST /operator/v1/listings/:id/approve': MARKET,
  'POST /operator/v1/listings/:id/reject': MARKET,
  'POST /operator/v1/listings/:id/request-change': MARKET,
  'POST /operator/v1/listings/:id/undo-decision': MARKET,
  'POST /operator/v1/approval-rules': MARKET,
  'PATCH /operator/v1/approval-rules/:id': MARKET,
  'POST /operator/v1/approval-rules/:id/backtest': MARKET,
  'POST /operator/v1/approval-rules/:id/reopen': MARKET,
  'POST /operator/v1/orders': MARKET,
  'POST /operator/v1/orders/:order_id/cancel': ['owner', 'market', 'support'],
  'POST /operator/v1/offers': MARKET,
  'POST /operator/v1/offers/:id/accept': MARKET,
  'POST /operator/v1/offers/:id/withdraw': MARKET,
  'GET /operator/v1/people': OWNERS,
  'POST /operator/v1/people': OWNERS,
  'GET /operator/v1/people/:id': OWNERS,
  'PATCH /operator/v1/people/:id': OWNERS,
  'DELETE /operator/v1/people/:id': OWNERS,
  'POST /operator/v1/people/:id/invite': OWNERS,
  'GET /operator/v1/people/:id/sessions': OWNERS,
  'DELETE /operator/v1/people/:id/sessions': OWNERS,
  'DELETE /operator/v1/people/:id/sessions/:session_id': OWNERS,
  'GET /operator/v1/people/:id/tokens': OWNERS,
  'POST /operator/v1/people/:id/tokens': OWNERS,
  'DELETE /operator/v1/people/:id/tokens/:token_id': OWNERS,
}

/** These accept only an operator token, no session of the console. */
export const TOKEN_ROWS: readonly string[] = ['GET /metrics']

/** Public paths, and the console's sign-in, which checks the token or session itself; `*` stands for the rest of a path. */
export const OPEN_ROWS: readonly string[] = [
  'GET /',
  'GET /openapi.json',
  'GET /health/live',
  'GET /health/ready',
  'GET /changelog',
  'GET /client.js',
  'GET /price-chart.js',
  'GET /llms.txt',
  'GET /docs*',
  'GET /graphql/assets/*',
  'GET /sample/pictures/*',
  'GET /images/photos/:key/:file',
  'GET /operator/openapi.json',
  'GET /console*',
  'GET /console/session',
  'POST /console/session',
  'DELETE /console/session',
  'POST /console/password',
  'POST /console/two-factor',
  'POST /console/two-factor/confirm',
  'GET /desk*',
  'GET /desk/session',
  'POST /desk/session',
  'DELETE /desk/session',
]

/** Both paths of GraphQL; `GRAPHQL_ROWS` lists its operations. */
export const GRAPHQL_PATHS: readonly string[] = ['GET /graphql', 'POST /graphql', 'GET /graphql/v3', 'POST /graphql/v3']

/** Its tools call verbs that have their own rows; test/mcp checks which plan gets which tool. */
export const MCP_PATHS: readonly string[] = ['POST /mcp']
