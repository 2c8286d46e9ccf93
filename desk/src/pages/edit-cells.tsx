// Editable price and stock cells of the listings table, and the bar that leads to the review of edits.
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { Refusal } from '#ui/states.tsx'
import type { OwnListing } from '../../../client/src/api.ts'
import { mayWrite, useWrite } from '../api.ts'
import { type Editable, edit, editedRows, editedValue, edits, forgetEdits } from '../edits.ts'
import { count, lira, t } from '../words.ts'

const LIMITS = { price: { min: 1, max: 9_999_999, step: 0.01 }, quantity: { min: 0, step: 1 } } as const

/** Read-only for sold listings and read-only keys. */
export function EditCell({ of: listing, field }: { of: OwnListing; field: Editable }) {
  // Text as typed, until the field loses focus.
  const [typing, setTyping] = useState<string | null>(null)
  const shown = field === 'price' ? lira(listing.price) : count(listing.quantity)
  if (listing.status === 'sold' || !mayWrite()) return <>{shown}</>
  const value = editedValue(listing, field)
  const isEdited = value !== listing[field]
  return (
    <input
      type="number"
      class={`edit ${field}${isEdited ? ' edited' : ''}`}
      aria-label={t(field === 'price' ? 'priceOf' : 'stockOf', { title: listing.title })}
      {...LIMITS[field]}
      value={typing ?? (field === 'price' ? inKurus(value) : value)}
      onInput={({ currentTarget: { value: typed } }) => {
        setTyping(typed)
        if (typed !== '') edit(listing, field, Number(typed))
      }}
      // Discards text that is not a number.
      onBlur={() => setTyping(null)}
    />
  )
}

/** A price with two decimals; one with more is shown as typed, so that the seller sees why the plan rejects it. */
function inKurus(price: number): string {
  const text = price.toFixed(2)
  return Number(text) === price ? text : String(price)
}

export function EditBar() {
  const { busy, error, write } = useWrite()
  const { route } = useLocation()
  const changed = edits.value.size
  const review = async () => {
    const planned = await write('POST', '/plus/price-jobs', { rows: editedRows(), policy: 'good_rows' })
    if (planned) route(`/desk/price-jobs/${planned.data.id}`)
  }
  if (changed === 0) return null
  return (
    <section class="edit-bar" aria-label={t('edits')}>
      <Refusal error={error} />
      <div class="buttons">
        <span role="status">{t('editsCount', { count: changed })}</span>
        <button type="button" onClick={() => forgetEdits()}>
          {t('discardEdits')}
        </button>
        <button type="button" class="main" disabled={busy} onClick={() => void review()}>
          {t('review')}
        </button>
      </div>
    </section>
  )
}
