// Reads the prices to be explained, and their history.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'
import { conditionsOf } from '../judging/condition-known.ts'

/** Identifies a price. */
export interface ExplainedKey {
  itemId: number
  /** position in MARKETS */
  market: number
  labelId: number
  label: string
}

export const MAX_DAYS = 90

export interface PriceRow {
  item_id: number
  market: number
  label_id: number
  price: string
  updated_at: Date
  confirmed_at: Date | null
  import_id: number
  line: number | null
  state: number
  confidence: number
  flags: number
  avg_1: string | null
  avg_7: string | null
  avg_30: string | null
  low: string | null
  mid: string | null
  high: string | null
  samples: number | null
  condition_known: boolean
}

/** Current prices of all markets by item and label. */
export async function pricesOf(on: Queryable, keys: readonly ExplainedKey[]): Promise<Map<string, PriceRow[]>> {
  const { rows } = await sql<Omit<PriceRow, 'condition_known'>>`
    select p.item_id, p.market, p.label_id, p.price, p.updated_at, p.confirmed_at, p.import_id, p.line, p.state, p.confidence, p.flags,
      p.avg_1, p.avg_7, p.avg_30, p.low, p.mid, p.high, p.samples
    from prices p join (${keysOf(keys)}) k using (item_id, label_id)`.execute(on)
  const isKnown = await conditionsOf(
    on,
    rows.map((row) => row.import_id),
  )
  const known = rows.map((row): PriceRow => ({ ...row, condition_known: isKnown(row.import_id, row.market, row.label_id) }))
  return Map.groupBy(known, (row) => `${row.item_id} ${row.label_id}`)
}

/** Points of the last days by position of the key, with the point before them. */
export async function pointsOf(on: Queryable, keys: readonly ExplainedKey[], nowMs: number): Promise<Map<number, { minor: number; atMs: number }[]>> {
  const from = new Date(nowMs - MAX_DAYS * DAY_MS)
  const key = sql`p.item_id = k.item_id and p.market = k.market and p.label_id = k.label_id`
  const { rows } = await sql<{ n: number; price: string; updated_at: Date }>`
    select k.n::int4 as n, s.price, s.updated_at
    from unnest(${keys.map((one) => one.itemId)}::int4[], ${keys.map((one) => one.market)}::int2[], ${keys.map((one) => one.labelId)}::int4[])
      with ordinality as k(item_id, market, label_id, n)
    cross join lateral (
      (select price, updated_at from price_points p where ${key} and updated_at <= ${from} order by updated_at desc limit 1)
      union all
      select price, updated_at from price_points p where ${key} and updated_at > ${from} and updated_at <= ${new Date(nowMs)}
    ) s order by s.updated_at`.execute(on)
  const points = new Map<number, { minor: number; atMs: number }[]>()
  for (const { n, price, updated_at: at } of rows) {
    const ofKey = points.get(n - 1) ?? []
    ofKey.push({ minor: parseMinor(price)!, atMs: at.getTime() })
    points.set(n - 1, ofKey)
  }
  return points
}

export function keysOf(keys: readonly ExplainedKey[]) {
  return sql`select distinct item_id, label_id
    from unnest(${keys.map((key) => key.itemId)}::int4[], ${keys.map((key) => key.labelId)}::int4[]) as k(item_id, label_id)`
}
