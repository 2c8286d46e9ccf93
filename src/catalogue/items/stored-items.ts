// SQL of items as operators see them.
import { type SelectQueryBuilder, sql } from 'kysely'
import { existing, idForSql, missing } from '#core/fields.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import type { Range, Rows } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { liveItem } from '#db/live-item.ts'
import { countOf, inRange, withTotal } from '#db/page.ts'
import type { Queryable, Schema } from '#db/schema.ts'
import { labelOrder } from '#core/labels.ts'
import { CONFIDENCES, flagsOf, STATES } from '#prices/evidence/evidence-types.ts'
import { sourcesOf } from './item-sources.ts'
import { escapeLike } from '../records/like.ts'
import type { ForeignId } from '../records/catalogue-records.ts'
import { defaultMarket, preferenceOf } from '../records/shown-market.ts'
import type { ListedItem, PricedItem, StoredItem } from '../stored-schemas.ts'

/** The context of reading items with prices. */
export interface StoredItemCtx extends ReadCtx {
  /** the setting MARKET_ORDER */
  marketOrder: readonly Market[]
}

export interface ItemFilter {
  /** the market whose catalogue the item comes from */
  market?: Market
  game?: string
  ref?: string
  /** including its subcategories */
  categoryId?: number
  /** part of name, code or ref */
  search?: string
  /** only these ids */
  ids?: readonly number[] | undefined
}

/** The item with this id, which may be an alias. @throws NOT_FOUND */
export async function fetchItem(on: Queryable, id: number): Promise<StoredItem> {
  const [item] = await viewsOf(on.selectFrom('items as i').where('i.id', '=', liveItem(existing('item', id))))
  if (!item) throw missing('item', id)
  return item
}

/** The item with its current prices in all markets and the sources of its facts. @throws NOT_FOUND */
export async function fetchPricedItem({ db, marketOrder }: StoredItemCtx, id: number): Promise<PricedItem> {
  const item = await fetchItem(db.kysely, id)
  const prices = (await pricesOf(db.kysely, [item.id])).get(item.id) ?? []
  return { ...item, shown_market: shownMarketOf(item, prices, marketOrder), prices, ...(await sourcesOf(db.kysely, item.id)) }
}

function shownMarketOf({ market: home }: StoredItem, prices: PricedItem['prices'], order: readonly Market[]): Market {
  const preference = (market: Market) => Math.max(0, ...prices.flatMap((price) => (price.market === market ? preferenceOf(price.state) : [])))
  return defaultMarket(home, preference, order)
}

/** Items with their current prices in all markets, by id; ids that do not exist are absent. */
export async function itemsWithPrices(on: Queryable, ids: readonly number[]): Promise<Map<number, StoredItem & Pick<PricedItem, 'prices'>>> {
  const items = await viewsOf(on.selectFrom('items as i').where('i.id', '=', (eb) => eb.fn.any(eb.val([...ids]))))
  const prices = await pricesOf(
    on,
    items.map((item) => item.id),
  )
  return new Map(items.map((item) => [item.id, { ...item, prices: prices.get(item.id) ?? [] }]))
}

