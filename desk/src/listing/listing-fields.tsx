// The fields that a seller sets on new and existing listings, and their values.
import { Field, type Values } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import type { OwnListing } from '../../../client/src/api.ts'
import { t, termText } from '../words.ts'

export const PAYERS = ['buyer', 'seller'] as const

/** Limits of the service, so that the browser reports what a request would. */
export const PRICE = { min: 1, max: 9_999_999, step: 0.01 }
export const MAX_SKU_LENGTH = 64
const MAX_DESCRIPTION_LENGTH = 5_000

/** The number in a field; null for none. */
export function numberIn(text: string | undefined): number | null {
  const value = Number(text)
  return text && Number.isFinite(value) ? value : null
}

/** Price, stock and SKU. */
export function StockFields({ values, minQuantity }: { values: Values; minQuantity: number }) {
  return (
    <div class="triple">
      <Field label={t('priceInLira')}>
        <input name="price" type="number" {...PRICE} required defaultValue={values.price} />
      </Field>
      <Field label={t('quantity')}>
        <input name="quantity" type="number" min={minQuantity} step={1} required defaultValue={values.quantity} />
      </Field>
      <Field label="SKU">
        <input name="sku" maxLength={MAX_SKU_LENGTH} autocomplete="off" defaultValue={values.sku} />
      </Field>
    </div>
  )
}

interface OfferFieldsProps {
  values: Values
  /** whether the service gives the listing a title if the field is empty */
  hasDefaultTitle?: boolean
}

/** Title, description, shipping and offers: what buyers read. */
export function OfferFields({ values, hasDefaultTitle = false }: OfferFieldsProps) {
  return (
    <>
      <Field label={t('title')}>
        <input name="title" required={!hasDefaultTitle} autocomplete="off" defaultValue={values.title} />
      </Field>
      <Field label={termText('field', 'description')}>
        <textarea name="description" rows={3} maxLength={MAX_DESCRIPTION_LENGTH} defaultValue={values.description} />
      </Field>
      <div class="pair">
        <Field label={t('shippingPayer')}>
          <select name="shipping_payer">
            <Options of={PAYERS.map((code) => ({ value: code, text: termText('payer', code) }))} selected={values.shipping_payer ?? PAYERS[0]} />
          </select>
        </Field>
        <Field label={t('minOffer')} hint={t('minOfferHint')}>
          <input name="min_offer_price" type="number" min={0.01} step={0.01} defaultValue={values.min_offer_price} />
        </Field>
      </div>
      <label class="check">
        <input type="checkbox" name="offers_enabled" defaultChecked={values.offers_enabled === 'on'} /> {t('offersEnabled')}
      </label>
    </>
  )
}

type Payer = OwnListing['shipping_payer']

/** The fields of a form, as requests send them; without the price if it is not a number. */
export function fieldsOf({ price, quantity, sku, title, description, shipping_payer: payer, ...rest }: Values) {
  return {
    title: title ?? '',
    description: description ?? '',
    price: numberIn(price) ?? 0,
    quantity: numberIn(quantity) ?? 0,
    sku: sku || null,
    shipping_payer: payer as Payer,
    offers_enabled: rest.offers_enabled === 'on',
    min_offer_price: numberIn(rest.min_offer_price),
  }
}
export type ListingFields = ReturnType<typeof fieldsOf>

/** A listing as the values of the form. */
export function valuesOfListing(listing: OwnListing): Values {
  return {
    title: listing.title,
    description: listing.description,
    price: String(listing.price),
    quantity: String(listing.quantity),
    sku: listing.sku ?? '',
    shipping_payer: listing.shipping_payer,
    ...(listing.offers_enabled && { offers_enabled: 'on' }),
    min_offer_price: listing.min_offer_price === null ? '' : String(listing.min_offer_price),
  }
}

/** The fields of the form that differ from the listing. */
export function changedFields(listing: OwnListing, values: Values): Partial<ListingFields> {
  const before = fieldsOf(valuesOfListing(listing)) as Record<string, unknown>
  return Object.fromEntries(Object.entries(fieldsOf(values)).filter(([name, value]) => value !== before[name]))
}
