// The service's own price of an item and label: the median of its last sales.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { confidenceOfSales } from '../evidence/confidence.ts'
import { CONFIDENCES } from '../evidence/evidence-types.ts'
import { logEvidence } from '../judging/judge-prices.ts'
import { median } from '../records/medians.ts'
import { ensureMonth } from '../records/months.ts'
import { packPrices, type PriceChange } from '../records/price-payload.ts'
import { resetCurrent } from './reset-current.ts'

const LOCK = 7310
const SALES = 10
const DAYS = 90
/** position of `service` in MARKETS */
const SERVICE = 0
/** the batch of all prices computed by the service (created by a migration) */
const FORMAT = 'service-price'
const UNDISPUTED = { state: 'trusted', flags: 0, confirmedAtMs: null, avg7: null, avg30: null, low: null, high: null } as const

export interface Sale {
  /** price of one piece in kuruş */
  minor: number
  soldAtMs: number
}

/**
 * The sales that the service's price is computed from: the last 10, none older than 90 days, newest first. Of sales at the same time, the later one
 * in the list is newer.
 */
export function salesOfPrice<S extends Sale>(sales: readonly S[], nowMs: number): S[] {
  return sales
    .filter((sale) => sale.soldAtMs > nowMs - DAYS * DAY_MS)
    .map((sale, position) => ({ sale, position }))
    .sort((a, b) => b.sale.soldAtMs - a.sale.soldAtMs || b.position - a.position)
    .slice(0, SALES)
    .map(({ sale }) => sale)
}

/** The median of these sales in kuruş; with two middle ones their mean, rounded half up; null without sales. */
export function servicePrice(sales: readonly Sale[], nowMs: number): number | null {
  return median(salesOfPrice(sales, nowMs).map((sale) => sale.minor))
}

/** Identifies a price. */
export interface PriceKey {
  itemId: number
  labelId: number
}

/**
 * Serialises transactions that set the service's prices of an item: of two concurrent ones, neither would see the other's sale. Call it after writing
 * the sales; merges are serialised with sales by the locks of the items.
 */
