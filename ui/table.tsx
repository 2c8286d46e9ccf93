// Tables, and lists: tables with filters and sort order in the address bar, pages, empty and error states, and stored choices.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Pagination } from '../client/src/api.ts'
import { type AddressQuery, useAddressQuery } from './address.ts'
import type { Query } from './api.ts'
import { Chips } from './chips.tsx'
import { useData } from './data.ts'
import { type Column, type Filter, nameOf, nextOrder, type Order, toggle } from './list-parts.ts'
import { Options } from './options.tsx'
import { Picker } from './picker.tsx'
import { Empty, Failure, Refusal } from './states.tsx'
import { choicesOf } from './stored.ts'
import { TableMenu } from './table-menu.tsx'
import { startOfDay } from './time-zone.ts'
import { t } from './words.ts'

/** Query parameters for a sort order. */
function orderQuery(order: Order): Query {
  return order === '' ? {} : { sort_by: order.replace(/^-/, ''), sort_order: order.startsWith('-') ? 'desc' : 'asc' }
}

export { type Column, type Filter, toggle as toggled }

interface TableProps<Row> {
  caption: string
  columns: Column<Row, string>[]
  rows: Row[]
  rowKey: (row: Row) => string | number
  busy?: boolean
  /** selection of rows, one by one or all that are shown */
  pick?: Picking<Row> | undefined
  /** the current sort order, and the handler for clicks on a column header */
  order?: { current: Order; set: (order: Order) => void } | undefined
  /** number of placeholder rows while loading */
  awaited?: number | undefined
}

interface Picking<Row> {
  chosen: (string | number)[]
  choose: (keys: (string | number)[]) => void
  nameOf: (row: Row) => string
}

