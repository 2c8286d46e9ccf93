// Body fields with which operators create and correct listings.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { orderedImages, ImageList } from '#catalogue/items/item-fields.ts'
import {
  certificate,
  checkedTexts,
  checkOffer,
  description,
  minOfferPrice,
  offerKurus,
  offersEnabled,
  price,
  priceKurus,
  quantity,
  shippingPayer,
  title,
} from '../records/fields.ts'
import type { NewListing } from '../listing-store.ts'
import { kurusOfRow, kurusText, minOfferKurus } from '../listing-content.ts'

/** A language as sellers write it: a code or a name. */
export function language(description: string) {
  const allowed = reason('language', { max: 35 })
  return Type.String({ pattern: '^[A-Za-z0-9]+([ _-][A-Za-z0-9]+)*$', maxLength: 35, allowed, description, examples: ['en'] })
}

export const ListingBody = {
  item_id: Type.Integer({ description: 'Id of the item being sold' }),
  grade_id: Type.Optional(orNull(Type.Integer({ description: 'Id of a grade such as `PSA 10` (GET /groups); null for none' }))),
  title: title(),
  description: Type.Optional(description()),
  price: price(),
  quantity: Type.Optional(quantity('Units in stock; default: 1')),
  language: Type.Optional(orNull(language('Language of the card'))),
  images: Type.Optional(ImageList),
  shipping_payer: Type.Optional(shippingPayer()),
  offers_enabled: Type.Optional(offersEnabled()),
  min_offer_price: Type.Optional(minOfferPrice()),
  certificate: Type.Optional(certificate()),
}

const AllFields = Type.Object(ListingBody, { additionalProperties: false })
export type ListingFields = Static<typeof AllFields>

/** The sent fields in their stored form, without references and the certificate. */
export function valuesOf(
  fields: Partial<ListingFields>,
): Partial<Omit<NewListing, 'seller_id' | 'item_id' | 'grade_id' | 'label_id' | 'sku' | 'certificate'>> {
  const { item_id: _item, grade_id: _grade, certificate: _certificate, title, description, ...others } = fields
  const { price, language, images, min_offer_price: offer, ...plain } = others
  return {
    ...plain,
    ...checkedTexts({ ...(title !== undefined && { title }), ...(description !== undefined && { description }) }),
    ...(price !== undefined && { price: kurusText(priceKurus(price))! }),
    ...(language !== undefined && { language: language?.toLowerCase() ?? null }),
    ...(images !== undefined && { images: orderedImages(images).map(({ url, order }) => ({ url, order })) }),
    ...(offer !== undefined && { min_offer_price: kurusText(offerKurus(offer)) }),
  }
}

/** @throws VALIDATION_ERROR if the lowest offer is above the price */
export function checkPrices(values: { price: string; min_offer_price: string | null }): void {
  checkOffer('min_offer_price', kurusOfRow(values), minOfferKurus(values))
}
