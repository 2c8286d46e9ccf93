// Takes a listing in; it waits for approval (decisions.md, "Listings").
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { priceKurus } from './fields.ts'
import { checkPrices, ListingBody, valuesOf } from './listing-body.ts'
import { checkSeller, itemOf, labelOfGrade } from './references.ts'
import { auditedListing, insertListing, kurusText, type NewListing, storedListing } from './store.ts'
import type { StoredListing } from './types.ts'

const DEFAULTS = {
  description: '',
  quantity: 1,
  language: null,
  images: [] as NewListing['images'],
  shipping_payer: 'buyer',
  offers_enabled: false,
  min_offer_price: null,
} as const

export const createListing = verb(
  {
    name: 'createListing',
    needs: 'operator',
    input: Type.Object({ seller_id: Type.Integer({ description: 'Id of the account that sells' }), ...ListingBody }, { additionalProperties: false }),
  },
  (ctx: WriteCtx, { seller_id, ...fields }) =>
    change(ctx, async (tx, note): Promise<StoredListing> => {
      const { grade_id = null, title } = fields
      const values = { ...DEFAULTS, title, price: kurusText(priceKurus(fields.price))!, ...valuesOf(fields) }
      checkPrices(values)
      await checkSeller(tx, seller_id)
      const item_id = await itemOf(tx, fields.item_id)
      const label_id = await labelOfGrade(tx, grade_id)
      const row = await insertListing(tx, { ...values, seller_id, item_id, grade_id, label_id }, ctx.now())
      note.audit({ action: 'listing.create', subject: 'listing', id: row.id, after: auditedListing(row, ctx.now()) })
      return storedListing(row, ctx.now())
    }),
)
