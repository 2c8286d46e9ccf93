// The public catalogue endpoints: serialised bytes with entity tags.
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { getItem } from '#catalogue/items/get-item.ts'
import { type CategoryEntry, CategoryEntrySchema, listCategories } from '#catalogue/categories/list-categories.ts'
import { type Group, GroupSchema, listGroups } from '#catalogue/categories/list-groups.ts'
import { listMarkets, type MarketEntry, MarketSchema } from '#catalogue/list-markets.ts'
import { ItemSchema } from '#catalogue/item-schemas.ts'
import { type ItemPage, type ItemRows, listItems } from '#catalogue/items/list-items.ts'
import { searchItems } from '#catalogue/search/search-items.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { MAX_SUGGESTIONS, type SuggestedRows, suggestionOf, SuggestionSchema, suggestItems } from '#catalogue/search/suggest-items.ts'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import { JSON_HEADERS } from '#http/response.ts'
import type { FileAnswer, ReadyAnswer, Route } from '#http/route.ts'
import { taggedAnswer } from '#http/tagged-answer.ts'
import { type LookedUpItems, type LookupCtx, lookupItems } from '#identity/lookup-items.ts'

const TAG_LENGTH = 16

const PAGE_EXTRA = {
  query: Type.Optional(Type.String({ description: 'Canonical form of the field query, if one was sent' })),
  suggestions: Type.Optional(
    Type.Array(Type.String(), { description: 'Up to three similar searches with results, if a search finds nothing', maxItems: 3 }),
  ),
}

/** Items from memory, as serialised bytes. */
export function catalogueRoutes(catalogue: Catalogue): Route<LookupCtx>[] {
  const { page, item, suggestions, lookedUp } = answersOf(catalogue)
  return [
    {
      method: 'GET',
      path: '/items',
      verb: listItems,
      summary: 'List items',
      description:
        'Starter returns `id`, `name`, `code`, `category` (`id`, `name`), `prices` and `groups` (`id`, `name`); Professional and above return all fields. The prices of an item are from one market and so in one currency.',
      tag: 'Catalogue',
      answer: page,
      data: Type.Array(ItemSchema),
      paged: true,
      extra: PAGE_EXTRA,
      errors: ['PLAN_UPGRADE_REQUIRED'],
    },
    {
      method: 'GET',
      path: '/items/search',
      verb: searchItems,
      summary: 'Search items',
      description:
        'Ranked by exact code (in the requested set), exact name, name prefix, word prefix, infix, one typo; then single cards before sealed products, plain versions before others, and languages in the configured order, unless the words ask for others; ties are sorted by name.',
      tag: 'Catalogue',
      answer: page,
      data: Type.Array(ItemSchema),
      paged: true,
      extra: PAGE_EXTRA,
      errors: ['PLAN_UPGRADE_REQUIRED'],
    },
    {
      method: 'GET',
      path: '/items/suggest',
      verb: suggestItems,
      summary: 'Suggest cards for a text field',
      description: `Up to ${MAX_SUGGESTIONS} cards in search order, each represented by its base version. The list is empty if nothing matches.`,
      tag: 'Catalogue',
      answer: suggestions,
      data: Type.Array(SuggestionSchema),
    },
    {
      method: 'POST',
      path: '/items/lookup',
      verb: lookupItems,
      summary: 'Look up items by ids of other systems, or by set and number',
      description:
        'Returns one result per identifier, in order: `found` with the `item`, `ambiguous` with the possible `candidates`, or `unknown`. ' +
        'Without `finish`, the plainest printing of a card is used; a finish that does not exist for a card is `unknown`. This is a read and counts as one request.',
      tag: 'Catalogue',
      reads: true,
      answer: lookedUp,
      data: Type.Array(LookedUpItemSchema),
      errors: ['INVALID_JSON'],
    },
    {
      method: 'GET',
      path: '/items/:id',
      verb: getItem,
      summary: 'Read an item',
      description: 'With `market`, only an item that `GET /items` lists for that market.',
      tag: 'Catalogue',
      answer: item,
      cheap: true,
      data: ItemSchema,
      errors: ['ITEM_NOT_FOUND'],
    },
    ...LISTS,
  ]
}

