// A queue of decisions by keyboard: current row, single-key shortcuts, focus, decisions applied in order, and the page around them.
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { asApiError, type Loaded } from '#ui/data.ts'
import { Heading } from '#ui/heading.tsx'
import { Empty, Failure, Loading } from '#ui/states.tsx'
import { ChooseAll, type Filtered, Pages, toggled } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { isAllowed, type Need } from '../api.ts'
import { count, sentence, t } from '../words.ts'
import { PermittedButton } from './permitted-button.tsx'

type Key = string | number

type Writes = ReturnType<typeof useSequentialWrites>
export type Decisions<Row> = ReturnType<typeof useDecisions<Row>>

/** What a key and its button do. */
export interface Act {
  key: string
  text: string
  class?: 'main' | 'danger'
  run: () => void
}

/**
 * Runs writes in order, so that the user need not wait for each. Pause the queue while `applying` is above 0: a response
 * from before a decision would show the decided row again.
 */
export function useSequentialWrites() {
  const [applying, setApplying] = useState(0)
  const last = useRef<Promise<void>>(Promise.resolve())
  const apply = (run: () => Promise<void>) => {
    setApplying((n) => n + 1)
    last.current = last.current.then(run).finally(() => setApplying((n) => n - 1))
    return last.current
  }
  return { applying, apply }
}

/** J, K and the arrow keys move through the rows; a new address starts at the first one. */
export function useDecisions<Row>(loaded: Loaded<Row[]>, writes: Writes, keyOf: (row: Row) => Key, nameOf: (row: Row) => string) {
  const { url } = useLocation()
  const [at, setAt] = useState(0)
  /** decided on this page; the loaded queue may still contain them */
  const [decided, setDecided] = useState<Key[]>([])
  /** the page, whose key presses are handled, also while nothing on it has the focus */
  const whole = useRef<HTMLDivElement>(null)
  /** the list of rows; the current one has `aria-current` */
  const list = useRef<HTMLUListElement>(null)
  const runOf = useRef<(event: KeyboardEvent) => (() => void) | undefined>(() => undefined)
  // A newer queue no longer has the decided rows, or has them because they are pending again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another response is a newer queue
  useEffect(() => setDecided([]), [loaded.data])
  const rows = (loaded.data ?? []).filter((row) => !decided.includes(keyOf(row)))
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
  const hide = (keys: Key[]) => setDecided((earlier) => [...earlier, ...keys])
  const reveal = (keys: Key[]) => setDecided((earlier) => earlier.filter((key) => !keys.includes(key)))
  /** Shows the next row at once; `send` returns what to announce, and a row whose decision fails is shown again. */
  const decide = (row: Row, send: () => Promise<string>) => {
    hide([keyOf(row)])
    void writes.apply(async () => {
      try {
        announce(await send())
      } catch (error) {
        announce(`${nameOf(row)}: ${sentence(asApiError(error))}`, 'bad')
        reveal([keyOf(row)])
      }
    })
  }
  /** Sets the action of each key besides navigation, on every rendering; keys do nothing while typing. */
  const onKey = (next: typeof runOf.current) => {
    runOf.current = next
  }
  return { ...writes, loaded, keyOf, nameOf, rows, current, show: setAt, hide, reveal, decide, onKey, whole, list }
}

function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && target.type !== 'checkbox') ||
    document.querySelector('dialog[open]') !== null
  )
}

/** A button for each act, with its key. */
export function ActButtons({ need, acts, disabled = false }: { need: Need; acts: Act[]; disabled?: boolean }) {
  return acts.map(({ key, text, class: name, run }) => (
    <PermittedButton need={need} key={key} class={name} disabled={disabled} aria-keyshortcuts={key} onClick={run}>
      {text} <kbd>{key.toUpperCase()}</kbd>
    </PermittedButton>
  ))
}

interface QueueProps<Row> {
  of: Decisions<Row>
  filters: Filtered
  title: string
  /** the permission to decide */
  need: Need
  tabs: ComponentChildren
  /** buttons beside the title, and beside the filters */
  actions?: ComponentChildren
  tools?: ComponentChildren
  /** the shortcuts in words */
  keys: string
  applying?: 'decisionsApplying' | 'matchesApplying'
  /** the last decision, to be undone */
  last?: { text: string; undo: () => void; disabled?: boolean } | null | undefined
  notices?: ComponentChildren
  /** name of the list, if it is not the title */
  label?: string
  empty: string
  pick?: { chosen: Key[]; choose: (keys: Key[]) => void } | undefined
  /** a row in the list */
  line: (row: Row) => ComponentChildren
  /** the current row in full */
  children: (row: Row) => ComponentChildren
}

/** A page with the queue: its rows beside the current one. */
export function QueuePage<Row>({ of, filters, applying = 'decisionsApplying', last, ...props }: QueueProps<Row>) {
  const { loaded, rows, current } = of
  const heading = (
    <Heading>
      {props.title} {loaded.pagination && <span class="quiet">{count(loaded.pagination.total)}</span>}
    </Heading>
  )
  return (
    <div ref={of.whole}>
      {props.actions ? (
        <div class="head stays">
          {heading}
          <div class="actions">{props.actions}</div>
        </div>
      ) : (
        heading
      )}
      {props.tabs}
      <div class="toolbar">
        {filters.bar}
        {props.tools && <div class="actions">{props.tools}</div>}
      </div>
      {isAllowed(props.need) && <p class="quiet keys">{props.keys}</p>}
      <p class="quiet keys" role="status">
        {of.applying > 0 && t(applying, { count: of.applying })}
      </p>
      {last && (
        <p class="last">
          {last.text}{' '}
          <button type="button" aria-keyshortcuts="u" disabled={last.disabled} onClick={last.undo}>
            {t('undo')} <kbd>U</kbd>
          </button>
        </p>
      )}
      {props.notices}
      {loaded.error ? (
        <Failure error={loaded.error} retry={loaded.reload} />
      ) : !loaded.data || (rows.length === 0 && loaded.loading) ? (
        <Loading />
      ) : !current ? (
        <Empty>{filters.filtered ? t('nothingMatches') : props.empty}</Empty>
      ) : (
        <div class="queue">
          <QueueRows of={of} label={props.label ?? props.title} pick={isAllowed(props.need) ? props.pick : undefined} line={props.line} />
          <article aria-label={of.nameOf(current)} aria-live="polite">
            {props.children(current)}
          </article>
        </div>
      )}
      {loaded.pagination && <Pages of={loaded.pagination} link={filters.link} />}
    </div>
  )
}

function QueueRows<Row>({ of, label, pick, line }: Pick<QueueProps<Row>, 'of' | 'pick' | 'line'> & { label: string }) {
  const { rows, current, keyOf } = of
  return (
    <div class="rows">
      {pick && (
        // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside the label
        <label class="check">
          <ChooseAll keys={rows.map(keyOf)} {...pick} /> {t('chooseAll')}
        </label>
      )}
      <ul ref={of.list} aria-label={label}>
        {rows.map((row, index) => (
          <li key={keyOf(row)} aria-current={row === current ? 'true' : undefined}>
            {pick && (
              <input
                type="checkbox"
                aria-label={t('chooseRow', { name: of.nameOf(row) })}
                checked={pick.chosen.includes(keyOf(row))}
                onChange={() => pick.choose(toggled(pick.chosen, keyOf(row)))}
              />
            )}
            <button type="button" class="plain" onClick={() => of.show(index)}>
              {line(row)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
