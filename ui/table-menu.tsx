// Menu of a list: sort order, columns, saved views, and the whole list as CSV.
import { useId, useRef, useState } from 'preact/hooks'
import { useAddressQuery } from './address.ts'
import type { Query } from './api.ts'
import { saveFile } from './data.ts'
import { valuesOf } from './dialog.tsx'
import { type Column, type Order, toggle } from './list-parts.ts'
import { choicesOf, choose } from './stored.ts'
import { t } from './words.ts'

interface TableMenuProps {
  /** key under which choices are stored */
  table: string
  /** headers of hidden columns */
  hidden: string[]
  /** prefix of the list's parameters in the address */
  prefix: string
  /** parameters that a saved view stores, by name without the prefix */
  values: Record<string, string>
  columns: Pick<Column<never, string>, 'head' | 'sort'>[]
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
  const { views } = choicesOf(table)
  const address = useAddressQuery()
  const [busy, setBusy] = useState(false)
  const sortable = columns.filter((column) => column.sort !== undefined)
  const prefixed = (named: Record<string, string>) =>
    Object.fromEntries(
      Object.keys(values)
        .map((name) => [prefix + name, named[name] ?? ''])
        .concat([[`${prefix}page`, '']]),
    )
  const save = (event: Event & { currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const { name } = valuesOf(event.currentTarget)
    if (!name) return
    const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
    choose(table, { views: [...views.filter((view) => view.name !== name), { name, values: set }] })
    event.currentTarget.reset()
  }
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
        {columns.slice(1).map(({ head }) => (
          <label key={head} class="check">
            <input type="checkbox" checked={!hidden.includes(head)} onChange={() => choose(table, { hidden: toggle(hidden, head) })} /> {head}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>{t('savedViews')}</legend>
        {views.length > 0 && (
          <ul>
            {views.map(({ name, values: saved }) => (
              <li key={name}>
                <a href={address.link(prefixed(saved))}>{name}</a>
                <button
                  type="button"
                  class="plain"
                  aria-label={t('removeView', { name })}
                  onClick={() => choose(table, { views: views.filter((view) => view.name !== name) })}
                >
                  ×
                </button>
              </li>
            ))}
          </ul>
        )}
        <form onSubmit={save}>
          <input name="name" required maxLength={60} aria-label={t('viewName')} placeholder={t('viewName')} autocomplete="off" />
          <button type="submit">{t('saveView')}</button>
        </form>
      </fieldset>
      {csv && (
        <button type="button" disabled={busy} onClick={() => void download()}>
          {busy ? t('working') : t('downloadCsv')}
        </button>
      )}
    </>
  )
}
