// Picks a record by name: searches while typing, also accepts an id, and shows the name of an id.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useCombobox } from './combobox.tsx'
import { t } from './words.ts'

export interface Option {
  id: number
  text: string
  /** distinguishes records with the same name */
  detail?: string | undefined
}

/** Where a picker finds its records. */
export interface Source {
  /** the first records that match a text; @throws ApiError, or AbortError if cancelled */
  search: (text: string, signal: AbortSignal) => Promise<Option[]>
  /** the record with an id; null if there is none */
  find: (id: number) => Promise<Option | null>
}

interface PickerProps {
  label: string
  source: Source
  /** id of the picked record; empty for none */
  value?: string
  /** form field name */
  name?: string
  required?: boolean
  hint?: string
  /** called with the id, or an empty text */
  onSettled?: (id: string) => void
}

const SETTLE_MS = 200

/** The name of the record with an id; null while loading, the id itself if nothing is found. */
export function useNameOf(source: Source | undefined, id: string): string | null {
  const [found, setFound] = useState<{ id: string; text: string } | null>(null)
  useEffect(() => {
    if (!source || id === '') return
    let here = true
    const set = (text: string) => here && setFound({ id, text })
    source.find(Number(id)).then(
      (option) => set(option?.text ?? `#${id}`),
      () => set(`#${id}`),
    )
    return () => {
      here = false
    }
  }, [source, id])
  return found?.id === id ? found.text : null
}

export function Picker({ label, source, value = '', name, required = false, hint, onSettled }: PickerProps) {
  const hintId = useId()
  const [picked, setPicked] = useState(value)
  const [typed, setTyped] = useState<string | null>(null)
  const [options, setOptions] = useState<readonly Option[]>([])
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asking = useRef<AbortController>(undefined)
  const nameOf = useNameOf(source, picked)
  // The value has changed from outside.
  useEffect(() => {
    setPicked(value)
    setTyped(null)
  }, [value])
  const stop = () => {
    clearTimeout(timer.current)
    asking.current?.abort()
    setOptions([])
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only on unmount
  useEffect(() => stop, [])
  // Typed text without a choice is invalid.
  useEffect(() => input.current?.setCustomValidity(typed ? t('pickOne') : ''), [typed])

  function settle(id: string): void {
    stop()
    setTyped(null)
    setPicked(id)
    if (id !== picked) onSettled?.(id)
  }

  function ask(text: string): void {
    asking.current?.abort()
    const cancel = (asking.current = new AbortController())
    const id = /^#?(\d{1,9})$/.exec(text)?.[1]
    const named = id === undefined ? Promise.resolve(null) : source.find(Number(id))
    const searched = source.search(text, cancel.signal)
    // If a request fails, typing continues to work.
    Promise.all([named.catch(() => null), searched.catch(() => [])]).then(
      ([one, found]) => {
        if (cancel.signal.aborted) return
        setOptions(one ? [one, ...found.filter((option) => option.id !== one.id)] : found)
      },
      () => {},
    )
  }

  function change(text: string): void {
    setTyped(text)
    if (text.trim() === '') return settle('')
    clearTimeout(timer.current)
    timer.current = setTimeout(() => ask(text.trim()), SETTLE_MS)
  }

  const combobox = useCombobox({
    label: t('suggestions'),
    options,
    keyOf: (option) => option.id,
    show: ({ id, text, detail }) => (
      <>
        {text} <small>{[detail, `#${id}`].filter(Boolean).join(' · ')}</small>
      </>
    ),
    choose: (option) => settle(String(option.id)),
    close: stop,
    open: () => ask((typed ?? '').trim()),
    first: true,
  })
  return (
    <div class="picker">
      <label>
        <span>{label}</span>
        <input
          ref={input}
          {...combobox.input}
          type="text"
          placeholder={t('pickBy')}
          required={required}
          aria-describedby={hint && hintId}
          value={typed ?? (picked === '' ? '' : (nameOf ?? '…'))}
          onFocus={({ currentTarget }) => currentTarget.select()}
          onInput={({ currentTarget }) => change(currentTarget.value)}
          onKeyDown={(event) => {
            // Enter waits for the options instead of submitting the form.
            if (!combobox.onKey(event) && event.key === 'Enter' && typed) event.preventDefault()
          }}
          onBlur={() => {
            stop()
            setTyped(null)
          }}
        />
      </label>
      {name !== undefined && <input type="hidden" name={name} value={picked} />}
      {hint && <small id={hintId}>{hint}</small>}
      {combobox.list}
    </div>
  )
}
