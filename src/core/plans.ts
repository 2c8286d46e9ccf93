// Properties shared by public operations: the plan each operation or field needs, per interface, and common error codes.
import type { ErrorCode } from './errors.ts'
import { namedValues } from './named-values.ts'

/** Plans from the smallest to the largest. */
export const PLANS = namedValues('Plan', ['starter', 'professional', 'plus', 'enterprise'])

export type Plan = (typeof PLANS)[number]

export const PLAN_NAMES: Record<Plan, string> = {
  starter: 'Starter',
  professional: 'Professional',
  plus: 'Plus',
  enterprise: 'Enterprise',
}

/** Public operations and the smallest plan that may call them (interface.md, "Authentication" 3). */
export const OPERATION_PLAN = {
  listItems: 'starter',
  getItem: 'starter',
  searchItems: 'starter',
  suggestItems: 'starter',
  lookupItems: 'starter',
  listCategories: 'starter',
  getCategory: 'starter',
  listGroups: 'starter',
  listMarkets: 'starter',
  readMe: 'starter',
  readPriceHistory: 'professional',
  readPriceChart: 'professional',
  explainPrice: 'professional',
  listChanges: 'professional',
  getDump: 'professional',
  readDumpFile: 'professional',
  listCollections: 'plus',
  listCollectionItems: 'plus',
  readWorthHistory: 'plus',
  getCollectionItem: 'plus',
  addCollectionItem: 'plus',
  updateCollectionItem: 'plus',
  removeCollectionItem: 'plus',
  searchListings: 'plus',
  getListing: 'plus',
  listMyListings: 'plus',
  listRecentSales: 'plus',
  listMyOrders: 'plus',
  listMyOffers: 'plus',
  acceptOffer: 'plus',
  declineOffer: 'plus',
  counterOffer: 'plus',
  readStatement: 'plus',
  planPriceJob: 'plus',
  listPriceJobs: 'plus',
  getPriceJob: 'plus',
  applyPriceJob: 'plus',
  undoPriceJob: 'plus',
  updateListingPrice: 'plus',
  updateListing: 'plus',
  setListingStatus: 'plus',
  deleteListing: 'plus',
  makeHighlight: 'plus',
  previewPayout: 'plus',
  readListingVisibility: 'plus',
  readListingViews: 'plus',
  renewListings: 'plus',
  addListing: 'plus',
  importListings: 'plus',
  getListingColumns: 'plus',
  setListingColumns: 'plus',
  addPhoto: 'plus',
  listListingImports: 'plus',
  undoListingImport: 'plus',
  exportListings: 'plus',
  listParkedListings: 'plus',
  placeParkedListing: 'plus',
  dropParkedListing: 'plus',
  listRepricingRules: 'plus',
  createRepricingRule: 'plus',
  updateRepricingRule: 'plus',
  deleteRepricingRule: 'plus',
  simulateRepricingRule: 'plus',
  runRepricingRule: 'plus',
  getVacation: 'plus',
  setVacation: 'plus',
  endVacation: 'plus',
  getWebhook: 'plus',
  configureWebhook: 'plus',
  rotateWebhookSecret: 'plus',
  deleteWebhook: 'plus',
  listWebhookLogs: 'plus',
  readEvents: 'plus',
  replayEvents: 'plus',
  checkWebhook: 'plus',
  testWebhook: 'plus',
} as const satisfies Record<string, Plan>

/**
 * Operations that use the one error code of their family for every error (invalid, not found, conflict); all others
 * use a code for each kind of error (interface.md, "Errors").
 */
export const FAMILY_ERROR: Readonly<Partial<Record<string, ErrorCode>>> = {
  listCollections: 'PLUS_COLLECTION_ERROR',
  listCollectionItems: 'PLUS_COLLECTION_ERROR',
  getCollectionItem: 'PLUS_COLLECTION_ERROR',
  addCollectionItem: 'PLUS_COLLECTION_ERROR',
  updateCollectionItem: 'PLUS_COLLECTION_ERROR',
  removeCollectionItem: 'PLUS_COLLECTION_ERROR',
  updateListingPrice: 'PLUS_LISTING_ERROR',
  updateListing: 'PLUS_LISTING_ERROR',
  setListingStatus: 'PLUS_LISTING_ERROR',
  deleteListing: 'PLUS_LISTING_ERROR',
  makeHighlight: 'PLUS_LISTING_ERROR',
  renewListings: 'PLUS_LISTING_ERROR',
  addListing: 'PLUS_LISTING_ERROR',
  importListings: 'PLUS_LISTING_ERROR',
  setListingColumns: 'PLUS_LISTING_ERROR',
  addPhoto: 'PLUS_LISTING_ERROR',
  undoListingImport: 'PLUS_LISTING_ERROR',
  placeParkedListing: 'PLUS_LISTING_ERROR',
  dropParkedListing: 'PLUS_LISTING_ERROR',
} satisfies Partial<Record<keyof typeof OPERATION_PLAN, ErrorCode>>

/** Item fields that Starter does not get over REST: they are absent, also nested (interface.md, "Item (REST)"). */
export const REST_ITEM_FIELDS_FROM_PROFESSIONAL = ['slug', 'genre', 'game', 'market', 'images', 'attributes', 'category.slug', 'groups.slug'] as const

/** Item fields that Starter gets as null over GraphQL (interface.md, "Item (GraphQL)"). */
export const GRAPHQL_ITEM_FIELDS_FROM_PROFESSIONAL = [
  'prices',
  'priceHistory',
  'priceChart',
  'attributes',
  'rarity',
  'illustrator',
  'hp',
  'types',
  'dexIds',
  'stage',
  'evolveFrom',
  'suffix',
  'level',
] as const

/** Whether a plan is at least the required one. */
export function planAllows(plan: Plan, needed: Plan): boolean {
  return PLANS.indexOf(plan) >= PLANS.indexOf(needed)
}
