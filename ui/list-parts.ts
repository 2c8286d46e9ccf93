// Types that describe a list: its columns, filters and sort order.
import type { ComponentChildren, ComponentType } from 'preact'
import type { Source } from './picker.tsx'

/** @template Sort names by which the list can be sorted */
export interface Column<Row, Sort extends string = never> {
  head: string
  /** under which choices about the column are stored; without it the header, which depends on the language */
  name?: string
  /** right-aligned */
  number?: boolean
  /** never wrapped */
  short?: boolean
  /** hidden on narrow screens */
  wide?: boolean
  /** parameters that the list sends while the column is shown */
  query?: Record<string, number>
  /** share of the table's width, such as `12%`; columns with shares do not move when their content changes */
  width?: string
  /** hidden unless the person selects it */
  optional?: boolean
  /** name by which the service sorts the list; without it, the column cannot be sorted */
  sort?: Sort
  cell: (row: Row) => ComponentChildren
}

/** The name under which choices about a column are stored. */
export function nameOf({ name, head }: Pick<Column<never>, 'name' | 'head'>): string {
  return name ?? head
}

/** A sort order: a sort name, with `-` before it for descending; empty for the list's default. */
export type Order = string

/** The next order after a click on a column header: numbers start descending, and the third click resets. */
export function nextOrder(order: Order, { sort, number = false }: Pick<Column<never, string>, 'sort' | 'number'>): Order {
  const turns = number ? [`-${sort}`, `${sort}`] : [`${sort}`, `-${sort}`]
  return turns[turns.indexOf(order) + 1] ?? ''
}

export interface Filter<Name extends string = string> {
  name: Name
  label: string
  /** a fixed set of values; without it, the filter is a text input */
  options?: { value: string; text: string }[]
  type?: 'search' | 'text' | 'number' | 'date' | 'month'
  /** chooses by name; the value is an id */
  picker?: Source
  /** custom control instead of an input */
  control?: ComponentType<{ label: string; value: string; onSettled: (text: string) => void }>
  /** one option is always selected: the first by default */
  always?: boolean
}

/** Adds a key to the list, or removes it if present. */
export function toggle<Key>(keys: Key[], key: Key): Key[] {
  return keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key]
}
