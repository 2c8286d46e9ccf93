// Sorting of lists: the parameters, and their `order by`. Each list declares the columns it can be sorted by; each has an index.
import { type RawBuilder, sql } from 'kysely'
import { Type } from '#core/input.ts'

const DIRECTIONS = ['asc', 'desc'] as const
export type SortDirection = (typeof DIRECTIONS)[number]

/** The columns that a list can be sorted by: the SQL of each name; equal rows are sorted by `id`. */
export interface Sorting<Name extends string> {
  by: Readonly<Record<Name, RawBuilder<unknown>>>
  /** unique, and the last column of each index */
  id: RawBuilder<unknown>
  /** the order of the list if its caller chooses none */
  usual: { by: RawBuilder<unknown>; direction: SortDirection }
}

export interface SortInput<Name extends string> {
  sort_by?: Name | undefined
  sort_order?: SortDirection | undefined
}

/** `sort_by` and `sort_order` of a list. */
export function sortParams<Name extends string>(names: readonly Name[]) {
  return {
    sort_by: Type.Optional(Type.Enum([...names], { description: "Default: the list's usual order" })),
    sort_order: Type.Optional(
      Type.Enum([...DIRECTIONS], { default: 'asc', description: 'Direction of `sort_by`; ties are sorted by id in the same direction' }),
    ),
  }
}

/** The names that a list can be sorted by. */
export function namesOf<Name extends string>({ by }: Sorting<Name>): Name[] {
  return Object.keys(by) as Name[]
}

/** The content of `order by`: no two rows are equal, so pages never overlap. */
export function orderBy<Name extends string>(
  { by, id, usual }: Sorting<Name>,
  { sort_by: name, sort_order: chosen = 'asc' }: SortInput<Name>,
): RawBuilder<unknown> {
  const first = name === undefined ? usual.by : by[name]
  const direction = sql.raw(name === undefined ? usual.direction : chosen)
  return first === id ? sql`${id} ${direction}` : sql`${first} ${direction}, ${id} ${direction}`
}
