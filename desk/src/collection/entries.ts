// Lines of quick entry: saved in the background one after another, stored in the browser until then, so that a reload or a failure loses none.
import { effect, signal } from '@preact/signals'
import { newKey } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'
import { storedValue, storeValue } from '#ui/stored.ts'
import { announce } from '#ui/toasts.tsx'
import { request, sessions } from '../api.ts'
import type { Card } from '../listing/card.ts'
import { searchCards } from '../listing/card-search.tsx'
import { type StoredProblem, storedProblem } from '../stored-problem.ts'
import { sentence } from '../words.ts'
import { recordsChanged } from './record-changes.ts'

export interface Grade {
  id: number
  label: string
}

/** What is entered for a card. */
export interface Details {
  /** condition or grade; null if it is not stated */
  grade: Grade | null
  quantity: string
  /** price paid per copy; may be empty */
  price: string
}

export interface Line extends Details {
  /** the Idempotency-Key of its request: sent again within 24 hours, it adds no second record */
  key: string
  collectionId: number
  /** null until the first card of `text` is found */
  card: Card | null
  /** as scanned; empty if the card was chosen */
  text: string
}

export interface Entry {
  line: Line
  /** `unsent`: a reload interrupted it, so that it may have been saved; `noCard`: no card matches its text */
  problem: StoredProblem | 'unsent' | 'noCard' | null
  /** the record and its version, once it is saved */
  saved: { id: number; etag: string | null } | null
}

export interface Draft extends Details {
  collectionId: number
  card: Card | null
  /** the same card in all its printings */
  printings: readonly Card[]
}

interface Stored {
  draft: Draft
  entries: readonly Entry[]
  isDirect: boolean
}

const NAME = 'quick-entry'
/** Saved lines that are shown. */
const SHOWN = 10
/** After this pause the pages read the records again. */
const PAUSE_MS = 1_500

const NO_DETAILS: Details = { grade: null, quantity: '1', price: '' }

function emptyDraft(collectionId: number, grade: Grade | null = null): Draft {
  return { ...NO_DETAILS, grade, collectionId, card: null, printings: [] }
}

export const draft = signal<Draft>(emptyDraft(0))
/** Newest last. */
export const entries = signal<readonly Entry[]>([])
/** whether a card is added as soon as it is found */
export const isDirect = signal(false)

let isLoaded = false
let queue: Promise<void> = Promise.resolve()
let pause: ReturnType<typeof setTimeout> | undefined

// Lines belong to the signed-in account.
effect(() => {
  if (sessions.session.value === null) isLoaded = false
})

/** Loads the account's lines, once a session, and the draft of the collection. */
export function loadEntries(collectionId: number): void {
  if (!isLoaded) {
    isLoaded = true
    const stored = storedValue<Stored>(NAME)
    draft.value = stored?.draft ?? emptyDraft(collectionId)
    entries.value = (stored?.entries ?? []).map((entry) => ({ ...entry, problem: entry.problem ?? 'unsent' }))
    isDirect.value = stored?.isDirect ?? false
  }
  if (draft.value.collectionId !== collectionId) draft.value = emptyDraft(collectionId, draft.value.grade)
}

function store(): void {
  const unsaved = entries.value.filter(({ saved }) => saved === null)
  storeValue(NAME, { draft: draft.value, entries: unsaved, isDirect: isDirect.value } satisfies Stored)
}

export function chooseDirect(on: boolean): void {
  isDirect.value = on
  store()
}

export function setDraft(changes: Partial<Draft>): void {
  draft.value = { ...draft.value, ...changes }
  store()
}

/** Adds a line of the draft's details to the collection in the background, and starts the next draft with the same condition. */
export function addLine({ card, text }: Pick<Line, 'card' | 'text'>): void {
  const { collectionId, grade, quantity, price } = draft.value
  draft.value = emptyDraft(collectionId, grade)
  send({ key: newKey(), collectionId, card, text, grade, quantity, price })
}

/** Saves a line after those before it. */
export function send(line: Line): void {
  setEntry({ line, problem: null, saved: null })
  queue = queue.then(() => save(line))
}

async function save(line: Line): Promise<void> {
  if (!entries.value.some((entry) => entry.line.key === line.key)) return
  try {
    const card = line.card ?? (await searchCards(line.text))[0]
    if (!card) return setEntry({ line, problem: 'noCard', saved: null })
    // From here on, the line stays with the card that its request names.
    const found = { ...line, card }
    setEntry({ line: found, problem: null, saved: null })
    const { data, etag = null } = await request('POST', `/plus/collections/${line.collectionId}/items`, {
      json: bodyOf(found, card),
      idempotencyKey: line.key,
    })
    setEntry({ line: found, problem: null, saved: { id: data.id, etag } })
    changedSoon()
  } catch (error) {
    const current = entries.value.find((entry) => entry.line.key === line.key)?.line ?? line
    setEntry({ line: current, problem: storedProblem(error), saved: null })
  }
}

function bodyOf({ grade, quantity, price }: Line, { id }: Card) {
  return {
    item_id: id,
    quantity: Number(quantity),
    ...(grade && { item_group_type_id: grade.id }),
    ...(price !== '' && { purchase_price: Number(price) }),
  }
}

/** Replaces the entry of the line where it is, or adds it. */
function setEntry(entry: Entry): void {
  const before = entries.value
  const isThere = before.some(({ line }) => line.key === entry.line.key)
  const next = isThere ? before.map((one) => (one.line.key === entry.line.key ? entry : one)) : [...before, entry]
  const savedOnes = next.filter(({ saved }) => saved !== null)
  const hidden = new Set(savedOnes.slice(0, -SHOWN))
  entries.value = next.filter((one) => !hidden.has(one))
  store()
}

export function forgetEntry({ line }: Entry): void {
  entries.value = entries.value.filter((entry) => entry.line.key !== line.key)
  store()
}

/** Moves a line that was not saved back into the form. */
export function editEntry(entry: Entry): void {
  const { collectionId, card, grade, quantity, price } = entry.line
  draft.value = { collectionId, card, printings: card ? [card] : [], grade, quantity, price }
  forgetEntry(entry)
}

/** Removes the record of a saved line, unless it has changed since. */
export async function undoEntry(entry: Entry): Promise<void> {
  const { line, saved } = entry
  if (!saved) return
  try {
    const ifMatch = saved.etag === null ? {} : { ifMatch: saved.etag }
    await request('DELETE', `/plus/collections/${line.collectionId}/items/${saved.id}`, ifMatch)
    forgetEntry(entry)
    changedSoon()
  } catch (error) {
    announce(sentence(asApiError(error)), 'bad')
  }
}

/** Lets the pages read the records again once no line has been saved for a while. */
function changedSoon(): void {
  clearTimeout(pause)
  pause = setTimeout(recordsChanged, PAUSE_MS)
}
