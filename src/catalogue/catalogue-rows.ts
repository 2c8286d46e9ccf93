// Categories, items, prices and price points as self-contained rows, as in dumps and the change feed.
import { type RawBuilder, sql } from 'kysely'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { minorToNumber, parseMinor } from '#core/money.ts'
import { loadSourceTerms, marketsFor, type SourceTerms } from '#prices/records/source-terms.ts'
import type { Queryable } from '#db/schema.ts'
import { AttributeList, closed, Details, ForeignIdList } from './records/fields.ts'
import { GENRES } from './records/catalogue-records.ts'
import { utcTime } from './snapshot/item-json.ts'

export const CategoryRowSchema = Type.Object(
  {
    id: Type.Integer(),
    market: Type.Enum([...MARKETS]),
    ref: Type.String({ description: 'Unique within the market', examples: ['tcgdex:base1'] }),
    name: Type.String(),
    slug: Type.String(),
    game: Type.String(),
    parent_id: orNull(Type.Integer()),
    image: orNull(Type.String()),
    printed_total: orNull(Type.Integer(), { description: 'Card count printed on the cards' }),
  },
  { title: 'CategoryRow', ...closed },
)
export type CategoryRow = Static<typeof CategoryRowSchema>

export const ItemRowSchema = Type.Object(
  {
    id: Type.Integer(),
    market: Type.Enum([...MARKETS], { description: 'Home market' }),
    ref: Type.String({ description: 'Unique within the market', examples: ['tcgdex:base1-4'] }),
    name: Type.String(),
    code: orNull(Type.String()),
    slug: Type.String(),
    genre: Type.Enum([...GENRES]),
    game: Type.String(),
    category_id: Type.Integer(),
    images: Type.Array(Type.Object({ url: Type.String(), order: Type.Integer() }, closed)),
    attributes: AttributeList,
    groups: Type.Array(Type.String(), { description: 'Slugs' }),
    details: Details,
    foreign_ids: ForeignIdList,
  },
  { title: 'ItemRow', ...closed },
)
export type ItemRow = Static<typeof ItemRowSchema>

export const PriceRowSchema = Type.Object(
  {
    item_id: Type.Integer(),
    market: Type.Enum([...MARKETS]),
    label: Type.String({ examples: ['Near Mint'] }),
    price: Type.Number(),
    currency: Type.String({ examples: ['USD'] }),
    updated_at: Type.String({ format: 'date-time', description: 'UTC' }),
  },
  { title: 'PriceRow', ...closed },
)
export type PriceRow = Static<typeof PriceRowSchema>

/** A historic price, valid until the next point. */
export interface PointRow {
  item_id: number
  market: Market
  label: string
  price: number
  at: string
}

/** @param where condition on `items i` */
export function selectItems(where: RawBuilder<unknown>): RawBuilder<ItemRow> {
  return sql<ItemRow>`
    select i.id, i.market, i.ref, i.name, i.code, i.slug, i.genre, i.game, i.category_id, i.images, i.attributes,
      array(select g.slug from groups g where g.id = any(i.group_ids) order by g.id) as groups, i.details,
      coalesce((select json_agg(json_strip_nulls(json_build_object('source', f.source, 'id', f.foreign_id, 'finish', nullif(f.finish, '')))
         order by f.source collate "C", f.foreign_id collate "C", f.finish collate "C")
       from item_foreign_ids f where f.item_id = i.id), '[]') as foreign_ids
    from items i where ${where}
    order by i.id`
}

/** @param where condition on `categories c` */
export function selectCategories(where: RawBuilder<unknown>): RawBuilder<CategoryRow> {
  return sql<CategoryRow>`
    select c.id, c.market, c.ref, c.name, c.slug, c.game, c.parent_id, c.image, c.printed_total from categories c where ${where} order by c.id`
}

interface StoredPrice {
  item_id: number
  market: number
  label: string
  price: string
  at_ms: number
}

/** Condition on a row `p` of prices or price points: its source may be passed on. */
export function isRedistributed(terms: readonly SourceTerms[]): RawBuilder<unknown> {
  return sql`p.market = any(${marketsFor(terms, 'redistribute')}::int2[])`
}

/** @param where condition on `prices p` */
export function selectPrices(where: RawBuilder<unknown>): RawBuilder<StoredPrice> {
  return sql<StoredPrice>`
    select p.item_id, p.market, l.name as label, p.price::text, extract(epoch from p.updated_at)::float8 * 1000 as at_ms
    from prices p join groups l on l.id = p.label_id where ${where}
    order by p.item_id, p.market, l.id`
}

/** @param where condition on `price_points p` */
export function selectPoints(where: RawBuilder<unknown>): RawBuilder<StoredPrice> {
  return sql<StoredPrice>`
    select p.item_id, p.market, l.name as label, p.price::text, extract(epoch from p.updated_at)::float8 * 1000 as at_ms
    from price_points p join groups l on l.id = p.label_id where ${where}
    order by p.item_id, p.market, l.id, p.updated_at`
}

/** Converts a stored price to the form in dumps and changes. */
export function priceRow({ item_id, market, label, price, at_ms: atMs }: StoredPrice, currencies: Readonly<Record<Market, string>>): PriceRow {
  const name = MARKETS[market]!
  return { item_id, market: name, label, price: minorToNumber(parseMinor(price)!), currency: currencies[name], updated_at: utcTime(atMs) }
}

/** Converts a stored price point to the form in dumps. */
export function pointRow({ item_id, market, label, price, at_ms: atMs }: StoredPrice): PointRow {
  return { item_id, market: MARKETS[market]!, label, price: minorToNumber(parseMinor(price)!), at: utcTime(atMs) }
}

/** Items by id; ids that do not exist are absent. */
export async function itemRowsOf(on: Queryable, ids: readonly number[]): Promise<Map<number, ItemRow>> {
  if (ids.length === 0) return new Map()
  const { rows } = await selectItems(sql`i.id = any(${[...ids]}::int[])`).execute(on)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Categories by id; ids that do not exist are absent. */
export async function categoryRowsOf(on: Queryable, ids: readonly number[]): Promise<Map<number, CategoryRow>> {
  if (ids.length === 0) return new Map()
  const { rows } = await selectCategories(sql`c.id = any(${[...ids]}::int[])`).execute(on)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Current prices of items that may be passed on, by item. */
export async function priceRowsOf(
  on: Queryable,
  itemIds: readonly number[],
  currencies: Readonly<Record<Market, string>>,
): Promise<Map<number, PriceRow[]>> {
  if (itemIds.length === 0) return new Map()
  const { rows } = await selectPrices(sql`p.item_id = any(${[...itemIds]}::int[]) and ${isRedistributed(await loadSourceTerms(on))}`).execute(on)
  return Map.groupBy(
    rows.map((row) => priceRow(row, currencies)),
    (row) => row.item_id,
  )
}
