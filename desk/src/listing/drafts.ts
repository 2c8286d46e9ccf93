// The new listing being written and those being saved: stored in the browser, so that a reload or a failure loses nothing.
import { effect, signal } from '@preact/signals'
import { newKey } from '#ui/api.ts'
import type { Values } from '#ui/dialog.tsx'
import { storedValue, storeValue } from '#ui/stored.ts'
import { announce } from '#ui/toasts.tsx'
import type { CreatedListing } from '../../../client/src/api.ts'
import { request, sessions } from '../api.ts'
import { type StoredProblem, storedProblem } from '../stored-problem.ts'
import { t } from '../words.ts'
import type { Card } from './card.ts'
import { fieldsOf, PRICE } from './listing-fields.tsx'
import { type ListingPhoto, type RefusedFile, uploadPhotos, withPhoto } from './photos.ts'

export interface Draft {
  /** the Idempotency-Key of its request: sent again within 24 hours, it creates no second listing */
  key: string
  card: Card | null
  values: Values
  /** uploaded photos, in the order of the listing */
  photos: readonly ListingPhoto[]
}

export interface Save {
  draft: Draft
  /** null while it is being sent; `unsent` if it was never sent, or if a reload interrupted that, so that it may have been saved */
  problem: StoredProblem | 'unsent' | null
}

interface Stored {
  draft: Draft
  saves: readonly Save[]
  isStack: boolean
}

const NAME = 'new-listing'
/** Values that the next card of a stack starts with. */
const REPEATED = ['label', 'language', 'shipping_payer', 'offers_enabled']

function emptyDraft(values: Values = {}): Draft {
  return { key: newKey(), card: null, values: { quantity: '1', ...values }, photos: [] }
}

export const draft = signal<Draft>(emptyDraft())
export const saves = signal<readonly Save[]>([])
/** whether the form continues with the next card while the last one is being saved */
export const isStack = signal(false)
/** files that are being uploaded for the current draft */
export const uploads = signal(0)
let isLoaded = false

// Drafts belong to the signed-in account.
effect(() => {
  if (sessions.session.value === null) isLoaded = false
})

/** Loads the account's drafts, once a session. */
export function loadDrafts(): void {
  if (isLoaded) return
  isLoaded = true
  const stored = storedValue<Stored>(NAME)
  draft.value = stored?.draft ?? emptyDraft()
  saves.value = (stored?.saves ?? []).map((save) => ({ ...save, problem: save.problem ?? 'unsent' }))
  isStack.value = stored?.isStack ?? false
}

function store(): void {
  storeValue(NAME, { draft: draft.value, saves: saves.value, isStack: isStack.value } satisfies Stored)
}

export function chooseStack(on: boolean): void {
  isStack.value = on
  store()
}

/** Chooses the card; its title is the service's own, which is asked for. */
export function chooseCard(card: Card): void {
  draft.value = { ...draft.value, card, values: { ...draft.value.values, title: '' } }
  store()
  void fillTitle(draft.value)
}

/** Enters the title that the service gives a listing of the draft's card, unless one is entered meanwhile. */
async function fillTitle({ key, card }: Draft): Promise<void> {
  const title = await defaultTitle(card!)
  const current = draft.value
  if (current.key === key && current.card?.id === card!.id && !current.values.title) storeValues({ ...current.values, title })
}

/** The title of a listing without one; empty if the service would not create the listing, of which saving tells. */
async function defaultTitle(card: Card): Promise<string> {
  const json = { item_id: card.id, price: PRICE.min, dry_run: true }
  return request('POST', '/plus/listings', { json }).then(
    ({ data }) => data.title,
    () => '',
  )
}

/** Stores what is typed. The form holds it, too, and so is not drawn again. */
export function storeValues(values: Values): void {
  draft.value = { ...draft.value, values }
  store()
}

/** Uploads photos and adds each to the draft. @returns the files that were refused */
export async function addPhotos(files: readonly File[]): Promise<RefusedFile[]> {
  const { key } = draft.value
  uploads.value += files.length
  const add = (photo: ListingPhoto) => {
    // Another draft may have taken the place of this one.
    if (draft.value.key === key) setPhotos(withPhoto(draft.value.photos, photo))
  }
  return uploadPhotos(files, add, () => {
    uploads.value -= 1
  })
}

export function setPhotos(photos: readonly ListingPhoto[]): void {
  draft.value = { ...draft.value, photos }
  store()
}

/** Starts the next draft, with what cards of a stack have in common. */
export function nextDraft(): void {
  const { values } = draft.value
  draft.value = emptyDraft(Object.fromEntries(REPEATED.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]]))))
  store()
}

/** The body of the request that creates the listing. */
export function bodyOf({ card, values, photos }: Draft) {
  const { sku, title, min_offer_price: offer, ...fields } = fieldsOf(values)
  const { label, language } = values
  return {
    item_id: card!.id,
    ...fields,
    ...(title && { title }),
    ...(label && { label }),
    ...(language && { language }),
    ...(photos.length > 0 && { images: photos.map(({ url }) => url) }),
    ...(sku && { sku }),
    ...(offer !== null && { min_offer_price: offer }),
  }
}

/** Creates the listing and announces it. @throws ApiError */
export async function createListing(one: Draft): Promise<CreatedListing> {
  const { data } = await request('POST', '/plus/listings', { json: bodyOf(one), idempotencyKey: one.key })
  announce(t('placedAs', { title: data.title }))
  return data
}

/** Saves a draft in the background: it is in `saves` until its listing is created. */
export async function saveInBackground(one: Draft): Promise<void> {
  setSave(one, null)
  try {
    await createListing(one)
    forgetSave(one)
  } catch (error) {
    setSave(one, storedProblem(error))
  }
}

function setSave(one: Draft, problem: Save['problem']): void {
  const isOther = (save: Save) => save.draft.key !== one.key
  saves.value = [...saves.value.filter(isOther), { draft: one, problem }]
  store()
}

export function forgetSave({ key }: Draft): void {
  saves.value = saves.value.filter((save) => save.draft.key !== key)
  store()
}

/** Moves a draft that was not saved back into the form; an unfinished one of the form takes its place. */
export function editSave(one: Draft): void {
  const current = draft.value
  saves.value = saves.value.filter((save) => save.draft.key !== one.key)
  if (current.card) saves.value = [...saves.value, { draft: current, problem: 'unsent' }]
  draft.value = one
  store()
}
