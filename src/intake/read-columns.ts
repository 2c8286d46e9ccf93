// Decides what each column of a user's file holds: by the account's own mapping, then by our names, then by those of other programs and people.
import { FeedError } from '#core/files/feed.ts'
import { namedValues } from '#core/named-values.ts'
import { reason } from '#core/problems.ts'
import { columnName } from './column-name.ts'
import { spellingOf } from './column-names.ts'
import type { ColumnReading } from './csv-body.ts'

/** How a column was recognised: by the account's own mapping, by our name, or by a name that other programs and people use. */
export const RECOGNISED_BY = namedValues('ColumnRecognition', ['saved', 'exact', 'name'])
export type RecognisedBy = (typeof RECOGNISED_BY)[number]

/** What an account says that columns hold, by their spelling; null for a column to ignore. */
export type SavedColumns<Field extends string> = ReadonlyMap<string, Field | null>

/** The columns of one header, as steps decide what they hold; a column that a step has taken is not seen by the next ones. */
export class ColumnsOfHeader<Field extends string> {
  /** cell of a row as its reader names it → column as written */
  readonly columns = new Map<string, string>()
  readonly #taken = new Map<string, Omit<ColumnReading, 'column'>>()
  readonly #header: readonly string[]

  constructor(header: readonly string[]) {
    this.#header = header
  }

  /** @param cell where the row's reader expects it, if that is not the field */
  take(name: string, field: Field, how: RecognisedBy, cell: string = field): void {
    this.columns.set(cell, name)
    this.#taken.set(name, { field, how })
  }

  /** The columns that no step has taken. */
  others(): string[] {
    return this.#header.filter((name) => !this.#taken.has(name))
  }

  isSaved(field: Field): boolean {
    return this.#taken.get(this.columns.get(field) ?? '')?.how === 'saved'
  }

  /** @throws FeedError if two columns are saved as the same */
  takeSaved(saved: SavedColumns<Field>): void {
    for (const [field, names] of bySpelling(this.#header, (name) => saved.get(spellingOf(name)))) {
      if (field === null) for (const name of names) this.#taken.set(name, { field, how: 'saved' })
      else if (names.length > 1) throw claimedTwice('columns_mapped', field, names)
      else this.take(names[0]!, field, 'saved')
    }
  }

  /** @throws FeedError if a column with the name of a field is beside one that is saved as the field */
  takeExact(fields: readonly Field[], nameOf = (name: string) => name.trim().toLowerCase()): void {
    for (const name of this.others()) {
      const own = nameOf(name) as Field
      if (!fields.includes(own)) continue
      if (this.isSaved(own)) throw claimedTwice('columns_mapped', own, [this.columns.get(own)!, name])
      if (!this.columns.has(own)) this.take(name, own, 'exact')
    }
  }

  /** @throws FeedError if two columns could be the same */
  takeNamed(fieldNamed: (name: string) => Field | undefined): void {
    for (const [field, names] of bySpelling(this.others(), fieldNamed)) {
      if (field === null || this.columns.has(field)) continue
      if (names.length > 1) throw claimedTwice('columns_unclear', field, names)
      this.take(names[0]!, field, 'name')
    }
  }

  /** What each column is taken as, in the order of the header. */
  readings(): ColumnReading[] {
    return this.#header.map((column) => ({ column, ...(this.#taken.get(column) ?? { field: null, how: null }) }))
  }
}

/** The columns by what they hold. Of several with one spelling, only the first counts, unless they hold nothing. */
function bySpelling<Field extends string>(
  header: readonly string[],
  fieldOf: (name: string) => Field | null | undefined,
): Map<Field | null, string[]> {
  const columns = new Map<Field | null, string[]>()
  for (const name of header) {
    const field = fieldOf(name)
    if (field === undefined) continue
    const names = columns.get(field) ?? []
    if (field === null || !names.some((other) => spellingOf(other) === spellingOf(name))) columns.set(field, [...names, name])
  }
  return columns
}

function claimedTwice(rule: 'columns_mapped' | 'columns_unclear', column: string, names: readonly string[]): FeedError {
  return new FeedError(reason(rule, { column, values: names.map(columnName) }))
}
