// The tools of the Model Context Protocol: names, descriptions and input schemas of verbs, written for language models.
import { explainPrice } from '#catalogue/items/explain-price.ts'
import { getItem } from '#catalogue/items/get-item.ts'
import { listCategories } from '#catalogue/categories/list-categories.ts'
import { readPriceHistory } from '#catalogue/items/read-price-history.ts'
import { searchItems } from '#catalogue/search/search-items.ts'
import { readCompletion } from '#collections/completion/read-completion.ts'
import { getCollection } from '#collections/get-collection.ts'
import { listCollections } from '#collections/list-collections.ts'
import { listCollectionItems } from '#collections/list-items.ts'
import { listCollectionDisposals, listCollectionLots } from '#collections/lots/list-lots.ts'
import { readCollectionProfit } from '#collections/lots/read-profit.ts'
import { readMe } from '#accounts/keys/read-me.ts'
import type { Shape } from '#core/input.ts'
import type { HasViewer, Verb } from '#core/verb.ts'
import { lookupItems } from '#identity/lookup-items.ts'
import { getListing } from '#market/listings/get-listing.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { planPriceJob } from '#market/jobs/plan-price-job.ts'
import { undoPriceJob } from '#market/jobs/undo-price-job.ts'
import { listMyListings } from '#market/seller/list-my-listings.ts'
import { listRecentSales } from '#market/orders/list-recent-sales.ts'
import { searchListings } from '#market/listings/search-listings.ts'
import { listWatches } from '#watches/own-watches.ts'
import type { PublicCtx } from '#public-context.ts'

// biome-ignore lint/suspicious/noExplicitAny: a list of tools contains verbs of all inputs and results
export type AnyVerb = Verb<any, any, any>

export interface Tool {
  name: string
  title: string
  /** what it does and when to use it */
  description: string
  verb: AnyVerb
  /** default values of input fields */
  defaults: Readonly<Record<string, unknown>>
}

interface Declared<Ctx extends HasViewer> {
  name: string
  title: string
  description: string
  // biome-ignore lint/suspicious/noExplicitAny: as above
  verb: Verb<Ctx, any, any>
  defaults?: Readonly<Record<string, unknown>>
}

/** Fewer than the REST default, because a model reads every entry. */
const SHORT_PAGE = { per_page: 10 }

