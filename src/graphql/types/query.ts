// The query root (interface.md, "GraphQL").
import { readMe } from '#accounts/keys/read-me.ts'
import { CATEGORIES_FIRST } from '#catalogue/categories/browse-categories.ts'
import { listGroups } from '#catalogue/categories/list-groups.ts'
import { readCategory } from '#catalogue/categories/read-category.ts'
import { getItem } from '#catalogue/items/get-item.ts'
import { ITEMS_FIRST } from '#catalogue/items/page-items.ts'
import { listMarkets } from '#catalogue/list-markets.ts'
import { ServiceError } from '#core/errors.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { getDump } from '#dumps/get-dump.ts'
import { idOf } from '../building/arguments.ts'
import { type Builder, cost, followed, fromDatabase, type Refs, requiresPlan } from '../building/builder.ts'
import { categoriesPage, ITEMS_COST, itemsPage } from '../building/pages.ts'
import { itemSource } from '../execution/item-source.ts'
import { addChangePageType, addDumpType, CHANGES_READ, changesOf } from './changes.ts'
import { addItemFindingTypes, LOOKUP_COST, resolveLookup, resolveSuggestions, SUGGESTIONS_COST } from './item-finding.ts'
import { addListingType, LISTING_READ, listingOf } from './listing-type.ts'
import { addGradeGroupType, addMarketType } from './market-types.ts'
import { addMeType, ME_READ } from './me-type.ts'

const MARKET_ARGUMENT = 'Code of a market (`source_a`) or its name in `Market` (`SOURCE_A`).'
const PRICED_IN_ARGUMENT = `Items with prices in this market, and items of its own catalogue; also the market used to sort by price. ${MARKET_ARGUMENT}`
const GAME_ARGUMENT = 'Game, such as `pokemon` or `onepiece`; an unknown game returns an empty page.'
const AFTER_ARGUMENT = 'The `endCursor` of the previous page, with the same sorting.'

export function implementQuery(builder: Builder, refs: Refs): void {
  builder.queryType({
    description: 'Queries.',
    fields: (t) => ({
      categories: t.field({
        type: refs.categoryPage,
        nullable: false,
        description: 'Categories by id.',
        extensions: { ...cost({ first: CATEGORIES_FIRST }), ...followed },
        args: {
          game: t.arg.string({ description: GAME_ARGUMENT }),
          market: t.arg.string({ description: MARKET_ARGUMENT }),
          parentId: t.arg.id({ description: 'Parent category; null for the roots; default: all categories.' }),
          first: t.arg.int({ defaultValue: CATEGORIES_FIRST.default, description: 'Categories per page, 1 to 500.' }),
          after: t.arg.string({ description: 'The `endCursor` of the previous page.' }),
        },
        resolve: (_root, args, ctx) => categoriesPage(args, ctx),
      }),
      category: t.field({
        type: refs.category,
        description: 'One category by id; null if it does not exist.',
        extensions: followed,
        args: { id: t.arg.id({ required: true, description: 'Category id.' }) },
        resolve: (_root, { id }, ctx) => orNull(() => call(readCategory, ctx, { id: idOf(id) })),
      }),
      items: t.field({
        type: refs.itemPage,
        nullable: false,
        description: 'Matching items, sorted; pages stay consistent while items are added and removed.',
        extensions: { ...ITEMS_COST, ...followed },
        args: {
          game: t.arg.string({ description: GAME_ARGUMENT }),
          market: t.arg.string({ description: PRICED_IN_ARGUMENT }),
          search: t.arg.string({
            description:
              'Words that must match names, code, set, finish, rarity or language. Without sorting, the best match comes first and longer words may have one typo, as in the REST search.',
          }),
          query: t.arg.string({
            description: 'Field query such as `set:base1 r>=rare -finish:holo`, as over REST; the page returns its canonical form as `query`.',
          }),
          updatedSince: t.arg.string({
            description: 'Items that changed, or a price of which changed, at this time (ISO 8601) or later, as `updated_since` over REST.',
          }),
          categoryId: t.arg.id({ description: 'Category; includes everything below it.' }),
          first: t.arg.int({ defaultValue: ITEMS_FIRST.default, description: 'Items per page, 1 to 100.' }),
          after: t.arg.string({ description: AFTER_ARGUMENT }),
          sortBy: t.arg.string({
            description:
              '`name`, `code`, `id`, `price` or `updated_at`; default: `name`, or relevance for a search. Prices and their times are those of `market`, otherwise of the market of the catalogue of the item, otherwise of the first market with prices in the order set by the operator. `price` is the Near Mint price, otherwise the lowest ungraded price; different currencies are compared in lira at daily rates. Items without a price or a rate come last in both directions.',
          }),
          sortOrder: t.arg.string({ description: '`asc` (default) or `desc`; ties are sorted by id. Without `sortBy`, it applies to `name`.' }),
        },
        resolve: (_root, args, ctx) => itemsPage(args, ctx),
      }),
      item: t.field({
        type: refs.item,
        description: 'One item by id; null if it does not exist.',
        extensions: followed,
        args: { id: t.arg.id({ required: true, description: 'Id of the item.' }) },
        resolve: (_root, { id }, ctx) => {
          const found = orNull(() => call(getItem, ctx, { id: idOf(id) }))
          if (found) ctx.reads?.push(ctx.catalogue.follow(found.rows))
          return found && itemSource(found.rows[0]!)
        },
      }),
    }),
  })
  addReferenceQueries(builder)
  addReadQueries(builder, refs)
  addItemFinding(builder, refs)
}

