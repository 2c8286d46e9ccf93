// Changes an own listing: shows what a save leads to, and saves once the seller has seen it.
import { useEffect, useState } from 'preact/hooks'
import { Form, type Values } from '#ui/dialog.tsx'
import { Picture } from '#ui/picture.tsx'
import { announce } from '#ui/toasts.tsx'
import type { ListingForecast, OwnListing } from '../../../client/src/api.ts'
import { useData, useWrite, writeNow } from '../api.ts'
import { confirmPrice } from '../price-check.tsx'
import { t, termText } from '../words.ts'
import { type Card, cardOf } from './card.ts'
import { ForecastNote } from './forecast-note.tsx'
import { changedFields, type ListingFields, numberIn, OfferFields, StockFields, valuesOfListing } from './listing-fields.tsx'
import { dropMarketFacts, labelOf, useMarketFacts } from './market-facts.ts'
import { MarketPanel } from './market-panel.tsx'
import { PhotoField } from './photo-field.tsx'
import { type ListingPhoto, photosOf, uploadPhotos, withPhoto } from './photos.ts'

const REJECTED = 'rejected'

interface EditFormProps {
  of: OwnListing
  onSaved: () => void
}

export function EditForm({ of: listing, onSaved }: EditFormProps) {
  const item = useData(`/items/${listing.item_id}`)
  const card = item.data && cardOf(item.data)
  const [values, setValues] = useState<Values>(() => valuesOfListing(listing))
  const label = labelOf(listing.grade?.label)
  const facts = useMarketFacts(card, label)
  const { busy, error, reviewed, review, save } = useReviewedSave(listing, onSaved)
  const { photos, uploads, setPhotos, addPhotos } = usePhotos(listing)
  const changes = { ...changedFields(listing, values), ...changedImages(listing, photos) }
  const isEmpty = Object.keys(changes).length === 0
  const forecast = reviewed?.changes === JSON.stringify(changes) ? reviewed.forecast : null
  const submit = forecast === null ? t('review') : t(listing.status === REJECTED ? 'saveAndSubmit' : 'save')
  useEffect(() => dropMarketFacts, [])
  return (
    <div class="listing-form">
      <div>
        <Form
          submit={submit}
          busy={busy || uploads > 0}
          error={error}
          onEdit={setValues}
          onSubmit={() => {
            if (isEmpty) announce(t('nothingChanged'))
            else if (forecast === null) void review(changes)
            else void save(changes, forecast)
          }}
        >
          <StockFields values={valuesOfListing(listing)} minQuantity={0} />
          <OfferFields values={valuesOfListing(listing)} />
          <PhotoField photos={photos} uploads={uploads} onAdd={addPhotos} onChange={setPhotos} />
          {forecast && <ForecastNote of={forecast} />}
        </Form>
      </div>
      <div class="beside">
        <Picture item={{ name: listing.title, images: pictured(photos, card) }} />
        <MarketPanel of={facts} card={card} label={label} price={numberIn(values.price)} ownId={listing.id} />
      </div>
    </div>
  )
}

/** The seller's own pictures, otherwise the card's. */
function pictured(photos: readonly ListingPhoto[], card: Card | null) {
  return photos.length > 0 ? photos.map(({ url }, order) => ({ url, order })) : (card?.images ?? [])
}

/** The listing's photos as they are edited. */
function usePhotos(listing: OwnListing) {
  const [photos, setPhotos] = useState<readonly ListingPhoto[]>(() => photosOf(listing))
  const [uploads, setUploads] = useState(0)
  const addPhotos = (files: readonly File[]) => {
    setUploads((count) => count + files.length)
    const add = (photo: ListingPhoto) => setPhotos((current) => withPhoto(current, photo))
    return uploadPhotos(files, add, () => setUploads((count) => count - 1))
  }
  return { photos, uploads, setPhotos, addPhotos }
}

function changedImages(listing: OwnListing, photos: readonly ListingPhoto[]): Pick<Changes, 'images'> {
  const images = photos.map(({ url }) => url)
  const isSame = JSON.stringify(images) === JSON.stringify(photosOf(listing).map(({ url }) => url))
  return isSame ? {} : { images }
}

type Changes = Partial<ListingFields> & { images?: string[] }

/** A save in two steps: `review` asks for a forecast of the changes, `save` makes them. */
function useReviewedSave(listing: OwnListing, onSaved: () => void) {
  const { busy, error, write } = useWrite()
  const [reviewed, setReviewed] = useState<{ changes: string; forecast: ListingForecast } | null>(null)
  const path = `/plus/listings/${listing.id}` as const
  const review = async (changes: Changes) => {
    const rehearsal = { ...changes, dry_run: true }
    const answer = await write('PATCH', path, rehearsal, listing.etag)
    // A new price or stock alone does not submit a rejected listing again; the second request of `save` does.
    const submission = { action: 'publish', dry_run: true }
    const last = answer?.data.status === REJECTED ? await write('POST', `${path}/status`, submission) : answer
    const forecast = last?.data.forecast
    // The price is that of the first request; submitting the listing does not change it.
    const warnings = answer?.data.forecast?.warnings ?? []
    if (forecast) setReviewed({ changes: JSON.stringify(changes), forecast: { ...forecast, warnings } })
  }
  const save = async (changes: Changes, { warnings }: ListingForecast) => {
    const { price = listing.price } = changes
    if (!(await confirmPrice(listing.title, listing.price, price, warnings))) return
    const saved = await write('PATCH', path, changes, listing.etag)
    // The form is drawn again with the saved listing, so that a failure of the second step is announced.
    const last = saved?.data.status === REJECTED ? await writeNow('POST', `${path}/status`, { action: 'publish' }) : saved
    if (last) announce(t('nowInState', { title: changes.title ?? listing.title, state: termText('status', last.data.status) }))
    if (saved) onSaved()
  }
  return { busy, error, reviewed, review, save }
}
