// Validates the rows of a price job one by one: an invalid row is rejected with an error for each field, like a single change.
import { ServiceError } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { bodyReader, Type } from '#core/input.ts'
import { type Problem, problem, type Reason } from '#core/problems.ts'
import type { NewStock } from '../listings/change-stock.ts'
import { price, priceKurus, quantity, sku } from '../records/fields.ts'

export const MAX_ROWS = 10_000

/** Placeholder for a row of a file that could not be parsed. */
export class UnreadableRow {
  readonly why: Reason

  constructor(why: Reason) {
    this.why = why
  }
}

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

/** A validated row: the listing it names and the values to set. */
export interface ValidRow {
  /** from 1 */
  position: number
  listingId: number | null
  sku: string | null
  change: Pick<NewStock, 'kurus' | 'quantity'>
  /** why it is invalid, by field */
  refused: readonly Problem[] | null
}

export function readRow(given: unknown, position: number): ValidRow {
  if (given instanceof UnreadableRow) return { position, listingId: null, sku: null, change: {}, refused: [{ field: 'row', ...given.why }] }
  try {
    const body = readBody(given)
    const kurus = body.price === undefined ? undefined : priceKurus(body.price)
    const change = { ...(kurus !== undefined && { kurus }), ...(body.quantity !== undefined && { quantity: body.quantity }) }
    const row = { position, listingId: body.listing_id ?? null, sku: body.sku?.trim() ?? null, change }
    return { ...row, refused: wrongWhole(row) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return {
      position,
      ...namedBy(given),
      change: {},
      refused: error.details.map((wrong) => (wrong.field === 'body' ? { ...wrong, field: 'row' } : wrong)),
    }
  }
}

function wrongWhole({ listingId, sku, change }: Omit<ValidRow, 'position' | 'refused'>): readonly Problem[] | null {
  if ((listingId === null) === (sku === null)) return [problem('listing_id', 'exactly_one', { field: 'sku' })]
  return Object.keys(change).length === 0 ? [problem('row', 'at_least_one', { fields: ['price', 'quantity'] })] : null
}

/** The listing that an otherwise invalid row names. */
function namedBy(given: unknown): Pick<ValidRow, 'listingId' | 'sku'> {
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
