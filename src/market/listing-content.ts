// Rows of listings as operators, owners and the audit log see them.
import { createHash } from 'node:crypto'
import { minorToText, parseMinor } from '#core/money.ts'
import { jsonReady } from '#db/json-ready.ts'
import { listingSlug } from './records/fields.ts'
import { statusAt } from './records/rules.ts'
import type { StoredListing } from './marketplace-types.ts'
import { CONTENT, type ListingRow, listingTag } from './listing-store.ts'

/** The content that an approval approves. */
export function contentOf(row: Pick<ListingRow, (typeof CONTENT)[number]>): Record<string, unknown> {
  return Object.fromEntries(CONTENT.map((field) => [field, row[field]]))
}

/** The differences from the approved content; null if the listing was never approved. */
export function changedSinceApproval(row: ListingRow): { field: string; approved: unknown; now: unknown }[] | null {
  if (!row.approved) return null
  const approved = row.approved as Record<string, unknown>
  return CONTENT.filter((field) => comparable(approved[field]) !== comparable(row[field])).map((field) => ({
    field,
    approved: toAuditValue(field, approved[field]),
    now: toAuditValue(field, row[field]),
  }))
}

/** JSON columns are returned with their keys in another order. */
function comparable(value: unknown): string {
  const images = Array.isArray(value) ? (value as { url: string; order: number }[]).map(({ url, order }) => [url, order]) : value
  return JSON.stringify(images ?? null)
}

function toAuditValue(field: string, value: unknown): unknown {
  return field === 'min_offer_price' && typeof value === 'string' ? Number(value) : value
}

/** Identifies the content of a listing, without the item's id, which a merge of items replaces: whether what is offered is still the same. */
export function contentHash(row: ListingRow): Buffer {
  const { item_id: _item, certificate, ...others } = contentOf(row)
  // Listings without a certificate keep the hash that they had before listings could have one.
  const content = certificate === null ? others : { ...others, certificate }
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(content).map(([field, value]) => [field, comparable(value)])))
    .digest()
}

/** A listing as operators see it. */
export function storedListing(row: ListingRow, now: Date): StoredListing {
  return { ...auditedListing(row, now), etag: listingTag(row) }
}

/** The changed fields for the audit log, with their values. */
export function auditedListing(row: ListingRow, now: Date): Omit<StoredListing, 'etag'> {
  const {
    label_id: _label,
    version: _version,
    approved: _approved,
    priced_version: _priced,
    stocked_version: _stocked,
    edited_version: _edited,
    ...fields
  } = row
  return {
    ...jsonReady(fields),
    slug: listingSlug(row.title, row.id),
    price: Number(row.price),
    min_offer_price: amountOrNull(row.min_offer_price),
    approved_price: amountOrNull(row.approved_price),
    status: statusAt(row.status, row.expires_at, now),
    changed_since_approval: changedSinceApproval(row),
  }
}

/** Decimal text of the database as a JSON number; exact, see core/money.ts. */
export function amountOrNull(text: string | null): number | null {
  return text === null ? null : Number(text)
}

export function kurusOfRow(row: Pick<ListingRow, 'price'>): number {
  return parseMinor(row.price)!
}

export function minOfferKurus(row: Pick<ListingRow, 'min_offer_price'>): number | null {
  return row.min_offer_price === null ? null : parseMinor(row.min_offer_price)
}

export function kurusText(kurus: number | null): string | null {
  return kurus === null ? null : minorToText(kurus)
}
