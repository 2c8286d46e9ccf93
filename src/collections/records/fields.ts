// Input fields of collections and their records; each rule is defined once.
import { invalid, invalidFields } from '#core/errors.ts'
import { certificateOf, FullCertificateInput } from '#catalogue/certificates/certificate.ts'
import { day, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { minorOfNumber } from '#core/money.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { fitsCharacters, LINE, LINES } from '#core/text.ts'
import type { StoredCertificate } from '#db/schema.ts'
import { MAX_QUANTITY } from '#intake/cells.ts'
import { VISIBILITIES } from './types.ts'

const MAX_PRICE = 9_999_999_999.99

export const MAX_CODE_LENGTH = 100
export const MAX_NOTE_LENGTH = 1_000

/** Maximum average code points per visible character: combining marks can be stacked without limit. */
const POINTS_PER_CHARACTER = 8

/** Text whose visible characters `valuesOf` counts, because a JSON schema cannot count them. */
function text(pattern: string, maxLength: number, description: string) {
  const bounded = pattern.replace(/\*\$$/, `{0,${maxLength * POINTS_PER_CHARACTER}}$`)
  const allowed = reason('text', {
    max: maxLength,
    form: pattern === LINE ? 'on one line, without bidirectional controls' : 'without bidirectional controls',
  })
  return Type.String({ pattern: bounded, allowed, description })
}

/** A field that null clears. */
export function clearable<T extends Type.TSchema>(schema: T) {
  return Type.Optional(orNull(schema))
}

/** An amount that may be null, with at most two decimals; read it with `minorOf`. */
export function money(description: string) {
  const allowed = reason('number', { min: 0, max: MAX_PRICE, decimals: 2 })
  return clearable(Type.Number({ minimum: 0, maximum: MAX_PRICE, allowed, description }))
}

export function quantity(fallback?: number) {
  const rule = { minimum: 1, maximum: MAX_QUANTITY, description: 'Copies' }
  return Type.Optional(Type.Integer(fallback === undefined ? rule : { ...rule, default: fallback }))
}

/** Copies that the owner would trade or sell. */
export function forTrade(fallback?: number) {
  const rule = { minimum: 0, maximum: MAX_QUANTITY, description: 'Copies that you would trade or sell; at most `quantity`' }
  return Type.Optional(Type.Integer(fallback === undefined ? rule : { ...rule, default: fallback }))
}

/** @throws VALIDATION_ERROR if more copies are for trade than there are */
export function checkForTrade(forTrade: number | undefined, quantity: number): void {
  if (forTrade !== undefined && forTrade > quantity) throw invalid('for_trade', 'integer', { min: 0, max: quantity, value: forTrade })
}

/** Fields of a record that can be set on creation and changed later; null clears a field. */
export const CLEARABLE_FIELDS = {
  purchase_price: money('Price paid per copy'),
  sale_price: money('Price asked or received per copy; responses round it to a whole number'),
  purchase_date: clearable(day()),
  card_uniq_id: clearable(text(LINE, MAX_CODE_LENGTH, 'Own tracking code or certificate number')),
  note: clearable(text(LINES, MAX_NOTE_LENGTH, 'Free text')),
  certificate: Type.Optional(orNull(FullCertificateInput, { description: 'Certificate of the graded card, of a record of one copy; null for none' })),
}

interface ClearableFields {
  purchase_price?: number | null
  sale_price?: number | null
  purchase_date?: string | null
  card_uniq_id?: string | null
  note?: string | null
  certificate?: Static<typeof FullCertificateInput> | null
}

/** The clearable fields in their stored form: amounts in minor units; absent fields stay absent, null stays null. */
export interface ClearableValues {
  purchaseMinor?: number | null
  saleMinor?: number | null
  purchaseDate?: string | null
  cardUniqId?: string | null
  note?: string | null
  certificate?: StoredCertificate | null
}

/** The minor units of an amount; absent and null stay as they are. Reports more than two decimals. */
export function minorOf<Absent extends null | undefined>(field: string, value: number | Absent, problems: Problem[]): number | null | Absent {
  if (value === undefined || value === null) return value
  const minor = minorOfNumber(value)
  if (minor === null) problems.push(problem(field, 'number', { decimals: 2 }))
  return minor
}

/** @throws VALIDATION_ERROR for amounts with more than two decimals and texts that are too long */
export function valuesOf(fields: ClearableFields): ClearableValues {
  const problems: Problem[] = []
  const lengths = [
    ['card_uniq_id', MAX_CODE_LENGTH],
    ['note', MAX_NOTE_LENGTH],
  ] as const
  for (const [field, most] of lengths) {
    const value = fields[field]
    if (value && !fitsCharacters(value, most)) problems.push(problem(field, 'text', { max: most }))
  }
  const amounts = {
    purchaseMinor: minorOf('purchase_price', fields.purchase_price, problems),
    saleMinor: minorOf('sale_price', fields.sale_price, problems),
  }
  if (problems.length > 0) throw invalidFields(problems)
  const certificate = fields.certificate && certificateOf(fields.certificate)
  return { ...amounts, purchaseDate: fields.purchase_date, cardUniqId: fields.card_uniq_id, note: fields.note, certificate }
}

export const WithValue = Type.Optional(Type.Boolean({ default: false, description: '`1` adds the current worth of the records' }))

/** Fields that operators set on a collection; all optional here, because a change may send only some of them. */
export const COLLECTION_FIELDS = {
  description: Type.Optional(text(LINES, 5_000, 'Description of the collection')),
  visibility: Type.Optional(Type.Enum([...VISIBILITIES])),
}
