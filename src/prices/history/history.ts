// Reads the price history across the months in the database and those in the archive.
import { type RawBuilder, sql } from 'kysely'
import { existing, missing } from '#core/fields.ts'
import { labelOrder } from '#core/labels.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { minorToNumber } from '#core/money.ts'
import { liveItemId } from '#db/live-item.ts'
import type { Db, Queryable } from '#db/schema.ts'
import type { ArchivedPoint } from '../archive/archive-file.ts'
import type { PriceArchive } from '../archive/price-archive.ts'
import { labelIds } from '../records/labels.ts'
import type { StoredPricePoint } from '../records/price-types.ts'

/** The database and the archive, which together hold the history. */
export interface HistoryCtx {
  db: Db
  archive: PriceArchive
}

export interface PointFilter {
  market?: Market
  /** canonical */
  label?: string
  /** inclusive */
  from?: Date
  /** exclusive */
  to?: Date
  limit: number
}

/** The current id of an item, which may have been merged into another one. @throws NOT_FOUND */
export async function requireItem(on: Queryable, id: number): Promise<number> {
  const liveId = await liveItemId(on, existing('item', id))
  if (liveId === null) throw missing('item', id)
  return liveId
}

/** Points of an item, oldest first; beyond the limit only the latest ones. */
export function pointsOf({ db, archive }: HistoryCtx, itemId: number, filter: PointFilter): Promise<StoredPricePoint[]> {
  return archive.joined(db.kysely, itemId, filter, async (archived) => {
    const stored = await storedPoints(db.kysely, itemId, filter)
    if (archived.length === 0) return stored.map(toResponse).reverse()
    const labels = await labelIds(db.kysely)
    const names = new Map([...labels].map(([name, id]) => [id, name]))
    const market = filter.market === undefined ? null : MARKETS.indexOf(filter.market)
    const [fromMs, toMs] = [filter.from?.getTime() ?? -Infinity, filter.to?.getTime() ?? Infinity]
    const points = new Map(
      archived
        .filter((point) => point.atMs >= fromMs && point.atMs < toMs && (market === null || point.market === market))
        .filter((point) => filter.label === undefined || names.get(point.labelId) === filter.label)
        .map((point): [string, PointRow] => [keyOf(point), rowOf(point, names)]),
    )
    for (const row of stored) {
      const key = keyOf({ market: row.market, labelId: row.label_id, atMs: row.updated_at.getTime() })
      if (row.import_id >= (points.get(key)?.import_id ?? 0)) points.set(key, row)
    }
    const latest = [...points.values()].sort(
      (a, b) => b.updated_at.getTime() - a.updated_at.getTime() || a.market - b.market || a.label_id - b.label_id,
    )
    return latest.slice(0, filter.limit).map(toResponse).reverse()
  })
}

interface PointRow {
  market: number
  label_id: number
  label: string
  price: string
  updated_at: Date
  import_id: number
}

/** The latest points, latest first. */
async function storedPoints(on: Queryable, itemId: number, filter: PointFilter): Promise<PointRow[]> {
  let points = on
    .selectFrom('price_points as p')
    .innerJoin('groups as g', 'g.id', 'p.label_id')
    .select(['p.market', 'p.label_id', 'g.name as label', 'p.price', 'p.updated_at', 'p.import_id'])
    .where('p.item_id', '=', itemId)
  if (filter.market !== undefined) points = points.where('p.market', '=', MARKETS.indexOf(filter.market))
  if (filter.label !== undefined) points = points.where('g.name', '=', filter.label)
  if (filter.from !== undefined) points = points.where('p.updated_at', '>=', filter.from)
  if (filter.to !== undefined) points = points.where('p.updated_at', '<', filter.to)
  return points.orderBy('p.updated_at', 'desc').orderBy('p.market').orderBy('p.label_id').limit(filter.limit).execute()
}

function rowOf({ market, labelId, atMs, minor, importId }: ArchivedPoint, names: ReadonlyMap<number, string>): PointRow {
  return {
    market,
    label_id: labelId,
    label: names.get(labelId)!,
    price: String(minorToNumber(minor)),
    updated_at: new Date(atMs),
    import_id: importId,
  }
}

function keyOf({ market, labelId, atMs }: Pick<ArchivedPoint, 'market' | 'labelId' | 'atMs'>): string {
  return `${market} ${labelId} ${atMs}`
}

function toResponse({ market, label, price, updated_at, import_id }: PointRow): StoredPricePoint {
  return { market: MARKETS[market]!, label, price: Number(price), updated_at: updated_at.toISOString(), import_id }
}

