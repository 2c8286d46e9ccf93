// The keyboard and the markup of a combobox: an input with a list of options below it, of which one is active (ARIA pattern "combobox").
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface ComboboxOptions<Option> {
  /** names the list */
  label: string
  options: readonly Option[]
  keyOf: (option: Option) => string | number
  show: (option: Option) => ComponentChildren
  choose: (option: Option) => void
  /** the list is dismissed */
  close: () => void
  /** asked for by the arrow key while there is no list */
  open?: () => void
  /** the first option is active at once, so that Enter chooses it */
  first?: boolean
}

interface Combobox {
  /** attributes of the input; their types are a union by role, which a combobox without a datalist belongs to none of */
  input: object
  /** Acts on a key of the input; true if it was one of the list's. */
  onKey: (event: KeyboardEvent) => boolean
  list: VNode
}

const NONE = -1
/** Pixels to the edge of the page. */
const EDGE = 8

export function useCombobox<Option>({ label, options, keyOf, show, choose, close, open, first = false }: ComboboxOptions<Option>): Combobox {
  const id = useId()
  const start = first ? 0 : NONE
  const [moved, setMoved] = useState(start)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other options begin at their start
  useEffect(() => setMoved(start), [options, start])
  const active = Math.min(moved, options.length - 1)
  const isOpen = options.length > 0
  const optionId = (index: number) => `${id}-${index}`
  const setActive = (index: number) => {
    setMoved(index)
    document.getElementById(optionId(index))?.scrollIntoView({ block: 'nearest' })
  }
  const listed = useRef<HTMLDivElement>(null)
  // The list is wider than the input, and stays on the page.
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
    // A dialog around it stays open.
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
        // The keyboard stays in the input, which names the active option.
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
