// An input for field queries, with completion of fields and values.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useCombobox } from '#ui/combobox.tsx'
import { request } from '../api.ts'
import { t } from '../words.ts'

interface QueryInputProps {
  label: string
  value: string
  /** called with the trimmed text when typing pauses or an option is chosen */
  onSettled: (text: string) => void
}

interface Offered {
  /** the range of the text that an option replaces */
  from: number
  to: number
  options: string[]
}

const NOTHING: Offered = { from: 0, to: 0, options: [] }
const SETTLE_MS = 200

export function QueryInput({ label, value, onSettled }: QueryInputProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asking = useRef<AbortController>(undefined)
  const settled = useRef(value)
  /** cursor position after an option was chosen */
  const caret = useRef<number | null>(null)
  const [typed, setTyped] = useState(value)
  const [offered, setOffered] = useState(NOTHING)

  useEffect(() => {
    // The value has changed from outside.
    if (value !== settled.current) {
      settled.current = value
      setTyped(value)
    }
  }, [value])
  useEffect(() => {
    if (caret.current !== null) input.current?.setSelectionRange(caret.current, caret.current)
    caret.current = null
  })
  useEffect(
    () => () => {
      clearTimeout(timer.current)
      asking.current?.abort()
    },
    [],
  )

  function close(): void {
    asking.current?.abort()
    setOffered(NOTHING)
  }

  function ask(text: string, to: number): void {
    asking.current?.abort()
    const cancel = (asking.current = new AbortController())
    request('GET', '/query-completions', { query: { text: text.slice(0, to) }, signal: cancel.signal }).then(
      ({ data }) => {
        if (cancel.signal.aborted) return
        setOffered({ from: data.from, to, options: data.options })
      },
      // If completion fails, typing continues to work.
      () => setOffered(NOTHING),
    )
  }

  function change(text: string, to: number): void {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      settled.current = text.trim()
      onSettled(text.trim())
    }, SETTLE_MS)
    ask(text, to)
  }

  function choose(option: string): void {
    const rest = typed.slice(offered.to)
    // After an operator, a value must follow.
    const isTerm = !/[:=<>]$/.test(option)
    const before = typed.slice(0, offered.from) + option + (isTerm && !rest.startsWith(' ') ? ' ' : '')
    setOffered(NOTHING)
    change(before + rest, before.length)
    if (isTerm) asking.current?.abort()
    caret.current = before.length
  }

  const combobox = useCombobox({
    label: t('completions'),
    options: offered.options,
    keyOf: (option) => option,
    show: (option) => option,
    choose,
    close,
    open: () => ask(typed, input.current!.selectionStart ?? typed.length),
  })
  return (
    <div class="query">
      <label for={id}>{label}</label>
      <input
        id={id}
        ref={input}
        {...combobox.input}
        type="search"
        value={typed}
        onInput={({ currentTarget }) => change(currentTarget.value, currentTarget.selectionStart ?? currentTarget.value.length)}
        onKeyDown={combobox.onKey}
        onBlur={close}
      />
      {combobox.list}
    </div>
  )
}
