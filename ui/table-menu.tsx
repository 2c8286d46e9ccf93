// Menu of a list: sort order, columns, saved views, and the whole list as CSV.
import { useId, useRef, useState } from 'preact/hooks'
import type { Query } from './api.ts'
import { saveFile } from './data.ts'
import { type Column, nameOf, type Order, toggle } from './list-parts.ts'
import { choose } from './stored.ts'
import { SavedViews } from './saved-views.tsx'
import { t } from './words.ts'

interface TableMenuProps {
  /** key under which choices are stored */
  table: string
  /** names of hidden columns */
  hidden: string[]
  /** prefix of the list's parameters in the address */
  prefix: string
  /** parameters that a saved view stores, by name without the prefix */
  values: Record<string, string>
  columns: Pick<Column<never, string>, 'head' | 'name' | 'sort'>[]
  order: Order
  setOrder: (order: Order) => void
  /** CSV export of the list; null if there is none */
  csv: { path: string; query: Query } | null
}

/** Must match the style sheet. */
const WIDTH = 320

export function TableMenu(props: TableMenuProps) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState(false)
  const place = (event: { newState: string; currentTarget: HTMLElement }) => {
    setOpen(event.newState === 'open')
    if (event.newState !== 'open' || !button.current) return
    const { bottom, right } = button.current.getBoundingClientRect()
    const { style } = event.currentTarget
    style.top = `${bottom + 4}px`
    style.left = `${Math.max(8, right - WIDTH)}px`
    style.maxHeight = `calc(100dvh - ${bottom + 12}px)`
  }
  return (
    <>
      <button ref={button} type="button" popovertarget={id}>
        {t('tableView')} <span aria-hidden="true">▾</span>
      </button>
      <div id={id} popover="auto" class="menu" onBeforeToggle={place as never}>
        {open && <Menu {...props} />}
      </div>
    </>
  )
}

function Menu({ table, hidden, prefix, values, columns, order, setOrder, csv }: TableMenuProps) {
  const [busy, setBusy] = useState(false)
  const sortable = columns.filter((column) => column.sort !== undefined)
  const download = async () => {
    if (!csv) return
    setBusy(true)
    await saveFile(csv.path, `${csv.path.split('/').findLast((part) => /^[a-z-]+$/.test(part))}.csv`, { accept: 'text/csv' }, csv.query)
    setBusy(false)
  }
  return (
    <>
      {sortable.length > 0 && (
        <label>
          <span>{t('sortBy')}</span>
          <select value={order} onChange={(event) => setOrder(event.currentTarget.value)}>
            <option value="">{t('usualOrder')}</option>
            {sortable.flatMap(({ head, sort }) => [
              <option key={sort} value={sort}>
                {head} ▲
              </option>,
              <option key={`-${sort}`} value={`-${sort}`}>
                {head} ▼
              </option>,
            ])}
          </select>
        </label>
      )}
      <fieldset>
        <legend>{t('columns')}</legend>
        {columns.slice(1).map((column) => (
          <label key={column.head} class="check">
            <input
              type="checkbox"
              checked={!hidden.includes(nameOf(column))}
              onChange={() => choose(table, { hidden: toggle(hidden, nameOf(column)) })}
            />{' '}
            {column.head}
          </label>
        ))}
      </fieldset>
      <SavedViews table={table} prefix={prefix} values={values} />
      {csv && (
        <button type="button" disabled={busy} onClick={() => void download()}>
          {busy ? t('working') : t('downloadCsv')}
        </button>
      )}
    </>
  )
}
