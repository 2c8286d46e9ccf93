// A queue that is decided by keyboard: the row that is shown, single-key shortcuts, the focus, and writes one after another.
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'

interface Queue<Row> {
  /** the part of the page whose keys count */
  whole: RefObject<HTMLDivElement | null>
  /** the rows; that of the current one has `aria-current` */
  list: RefObject<HTMLUListElement | null>
  current: Row | undefined
  show: (index: number) => void
  /** Says what a key does beside moving, on each rendering; nothing while something is being typed. */
  onKey: (runOf: (event: KeyboardEvent) => (() => void) | undefined) => void
}

/** J, K and the arrows move through the rows; another address begins at its first. */
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
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const run = runOf.current(event) ?? moves[event.key]
      if (!run) return
      event.preventDefault()
      run()
    }
    const element = whole.current
    element?.addEventListener('keydown', onKey)
    return () => element?.removeEventListener('keydown', onKey)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another current row
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>('[aria-current] button')
    const { activeElement } = document
    // A button that went with its row leaves the focus on the body; elsewhere on the page it stays.
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

/** Runs writes in the order in which they are asked for, so that the next row need not wait; `onDone` after the last of them. */
export function useInTurn(onDone: () => void): { applying: number; apply: (run: () => Promise<void>) => Promise<void> } {
  const [applying, setApplying] = useState(0)
  const last = useRef<Promise<void>>(Promise.resolve())
  const wasApplying = useRef(false)
  const apply = (run: () => Promise<void>) => {
    setApplying((n) => n + 1)
    last.current = last.current.then(run).finally(() => setApplying((n) => n - 1))
    return last.current
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onDone` is another function each time
  useEffect(() => {
    if (wasApplying.current && applying === 0) onDone()
    wasApplying.current = applying > 0
  }, [applying])
  return { applying, apply }
}
