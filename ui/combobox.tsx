// Keyboard handling and markup of a combobox: an input with a list of options below, one of them active (ARIA pattern "combobox").
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface ComboboxOptions<Option> {
  /** label of the list */
  label: string
  options: readonly Option[]
  keyOf: (option: Option) => string | number
  show: (option: Option) => ComponentChildren
  choose: (option: Option) => void
  /** called when the list is dismissed */
  close: () => void
  /** called by the arrow keys while the list is closed */
  open?: () => void
  /** whether the first option is active at once, so that Enter chooses it */
  first?: boolean
}

interface Combobox {
  /** attributes of the input; untyped because Preact's union of input types by role has no combobox without a datalist */
  input: object
  /** Handles a key press in the input; true if it was handled. */
  onKey: (event: KeyboardEvent) => boolean
  list: VNode
}

const NONE = -1
/** Minimum distance to the edge of the page, in pixels. */
const EDGE = 8

export function useCombobox<Option>({ label, options, keyOf, show, choose, close, open, first = false }: ComboboxOptions<Option>): Combobox {
  const id = useId()
  const start = first ? 0 : NONE
  const [moved, setMoved] = useState(start)
  // biome-ignore lint/correctness/useExhaustiveDependencies: new options start at the first one
  useEffect(() => setMoved(start), [options, start])
  const active = Math.min(moved, options.length - 1)
  const isOpen = options.length > 0
  const optionId = (index: number) => `${id}-${index}`
  const setActive = (index: number) => {
    setMoved(index)
    document.getElementById(optionId(index))?.scrollIntoView({ block: 'nearest' })
  }
  const listed = useRef<HTMLDivElement>(null)
  // Keeps the list on the page, because it is wider than the input.
  useLayoutEffect(() => {
    const list = listed.current
    if (!list || !isOpen) return
    list.style.left = '0'
    const over = list.getBoundingClientRect().right - document.documentElement.clientWidth + EDGE
    if (over > 0) list.style.left = `${-over}px`
  })
  const onKey = (event: KeyboardEvent): boolean => {
    const { length } = options
    if (event.key === 'ArrowDown' && !isOpen && open) open()
    else if (!isOpen) return false
    else if (event.key === 'ArrowDown') setActive((active + 1) % length)
    else if (event.key === 'ArrowUp') setActive(active <= 0 ? length - 1 : active - 1)
    else if (event.key === 'Escape') close()
    else if ((event.key === 'Enter' || (event.key === 'Tab' && !first)) && active !== NONE) choose(options[active]!)
    else return false
    event.preventDefault()
    // Escape must not close a surrounding dialog.
    event.stopPropagation()
    return true
  }
  const input = {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-expanded': isOpen,
    'aria-controls': `${id}-options`,
    'aria-activedescendant': isOpen && active !== NONE ? optionId(active) : undefined,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
  }
  const list = (
    <div ref={listed} id={`${id}-options`} class="options" role="listbox" aria-label={label} hidden={!isOpen}>
      {options.map((option, index) => (
        // Focus stays in the input, which refers to the active option.
        // biome-ignore lint/a11y/useKeyWithClickEvents: see above
        <div
          key={keyOf(option)}
          id={optionId(index)}
          role="option"
          aria-selected={index === active}
          tabIndex={NONE}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(option)}
        >
          {show(option)}
        </div>
      ))}
    </div>
  )
  return { input, onKey, list }
}
