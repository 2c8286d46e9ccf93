// Writes the lots and disposals of a collection as CSV: what was entered, from which every sum of a profit can be computed again.
import { csvLine } from '#core/files/csv.ts'
import type { Queryable } from '#db/schema.ts'
import { decimalOfMinor } from '../worth.ts'
import { byDay } from '../lots/settle.ts'
import { historiesAfter, type FirstLots, type RecordHistory, type StoredDisposal, type StoredLot } from '../lots/stored-history.ts'

const RECORDS_AT_ONCE = 2_000

const COLUMNS = [
  'record_id',
  'item_id',
  'label',
  'kind',
  'id',
  'day',
  'quantity',
  'unit_cost',
  'gross',
  'fees',
  'shipping',
  'currency',
  'source',
  'order_id',
  'line',
  'returned_at',
] as const
type Cells = Partial<Record<(typeof COLUMNS)[number], string | number | null>>

/** The lines of the file, oldest record first; a record's lots come before its disposals, each in the order of their days. */
export async function* lotLines(on: Queryable, first: FirstLots, collectionId: number): AsyncIterable<string> {
  yield csvLine(COLUMNS)
  for (let lastId = 0; ; ) {
    const histories = await historiesAfter(on, first, collectionId, lastId, RECORDS_AT_ONCE)
    if (histories.length > 0) yield histories.map(linesOf).join('')
    if (histories.length < RECORDS_AT_ONCE) return
    lastId = histories.at(-1)!.id
  }
}

function linesOf({ id, itemId, groupLabel, lots, disposals }: RecordHistory): string {
  const line = (cells: Cells) => {
    const all: Cells = { record_id: id, item_id: itemId, label: groupLabel, ...cells }
    return csvLine(COLUMNS.map((column) => all[column] ?? null))
  }
  return [...lots.toSorted(byDay).map(lotCells), ...disposals.toSorted(byDay).map(disposalCells)].map(line).join('')
}

function lotCells({ id, day, quantity, unitCost, fees, currency, source }: StoredLot): Cells {
  return {
    kind: 'lot',
    id,
    day,
    quantity,
    unit_cost: unitCost === null ? null : decimalOfMinor(unitCost),
    fees: decimalOfMinor(fees),
    currency,
    source,
  }
}

function disposalCells({ id, day, returnedDay, quantity, gross, fees, shipping, currency, orderId, line }: StoredDisposal): Cells {
  const amounts = { gross: decimalOfMinor(gross), fees: decimalOfMinor(fees), shipping: decimalOfMinor(shipping) }
  return { kind: 'disposal', id, day, quantity, ...amounts, currency, order_id: orderId, line, returned_at: returnedDay }
}
