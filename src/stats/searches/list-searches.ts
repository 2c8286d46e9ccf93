// What people search for: the most searched terms of a week, those that find nothing, and those whose items nobody offers.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { day } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueNode } from '#catalogue/context.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Queryable } from '#db/schema.ts'
import { PUBLISHED } from '#market/records/rules.ts'
import { ENOUGH_PEOPLE, weekOf } from './search-terms.ts'

export interface SearchesCtx extends ReadCtx, CatalogueNode {
  now: () => Date
}

export const SEARCH_KINDS = namedValues('SearchKind', ['most', 'nothing', 'not_offered'])

/** Most searched terms that are looked at; the lists of those without results are among them. */
const LOOKED_AT = 500
/** Items of a term, best match first, whose listings are counted. */
const ITEMS_OF_TERM = 50
/** Searches in a row before other requests have their turn. */
const AT_ONCE = 10

const SearchTermSchema = Type.Object(
  {
    term: Type.String({ description: 'In lower case, without accents' }),
    searches: Type.Integer(),
    items: Type.Integer({ description: 'Items that it finds now' }),
    listings: Type.Integer({ description: `Active listings of the items that it finds now, of the best ${ITEMS_OF_TERM} at most` }),
  },
  { title: 'SearchTerm' },
)
type SearchTerm = Static<typeof SearchTermSchema>

export const SearchReportSchema = Type.Object(
  { week: Type.String({ format: 'date', description: 'Its Monday' }), terms: Type.Array(SearchTermSchema, { description: 'Most searched first' }) },
  { title: 'SearchReport' },
)
export type SearchReport = Static<typeof SearchReportSchema>

export const listSearches = verb(
  {
    name: 'listSearches',
    needs: 'operator',
    input: Type.Object({
      kind: Type.Optional(
        Type.Enum([...SEARCH_KINDS], {
          default: 'most',
          description: '`nothing`: terms that find no item; `not_offered`: those that find items, but none of them is offered',
        }),
      ),
      week: Type.Optional(day('A day of the week (UTC); default: today')),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    }),
  },
  async (ctx: SearchesCtx, { kind = 'most', week: dayOfWeek, limit = 50 }): Promise<SearchReport> => {
    const week = weekOf(dayOfWeek === undefined ? ctx.now() : new Date(dayOfWeek))
    const counted = await ctx.db.kysely
      .selectFrom('search_terms')
      .select(['term', 'searches'])
      .where('week', '=', week)
      .where('people', '>=', ENOUGH_PEOPLE)
      .orderBy('searches', 'desc')
      .orderBy('term')
      .limit(kind === 'most' ? limit : LOOKED_AT)
      .execute()
    const found: { total: number; ids: number[] }[] = []
    const { queries, items } = ctx.catalogue
    for (const { term } of counted) {
      if (found.length % AT_ONCE === AT_ONCE - 1) await nextTurn()
      const { rows, total } = queries.search(term, {}, 0, ITEMS_OF_TERM)
      found.push({ total, ids: Array.from(rows, (row) => items.id[row]!) })
    }
    const listings = await activeListings(ctx.db.kysely, found)
    const terms = counted.map(({ term, searches }, n): SearchTerm => ({ term, searches, items: found[n]!.total, listings: listings.get(n) ?? 0 }))
    const isOfKind = (one: SearchTerm) => kind === 'most' || (one.listings === 0 && one.items > 0 === (kind === 'not_offered'))
    return { week, terms: terms.filter(isOfKind).slice(0, limit) }
  },
)

/** The number of active listings of each term's items, by the position of the term. */
async function activeListings(on: Queryable, found: readonly { ids: readonly number[] }[]): Promise<Map<number, number>> {
  const pairs = found.flatMap(({ ids }, n) => ids.map((id) => ({ n, id })))
  const { rows } = await sql<{ n: number; listings: number }>`
    select p.n, sum(l.listings)::int as listings
    from unnest(${pairs.map(({ n }) => n)}::int4[], ${pairs.map(({ id }) => id)}::int4[]) p (n, id)
    join (select item_id, count(*) as listings from listings where status = ${sql.lit(PUBLISHED)} group by item_id) l on l.item_id = p.id
    group by p.n`.execute(on)
  return new Map(rows.map(({ n, listings }) => [n, listings]))
}