const LISTS: Route<LookupCtx>[] = [
  {
    method: 'GET',
    path: '/categories',
    verb: listCategories,
    summary: 'List categories',
    description: 'Series, sets and other groups of items, one tree per market, by id. `parent_id=0` returns the roots.',
    tag: 'Catalogue',
    answer: ({ rows, pagination }: Page<CategoryEntry>) => taggedAnswer({ data: rows, pagination }),
    data: Type.Array(CategoryEntrySchema),
    paged: true,
  },
  {
    method: 'GET',
    path: '/groups',
    verb: listGroups,
    summary: 'List groups of conditions and grades',
    description: 'Groups and grades share one id sequence; `grade_filters[]` accepts both.',
    tag: 'Catalogue',
    answer: (groups: Group[]) => taggedAnswer({ data: groups }),
    data: Type.Array(GroupSchema),
  },
  {
    method: 'GET',
    path: '/markets',
    verb: listMarkets,
    summary: 'Markets that provide prices',
    tag: 'Catalogue',
    answer: (markets: MarketEntry[]) => taggedAnswer({ data: markets }),
    data: Type.Array(MarketSchema),
  },
]

/** The responses that consist of serialised items. */
function answersOf(catalogue: Catalogue) {
  const ready = ({ rows, shape, market }: ItemRows, state: number, head: string, tail: string): ReadyAnswer => ({
    tag: catalogue.pageTag(rows, shape, market, state),
    bytes: () => catalogue.pageBytes(rows, shape, market, head, tail),
  })
  const page = (found: ItemPage): ReadyAnswer => {
    const { pagination, query, suggestions } = found
    const queryMember = query === undefined ? '' : `,"query":${JSON.stringify(query)}`
    const others = suggestions === undefined ? '' : `,"suggestions":${JSON.stringify(suggestions)}`
    const state = pagination.total * 31 + pagination.current_page * 7 + pagination.per_page + crc32(others)
    const tail = `],"pagination":${JSON.stringify(pagination)}${queryMember}${others}}`
    return { ...ready(found, state, '{"success":true,"data":[', tail), isCurrent: found.isCurrent, term: found.term }
  }
  const item = (found: ItemRows): ReadyAnswer => ready(found, 0, '{"success":true,"data":', '}')
  const suggestions = ({ rows }: SuggestedRows): ReadyAnswer => {
    const bytes = () => Buffer.from(JSON.stringify({ success: true, data: rows.map((row) => suggestionOf(catalogue, row)) }))
    return { tag: `"${hash('sha256', bytes(), 'base64url').slice(0, TAG_LENGTH)}"`, bytes }
  }
  const lookedUp = ({ found, shape }: LookedUpItems): FileAnswer => {
    const entries = found.map((one, n) => {
      const head = `${n > 0 ? ',' : ''}{"state":"${one.state}"`
      if (one.state === 'unknown') return Buffer.from(`${head}}`)
      const [before, after] = one.state === 'found' ? [',"item":', '}'] : [',"candidates":[', ']}']
      return catalogue.pageBytes(one.rows, shape, null, head + before, after)
    })
    return { headers: JSON_HEADERS, body: Buffer.concat([Buffer.from('{"success":true,"data":['), ...entries, Buffer.from(']}')]) }
  }
  return { page, item, suggestions, lookedUp }
}

const LookedUpItemSchema = Type.Object(
  {
    state: Type.Enum(['found', 'ambiguous', 'unknown']),
    item: Type.Optional(ItemSchema),
    candidates: Type.Optional(Type.Array(ItemSchema)),
  },
  { title: 'LookedUpItem' },
)
