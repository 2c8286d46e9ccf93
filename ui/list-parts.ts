// What a list is told: its columns, its filters and its order.
import type { ComponentChildren, ComponentType } from 'preact'
import type { Source } from './picker.tsx'

/** @template Sort what its list can be sorted by */
export interface Column<Row, Sort extends string = never> {
  head: string
  /** numbers stand at the right */
  number?: boolean
  /** never broken into lines */
  short?: boolean
  /** left out where the page is narrow */
  wide?: boolean
  /** share of the table, such as `12%`: columns with shares stay where they are, whatever is in them */
  width?: string
  /** left out unless a person chooses it */
  optional?: boolean
  /** what the list is sorted by at the service; without it the column cannot be sorted */
  sort?: Sort
  cell: (row: Row) => ComponentChildren
}

/** An order of rows: what they are sorted by, with `-` before it where the largest comes first; empty for the list's own. */
export type Order = string

/** What a press on the head of a column makes of an order: numbers begin with the largest, and the third press ends it. */
export function nextOrder(order: Order, { sort, number = false }: Pick<Column<never, string>, 'sort' | 'number'>): Order {
  const turns = number ? [`-${sort}`, `${sort}`] : [`${sort}`, `-${sort}`]
  return turns[turns.indexOf(order) + 1] ?? ''
}

export interface Filter<Name extends string = string> {
  name: Name
  label: string
  /** a closed set of values; without it the filter is text */
  options?: { value: string; text: string }[]
  type?: 'search' | 'text' | 'number' | 'date' | 'month'
  /** picked by name: the value is an id */
  picker?: Source
  /** in place of an input of a type */
  control?: ComponentType<{ label: string; value: string; onSettled: (text: string) => void }>
  /** one of the options always holds: the first unless another is chosen */
  always?: boolean
}

/** With a key that is among them taken out, or else put in. */
export function toggled<Key>(keys: Key[], key: Key): Key[] {
  return keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key]
}
