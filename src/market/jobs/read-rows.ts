// Validates the rows of a price job one by one: an invalid row is rejected with an error for each field, like a single change.
import { id } from '#core/fields.ts'
import { bodyReader, Type } from '#core/input.ts'
import { type Problem, problem } from '#core/problems.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import { checkRows } from '#intake/csv-body.ts'
import type { NewStock } from '../listings/change-stock.ts'
import { price, priceKurus, quantity, sku } from '../records/fields.ts'

export const MAX_ROWS = 10_000

const RowBody = Type.Object(
  {
    listing_id: Type.Optional(id('listing, or `sku`')),
    sku: Type.Optional(sku()),
    price: Type.Optional(price()),
    quantity: Type.Optional(quantity()),
  },
  { additionalProperties: false },
)
const readBody = bodyReader(RowBody)

/** A row of a job: the listing that it names and the values to set. */
export interface JobRow {
  /** from 1 */
  position: number
  listingId: number | null
  sku: string | null
  change: Pick<NewStock, 'kurus' | 'quantity'>
  /** why it is invalid, by field */
  refused: readonly Problem[] | null
}

/** The rows of a job, in order. */
export async function readRows(rows: readonly unknown[]): Promise<JobRow[]> {
  const checked = await checkRows(rows, readRow)
  const read: JobRow[] = []
  await runInSlices(checked.length, (from, to) => {
    for (let i = from; i < to; i += 1) {
      const row = checked[i]!
      read.push({ position: i + 1, ...('value' in row ? row.value : { ...namedBy(row.fields), change: {}, refused: row.refused }) })
    }
  })
  return read
}

function readRow(given: unknown): Omit<JobRow, 'position'> {
  const body = readBody(given)
  const kurus = body.price === undefined ? undefined : priceKurus(body.price)
  const change = { ...(kurus !== undefined && { kurus }), ...(body.quantity !== undefined && { quantity: body.quantity }) }
  const row = { listingId: body.listing_id ?? null, sku: body.sku?.trim() ?? null, change }
  return { ...row, refused: wrongWhole(row) }
}

function wrongWhole({ listingId, sku, change }: Omit<JobRow, 'position' | 'refused'>): readonly Problem[] | null {
  if ((listingId === null) === (sku === null)) return [problem('listing_id', 'exactly_one', { field: 'sku' })]
  return Object.keys(change).length === 0 ? [problem('row', 'at_least_one', { fields: ['price', 'quantity'] })] : null
}

/** The listing that an otherwise invalid row names. */
function namedBy(given: unknown): Pick<JobRow, 'listingId' | 'sku'> {
  const { listing_id: listingId, sku: named } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>
  return { listingId: isStorable(listingId) ? listingId : null, sku: typeof named === 'string' && isSku(named) ? named.trim() : null }
}

const isStorable = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 2 ** 31 - 1

function isSku(text: string): boolean {
  try {
    readBody({ sku: text })
    return true
  } catch {
    return false
  }
}
