// Searches published listings (interface.md, "GET /api/v1/plus/listings") in memory.
import { filter, MAX_INTEGER } from '#core/fields.ts'
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { PER_PAGE, pageParams, type Pagination, pagination } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { type PlanViewer, verb } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { countedTerm } from '#index/counted-term.ts'
import { GenreParam } from '#catalogue/params.ts'
import { detailsOf } from './own-listing.ts'
import { detailsById } from '../listing-store.ts'
import { FlagParams, flagsOf } from './listing-flags.ts'
import type { Flags } from '../snapshot/listing-json.ts'
import { LISTING_SORTS } from '../snapshot/queries.ts'
import type { MarketNode } from '../marketplace-types.ts'

interface SearchCtx extends MarketNode {
  db: Db
  viewer: PlanViewer
}

const MAX_VALUES = 200
const amount = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }))
const values = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 100, allowed: reason('text', { max: 100 }) }), { maxItems: MAX_VALUES, description }))

/** Rows of the snapshot that are serialised at once, with the fields that the flags request. */
export interface FoundListings {
  rows: Int32Array
  flags: Flags
  /** as JSON, appended to each row's listing; null if they are not requested */
  details: string[] | null
  /** what was searched for, on the first page */
  term?: string | undefined
  pagination: Pagination
  /** whether the page would be the same now, without details */
  isCurrent: () => boolean
}

export const searchListings = verb(
  {
    name: 'searchListings',
    needs: OPERATION_PLAN.searchListings,
    sharedBy: 'plan',
    input: Type.Object({
      search: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'All words must match the title or the name of the item',
          examples: ['charizard psa'],
        }),
      ),
      item_id: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'Only listings of this item' })),
      seller_name: filter(
        'Name of the seller, or the start of each of its words, ignoring case and accents; if a name is exactly this, only that seller',
      ),
      set_name: filter(
        'Name of the set (a category), or the start of each of its words, ignoring case and accents; if a name is exactly this, only that set. Includes everything below it',
      ),
      category: filter('Slug of a category; includes everything below it'),
      type: Type.Optional(GenreParam),
      min_price: amount('Lowest price, in TL'),
      max_price: amount('Highest price, in TL'),
      min_pc: amount('Lowest `pc_multiplier`'),
      max_pc: amount('Highest `pc_multiplier`'),
      game: values('`game[]`, such as `pokemon`'),
      language: values('`language[]`, such as `en`'),
      grade_filters: Type.Optional(
        Type.Array(Type.Integer(), {
          maxItems: MAX_VALUES,
          description: '`grade_filters[]`: ids of groups (with all their grades) or of grades',
        }),
      ),
      sort_by: Type.Optional(
        Type.Enum([...LISTING_SORTS], {
          default: 'popular',
          description: "`popular`: highlighted listings first, then by the item's sales in the last 30 days, then newest first",
        }),
      ),
      ...FlagParams,
      ...pageParams(),
    }),
  },
  (ctx: SearchCtx, input): FoundListings | Promise<FoundListings> => {
    const { search, sort_by: sort = 'popular', page = 1, per_page: perPage = PER_PAGE } = input
    checkRange('price', input.min_price, input.max_price)
    checkRange('pc', input.min_pc, input.max_pc)
    const criteria = {
      itemId: input.item_id,
      sellerName: input.seller_name,
      setName: input.set_name,
      category: input.category,
      genre: input.type,
      games: input.game,
      languages: input.language,
      gradeIds: input.grade_filters,
      minKurus: hundredthsFrom(input.min_price),
      maxKurus: hundredthsTo(input.max_price),
      minPc: hundredthsFrom(input.min_pc),
      maxPc: hundredthsTo(input.max_pc),
    }
    const listed = ctx.listings.page(criteria, search, sort, (page - 1) * perPage, perPage)
    const term = page === 1 && search !== undefined ? countedTerm(search) : undefined
    const found: FoundListings = {
      rows: listed.rows,
      flags: flagsOf(input),
      details: null,
      term,
      pagination: pagination(page, perPage, listed.total),
      isCurrent: ctx.listings.follow(listed),
    }
    return input.with_details ? withDetails(ctx, found) : found
  },
)

/** Memory holds the searched and sorted fields; the other fields are read from the database for the listings of the page. */
async function withDetails(ctx: SearchCtx, found: FoundListings): Promise<FoundListings> {
  const ids = ctx.listings.idsOf(found.rows)
  const byId = await detailsById(ctx.db.kysely, ids)
  // Rows in memory may have been reused for other listings meanwhile.
  const still = [...found.rows.keys()].filter((i) => byId.has(ids[i]!) && ctx.listings.rowOf(ids[i]!) === found.rows[i])
  return {
    ...found,
    rows: Int32Array.from(still, (i) => found.rows[i]!),
    details: still.map((i) => `,${JSON.stringify(detailsOf(ctx, byId.get(ids[i]!)!)).slice(1, -1)}`),
  }
}

function checkRange(of: 'price' | 'pc', from: number | undefined, to: number | undefined): void {
  if (from === undefined || to === undefined || from <= to) return
  throw invalid(`min_${of}`, 'not_above', { field: `max_${of}` })
}

/** The smallest whole number of hundredths that is not below the value; digits after the sixth are floating-point noise. */
function hundredthsFrom(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.ceil(Number((value * 100).toFixed(6)))
}

function hundredthsTo(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.floor(Number((value * 100).toFixed(6)))
}