export async function lockServicePrices(tx: Tx, itemIds: readonly number[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${sql.lit(LOCK)}, id)
    from (select distinct id from unnest(${itemIds}::int4[]) as sold(id) order by id) sorted`.execute(tx)
}

/**
 * Recomputes the service's prices after sales were added or removed, in the same transaction and in key order, so that writers never deadlock. If a
 * price changes, the history gets a point. Confidence depends on the number of sales. Without a sale that counts, the price stays the same.
 * @param keys items with the label of the sales: their grade, or Near Mint without one
 * @returns the changed prices
 */
export async function refreshServicePrices(tx: Tx, note: Note, keys: readonly PriceKey[], now: Date): Promise<PriceChange[]> {
  const sorted = sortedKeys(keys)
  return setPrices(
    tx,
    note,
    await pricesOfSales(
      tx,
      sorted.map((key) => ({ ...key, atMs: now.getTime() })),
    ),
    now,
  )
}

/**
 * Recomputes the prices after sales were cancelled. If no sale of the last 90 days is left, the price is the one at the time of the last remaining
 * sale. Without any sale, the price is removed with its points, and a previously imported price becomes current again.
 */
export async function refreshCancelledPrices(tx: Tx, note: Note, keys: readonly PriceKey[], now: Date): Promise<void> {
  const sorted = sortedKeys(keys)
  if (sorted.length === 0) return
  const { rows } = await sql<{ n: number; last: Date | null }>`
    select k.n::int4 as n, (
      select max(sold_at) from uncancelled_sales where item_id = k.item_id and label_id = k.label_id
    ) as last from ${keyTable(sorted)} order by k.n`.execute(tx)
  const recentMs = now.getTime() - DAYS * DAY_MS
  const left = rows.flatMap(({ n, last }) =>
    last === null ? [] : [{ ...sorted[n - 1]!, atMs: last.getTime() > recentMs ? now.getTime() : last.getTime() }],
  )
  const gone = rows.filter(({ last }) => last === null).map(({ n }) => sorted[n - 1]!)
  await setPrices(tx, note, await pricesOfSales(tx, left), now)
  await forgetPrices(tx, note, gone)
}

function sortedKeys(keys: readonly PriceKey[]): PriceKey[] {
  return [...new Map(keys.map((key) => [`${key.itemId} ${key.labelId}`, key])).values()].sort((a, b) => a.itemId - b.itemId || a.labelId - b.labelId)
}

function keyTable(keys: readonly PriceKey[]) {
  return sql`unnest(${keys.map((key) => key.itemId)}::int4[], ${keys.map((key) => key.labelId)}::int4[]) with ordinality as k(item_id, label_id, n)`
}

interface ComputedPrice extends PriceKey {
  minor: number
  samples: number
}

/** The medians of the sales at given times, for the keys that have any. */
async function pricesOfSales(tx: Tx, keys: readonly (PriceKey & { atMs: number })[]): Promise<ComputedPrice[]> {
  if (keys.length === 0) return []
  const { rows } = await sql<{ n: number; unit_price: string; sold_at: Date }>`
    select k.n::int4 as n, s.unit_price, s.sold_at
    from unnest(${keys.map((key) => key.itemId)}::int4[], ${keys.map((key) => key.labelId)}::int4[],
      ${keys.map((key) => new Date(key.atMs - DAYS * DAY_MS).toISOString())}::timestamptz[]) with ordinality as k(item_id, label_id, after, n)
    cross join lateral (
      select id, unit_price, sold_at from uncancelled_sales
      where item_id = k.item_id and label_id = k.label_id and sold_at > k.after
      order by sold_at desc, id desc limit ${sql.lit(SALES)}
    ) s order by k.n, s.sold_at, s.id`.execute(tx)
  return [...Map.groupBy(rows, (row) => row.n)].flatMap(([n, sold]) => {
    const { atMs, ...key } = keys[n - 1]!
    const sales = sold.map((row) => ({ minor: parseMinor(row.unit_price)!, soldAtMs: row.sold_at.getTime() }))
    const minor = servicePrice(sales, atMs)
    return minor === null ? [] : [{ ...key, minor, samples: sales.length }]
  })
}

/** Deletes prices computed from sales, and their points. */
async function forgetPrices(tx: Tx, note: Note, keys: readonly PriceKey[]): Promise<void> {
  if (keys.length === 0) return
  const batch = sql`(select id from imports where format = ${FORMAT} limit 1)`
  await sql`
    delete from price_points p using ${keyTable(keys)}
    where p.item_id = k.item_id and p.market = ${sql.lit(SERVICE)} and p.label_id = k.label_id and p.import_id = ${batch}`.execute(tx)
  await resetCurrent(
    tx,
    note,
    sql`select p.item_id, p.market, p.label_id, l.price, l.updated_at, l.import_id
      from ${keyTable(keys)} join prices p on p.item_id = k.item_id and p.market = ${sql.lit(SERVICE)} and p.label_id = k.label_id
      left join lateral (
        select price, updated_at, import_id from price_points q
        where q.item_id = p.item_id and q.market = p.market and q.label_id = p.label_id order by updated_at desc limit 1
      ) l on true
      where p.import_id = ${batch}`,
  )
}

async function setPrices(tx: Tx, note: Note, computed: readonly ComputedPrice[], now: Date): Promise<PriceChange[]> {
  const prices = computed.map((price) => ({ ...price, market: SERVICE, updatedAtMs: now.getTime() }))
  if (prices.length === 0) return []
  await ensureMonth(tx, now.getTime())
  const confidences = prices.map(({ samples }) => confidenceOfSales(samples))
  // Dated no earlier than the previous price, which may come from a sale with a later time that was recorded first: the latest point must be the
  // current price.
  const { rows: set } = await sql<{ item_id: number; label_id: number; n: number; at_ms: number; is_new: boolean }>`
    with batch as (select id from imports where format = ${FORMAT} limit 1), given as (
      select g.*, minor::numeric / 100 as price, p.price as before
      from unnest(${prices.map((price) => price.itemId)}::int4[], ${prices.map((price) => price.labelId)}::int4[],
        ${prices.map((price) => price.minor)}::int8[], ${prices.map((price) => price.samples)}::int4[],
        ${confidences.map((confidence) => CONFIDENCES.indexOf(confidence))}::int2[]) with ordinality as g(item_id, label_id, minor, samples, confidence, n)
      left join prices p on p.item_id = g.item_id and p.market = ${sql.lit(SERVICE)} and p.label_id = g.label_id
    ), written as (
      insert into prices (item_id, market, label_id, price, updated_at, import_id, samples, confidence)
      select item_id, ${sql.lit(SERVICE)}, label_id, price, ${now}, batch.id, samples, confidence from batch, given order by n
      on conflict (item_id, market, label_id) do update
        set price = excluded.price, samples = excluded.samples, confidence = excluded.confidence,
          import_id = case when prices.price = excluded.price then prices.import_id else excluded.import_id end,
          updated_at = case when prices.price = excluded.price then prices.updated_at
            else greatest(excluded.updated_at, prices.updated_at + interval '1 millisecond') end
        where (prices.price, prices.samples, prices.confidence) is distinct from (excluded.price, excluded.samples, excluded.confidence)
      returning item_id, market, label_id, price, updated_at, import_id
    ), pointed as (
      insert into price_points (item_id, market, label_id, price, updated_at, import_id)
      select w.item_id, w.market, w.label_id, w.price, w.updated_at, w.import_id
      from written w join given g using (item_id, label_id) where g.before is distinct from w.price
      on conflict (item_id, market, label_id, updated_at) do update
        set price = excluded.price, import_id = excluded.import_id
    )
    select w.item_id, w.label_id, g.n::int4 as n, (extract(epoch from w.updated_at) * 1000)::float8 as at_ms,
      g.before is distinct from w.price as is_new
    from written w join given g using (item_id, label_id)`.execute(tx)
  const changed = set.filter((row) => row.is_new).map((row) => ({ ...prices[row.n - 1]!, updatedAtMs: row.at_ms }))
  if (changed.length > 0) await note.changedPrices(packPrices(changed))
  await logEvidence(
    note,
    set.map(({ item_id: itemId, label_id: labelId, n }) => {
      return { itemId, market: SERVICE, labelId, ...UNDISPUTED, confidence: confidences[n - 1]! }
    }),
  )
  return changed
}
