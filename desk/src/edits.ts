// New prices, stock and SKUs that the seller has entered but not applied, by listing; stored until the page is closed.
import { effect, signal } from '@preact/signals'
import type { OwnListing } from '../../client/src/api.ts'
import { sessions } from './api.ts'
import type { BulkTarget } from './bulk.ts'
import { cacheTitle } from './listing-title.tsx'

const PLANNED = ['price', 'quantity'] as const
const EDITABLE = [...PLANNED, 'sku'] as const
export type Editable = (typeof EDITABLE)[number]

interface Edit extends Partial<Pick<OwnListing, Editable>> {
  listing: OwnListing
}

export const edits = signal<ReadonlyMap<number, Edit>>(new Map())

// Edits belong to the signed-in account: signing out discards them.
effect(() => {
  if (sessions.session.value === null) edits.value = new Map()
})

/** The edited value of a listing's field, or its current one. */
export function editedValue<Field extends Editable>(listing: OwnListing, field: Field): OwnListing[Field] {
  const changed = (edits.value.get(listing.id) ?? {}) as Partial<Pick<OwnListing, Field>>
  return changed[field] === undefined ? listing[field] : changed[field]
}

/** Records a new value, or removes the edit if it equals the current one. */
export function edit<Field extends Editable>(listing: OwnListing, field: Field, value: OwnListing[Field]): void {
  cacheTitle(listing.id, listing.title)
  const changed: Edit = { ...edits.value.get(listing.id), listing, [field]: value }
  if (value === listing[field]) delete changed[field]
  setEdits([changed])
}

function setEdits(all: readonly Edit[]): void {
  const next = new Map(edits.value)
  for (const changed of all) {
    if (EDITABLE.every((field) => changed[field] === undefined)) next.delete(changed.listing.id)
    else next.set(changed.listing.id, changed)
  }
  edits.value = next
}

/** Drops all edits. */
export function forgetEdits(): void {
  edits.value = new Map()
}

/** Drops the edits of prices and stock, or of SKUs, of some listings. */
export function forgetEditsOf(ids: Iterable<number>, what: 'planned' | 'sku'): void {
  const fields = what === 'sku' ? (['sku'] as const) : PLANNED
  const all = Array.from(ids, (id) => edits.value.get(id)).filter((one) => one !== undefined)
  setEdits(all.map((one) => ({ ...one, ...Object.fromEntries(fields.map((field) => [field, undefined])) })))
}

/** The new prices and stock as rows of a price job. */
export function editedRows(): { listing_id: number; price?: number; quantity?: number }[] {
  return [...edits.value].flatMap(([id, { price, quantity }]) =>
    price === undefined && quantity === undefined
      ? []
      : [{ listing_id: id, ...(price !== undefined && { price }), ...(quantity !== undefined && { quantity }) }],
  )
}

/** The new SKUs. */
export function editedSkus(): BulkTarget[] {
  return [...edits.value.values()].flatMap(({ listing, sku }) => (sku === undefined ? [] : [{ listing, sku }]))
}
