// SQL of the price history.
import { existing, missing } from '#core/fields.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import type { Queryable } from '#db/schema.ts'
import type { StoredPricePoint } from './list-price-points.ts'

export interface PointFilter {
  market?: Market
  /** canonical */
  label?: string
  /** included */
  from?: Date
  /** not included */
  to?: Date
  limit: number
}

/** @throws NOT_FOUND */
export async function requireItem(on: Queryable, id: number): Promise<void> {
  const row = await on.selectFrom('items').select('id').where('id', '=', existing('item', id)).executeTakeFirst()
  if (!row) throw missing('item', id)
}

/** Points of an item, oldest first; the latest ones where there are more than the limit. */
export async function pointsOf(on: Queryable, itemId: number, filter: PointFilter): Promise<StoredPricePoint[]> {
  let points = on
    .selectFrom('price_points as p')
    .innerJoin('groups as g', 'g.id', 'p.label_id')
    .select(['p.market', 'g.name as label', 'p.price', 'p.updated_at', 'p.import_id'])
    .where('p.item_id', '=', itemId)
  if (filter.market !== undefined) points = points.where('p.market', '=', MARKETS.indexOf(filter.market))
  if (filter.label !== undefined) points = points.where('g.name', '=', filter.label)
  if (filter.from !== undefined) points = points.where('p.updated_at', '>=', filter.from)
  if (filter.to !== undefined) points = points.where('p.updated_at', '<', filter.to)
  const rows = await points.orderBy('p.updated_at', 'desc').orderBy('p.market').orderBy('p.label_id').limit(filter.limit).execute()
  return rows
    .map((row) => ({
      market: MARKETS[row.market]!,
      label: row.label,
      price: Number(row.price),
      updated_at: row.updated_at.toISOString(),
      import_id: row.import_id,
    }))
    .reverse()
}
