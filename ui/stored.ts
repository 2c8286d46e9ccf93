// What a person chose for a table, such as hidden columns and saved views: in this browser, apart for each who signs in.
import { signal } from '@preact/signals'

/** A saved view: what the address of a list says, without its page. */
export interface SavedView {
  name: string
  values: Record<string, string>
}

export interface TableChoices {
  /** columns that are left out; null for those that are left out unless chosen */
  hidden: string[] | null
  views: SavedView[]
}

const KEPT_UNDER = 'mintmark-tables'
const NONE: TableChoices = { hidden: null, views: [] }

/** who is signed in */
let person = ''
const choices = signal<Readonly<Record<string, TableChoices>>>({})

/** Reads what this person has chosen; to be called with whom a session is of. */
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
    localStorage.setItem(KEPT_UNDER, JSON.stringify({ ...all(), [person]: choices.value }))
  } catch {
    // A browser that stores nothing has them until the page is loaded again.
  }
}

function all(): Record<string, Record<string, TableChoices>> {
  try {
    return (JSON.parse(localStorage.getItem(KEPT_UNDER) ?? '{}') ?? {}) as Record<string, Record<string, TableChoices>>
  } catch {
    return {}
  }
}
