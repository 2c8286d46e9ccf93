// The query root (interface.md, "GraphQL").
import { readMe } from '#accounts/read-me.ts'
import { CATEGORIES_FIRST } from '#catalogue/browse-categories.ts'
import { getItem } from '#catalogue/get-item.ts'
import { listGroups } from '#catalogue/list-groups.ts'
import { listMarkets } from '#catalogue/list-markets.ts'
import { ITEMS_FIRST } from '#catalogue/page-items.ts'
import { readCategory } from '#catalogue/read-category.ts'
import { ServiceError } from '#core/errors.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { getDump } from '#dumps/get-dump.ts'
import { idOf } from './arguments.ts'
import { type Builder, cost, fromDatabase, needing, type Refs } from './builder.ts'
import { addChangePageType, addDumpType, CHANGES_READ, changesOf } from './changes.ts'
import { addItemFindingTypes, lookedUp, LOOKUP_COST, suggested, SUGGESTIONS_COST } from './item-finding.ts'
import { itemSource } from './item-source.ts'
import { addListingType, LISTING_READ, listingOf } from './listing-type.ts'
import { addGradeGroupType, addMarketType } from './market-types.ts'
import { addMeType, ME_READ } from './me-type.ts'
import { categoriesPage, ITEMS_COST, itemsPage } from './pages.ts'

const MARKET_ARGUMENT = 'Code of a market (`source_a`) or its name in `Market` (`SOURCE_A`).'
const PRICED_IN_ARGUMENT = `Items that the market has prices of, and those of its own catalogue; its prices are sorted by. ${MARKET_ARGUMENT}`
const GAME_ARGUMENT = 'Game, such as `pokemon` or `onepiece`; one that is not known gives an empty page.'
const AFTER_ARGUMENT = 'The `endCursor` of the page before, of a list with the same sort.'

