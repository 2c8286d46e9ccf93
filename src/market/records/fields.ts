// Fields of a listing in request bodies.
import { CertificateInput } from '#catalogue/certificates/certificate.ts'
import { invalid, invalidFields } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { minorOfNumber } from '#core/money.ts'
import { namedValues } from '#core/named-values.ts'
import { type Reason, reason } from '#core/problems.ts'
import { fitsCharacters, LINES, VISIBLE_LINE } from '#core/text.ts'
import { ImageList } from '#catalogue/items/item-fields.ts'
import { slugWords } from '#catalogue/records/slugs.ts'

export const MIN_PRICE = 1
export const MAX_PRICE = 9_999_999
export const MAX_UNITS = 1_000_000
export const MAX_SKU_LENGTH = 64
export const MAX_TITLE_LENGTH = 255
export const MAX_DESCRIPTION_LENGTH = 5_000

const PRICE = reason('number', { min: MIN_PRICE, max: MAX_PRICE, decimals: 2 })
const OFFER = reason('number', { above: 0, decimals: 2 })
const LINE_FORM = 'on one line, with a visible character and without bidirectional controls'
const TITLE = reason('text', { min: 1, max: MAX_TITLE_LENGTH, form: LINE_FORM })
const SKU = reason('text', { min: 1, max: MAX_SKU_LENGTH, form: LINE_FORM })
const DESCRIPTION = reason('text', { max: MAX_DESCRIPTION_LENGTH, form: 'without bidirectional controls' })

// The character limits count characters as people do; this limit of code units only prevents abuse.
const TITLE_UNITS = 8_000
const DESCRIPTION_UNITS = 100_000

export const SHIPPING_PAYERS = namedValues('ShippingPayer', ['buyer', 'seller'])

export function price() {
  return Type.Number({ minimum: MIN_PRICE, maximum: MAX_PRICE, allowed: PRICE, description: 'In TL', examples: [1250.5] })
}

const NET = reason('number', { min: 0, max: MAX_PRICE, decimals: 2 })

export function net() {
  return Type.Number({ minimum: 0, maximum: MAX_PRICE, allowed: NET, description: 'Minimum payout of a sale, in TL', examples: [900] })
}

export function minOfferPrice() {
  const schema = { minimum: 0, maximum: MAX_PRICE, allowed: OFFER }
  return orNull(Type.Number({ ...schema, description: 'Lowest acceptable offer, at most the price; null for no limit' }))
}

export function quantity(description = 'Units in stock') {
  return Type.Integer({ minimum: 0, maximum: MAX_UNITS, description })
}

/** Stored without leading and trailing spaces. */
export function sku() {
  return Type.String({
    maxLength: MAX_SKU_LENGTH,
    pattern: VISIBLE_LINE,
    allowed: SKU,
    description: `Your own stock-keeping unit, unique among your listings; at most ${MAX_SKU_LENGTH} characters`,
    examples: ['BASE1-4-NM'],
  })
}

export function title() {
  return Type.String({ maxLength: TITLE_UNITS, pattern: VISIBLE_LINE, allowed: TITLE, description: `At most ${MAX_TITLE_LENGTH} characters` })
}

export function description() {
  const schema = { maxLength: DESCRIPTION_UNITS, pattern: LINES, allowed: DESCRIPTION }
  return Type.String({ ...schema, description: `At most ${MAX_DESCRIPTION_LENGTH} characters` })
}

export function shippingPayer() {
  return Type.Enum([...SHIPPING_PAYERS], { description: 'Who pays for shipping' })
}

export function offersEnabled() {
  return Type.Boolean({ description: 'Whether buyers may offer a lower price' })
}

export function certificate() {
  return orNull(CertificateInput, { description: 'Certificate of the graded card; null for none' })
}

/** Fields that owners change without approval. */
export const StockFields = {
  price: Type.Optional(price()),
  quantity: Type.Optional(quantity('Units in stock; 0 hides the listing until it is restocked')),
  sku: Type.Optional(orNull(sku(), { description: `Your own stock-keeping unit, unique among your listings; null for none` })),
}

/** Fields of a listing, besides price and stock, that its owner may change (interface.md, "PATCH /plus/listings/{id}"). */
export const OwnFields = {
  title: Type.Optional(title()),
  description: Type.Optional(description()),
  shipping_payer: Type.Optional(shippingPayer()),
  offers_enabled: Type.Optional(offersEnabled()),
  min_offer_price: Type.Optional(minOfferPrice()),
  images: Type.Optional(ImageList),
  certificate: Type.Optional(certificate()),
}

interface Texts {
  title?: string
  description?: string
}

/** The texts in their stored form. @throws VALIDATION_ERROR if one is too long */
export function checkedTexts({ title, description }: Texts): Texts {
  const trimmed = title?.trim()
  if (trimmed !== undefined && !fitsCharacters(trimmed, MAX_TITLE_LENGTH)) throw invalidFields([{ field: 'title', ...TITLE }])
  if (description !== undefined && !fitsCharacters(description, MAX_DESCRIPTION_LENGTH)) {
    throw invalidFields([{ field: 'description', ...DESCRIPTION }])
  }
  return { ...(trimmed !== undefined && { title: trimmed }), ...(description !== undefined && { description }) }
}

/** @throws VALIDATION_ERROR for a third decimal */
export function priceKurus(value: number): number {
  return kurusOf('price', value, PRICE)
}

/** @throws VALIDATION_ERROR for a third decimal */
export function netKurus(value: number): number {
  return value === 0 ? 0 : kurusOf('net', value, NET)
}

/** @throws VALIDATION_ERROR for 0 or a third decimal */
export function offerKurus(value: number | null): number | null {
  return value === null ? null : kurusOf('min_offer_price', value, OFFER)
}

/** @throws VALIDATION_ERROR for 0 or a third decimal */
export function unitPriceKurus(field: string, value: number): number {
  return kurusOf(field, value, OFFER)
}

function kurusOf(field: string, value: number, allowed: Reason): number {
  const kurus = minorOfNumber(value)
  if (!kurus) throw invalidFields([{ field, ...allowed }])
  return kurus
}

/** @throws VALIDATION_ERROR naming the field that was sent */
export function checkOffer(field: 'price' | 'min_offer_price', priceKurus: number, offerKurus: number | null): void {
  if (offerKurus === null || offerKurus <= priceKurus) return
  if (field === 'price') throw invalid(field, 'not_below', { field: 'min_offer_price', min: offerKurus / 100 })
  throw invalid(field, 'not_above', { field: 'price' })
}

/** A listing's slug: words of its title, and its id. */
export function listingSlug(title: string, id: number): string {
  const words = slugWords(title)
  return words ? `${words}-${id}` : String(id)
}
