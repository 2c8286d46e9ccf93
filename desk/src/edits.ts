// New prices and stock that the seller has entered but not applied, by listing; kept until the page is closed.
import { effect, signal } from '@preact/signals'
import type { OwnListing } from '../../client/src/api.ts'
import { sessions } from './api.ts'
import { cacheTitle } from './listing-title.tsx'

export type Editable = 'price' | 'quantity'

interface Edit {
  listing: OwnListing
  /** as entered; absent if unchanged */
  price?: number
  quantity?: number
}

export const edits = signal<ReadonlyMap<number, Edit>>(new Map())

// Edits belong to the signed-in account: signing out discards them.
effect(() => {
  if (sessions.session.value === null) edits.value = new Map()
})

/** The edited value of a listing's field, or its current one. */
export function editedValue(listing: OwnListing, field: Editable): number {
  return edits.value.get(listing.id)?.[field] ?? listing[field]
}

/** Records a new value, or removes the edit if it equals the current one. */
export function edit(listing: OwnListing, field: Editable, value: number): void {
  cacheTitle(listing.id, listing.title)
  const changed = { ...edits.value.get(listing.id), listing, [field]: value }
  if (value === listing[field]) delete changed[field]
  const next = new Map(edits.value)
  if (changed.price === undefined && changed.quantity === undefined) next.delete(listing.id)
  else next.set(listing.id, changed)
  edits.value = next
}

/** Drops the edits of some listings, or of all. */
export function forgetEdits(ids: Iterable<number> = edits.value.keys()): void {
  const next = new Map(edits.value)
  for (const id of ids) next.delete(id)
  edits.value = next
}

/** The edits as rows of a price job. */
export function editedRows(): { listing_id: number; price?: number; quantity?: number }[] {
  return [...edits.value].map(([id, { price, quantity }]) => ({
    listing_id: id,
    ...(price !== undefined && { price }),
    ...(quantity !== undefined && { quantity }),
  }))
}