function addReferenceQueries(builder: Builder): void {
  const group = addGradeGroupType(builder)
  const market = addMarketType(builder)
  builder.queryFields((t) => ({
    groups: t.field({
      type: [group],
      nullable: false,
      description: 'Groups of conditions and grades, with their members.',
      extensions: { ...cost({ entries: 2 }), ...followed },
      resolve: (_root, _args, ctx) => call(listGroups, ctx, {}),
    }),
    markets: t.field({
      type: [market],
      nullable: false,
      description: 'Markets that provide prices.',
      extensions: cost({ entries: 4 }),
      resolve: (_root, _args, ctx) => call(listMarkets, ctx, {}),
    }),
  }))
}

/** Reads from the database. */
function addReadQueries(builder: Builder, refs: Refs): void {
  const listing = addListingType(builder, refs)
  const me = addMeType(builder)
  const changePage = addChangePageType(builder)
  const dump = addDumpType(builder)
  builder.queryFields((t) => ({
    listing: t.field({
      type: listing,
      description: 'A published listing, or your own in any status; null if it does not exist. Plus and above.',
      extensions: LISTING_READ,
      args: { id: t.arg.id({ required: true, description: 'Id of the listing.' }) },
      resolve: (_root, { id }, ctx, info) => listingOf(id, ctx, info).catch(nullIfMissing),
    }),
    me: t.field({
      type: me,
      nullable: false,
      description: 'Your account, the key of this request, its limits and usage.',
      extensions: ME_READ,
      resolve: (_root, _args, ctx) => call(readMe, ctx, {}),
    }),
    changes: t.field({
      type: changePage,
      nullable: false,
      description: 'Catalogue changes since a cursor, kept for 7 days. Professional and above.',
      extensions: CHANGES_READ,
      args: {
        after: t.arg.string({ description: 'A `next` or `cursor` from an earlier page; default: the oldest change.' }),
        kinds: t.arg.stringList({ description: 'Only these kinds; default: all.' }),
        wait: t.arg.int({ defaultValue: 0, description: 'Seconds to wait for a change if there is none yet, at most 30.' }),
        limit: t.arg.int({ defaultValue: 100, description: 'Changes per page, 1 to 1,000.' }),
      },
      resolve: (_root, args, ctx) => changesOf(args, ctx),
    }),
    dump: t.field({
      type: dump,
      description: 'The latest dump of the catalogue; null until the first one exists. Professional and above.',
      extensions: { ...fromDatabase, ...requiresPlan(OPERATION_PLAN.getDump) },
      resolve: (_root, _args, ctx) => call(getDump, ctx, {}),
    }),
  }))
}

function addItemFinding(builder: Builder, refs: Refs): void {
  const { suggestion, lookedUpItem, identifier } = addItemFindingTypes(builder, refs)
  builder.queryFields((t) => ({
    suggestItems: t.field({
      type: [suggestion],
      nullable: false,
      description: 'Card suggestions for a text field, best match first; empty if nothing matches.',
      extensions: SUGGESTIONS_COST,
      args: { q: t.arg.string({ description: 'Text typed so far.' }) },
      resolve: (_root, args, ctx) => resolveSuggestions(args, ctx),
    }),
    lookupItems: t.field({
      type: [lookedUpItem],
      nullable: false,
      description: 'Looks up items by ids of other systems, or by set and number, in the order of the identifiers.',
      extensions: LOOKUP_COST,
      args: { ids: t.arg({ type: [identifier], required: true, description: '1 to 500 identifiers.' }) },
      resolve: (_root, args, ctx) => resolveLookup(args, ctx),
    }),
  }))
}

/** Null instead of an error for a resource that does not exist. */
function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    return nullIfMissing(error)
  }
}

/** Null for a resource that does not exist; other errors are thrown. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof ServiceError && error.status === 404) return null
  throw error
}