/** Current prices by item, ordered by market and label. */
async function pricesOf(on: Queryable, itemIds: number[]): Promise<Map<number, PricedItem['prices']>> {
  const rows = await on
    .selectFrom('prices as p')
    .innerJoin('groups as g', 'g.id', 'p.label_id')
    .select(['p.item_id', 'p.market', 'g.name as label', 'p.price', 'p.updated_at', 'p.import_id'])
    .select(['p.confirmed_at', 'p.state', 'p.confidence', 'p.flags'])
    .where('p.item_id', '=', (eb) => eb.fn.any(eb.val(itemIds)))
    .execute()
  const prices = rows
    .map(({ item_id: itemId, ...row }) => ({
      itemId,
      order: `${row.market}${labelOrder(row.label)}`,
      price: {
        market: MARKETS[row.market]!,
        label: row.label,
        price: Number(row.price),
        updated_at: row.updated_at.toISOString(),
        confirmed_at: (row.confirmed_at ?? row.updated_at).toISOString(),
        state: STATES[row.state]!,
        confidence: CONFIDENCES[row.confidence]!,
        flags: flagsOf(row.flags),
        import_id: row.import_id,
      },
    }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
  const byItem = Map.groupBy(prices, ({ itemId }) => itemId)
  return new Map([...byItem].map(([id, list]) => [id, list.map(({ price }) => price)]))
}

function matchingItems(on: Queryable, filter: ItemFilter) {
  const { market, game, ref } = filter
  let matching = on.selectFrom('items as i').where((e) => e.and({ 'i.market': market, 'i.game': game, 'i.ref': ref }))
  if (filter.categoryId !== undefined) {
    matching = matching.where(
      'i.category_id',
      'in',
      sql<number>`(
      with recursive down as (
        select id from categories where id = ${idForSql(filter.categoryId)}
        union select c.id from categories c join down on c.parent_id = down.id
      ) select id from down)`,
    )
  }
  const { ids } = filter
  if (ids !== undefined) matching = matching.where('i.id', '=', (eb) => eb.fn.any(eb.val([...ids])))
  if (filter.search !== undefined) {
    const like = `%${escapeLike(filter.search)}%`
    matching = matching.where((eb) => eb.or([eb('i.name', 'ilike', like), eb('i.code', 'ilike', like), eb('i.ref', 'ilike', like)]))
  }
  return matching
}

/** Ids of all matching items. */
export async function idsOfItems({ db: { kysely: on } }: StoredItemCtx, filter: ItemFilter): Promise<Set<number>> {
  const rows = await matchingItems(on, filter).select('i.id').execute()
  return new Set(rows.map((row) => row.id))
}

/** The matching items, oldest first. */
export function pageOfItems(ctx: StoredItemCtx, filter: ItemFilter, range: Range): Promise<Rows<ListedItem>> {
  const matching = matchingItems(ctx.db.kysely, filter)
  const items = viewsOf(inRange(matching.orderBy('i.id'), range))
  return withTotal(
    items.then((rows) => withShownPrice(ctx, rows)),
    countOf(matching),
  )
}

/** Items in the order of the ids; ids that no longer exist are absent. */
export async function itemsInOrder(ctx: StoredItemCtx, ids: readonly number[]): Promise<ListedItem[]> {
  const rows = await viewsOf(matchingItems(ctx.db.kysely, { ids }))
  const byId = new Map(rows.map((row) => [row.id, row]))
  return withShownPrice(
    ctx,
    ids.flatMap((id) => byId.get(id) ?? []),
  )
}

async function withShownPrice({ db, marketOrder }: StoredItemCtx, items: StoredItem[]): Promise<ListedItem[]> {
  const prices = await pricesOf(
    db.kysely,
    items.map((item) => item.id),
  )
  return items.map((item) => {
    const all = prices.get(item.id) ?? []
    const shown = shownMarketOf(item, all, marketOrder)
    return { ...item, price: all.find(({ market }) => market === shown) ?? null }
  })
}

async function viewsOf(items: SelectQueryBuilder<Schema & { i: Schema['items'] }, 'i', object>): Promise<StoredItem[]> {
  const rows = await items
    .innerJoin('categories as c', 'c.id', 'i.category_id')
    .select(['i.id', 'i.ref', 'i.name', 'i.code', 'i.slug', 'i.genre', 'i.game', 'i.market', 'i.category_id'])
    .select(['i.images', 'i.attributes', 'i.group_ids', 'i.details', 'i.created_at', 'i.updated_at'])
    .select(['c.name as category_name', 'c.slug as category_slug'])
    .select(
      sql<ForeignId[] | null>`(
        select json_agg(json_build_object('source', source, 'id', foreign_id, 'finish', finish) order by source, foreign_id, finish)
        from item_foreign_ids f where f.item_id = i.id)`.as('foreign_ids'),
    )
    .execute()
  return rows.map(({ category_name, category_slug, group_ids, foreign_ids, created_at, updated_at, ...row }) => ({
    id: row.id,
    ref: row.ref,
    name: row.name,
    code: row.code,
    slug: row.slug,
    genre: row.genre as StoredItem['genre'],
    game: row.game,
    market: row.market,
    category_id: row.category_id,
    category: { id: row.category_id, name: category_name, slug: category_slug },
    images: row.images,
    attributes: row.attributes,
    groups: group_ids,
    details: row.details as StoredItem['details'],
    foreign_ids: (foreign_ids ?? []).map(({ source, id, finish }) => ({ source, id, ...(finish && { finish }) })),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }))
}
