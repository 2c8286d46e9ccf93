// What a person keeps in this browser, such as choices for tables and drafts: stored separately for each person.
import { signal } from '@preact/signals'
import { storedPreference, storePreference } from './preferences.ts'

/** A saved view: the address parameters of a list, without the page, and its columns. */
export interface SavedView {
  name: string
  values: Record<string, string>
  /** names of hidden columns, null for the default; absent in views that were saved without columns, which leave them as they are */
  hidden?: string[] | null
}

export interface TableChoices {
  /** names of hidden columns; null for the default */
  hidden: string[] | null
  views: SavedView[]
}

const TABLES = 'tables'
const NONE: TableChoices = { hidden: null, views: [] }

/** the signed-in person */
let person = ''
const choices = signal<Readonly<Record<string, TableChoices>>>({})

/** Loads the choices of a person; call it when a session starts. */
export function readChoicesOf(who: string): void {
  person = who
  choices.value = storedValue<Record<string, TableChoices>>(TABLES) ?? {}
}

export function choicesOf(table: string): TableChoices {
  return choices.value[table] ?? NONE
}

export function choose(table: string, changes: Partial<TableChoices>): void {
  choices.value = { ...choices.value, [table]: { ...choicesOf(table), ...changes } }
  storeValue(TABLES, choices.value)
}

/** What the signed-in person stored under a name; null if there is nothing. The shape is that of the last `storeValue`. */
export function storedValue<Value>(name: string): Value | null {
  return (ofAllPeople(name)[person] as Value | undefined) ?? null
}

/** If the browser does not store anything, values last until the page is reloaded. */
export function storeValue(name: string, value: unknown): void {
  storePreference(keyOf(name), JSON.stringify({ ...ofAllPeople(name), [person]: value }))
}

const keyOf = (name: string) => `mintmark-${name}`

function ofAllPeople(name: string): Record<string, unknown> {
  try {
    return (JSON.parse(storedPreference(keyOf(name)) ?? '{}') ?? {}) as Record<string, unknown>
  } catch {
    return {}
  }
}
