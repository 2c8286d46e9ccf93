// A queue decided by keyboard: current row, single-key shortcuts, focus, and serialised writes.
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'

interface Queue<Row> {
  /** the page, whose key presses are handled, also while nothing on it has the focus */
  whole: RefObject<HTMLDivElement | null>
  /** the list of rows; the current one has `aria-current` */
  list: RefObject<HTMLUListElement | null>
  current: Row | undefined
  show: (index: number) => void
  /** Sets the action of each key besides navigation, on every rendering; keys do nothing while typing. */
  onKey: (runOf: (event: KeyboardEvent) => (() => void) | undefined) => void
}

/** J, K and the arrow keys move through the rows; a new address starts at the first one. */
export function useQueue<Row>(rows: Row[], keyOf: (row: Row) => string | number): Queue<Row> {
  const { url } = useLocation()
  const [at, setAt] = useState(0)
  const whole = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const runOf = useRef<(event: KeyboardEvent) => (() => void) | undefined>(() => undefined)
  const shown = useRef({ at, rows: rows.length })
  shown.current = { at: Math.max(0, Math.min(at, rows.length - 1)), rows: rows.length }
  const current = rows[shown.current.at]
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another page
  useEffect(() => setAt(0), [url])
  useEffect(() => {
    const move = (by: number) => () => setAt(Math.max(0, Math.min(shown.current.at + by, shown.current.rows - 1)))
    const moves: Record<string, () => void> = { j: move(1), ArrowDown: move(1), k: move(-1), ArrowUp: move(-1) }
    const onKey = (event: KeyboardEvent) => {
      const { target } = event
      if (target !== document.body && !whole.current?.contains(target as Node)) return
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const run = runOf.current(event) ?? moves[event.key]
      if (!run) return
      event.preventDefault()
      run()
    }
    // A row that is removed with its focused button leaves the focus on the body.
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another current row
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>('[aria-current] button')
    const { activeElement } = document
    // If the focused button was removed with its row, focus is on the body; focus elsewhere on the page is left alone.
    if (row && (activeElement?.contains(row) || whole.current?.querySelector('.queue')?.contains(activeElement))) row.focus()
  }, [current && keyOf(current)])
  return {
    whole,
    list,
    current,
    show: setAt,
    onKey: (next) => {
      runOf.current = next
    },
  }
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && target.type !== 'checkbox') ||
    document.querySelector('dialog[open]') !== null
  )
}

/**
 * Runs writes in order, so that the user need not wait for each. Pause the queue while `applying` is above 0: a response
 * from before a decision would show the decided row again.
 */
export function useSequentialWrites(): { applying: number; apply: (run: () => Promise<void>) => Promise<void> } {
  const [applying, setApplying] = useState(0)
  const last = useRef<Promise<void>>(Promise.resolve())
  const apply = (run: () => Promise<void>) => {
    setApplying((n) => n + 1)
    last.current = last.current.then(run).finally(() => setApplying((n) => n - 1))
    return last.current
  }
  return { applying, apply }
}
