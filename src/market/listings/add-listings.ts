// Creates listings, pending approval, and evaluates the approval rules for each.
import { checkCopies } from '#catalogue/certificates/certificate.ts'
import { conflict, ServiceError } from '#core/errors.ts'
import type { Note } from '#db/changes/change.ts'
import { liveItemIds } from '#db/live-item.ts'
import type { Tx } from '#db/schema.ts'
import { completed, type KnownCertificate, knownCertificates } from '../certificates/known.ts'
import { priceKurus } from '../records/fields.ts'
import { checkPrices, type ListingFields, valuesOf } from './listing-body.ts'
import { requireLiveItem, labelOfGrade } from '../references.ts'
import { insertListings, type ListingRow, type NewListing } from '../listing-store.ts'
import { auditedListing, kurusText } from '../listing-content.ts'

const DEFAULTS = {
  description: '',
  quantity: 1,
  language: null,
  images: [] as NewListing['images'],
  shipping_payer: 'buyer',
  offers_enabled: false,
  min_offer_price: null,
} as const

/** A listing in an import; `sku` is set only if the owner sends one. */
export interface ListingInput {
  fields: ListingFields
  sku: string | null
  /** the owner's collection record that it sells */
  recordId?: number
}

/**
 * The column values of a new listing, without its references.
 * @throws VALIDATION_ERROR
 */
export function newValues(fields: Omit<ListingFields, 'item_id' | 'grade_id' | 'title'> & { title: string }) {
  const values = { ...DEFAULTS, title: fields.title, price: kurusText(priceKurus(fields.price))!, ...valuesOf(fields) }
  checkPrices(values)
  checkCopies(values.quantity, fields.certificate ?? null)
  return values
}

/**
 * Adds new listings of an existing account to the approval queue.
 * @returns the listings in order; for a rejected one the reason: VALIDATION_ERROR, or CONFLICT if its SKU is taken
 */
export async function addListings(
  tx: Tx,
  note: Note,
  { sellerId, now }: { sellerId: number; now: Date },
  inputs: readonly ListingInput[],
): Promise<(ListingRow | ServiceError)[]> {
  const items = await liveItemIds(
    tx,
    inputs.map(({ fields }) => fields.item_id),
  )
  const certificates = await certificatesOf(tx, sellerId, inputs)
  const labels = new Map<number | null, number>()
  const judged: (NewListing | ServiceError)[] = []
  for (const [i, { fields, sku, recordId }] of inputs.entries()) {
    try {
      const { grade_id = null } = fields
      const values = newValues(fields)
      const certificate = fields.certificate ? completed(fields.certificate, certificates.get(i) ?? null) : null
      const item_id = requireLiveItem(items, fields.item_id)
      const label_id = labels.get(grade_id) ?? (await labelOfGrade(tx, grade_id))
      labels.set(grade_id, label_id)
      judged.push({ ...values, seller_id: sellerId, item_id, grade_id, label_id, sku, certificate, record_id: recordId })
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      judged.push(error)
    }
  }
  const inserted = await insertListings(
    tx,
    judged.flatMap((one) => (one instanceof ServiceError ? [] : [one])),
    now,
  )
  let next = 0
  return judged.map((one) => {
    if (one instanceof ServiceError) return one
    const row = inserted[next++]
    if (!row) return conflict('taken', { thing: 'listing', field: 'sku' })
    note.audit({ action: 'listing.create', subject: 'listing', id: row.id, after: auditedListing(row, now) })
    return row
  })
}

/** What is known of the certificates whose grade was not sent, by the position of their listing. */
async function certificatesOf(tx: Tx, sellerId: number, inputs: readonly ListingInput[]): Promise<Map<number, KnownCertificate | null>> {
  const incomplete = inputs.flatMap(({ fields: { certificate } }, at) =>
    certificate && certificate.grade === undefined ? [{ at, certificate }] : [],
  )
  const known = await knownCertificates(
    tx,
    sellerId,
    incomplete.map(({ certificate }) => certificate),
  )
  return new Map(incomplete.map(({ at }, i) => [at, known[i]!]))
}
