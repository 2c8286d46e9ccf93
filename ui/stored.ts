// A person's choices for tables, such as hidden columns and saved views: stored in this browser, separately for each person.
import { signal } from '@preact/signals'

/** A saved view: the address parameters of a list, without the page. */
export interface SavedView {
  name: string
  values: Record<string, string>
}

export interface TableChoices {
  /** hidden columns; null for the default */
  hidden: string[] | null
  views: SavedView[]
}

const STORAGE_KEY = 'mintmark-tables'
const NONE: TableChoices = { hidden: null, views: [] }

/** the signed-in person */
let person = ''
const choices = signal<Readonly<Record<string, TableChoices>>>({})

/** Loads the choices of a person; call it when a session starts. */
export function readChoicesOf(who: string): void {
  person = who
  choices.value = all()[who] ?? {}
}

export function choicesOf(table: string): TableChoices {
  return choices.value[table] ?? NONE
}

export function choose(table: string, changes: Partial<TableChoices>): void {
  choices.value = { ...choices.value, [table]: { ...choicesOf(table), ...changes } }
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ ...all(), [person]: choices.value }))
  } catch {
    // If the browser does not store anything, choices last until the page is reloaded.
  }
}

function all(): Record<string, Record<string, TableChoices>> {
  try {
    return (JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}') ?? {}) as Record<string, Record<string, TableChoices>>
  } catch {
    return {}
  }
}
