// Editable cells of the listings table: price, stock and SKU; and the bar that saves the SKUs and leads to the review of prices and stock.
import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import { Refusal } from '#ui/states.tsx'
import type { OwnListing } from '../../../client/src/api.ts'
import { mayWrite, useWrite } from '../api.ts'
import { startBulk } from '../bulk.ts'
import { edit, editedRows, editedSkus, editedValue, edits, forgetEdits, forgetEditsOf } from '../edits.ts'
import { MAX_SKU_LENGTH } from '../listing/listing-fields.tsx'
import { count, lira, t } from '../words.ts'

const LIMITS = { price: { min: 1, max: 9_999_999, step: 0.01 }, quantity: { min: 0, step: 1 } } as const

/** Read-only for sold listings and read-only keys. */
export function EditCell({ of: listing, field }: { of: OwnListing; field: keyof typeof LIMITS }) {
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

export function SkuCell({ of: listing }: { of: OwnListing }) {
  // Text as typed, with spaces at its ends.
  const [typing, setTyping] = useState<string | null>(null)
  if (listing.status === 'sold' || !mayWrite()) return <>{listing.sku ?? '–'}</>
  const sku = editedValue(listing, 'sku')
  return (
    <input
      class={`edit sku${sku === listing.sku ? '' : ' edited'}`}
      aria-label={t('skuOf', { title: listing.title })}
      maxLength={MAX_SKU_LENGTH}
      autocomplete="off"
      value={typing ?? sku ?? ''}
      onInput={({ currentTarget: { value: typed } }) => {
        setTyping(typed)
        edit(listing, 'sku', typed.trim() || null)
      }}
      onBlur={() => setTyping(null)}
    />
  )
}

export function EditBar() {
  const { busy, error, write } = useWrite()
  const [saving, setSaving] = useState(false)
  const { route } = useLocation()
  const changed = edits.value.size
  const rows = editedRows()
  const skus = editedSkus()
  const review = async () => {
    const planned = await write('POST', '/plus/price-jobs', { rows, policy: 'good_rows' })
    if (planned) route(`/desk/price-jobs/${planned.data.id}`)
  }
  const saveSkus = async () => {
    setSaving(true)
    const failed = new Set((await startBulk('sku', skus)).map(({ listing }) => listing.id))
    // Those that could not be saved stay, so that the seller can correct them.
    forgetEditsOf(
      skus.flatMap(({ listing: { id } }) => (failed.has(id) ? [] : [id])),
      'sku',
    )
    setSaving(false)
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
        {skus.length > 0 && (
          <button type="button" class={rows.length === 0 ? 'main' : ''} disabled={saving} onClick={() => void saveSkus()}>
            {t('saveSkus', { count: skus.length })}
          </button>
        )}
        {rows.length > 0 && (
          <button type="button" class="main" disabled={busy} onClick={() => void review()}>
            {t('review')}
          </button>
        )}
      </div>
    </section>
  )
}
