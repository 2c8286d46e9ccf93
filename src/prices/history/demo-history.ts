// Adds an invented price history to the sample catalogue of the demo: two years of points that end at the sample's prices.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import { randomNumbers } from '#core/random.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { BinaryRows, copyIn } from '#db/copy.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { DEMO_DAYS, demoWalk } from './demo-walk.ts'
import { ensureMonths } from '../records/months.ts'

/** Days between two points of an item's headline price, and of its prices in other conditions, grades and markets. */
const STEP = { headline: 1, other: 28 } as const
/** Deviation of a market and label from the movement of its item. */
const OWN_NOISE = 0.03

/** A price of the sample, with which its history ends. */
interface Anchor {
  item_id: number
  market: number
  label_id: number
  price: string
  at_ms: number
  import_id: number
  is_headline: boolean
}

/**
 * Adds the points, which belong to the import of the sample: reverting it removes them. As in a real history, a day on which the price is the same as
 * the day before has no point.
 * @returns the number of points
 */
export async function addDemoHistory({ db }: Pick<WriteCtx, 'db'>, importId: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const anchors = await anchorsOf(tx, importId)
    const times = anchors.map(({ at_ms }) => at_ms)
    const oldest = Math.min(...times) - DEMO_DAYS * DAY_MS
    await ensureMonths(
      db,
      tx,
      Array.from({ length: DEMO_DAYS + 1 }, (_, day) => oldest + day * DAY_MS),
    )
    return copyPoints(tx, anchors)
  })
}

async function anchorsOf(on: Queryable, importId: number): Promise<Anchor[]> {
  const { rows } = await sql<Anchor>`
    select p.item_id, p.market, p.label_id, p.price, (extract(epoch from p.updated_at) * 1000)::float8 as at_ms, p.import_id,
      i.market = (${[...MARKETS]}::text[])[p.market + 1] and g.slug = 'near-mint' as is_headline
    from price_points p join items i on i.id = p.item_id join groups g on g.id = p.label_id
    where p.import_id = ${importId} order by p.item_id, p.market, p.label_id`.execute(on)
  return rows
}

async function copyPoints(tx: Tx, anchors: readonly Anchor[]): Promise<number> {
  const rows = new BinaryRows()
  for (const anchor of anchors) addPoints(rows, anchor)
  return copyIn(tx, 'copy price_points (item_id, market, label_id, updated_at, price, import_id) from stdin (format binary)', [rows.end()])
}

function addPoints(
  rows: BinaryRows,
  { item_id: itemId, market, label_id: labelId, price, at_ms: atMs, import_id: importId, is_headline: isHeadline }: Anchor,
) {
  const walk = demoWalk(itemId)
  const random = randomNumbers((itemId * 31 + labelId) * 7 + market)
  const minor = parseMinor(price)!
  const step = isHeadline ? STEP.headline : STEP.other
  const on = (day: number) => Math.max(1, Math.round(minor * walk[day]! * (1 + (random() - 0.5) * OWN_NOISE)))
  for (let day = DEMO_DAYS, before = 0; day > 0; day -= step) {
    const now = on(day)
    if (now !== before)
      rows
        .begin(6)
        .int4(itemId)
        .int2(market)
        .int4(labelId)
        .time(atMs - day * DAY_MS)
        .minor(now)
        .int4(importId)
    before = now
  }
}
