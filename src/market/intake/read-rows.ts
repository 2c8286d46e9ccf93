// Validates a row of a listing import, with the same checks as listings created by operators.
import { shortText } from '#catalogue/records/fields.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { invalidFields } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { bodyReader, Type } from '#core/input.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { gameOf } from '#intake/cells.ts'
import type { ItemDescription } from '#intake/match-items.ts'
import { newValues } from '../listings/add-listings.ts'
import { sku, title } from '../records/fields.ts'
import { ListingBody, type ListingFields } from '../listings/listing-body.ts'
import { gradeIdOf } from '../references.ts'
import { type Conversion, inLira } from './row-currency.ts'

export const MAX_ROWS = 10_000

const { item_id, grade_id: _grade, title: _title, ...Stock } = ListingBody
const foreignId = (of: string) =>
  Type.Optional(Type.String({ pattern: '^[1-9]\\d*$', maxLength: 20, allowed: reason('integer', { min: 1 }), description: `Product id of ${of}` }))

/** A row as sent: an item by id or by name, and the fields of a listing created by an operator. */
const RowBody = Type.Object(
  {
    listing_id: Type.Optional(id('listing that must not exist any more: an exported row')),
    sku: Type.Optional(sku()),
    item_id: Type.Optional(item_id),
    tcgplayer_id: foreignId('TCGplayer'),
    cardmarket_id: foreignId('Cardmarket'),
    name: Type.Optional(shortText()),
    number: Type.Optional(shortText()),
    set: Type.Optional(shortText()),
    finish: Type.Optional(shortText()),
    game: Type.Optional(shortText()),
    any_finish: Type.Optional(Type.Boolean({ description: 'The printing is unknown: an id of several printings is parked' })),
    grade: Type.Optional(shortText('Condition or grade, such as `Near Mint` or `PSA 10`')),
    title: Type.Optional(title()),
    // Read by `inLira`: what remains here is lira.
    currency: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$', allowed: reason('currency') })),
    ...Stock,
  },
  { additionalProperties: false },
)
const readBody = bodyReader(RowBody)

/** A valid row; parked rows are stored in this form. */
export interface IntakeEntry {
  item: ItemDescription
  sku: string | null
  /** as written */
  grade: string | null
  fields: Omit<ListingFields, 'item_id' | 'title'> & { title?: string }
}

/** A valid row; if `itemId` is null, its item is still to be matched. */
export interface IntakeRow {
  entry: IntakeEntry
  itemId: number | null
  /** false: its certificate alone says which item it is */
  isDescribed: boolean
  /** the listing that the row was exported from */
  listingId: number | null
  /** null for a row in lira */
  conversion: Conversion | null
}

/** Validates the fields of a row without the items of the catalogue that they describe; amounts are converted at `at`. @throws VALIDATION_ERROR */
export function readRow(catalogue: Catalogue, given: unknown, at: Date): IntakeRow {
  const { fields: inTl, conversion } = inLira(catalogue, given, at)
  const {
    listing_id: listingId = null,
    sku,
    item_id: itemId,
    tcgplayer_id,
    cardmarket_id,
    name,
    number,
    set,
    finish,
    game,
    any_finish,
    grade,
    currency: _currency,
    ...fields
  } = readBody(inTl)
  const problems: Problem[] = []
  const row = itemId === undefined ? -1 : catalogue.items.rowOf(itemId)
  if (itemId !== undefined && row < 0) problems.push(problem('item_id', 'unknown_id', { thing: 'item', id: itemId }))
  const isDescribed = [itemId, tcgplayer_id, cardmarket_id, name].some((one) => one !== undefined)
  if (!isDescribed && !fields.certificate) {
    problems.push(problem('row', 'at_least_one', { fields: ['item_id', 'name', 'tcgplayer_id', 'cardmarket_id', 'certificate'] }))
  }
  const gradeId = grade === undefined ? null : gradeIdOf(catalogue, grade)
  if (grade !== undefined && gradeId === null) problems.push(problem('grade', 'label', { value: grade }))
  if (problems.length > 0) throw invalidFields(problems)
  // The fields are validated before the item is known, so that any parked row can become a listing.
  newValues({ ...fields, title: fields.title ?? 'title' })
  const printing = finish === undefined ? {} : { finish }
  const keys = [
    ...(tcgplayer_id === undefined ? [] : [{ source: 'tcgplayer', id: tcgplayer_id, ...printing }]),
    ...(cardmarket_id === undefined ? [] : [{ source: 'cardmarket', id: cardmarket_id, ...printing }]),
  ]
  return {
    itemId: row < 0 ? null : catalogue.items.id[row]!,
    isDescribed,
    listingId,
    conversion,
    entry: {
      item: {
        keys,
        name: name ?? '',
        number: number ?? null,
        set: set ?? null,
        game: game === undefined ? null : gameOf(game),
        finish: finish ?? null,
        ...(any_finish && { anyFinish: true }),
      },
      sku: sku?.trim() ?? null,
      grade: grade ?? null,
      fields: { ...fields, grade_id: gradeId },
    },
  }
}

/** The SKU of an otherwise invalid row. */
export function skuOf(fields: unknown): string | null {
  const given = (fields as { sku?: unknown } | null | undefined)?.sku
  return typeof given === 'string' && given.length <= 64 ? given.trim() || null : null
}
