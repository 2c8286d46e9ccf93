// Finds a card by name, code or number while typing; arrow keys and Enter choose it without a mouse.
import type { RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useCombobox } from '#ui/combobox.tsx'
import { asApiError } from '#ui/data.ts'
import { Picture } from '#ui/picture.tsx'
import { request } from '../api.ts'
import { sentence, t } from '../words.ts'
import { type Card, cardOf, printingOf } from './card.ts'

const SETTLE_MS = 150
/** Shorter texts are not searched. */
const MIN_LENGTH = 2
const MAX_RESULTS = 10

interface CardSearchProps {
  input: RefObject<HTMLInputElement | null>
  /** called with the chosen card and all that were found */
  onChoose: (card: Card, found: readonly Card[]) => void
  /** called with a text that Enter follows before its cards have arrived, as scanners type; by default its first card is chosen when they arrive */
  onText?: ((text: string) => void) | undefined
}

export function CardSearch({ input, onChoose, onText }: CardSearchProps) {
  const id = useId()
  const [text, setText] = useState('')
  const { cards, message, change, settle, stop } = useCardSearch((card, found) => {
    setText('')
    onChoose(card, found)
  })
  const combobox = useCombobox({
    label: t('suggestions'),
    options: cards,
    keyOf: (card) => card.id,
    show: (card) => (
      <span class="with-picture">
        <Picture item={card} small />
        <span>
          {card.name} <small>{printingOf(card)}</small>
        </span>
      </span>
    ),
    choose: (card) => settle(card, cards),
    close: stop,
    first: true,
  })
  return (
    <div class="picker card-search">
      <label>
        <span>{t('card')}</span>
        <input
          ref={input}
          {...combobox.input}
          type="text"
          placeholder={t('cardSearchHint')}
          aria-describedby={id}
          value={text}
          onInput={({ currentTarget: { value } }) => {
            setText(value)
            change(value)
          }}
          onKeyDown={(event) => {
            if (combobox.onKey(event) || event.key !== 'Enter' || text.trim() === '') return
            event.preventDefault()
            if (onText) {
              stop()
              setText('')
              onText(text.trim())
              return
            }
            // Cards that are still being searched: the first one is chosen when they arrive.
            change(text, true)
          }}
          onBlur={stop}
        />
      </label>
      <small id={id} role="status" class="quiet">
        {message}
      </small>
      {combobox.list}
    </div>
  )
}

const NO_CARDS: readonly Card[] = []

/** The cards that match a text, best first. @throws ApiError, or AbortError if cancelled */
export async function searchCards(text: string, signal?: AbortSignal): Promise<Card[]> {
  const { data } = await request('GET', '/items/search', { query: { q: text, per_page: MAX_RESULTS }, ...(signal && { signal }) })
  return data.map(cardOf)
}

function useCardSearch(onSettle: (card: Card, found: readonly Card[]) => void) {
  const [cards, setCards] = useState(NO_CARDS)
  const [message, setMessage] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const searching = useRef<AbortController>(undefined)
  const stop = () => {
    clearTimeout(timer.current)
    searching.current?.abort()
    setCards(NO_CARDS)
    setMessage('')
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only on unmount
  useEffect(() => stop, [])
  const settle = (card: Card, found: readonly Card[]) => {
    stop()
    onSettle(card, found)
  }
  const search = (text: string, choosesFirst: boolean) => {
    const cancel = (searching.current = new AbortController())
    searchCards(text, cancel.signal).then(
      (found) => {
        if (cancel.signal.aborted) return
        if (choosesFirst && found[0]) return settle(found[0], found)
        setCards(found)
        setMessage(found.length === 0 ? t('noCards') : '')
      },
      (error: unknown) => {
        if (!cancel.signal.aborted) setMessage(sentence(asApiError(error)))
      },
    )
  }
  /** @param choosesFirst whether the best match is chosen at once */
  const change = (text: string, choosesFirst = false) => {
    // Cards of the text before are not shown any more: Enter must not choose one of them.
    stop()
    const trimmed = text.trim()
    if (trimmed.length < MIN_LENGTH) return
    if (choosesFirst) search(trimmed, true)
    else timer.current = setTimeout(() => search(trimmed, false), SETTLE_MS)
  }
  return { cards, message, change, settle, stop }
}
