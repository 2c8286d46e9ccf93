// Ctrl-K palette: finds pages and records by name or id from any page.
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useCombobox } from './combobox.tsx'
import { Dialog } from './dialog.tsx'
import { t } from './words.ts'

/** A search result of the palette. */
export interface SearchResult {
  href: string
  text: string
  /** type of the record, such as `Listing` */
  kind: string
  detail?: string | undefined
}

/** Searches records by text. @throws ApiError, or AbortError if cancelled */
export type SearchRecords = (text: string, signal: AbortSignal) => Promise<SearchResult[]>

interface PaletteProps {
  places: { href: string; text: string }[]
  find: SearchRecords
}

const SETTLE_MS = 150
const isOpen = signal(false)

export function PaletteButton() {
  return (
    <button type="button" class="find" aria-keyshortcuts="Control+K Meta+K" onClick={() => (isOpen.value = true)}>
      <span>{t('find')}</span> <kbd>Ctrl K</kbd>
    </button>
  )
}

export function Palette(props: PaletteProps) {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
      event.preventDefault()
      // Another open dialog may contain unsaved input.
      if (!document.querySelector('dialog[open]')) isOpen.value = true
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return isOpen.value ? <Search {...props} /> : null
}

function Search({ places, find }: PaletteProps) {
  const { route } = useLocation()
  const [typed, setTyped] = useState('')
  const [found, setFound] = useState<readonly SearchResult[]>(() => pagesFor('', places))
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asking = useRef<AbortController>(undefined)
  const close = () => {
    clearTimeout(timer.current)
    asking.current?.abort()
    isOpen.value = false
  }
  const change = (text: string) => {
    const pages = pagesFor(text, places)
    setTyped(text)
    setFound(pages)
    clearTimeout(timer.current)
    asking.current?.abort()
    if (text.trim() === '') return
    timer.current = setTimeout(() => {
      const cancel = (asking.current = new AbortController())
      find(text.trim(), cancel.signal).then(
        (things) => !cancel.signal.aborted && setFound([...pages, ...things]),
        // If the search fails, pages can still be found.
        () => {},
      )
    }, SETTLE_MS)
  }
  const { input, onKey, list } = useCombobox({
    label: t('suggestions'),
    options: found,
    keyOf: ({ href }) => href,
    show: ({ text, kind, detail }) => (
      <>
        {text} <small>{[kind, detail].filter(Boolean).join(' · ')}</small>
      </>
    ),
    choose: ({ href }) => {
      close()
      route(href)
    },
    close,
    first: true,
  })
  return (
    <Dialog title={t('find')} onClose={close}>
      <div class="palette">
        <input
          {...input}
          type="search"
          aria-label={t('find')}
          placeholder={t('findHint')}
          value={typed}
          onInput={({ currentTarget }) => change(currentTarget.value)}
          onKeyDown={onKey}
        />
        {list}
        {found.length === 0 && <p class="quiet">{t('nothingFound')}</p>}
      </div>
    </Dialog>
  )
}

function pagesFor(text: string, places: PaletteProps['places']): SearchResult[] {
  const typed = text.trim().toLocaleLowerCase()
  return places.filter((place) => place.text.toLocaleLowerCase().includes(typed)).map(({ href, text }) => ({ href, text, kind: t('page') }))
}
