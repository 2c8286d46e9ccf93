// An input for field queries: fields and their values are offered as one types, to the keyboard as to the pointer.
import type { JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { t } from '../words.ts'

interface QueryInputProps {
  label: string
  value: string
  /** with the text, trimmed, when typing pauses or something was chosen */
  onSettled: (text: string) => void
}

interface Offered {
  /** where what is being typed begins and ends, which an option replaces */
  from: number
  to: number
  options: string[]
}

const NOTHING: Offered = { from: 0, to: 0, options: [] }
const SETTLE_MS = 200
const NONE = -1

export function QueryInput({ label, value, onSettled }: QueryInputProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const asking = useRef<AbortController>(undefined)
  const settled = useRef(value)
  const [typed, setTyped] = useState(value)
  const [offered, setOffered] = useState(NOTHING)
  const [active, setActive] = useState(NONE)
  const isOpen = offered.options.length > 0

  useEffect(() => {
    // The address changed by another way than this input.
    if (value !== settled.current) {
      settled.current = value
      setTyped(value)
    }
  }, [value])
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
    setActive(NONE)
  }

  function ask(text: string, to: number): void {
    asking.current?.abort()
    const cancel = (asking.current = new AbortController())
    request('GET', '/query-completions', { query: { text: text.slice(0, to) }, signal: cancel.signal }).then(
      ({ data }) => {
        if (cancel.signal.aborted) return
        setOffered({ from: data.from, to, options: data.options })
        setActive(NONE)
      },
      // Without completion one can type on.
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
    // Behind an operator the value is to follow.
    const isTerm = !/[:=<>]$/.test(option)
    const before = typed.slice(0, offered.from) + option + (isTerm && !rest.startsWith(' ') ? ' ' : '')
    setOffered(NOTHING)
    setActive(NONE)
    change(before + rest, before.length)
    if (isTerm) asking.current?.abort()
    requestAnimationFrame(() => input.current?.setSelectionRange(before.length, before.length))
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { options } = offered
    if (event.key === 'ArrowDown' && !isOpen) ask(typed, input.current!.selectionStart ?? typed.length)
    else if (event.key === 'ArrowDown') setActive((active + 1) % options.length)
    else if (event.key === 'ArrowUp' && isOpen) setActive(active <= 0 ? options.length - 1 : active - 1)
    else if (event.key === 'Escape' && isOpen) close()
    else if ((event.key === 'Enter' || event.key === 'Tab') && active !== NONE) choose(options[active]!)
    else return
    event.preventDefault()
  }

  const optionId = (index: number) => `${id}-${index}`
  // The types of inputs have each role with attributes of its own, of which a combobox without a datalist has not all.
  const attributes = {
    id,
    type: 'search',
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': isOpen,
    'aria-controls': `${id}-options`,
    'aria-activedescendant': active === NONE ? undefined : optionId(active),
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    value: typed,
  } as JSX.IntrinsicElements['input']
  return (
    <div class="query">
      <label for={id}>{label}</label>
      <input
        ref={input}
        {...attributes}
        onInput={({ currentTarget }) => change(currentTarget.value, currentTarget.selectionStart ?? currentTarget.value.length)}
        onKeyDown={onKeyDown}
        onBlur={close}
      />
      <div id={`${id}-options`} role="listbox" aria-label={t('completions')} hidden={!isOpen}>
        {offered.options.map((option, index) => (
          // The keyboard stays in the input, which names the active option.
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above
          <div
            key={option}
            id={optionId(index)}
            role="option"
            aria-selected={index === active}
            tabIndex={NONE}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(option)}
          >
            {option}
          </div>
        ))}
      </div>
    </div>
  )
}
