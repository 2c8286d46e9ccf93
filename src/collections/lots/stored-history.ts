// SQL of lots and disposals: the history of records, each read with its record in one statement, in the binary format of COPY.
import { type RawBuilder, sql } from 'kysely'
import { copyOut, dateMsAt, int2At, int4At, int8At, minorAt, readBinaryCopy } from '#db/copy.ts'
import type { Queryable } from '#db/schema.ts'
import { RepeatedTexts } from '#index/vocabulary.ts'

export const LOT_SOURCES = ['bought', 'pulled', 'traded', 'gift', 'order'] as const
export type LotSource = (typeof LOT_SOURCES)[number]

/** Copies acquired together; amounts in minor units of `currency`. */
export interface StoredLot {
  /** null: the record's own first lot */
  id: number | null
  day: string
  quantity: number
  /** per copy; null if unknown */
  unitCost: bigint | null
  /** of all copies */
  fees: bigint
  currency: string
  source: LotSource
}

/** Copies disposed of together; amounts are of all copies, in minor units of `currency`. */
export interface StoredDisposal {
  id: number
  day: string
  returnedDay: string | null
  quantity: number
  gross: bigint
  fees: bigint
  shipping: bigint
  currency: string
  orderId: number | null
  line: number | null
}

/** A record with everything that happened to its copies. */
export interface RecordHistory {
  id: number
  itemId: number
  groupLabel: string | null
  /** copies owned now */
  quantity: number
  lots: StoredLot[]
  disposals: StoredDisposal[]
}

/** What a first lot has in common in all records. */
export interface FirstLots {
  /** currency of purchase prices */
  currency: string
  /** time zone of the day on which a record without a purchase date was added */
  timeZone: string
}

/** Kinds of rows, in their order. */
const [RECORD, LOT] = [0, 1]

/**
 * One row for each record, lot and disposal, ordered by record; the columns mean for each kind:
 *
 *     record_id, 0, item_id, null, quantity,       purchase_price, null, null,     first day, null,        label,    null, null
 *     record_id, 1, id,      null, quantity,       unit_cost,      fees, null,     day,       null,        currency, null, source
 *     record_id, 2, id,      line, quantity,       gross,          fees, shipping, day,       returned_at, currency, order_id, null
 */
function historyRows({ timeZone }: FirstLots, records: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    with chosen as materialized (
      select r.id, r.item_id, r.grade_id, r.quantity, r.purchase_price, r.purchase_date, r.created_at from collection_items r where ${records}
    )
    select chosen.id, ${sql.lit(RECORD)}::int2, item_id, null::int4, quantity, purchase_price, null::numeric, null::numeric,
           coalesce(purchase_date, (created_at at time zone ${sql.lit(timeZone)})::date), null::date, g.name, null::int8, null::text
    from chosen left join groups g on g.id = grade_id
    union all
    select record_id, ${sql.lit(LOT)}::int2, id, null, quantity, unit_cost, fees, null, acquired_at, null, currency, null, source
    from collection_lots where record_id in (select id from chosen)
    union all
    select record_id, 2::int2, id, line, quantity, gross, fees, shipping, at, returned_at, currency, order_id, null
    from collection_disposals where record_id in (select id from chosen)
    order by 1, 2, 3`
}

async function historiesWhere(on: Queryable, first: FirstLots, records: RawBuilder<unknown>): Promise<RecordHistory[]> {
  // The values are literals: COPY has no parameters.
  const { sql: copy } = sql`copy (${historyRows(first, records)}) to stdout (format binary)`.compile(on)
  const histories: RecordHistory[] = []
  const texts = new RepeatedTexts()
  const days = new Map<number, string>()
  await readBinaryCopy(copyOut(on, copy), (buffer, offsets, lengths) => {
    const orNull = <T>(field: number, value: (buffer: Buffer, offset: number) => T) => (lengths[field]! < 0 ? null : value(buffer, offsets[field]!))
    const text = (field: number) => texts.textOf(buffer, offsets[field]!, offsets[field]! + lengths[field]!)
    const dayAt = (_buffer: Buffer, offset: number) => dayOf(days, buffer, offset)
    const kind = int2At(buffer, offsets[1]!)
    const id = int4At(buffer, offsets[2]!)
    const quantity = int4At(buffer, offsets[4]!)
    const day = dayAt(buffer, offsets[8]!)
    if (kind === RECORD) {
      const groupLabel = lengths[10]! < 0 ? null : text(10)
      const lot = { id: null, day, quantity, unitCost: orNull(5, amountAt), fees: 0n, currency: first.currency, source: 'bought' as const }
      histories.push({ id: int4At(buffer, offsets[0]!), itemId: id, groupLabel, quantity, lots: [lot], disposals: [] })
      return
    }
    // The rows of a record follow it.
    const { lots, disposals } = histories.at(-1)!
    const currency = text(10)
    const fees = amountAt(buffer, offsets[6]!)
    if (kind === LOT) {
      lots.push({ id, day, quantity, unitCost: orNull(5, amountAt), fees, currency, source: text(12) as LotSource })
      return
    }
    const [gross, shipping, returnedDay] = [amountAt(buffer, offsets[5]!), amountAt(buffer, offsets[7]!), orNull(9, dayAt)]
    disposals.push({ id, day, returnedDay, quantity, gross, fees, shipping, currency, orderId: orNull(11, int8At), line: orNull(3, int4At) })
  })
  for (const history of histories) settleFirstLot(history)
  return histories
}

function amountAt(buffer: Buffer, offset: number): bigint {
  return BigInt(minorAt(buffer, offset))
}

/** The text of a `date`, once for each. */
function dayOf(days: Map<number, string>, buffer: Buffer, offset: number): string {
  const number = int4At(buffer, offset)
  let day = days.get(number)
  if (day === undefined) days.set(number, (day = new Date(dateMsAt(buffer, offset)).toISOString().slice(0, 10)))
  return day
}

/** The first lot has the copies that no other lot explains; without any, the record has no such lot. */
function settleFirstLot({ quantity, lots, disposals }: RecordHistory): void {
  if (lots.length === 1 && disposals.length === 0 && quantity > 0) return
  const disposed = disposals.reduce((sum, one) => sum + (one.returnedDay === null ? one.quantity : 0), 0)
  const [first, ...added] = lots as [StoredLot, ...StoredLot[]]
  first.quantity = quantity + disposed - added.reduce((sum, lot) => sum + lot.quantity, 0)
  if (first.quantity <= 0) lots.shift()
}

/** Records of a collection with their histories, by id, after an id. */
export function historiesAfter(on: Queryable, first: FirstLots, collectionId: number, afterId: number, limit: number): Promise<RecordHistory[]> {
  const [of, after, count] = [collectionId, afterId, limit].map((number) => sql.lit(number))
  return historiesWhere(on, first, sql`r.collection_id = ${of} and r.id > ${after} order by r.id limit ${count}`)
}

/** The histories of records, by id; unknown ids are missing. */
export function historiesOf(on: Queryable, first: FirstLots, recordIds: readonly number[]): Promise<RecordHistory[]> {
  return historiesWhere(on, first, sql`r.id = any(${sql.lit(`{${recordIds.join()}}`)}::int4[])`)
}