export const TOOLS: readonly Tool[] = [
  tool({
    name: 'search_items',
    title: 'Search items',
    description:
      'Search trading cards and sealed products by name, collector number or set, best match first, with their current prices. ' +
      'Start here when you do not know the id of an item.',
    verb: searchItems,
    defaults: SHORT_PAGE,
  }),
  tool({
    name: 'get_item',
    title: 'Read an item',
    description: 'Read one item by its id: name, set, attributes, and current prices by condition and grade.',
    verb: getItem,
  }),
  tool({
    name: 'look_up_items',
    title: 'Look up items by identifiers',
    description:
      'Find up to 500 items at once by ids of other systems (`source` and `id`), or by `set` and `number`. Returns ' +
      'one result per identifier, in order: `found`, `ambiguous` with candidates, or `unknown`. Use it for lists of cards instead of many searches.',
    verb: lookupItems,
  }),
  tool({
    name: 'price_history',
    title: 'Read the price history of an item',
    description: 'Open, low, high and close of an item’s prices by day, week or month. Periods without a price change are omitted.',
    verb: readPriceHistory,
    defaults: { interval: 'week' },
  }),
  tool({
    name: 'explain_price',
    title: 'Explain a price',
    description:
      'Explains a current price: the rule that computed it, the statements or sales it was computed from, prices of ' +
      'other markets, exchange rates, and its confidence, with a `summary` in one sentence.',
    verb: explainPrice,
  }),
  tool({
    name: 'list_categories',
    title: 'List categories',
    description: 'List series, sets and other groups of items with their item counts. `parent_id` 0 returns the top level.',
    verb: listCategories,
    defaults: { per_page: 50 },
  }),
  tool({
    name: 'search_listings',
    title: 'Search listings for sale',
    description: 'Search the current offers of sellers. Prices are in TL. The `with_` flags add details to each listing.',
    verb: searchListings,
    defaults: { ...SHORT_PAGE, with_item: true, with_details: true },
  }),
  tool({
    name: 'get_listing',
    title: 'Read a listing',
    description: 'Read one listing by its id: a published one, or your own in any status, then with its `etag`.',
    verb: getListing,
    defaults: { with_item: true, with_details: true },
  }),
  tool({
    name: 'my_listings',
    title: 'List your own listings',
    description: 'List the listings of this account in every status, newest first.',
    verb: listMyListings,
    defaults: { ...SHORT_PAGE, with_item: true },
  }),
  tool({
    name: 'plan_price_job',
    title: 'Plan new prices and stock of listings',
    description:
      'First of two steps to change prices or stock of your listings. Changes nothing yet: shows the old and new price ' +
      'and quantity of each row, your payout, the rank among other offers, or why the row cannot be applied. Show this to the user and ask before you ' +
      'apply it. Each row is an object with `listing_id` or `sku`, and `price`, `quantity` or both.',
    verb: planPriceJob,
  }),
  tool({
    name: 'apply_price_job',
    title: 'Apply a planned price job',
    description:
      'Second of two steps: changes the public listings immediately. Takes the `id` returned by `plan_price_job`. With the policy ' +
      '`all`, it fails with CONFLICT if a price or stock has changed since the plan; then plan again.',
    verb: applyPriceJob,
  }),
  tool({
    name: 'undo_price_job',
    title: 'Undo an applied price job',
    description: 'Restores the old price and stock of listings unchanged since an applied price job. Takes the `id` of the job.',
    verb: undoPriceJob,
  }),
  tool({
    name: 'list_collections',
    title: 'List your collections and their worth',
    description: 'List the collections of this account with their current worth: value, cost and gain by currency.',
    verb: listCollections,
    defaults: { with_value: true },
  }),
  tool({
    name: 'collection_worth',
    title: 'Read a collection and its worth',
    description:
      'Read one collection by its id, with its current worth: value, cost and gain by currency, and how many records have no trusted price. ' +
      'Amounts in different currencies cannot be added up.',
    verb: getCollection,
    defaults: { with_value: true },
  }),
  tool({
    name: 'collection_records',
    title: 'List the records of a collection',
    description:
      'A page of the cards and products in a collection, each with its set, value, cost and gain. Use it to find the id of a record; `search` and ' +
      '`sort_by` select and sort records.',
    verb: listCollectionItems,
    defaults: { page: 1, ...SHORT_PAGE, with_value: true, with_item: true },
  }),
  tool({
    name: 'collection_profit',
    title: 'Read the profit of a collection',
    description:
      'Realised and unrealised gain, fees and yearly rate of return of a collection in one money (`currency`) or several (`moneys`). `TRY_REAL` is lira corrected for consumer prices. ' +
      'State the counts of records without price or cost with the figures, because the figures leave these records out.',
    verb: readCollectionProfit,
  }),
  tool({
    name: 'collection_completion',
    title: 'Read how complete a collection is',
    description:
      'Owned and missing cards of a set (`category_id`) or of a field query (`query`), with the cost of the missing ones and duplicates. Without ' +
      'both, the sets of which the collection has a card, the fullest first.',
    verb: readCompletion,
    defaults: SHORT_PAGE,
  }),
  tool({
    name: 'collection_lots',
    title: 'List the purchases of a record',
    description:
      'The lots of one record of a collection, oldest first: when the copies were bought, for how much, how many are left, and their gain.',
    verb: listCollectionLots,
  }),
  tool({
    name: 'collection_disposals',
    title: 'List the sales of a record',
    description: 'The copies of one record of a collection that were sold or given away, oldest first, each with its cost and gain.',
    verb: listCollectionDisposals,
  }),
  tool({
    name: 'my_watches',
    title: 'List your watches and want list',
    description:
      'List the watches of this account, newest first: the prices and offers that it waits for, and the sets whose ' +
      'completeness it follows (`goal_reopened`). `kind` `offer_below` is the want list.',
    verb: listWatches,
    defaults: SHORT_PAGE,
  }),
  tool({
    name: 'recent_sales',
    title: 'List recent sales',
    description: 'List the latest sales of the marketplace, newest first, of all items or of one. Prices are in TL.',
    verb: listRecentSales,
    defaults: SHORT_PAGE,
  }),
  tool({
    name: 'me',
    title: 'Read your account',
    description: 'Read the account, plan, limits and usage of the API key that this connection uses.',
    verb: readMe,
  }),
]

function tool(declared: Declared<PublicCtx>): Tool {
  return { defaults: {}, ...declared }
}

/** JSON Schema of a tool's arguments, from its verb's input. */
export function inputSchemaOf({ verb, defaults }: Tool): { type: 'object' } & Shape {
  const { properties = {}, required = [], ...rest } = forCallers(verb.input) as Shape
  const filled = Object.entries(properties).map(([name, shape]) => [name, name in defaults ? { ...shape, default: defaults[name] } : shape])
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(filled),
    required,
  }
}

/** Our own schema keywords, which are not part of JSON Schema. */
const OWN_KEYWORDS = new Set(['allowed', 'documentedValues'])

/** A schema without our own keywords; booleans are described in JSON notation. */
function forCallers(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(forCallers)
  if (typeof schema !== 'object' || schema === null) return schema
  const isFlag = 'type' in schema && schema.type === 'boolean'
  const entries = Object.entries(schema).filter(([keyword]) => !OWN_KEYWORDS.has(keyword))
  return Object.fromEntries(
    entries.map(([keyword, value]) => [keyword, isFlag && keyword === 'description' ? String(value).replaceAll('`1`', '`true`') : forCallers(value)]),
  )
}
