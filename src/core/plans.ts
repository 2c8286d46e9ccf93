// The one page of plan gating: which plan an operation needs, and which plan a field needs, for each interface.

/** Plans from the smallest to the largest. */
export const PLANS = ['starter', 'professional', 'plus', 'enterprise'] as const

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
  listCategories: 'starter',
  getCategory: 'starter',
  readPriceHistory: 'professional',
  listCollections: 'plus',
  listCollectionItems: 'plus',
  getCollectionItem: 'plus',
  addCollectionItem: 'plus',
  updateCollectionItem: 'plus',
  removeCollectionItem: 'plus',
  searchListings: 'plus',
  listMyListings: 'plus',
  listRecentSales: 'plus',
  updateListingPrice: 'plus',
  updateListing: 'plus',
  setListingStatus: 'plus',
  deleteListing: 'plus',
  makeHighlight: 'plus',
  getWebhook: 'plus',
  configureWebhook: 'plus',
  listWebhookLogs: 'plus',
} as const satisfies Record<string, Plan>

/** Item fields that Starter does not get over REST: absent, nested ones too (interface.md, "Item (REST)"). */
export const REST_ITEM_FIELDS_FROM_PROFESSIONAL = [
  'slug',
  'genre',
  'game',
  'market',
  'images',
  'attributes',
  'category.slug',
  'groups.slug',
] as const

/** Item fields that Starter gets as null over GraphQL (interface.md, "Item (GraphQL)"). */
export const GRAPHQL_ITEM_FIELDS_FROM_PROFESSIONAL = [
  'prices',
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

/** Whether a plan is at least the needed one. */
export function planAllows(plan: Plan, needed: Plan): boolean {
  return PLANS.indexOf(plan) >= PLANS.indexOf(needed)
}