export const INTERVALS = ['day', 'week', 'month'] as const

export interface PeriodFilter {
  market: Market
  /** canonical; default: all labels */
  label?: string
  from: Date
  to: Date
  interval: (typeof INTERVALS)[number]
}

export interface Period {
  date: string
  market: Market
  label: string
  open: number
  low: number
  high: number
  close: number
}

/**
 * First, lowest, highest and last price of each period in which a price changed, oldest first, labels in response order. A price holds until it
 * changes, so the one in effect at the start of a period (or at `from`, if later) is its first. The period of `from` is included for each label with
 * a price by then, even without a change.
 */
export function periodsOf({ db, archive }: HistoryCtx, itemId: number, filter: PeriodFilter): Promise<Period[]> {
  return archive.joined(db.kysely, itemId, filter, (archived) => periodsWith(db.kysely, itemId, filter, archived))
}

async function periodsWith(on: Queryable, itemId: number, filter: PeriodFilter, archived: readonly ArchivedPoint[]): Promise<Period[]> {
  const labels = await labelIds(on)
  const requestedLabels = filter.label === undefined ? [...labels.values()] : [labels.get(filter.label) ?? 0]
  const names = new Map([...labels].map(([name, id]) => [id, name]))
  const inWindow = sql`
    item_id = ${itemId} and market = ${MARKETS.indexOf(filter.market)} and label_id = any(${requestedLabels}::int4[]) and updated_at < ${filter.to}`
  const market = MARKETS.indexOf(filter.market)
  const moved = archived.filter((point) => point.market === market && point.atMs < filter.to.getTime() && requestedLabels.includes(point.labelId))
  const { rows } = await sql<{ date: string; label_id: number; open: string; low: string; high: string; close: string }>`
    with points as (
      select label_id, updated_at, price, lag(price) over line as replaced, lag(updated_at) over line as earlier,
        lead(updated_at) over line as later, date_trunc(${filter.interval}, greatest(updated_at, ${filter.from}), 'UTC') as period
      -- Adds the current prices, because retention may have deleted their points. A duplicate of the last point changes nothing.
      from (
        ${moved.length === 0 ? sql`select label_id, updated_at, price from price_points where ${inWindow}` : joinedRows(inWindow, moved)}
        union all select label_id, updated_at, price from prices where ${inWindow}
      )
      window line as (partition by label_id order by updated_at)
    ), periods as (
      select period, label_id, min(price) as low, max(price) as high,
        max(price) filter (where later is null or date_trunc(${filter.interval}, later, 'UTC') > period) as close,
        -- A price that is replaced at the first moment of the period was not valid within it.
        max(case when updated_at > greatest(period, ${filter.from}) then coalesce(replaced, price) else price end)
          filter (where earlier is null or updated_at <= ${filter.from} or greatest(earlier, ${filter.from}) < period) as open
      from points
      where later is null or later > ${filter.from}
      group by 1, 2
    )
    select to_char(period at time zone 'UTC', 'YYYY-MM-DD') as date, label_id, open, least(low, open) as low,
      greatest(high, open) as high, close
    from periods`.execute(on)
  return rows
    .map(({ date, label_id: labelId, open, low, high, close }) => {
      const label = names.get(labelId)!
      const prices = { open: Number(open), low: Number(low), high: Number(high), close: Number(close) }
      return { period: { date, market: filter.market, label, ...prices }, order: `${date} ${labelOrder(label)}` }
    })
    .sort((a, b) => (a.order < b.order ? -1 : 1))
    .map(({ period }) => period)
}

/** Points from the database and the archive; of two at the same time, the one of the later import. */
function joinedRows(inWindow: RawBuilder<unknown>, archived: readonly ArchivedPoint[]): RawBuilder<unknown> {
  return sql`
    select label_id, updated_at, price from (
      select distinct on (label_id, updated_at) label_id, updated_at, price
      from (
        select label_id, updated_at, price, import_id from price_points where ${inWindow}
        union all
        select label_id, updated_at, (minor::numeric / 100)::numeric(12, 2), import_id
        from unnest(${archived.map((point) => point.labelId)}::int4[], ${archived.map((point) => new Date(point.atMs))}::timestamptz[],
          ${archived.map((point) => point.minor)}::int8[], ${archived.map((point) => point.importId)}::int4[])
          as a(label_id, updated_at, minor, import_id)
      ) of_both
      order by label_id, updated_at, import_id desc
    ) joined`
}