/** The first cell of a row is its header; on narrow screens each row becomes a block whose cells are labelled with their column. */
export function Table<Row>({ caption, columns, rows, rowKey, busy, pick, order, awaited = 0 }: TableProps<Row>) {
  const classOf = ({ number, short, wide }: Column<Row, string>) =>
    [number && 'number', short && 'short', wide && 'wide'].filter(Boolean).join(' ') || undefined
  return (
    // The region scrolls sideways on narrow screens, so it must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
    <section class="scroll" tabIndex={0} aria-label={caption} aria-busy={busy || awaited > 0}>
      <table class={columns.some((column) => column.width) ? 'steady' : undefined}>
        <caption class="hidden">{caption}</caption>
        <colgroup>
          {pick && <col />}
          {columns.map((column) => (
            <col key={column.head} style={{ width: column.width }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {pick && (
              <th scope="col" class="pick">
                <ChooseAll keys={rows.map(rowKey)} {...pick} />
              </th>
            )}
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)} aria-sort={order && sortOf(column, order.current)}>
                {order && column.sort ? (
                  <button type="button" class="plain" onClick={() => order.set(nextOrder(order.current, column))}>
                    {column.head} <span aria-hidden="true">{MARKS[sortOf(column, order.current) ?? 'none']}</span>
                  </button>
                ) : (
                  column.head
                )}
              </th>
            ))}
          </tr>
        </thead>
        {awaited > 0 && (
          <tbody class="awaited" aria-hidden="true">
            {Array.from({ length: awaited }, (_, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: placeholder rows are identical
              <tr key={row}>
                {pick && <td class="pick" />}
                {columns.map((column) => (
                  <td key={column.head} class={classOf(column)}>
                    <span />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        )}
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {pick && (
                <td class="pick">
                  <input
                    type="checkbox"
                    aria-label={t('chooseRow', { name: pick.nameOf(row) })}
                    checked={pick.chosen.includes(rowKey(row))}
                    onChange={() => pick.choose(toggle(pick.chosen, rowKey(row)))}
                  />
                </td>
              )}
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.head} scope="row" class={classOf(column)} data-head={column.head}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.head} class={classOf(column)} data-head={column.head}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const MARKS = { ascending: '▲', descending: '▼', none: '↕' }

function sortOf({ sort }: Pick<Column<never, string>, 'sort'>, order: Order): 'ascending' | 'descending' | undefined {
  if (sort === undefined) return undefined
  return order === sort ? 'ascending' : order === `-${sort}` ? 'descending' : undefined
}

/** Selects all rows shown, or none. */
export function ChooseAll<Key>({ keys, chosen, choose }: { keys: Key[]; chosen: Key[]; choose: (keys: Key[]) => void }) {
  const all = keys.length > 0 && keys.every((key) => chosen.includes(key))
  return (
    <input
      type="checkbox"
      aria-label={t('chooseAll')}
      checked={all}
      indeterminate={!all && chosen.length > 0}
      onChange={() => choose(all ? [] : keys)}
    />
  )
}

/** Filters by day, for `periodQuery`. */
export const periodFilters = (): Filter<'from' | 'to'>[] => [
  { name: 'from', label: t('from'), type: 'date' },
  { name: 'to', label: t('until'), type: 'date' },
]

/** Converts days in the time zone of the pages to times: from the start of the first to the end of the last. */
export function periodQuery({ from = '', to = '', ...rest }: Record<string, string>): Query {
  return { ...rest, from: startOf(from, 0), to: startOf(to, 1) }
}

function startOf(day: string, plus: number): string | undefined {
  return /^\d{4}-\d\d-\d\d$/.test(day) ? startOfDay(day, plus).toISOString() : undefined
}

export interface ListProps<Row> extends Omit<TableProps<Row>, 'rows' | 'busy' | 'pick' | 'order' | 'awaited'> {
  path: string
  filters?: Filter[]
  /** fixed filters */
  fixed?: Query
  /** converts address parameters to query parameters if they differ */
  toQuery?: (values: Record<string, string>) => Query
  empty: string
  /** prefix of the address parameters, for pages with several lists */
  prefix?: string
  again?: (rows: Row[]) => number | null
  /** shown next to the filters */
  actions?: ComponentChildren
  /** a new number reloads the list: see `useVersion` */
  version?: number
  /** whether the service returns the whole list as CSV */
  csv?: boolean
  /** actions on several selected rows */
  bulk?: Bulk<Row> | undefined
}

export interface Bulk<Row> {
  nameOf: (row: Row) => string
  /** buttons for the selected rows; `done` clears the selection */
  actions: (rows: Row[], done: () => void) => ComponentChildren
}

const PER_PAGE = 25
/** Placeholder rows of a list that was not shown before. */
const AWAITED = 8
/** number of rows when each list was last shown, so that loading keeps its height */
const lastRows = new Map<string, number>()

export function List<Row>(props: ListProps<Row>) {
  const { path, filters = [], fixed, toQuery, empty, prefix = '', again, version, actions, csv = false, bulk, columns, rowKey, caption } = props
  const sorts = columns.flatMap(({ sort }) => (sort === undefined ? [] : [sort]))
  const { values, page, filtered, bar, link, order, setOrder } = useFilters(filters, prefix, sorts)
  const selected = { ...(toQuery ? toQuery(values) : values), ...fixed, ...orderQuery(order) }
  const table = path.replace(/\d+/g, '') + prefix
  const hidden = choicesOf(table).hidden ?? columns.flatMap((column) => (column.optional ? [nameOf(column)] : []))
  const shown = columns.filter((column, index) => index === 0 || !hidden.includes(nameOf(column)))
  const list = useData(path, {
    query: { ...selected, ...Object.assign({}, ...shown.map(({ query }) => query)), page, per_page: PER_PAGE },
    version,
    ...(again && { again: (data) => again(data as Row[]) }),
  })
  const [chosen, setChosen] = useState<(string | number)[]>([])
  const rows = list.data as Row[] | null
  if (rows) lastRows.set(table, rows.length)
  // The selection applies to the page that is shown.
  const address = JSON.stringify([path, selected, page])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address is a new page
  useEffect(() => setChosen([]), [address])
  // An incomplete query is rejected while it is being typed: its problem is shown next to the previous results.
  const refused = list.error?.details.some(({ field }) => field === 'query') ?? false
  const chosenRows = rows?.filter((row) => chosen.includes(rowKey(row))) ?? []
  const common = {
    caption,
    columns: shown,
    rowKey,
    order: sorts.length > 0 ? { current: order, set: setOrder } : undefined,
    pick: bulk && { chosen, choose: setChosen, nameOf: bulk.nameOf },
  }
  return (
    <>
      <div class="toolbar">
        {bar}
        <div class="actions">
          {actions}
          <TableMenu
            table={table}
            hidden={hidden}
            prefix={prefix}
            values={{ ...values, order }}
            columns={columns}
            order={order}
            setOrder={setOrder}
            csv={csv ? { path, query: selected } : null}
          />
        </div>
      </div>
      {refused && <Refusal error={list.error} />}
      {list.error && !refused ? (
        <Failure error={list.error} retry={list.reload} />
      ) : rows === null ? (
        !refused && <Table {...common} rows={[]} awaited={lastRows.get(table) || AWAITED} />
      ) : rows.length === 0 ? (
        <Empty>{(list.pagination?.total ?? 0) > 0 ? t('noSuchPage') : filtered ? t('nothingMatches') : empty}</Empty>
      ) : (
        <Table {...common} rows={rows} busy={list.loading} />
      )}
      {bulk && chosenRows.length > 0 && (
        <section class="bulk" aria-label={t('chosenRows', { count: chosenRows.length })}>
          <strong>{t('chosenRows', { count: chosenRows.length })}</strong>
          {bulk.actions(chosenRows, () => setChosen([]))}
          <button type="button" class="plain" onClick={() => setChosen([])}>
            {t('chooseNone')}
          </button>
        </section>
      )}
      {list.pagination && <Pages of={list.pagination} link={link} />}
    </>
  )
}

export interface Filtered {
  values: Record<string, string>
  page: number
  /** whether any filter is active */
  filtered: boolean
  /** filter controls */
  bar: ComponentChildren
  /** address of a page of the list */
  link: (page: number) => string
  order: Order
  setOrder: (order: Order) => void
}

/**
 * Filters, sort order and page of a list, from the address bar.
 * @param sorts names by which the list can be sorted
 */
export function useFilters(filters: Filter[], prefix = '', sorts: readonly string[] = []): Filtered {
  const address = useAddressQuery()
  const values: Record<string, string> = {}
  for (const { name } of filters) values[name] = address.values[prefix + name] ?? ''
  const order = address.values[`${prefix}order`] ?? ''
  return {
    values,
    page: Number(address.values[`${prefix}page`] ?? 1) || 1,
    filtered: Object.values(values).some((value) => value !== ''),
    bar: filters.length > 0 && <Filters filters={filters} values={values} prefix={prefix} address={address} />,
    link: (page) => address.link({ [`${prefix}page`]: page }),
    order: sorts.includes(order.replace(/^-/, '')) ? order : '',
    setOrder: (next) => address.set({ [`${prefix}order`]: next, [`${prefix}page`]: 1 }),
  }
}

interface FiltersProps {
  filters: Filter[]
  values: Record<string, string>
  prefix: string
  address: AddressQuery
}

function Filters({ filters, values, prefix, address }: FiltersProps) {
  return (
    <search class="filters">
      {filters.map((filter) => {
        const set = (value: string) => address.set({ [prefix + filter.name]: value, [`${prefix}page`]: 1 })
        const { control: Control, picker } = filter
        const shared = { key: filter.name, label: filter.label, value: values[filter.name] ?? '', onSettled: set }
        if (picker) return <Picker {...shared} source={picker} />
        if (Control) return <Control {...shared} />
        return (
          // biome-ignore lint/a11y/noLabelWithoutControl: the control is one of the branches
          <label key={filter.name}>
            <span>{filter.label}</span>
            {filter.options ? (
              <select
                value={values[filter.name] || (filter.always ? filter.options[0]!.value : '')}
                onChange={(event) => set(event.currentTarget.value)}
              >
                {!filter.always && <option value="">{t('all')}</option>}
                <Options of={filter.options} />
              </select>
            ) : (
              <TypedFilter type={filter.type ?? 'text'} value={values[filter.name] ?? ''} onSettled={set} />
            )}
          </label>
        )
      })}
      <Chips filters={filters} values={values} remove={(names) => address.set(Object.fromEntries(names.map((name) => [prefix + name, ''])))} />
    </search>
  )
}

const SETTLE_MS = 200

/** An input that reports its value when typing pauses. */
function TypedFilter({ type, value, onSettled }: { type: NonNullable<Filter['type']>; value: string; onSettled: (value: string) => void }) {
  const [typed, setTyped] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const settled = useRef(value)
  useEffect(() => {
    // The value has changed from outside.
    if (value !== settled.current) {
      settled.current = value
      setTyped(value)
    }
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const onInput = (text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      settled.current = text.trim()
      onSettled(text.trim())
    }, SETTLE_MS)
  }
  // The union of input types does not accept a variable type.
  const attributes = { type, value: typed, autocomplete: 'off' } as JSX.IntrinsicElements['input']
  return <input {...attributes} onInput={(event) => onInput(event.currentTarget.value)} />
}

export function Pages({ of, link }: { of: Pagination; link: (page: number) => string }) {
  const { current_page: page, last_page: last, total, per_page: perPage } = of
  const from = total === 0 ? 0 : (page - 1) * perPage + 1
  if (last === 1 && page === 1) return total > 0 ? <p class="pages quiet">{t('entries', { total })}</p> : null
  return (
    <nav class="pages" aria-label={t('pages')}>
      <span class="quiet">{page > last ? t('entries', { total }) : t('range', { from, to: Math.min(page * perPage, total), total })}</span>
      {page > 1 && (
        <a class="button" href={link(Math.min(page - 1, last))} rel="prev">
          {t('previous')}
        </a>
      )}
      {page < last && (
        <a class="button" href={link(page + 1)} rel="next">
          {t('next')}
        </a>
      )}
    </nav>
  )
}