export function implementQuery(builder: Builder, refs: Refs): void {
  const group = addGradeGroupType(builder)
  const market = addMarketType(builder)
  const listing = addListingType(builder, refs)
  const me = addMeType(builder)
  const changePage = addChangePageType(builder)
  const dump = addDumpType(builder)
  const { suggestion, lookedUpItem, identifier } = addItemFindingTypes(builder, refs)
  builder.queryType({
    description: 'What can be read.',
    fields: (t) => ({
      categories: t.field({
        type: refs.categoryPage,
        nullable: false,
        description: 'Categories in the order of their ids.',
        extensions: cost({ first: CATEGORIES_FIRST }),
        args: {
          game: t.arg.string({ description: GAME_ARGUMENT }),
          market: t.arg.string({ description: MARKET_ARGUMENT }),
          parentId: t.arg.id({ description: 'Category directly above; null for the roots; all categories when not sent.' }),
          first: t.arg.int({ defaultValue: CATEGORIES_FIRST.default, description: 'Categories on the page, 1 to 500.' }),
          after: t.arg.string({ description: 'The `endCursor` of the page before.' }),
        },
        resolve: (_root, args, ctx) => categoriesPage(args, ctx),
      }),
      category: t.field({
        type: refs.category,
        description: 'One category; null where there is none with this id.',
        args: { id: t.arg.id({ required: true, description: 'Id of the category.' }) },
        resolve: (_root, { id }, ctx) => orNull(() => call(readCategory, ctx, { id: idOf(id) })),
      }),
      items: t.field({
        type: refs.itemPage,
        nullable: false,
        description: 'Items that match, sorted; pages stay right while items come and go.',
        extensions: ITEMS_COST,
        args: {
          game: t.arg.string({ description: GAME_ARGUMENT }),
          market: t.arg.string({ description: PRICED_IN_ARGUMENT }),
          search: t.arg.string({
            description:
              'Words that names, code, set, finish, rarity or language must have. Without a sort the best match comes first, and a longer word may have one typo, as in the search over REST.',
          }),
          query: t.arg.string({
            description: 'Field query such as `set:base1 r>=rare -finish:holo`, as over REST; the page tells as `query` how it was read.',
          }),
          updatedSince: t.arg.string({
            description: 'Items that changed at this time (ISO 8601) or later, or a price of which did, as `updated_since` over REST.',
          }),
          categoryId: t.arg.id({ description: 'Category; everything below it is included.' }),
          first: t.arg.int({ defaultValue: ITEMS_FIRST.default, description: 'Items on the page, 1 to 100.' }),
          after: t.arg.string({ description: AFTER_ARGUMENT }),
          sortBy: t.arg.string({
            description:
              'By default `name`, and for a search by how well items match. `name`, `code`, `id`, `price` or `updated_at`. Prices and their times are those of `market`, else of the market whose catalogue the item came from, else of the first with prices in an order that the operator sets. `price` is the Near Mint price, else the lowest ungraded one, compared in lira by the rates of the day where currencies differ; items without one, or without a rate, come last in both directions.',
          }),
          sortOrder: t.arg.string({ description: '`asc` (default) or `desc`; ties go by id. Without `sortBy` it sorts by `name`.' }),
        },
        resolve: (_root, args, ctx) => itemsPage(args, ctx),
      }),
      item: t.field({
        type: refs.item,
        description: 'One item; null where there is none with this id.',
        args: { id: t.arg.id({ required: true, description: 'Id of the item.' }) },
        resolve: (_root, { id }, ctx) => {
          const found = orNull(() => call(getItem, ctx, { id: idOf(id) }))
          return found && itemSource(found.rows[0]!)
        },
      }),
      groups: t.field({
        type: [group],
        nullable: false,
        description: 'Groups of conditions and grades, with those below them.',
        extensions: cost({ entries: 2 }),
        resolve: (_root, _args, ctx) => call(listGroups, ctx, {}),
      }),
      markets: t.field({
        type: [market],
        nullable: false,
        description: 'The markets that prices come from.',
        extensions: cost({ entries: 4 }),
        resolve: (_root, _args, ctx) => call(listMarkets, ctx, {}),
      }),
      listing: t.field({
        type: listing,
        description: 'A listing that is published, or your own in whatever status; null where there is none with this id. Plus and above.',
        extensions: LISTING_READ,
        args: { id: t.arg.id({ required: true, description: 'Id of the listing.' }) },
        resolve: (_root, { id }, ctx, info) => listingOf(id, ctx, info).catch(nullIfMissing),
      }),
      me: t.field({
        type: me,
        nullable: false,
        description: 'Your account, the key of this request, its limits and what it was used for.',
        extensions: ME_READ,
        resolve: (_root, _args, ctx) => call(readMe, ctx, {}),
      }),
      changes: t.field({
        type: changePage,
        nullable: false,
        description: 'What changed in the catalogue since a cursor, kept for 7 days. Professional and above.',
        extensions: CHANGES_READ,
        args: {
          after: t.arg.string({ description: 'A `next` or `cursor` of an earlier page; the oldest change when not sent.' }),
          kinds: t.arg.stringList({ description: 'Only these kinds; all when not sent.' }),
          wait: t.arg.int({ defaultValue: 0, description: 'Seconds to wait for a change where there is none, at most 30.' }),
          limit: t.arg.int({ defaultValue: 100, description: 'Changes on the page, 1 to 1,000.' }),
        },
        resolve: (_root, args, ctx) => changesOf(args, ctx),
      }),
      dump: t.field({
        type: dump,
        description: 'The newest dump of the catalogue; null before the first. Professional and above.',
        extensions: { ...fromDatabase, ...needing(OPERATION_PLAN.getDump) },
        resolve: (_root, _args, ctx) => call(getDump, ctx, {}),
      }),
      suggestItems: t.field({
        type: [suggestion],
        nullable: false,
        description: 'Cards to suggest while someone types, best match first; empty for what finds nothing.',
        extensions: SUGGESTIONS_COST,
        args: { q: t.arg.string({ description: 'What has been typed so far.' }) },
        resolve: (_root, args, ctx) => suggested(args, ctx),
      }),
      lookupItems: t.field({
        type: [lookedUpItem],
        nullable: false,
        description: 'Items by ids of other systems, or by set and number, in the order of the identifiers.',
        extensions: LOOKUP_COST,
        args: { ids: t.arg({ type: [identifier], required: true, description: '1 to 500 identifiers.' }) },
        resolve: (_root, args, ctx) => lookedUp(args, ctx),
      }),
    }),
  })
}

/** Null instead of an error for what is not there. */
function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    return nullIfMissing(error)
  }
}

/** Null for a thing that is not there, the error otherwise. */
export function nullIfMissing(error: unknown): null {
  if (error instanceof ServiceError && error.status === 404) return null
  throw error
}
