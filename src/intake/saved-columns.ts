// What an account says that the columns of its files hold: the shape, the checks and the reading of it, for each kind of file.
import { invalidFields } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { LINES } from '#core/text.ts'
import { MAX_COLUMN_NAME } from './column-name.ts'
import { spellingOf } from './column-names.ts'
import type { SavedColumns } from './read-columns.ts'

export const MAX_SAVED_COLUMNS = 200

/** A column as the account saved it. */
export interface SavedColumn<Field extends string> {
  column: string
  field: Field | null
}

/** The schema of all saved columns of a kind of file. @param title of the schema of one column; that of the list is its plural */
export function savedColumnsSchema<Field extends string>(fields: readonly Field[], title: string, examples: SavedColumn<Field>[]) {
  const Column = Type.Object(
    {
      column: Type.String({
        pattern: LINES,
        minLength: 1,
        maxLength: MAX_COLUMN_NAME,
        allowed: reason('text', { min: 1, max: MAX_COLUMN_NAME, form: 'without bidirectional controls' }),
        description: 'Name of the column in your files; case, accents and punctuation do not count',
      }),
      field: orNull(Type.Enum(fields), { description: 'What the column holds; null: ignore it' }),
    },
    { additionalProperties: false, title },
  )
  const columns = Type.Array(Column, {
    maxItems: MAX_SAVED_COLUMNS,
    description: 'What columns of your files hold, each column once',
    examples: [examples],
  })
  return Type.Object({ columns }, { title: `${title}s` })
}

/** @throws VALIDATION_ERROR for a column without visible characters, and for one that an earlier row names */
export function checkSavedColumns(columns: readonly SavedColumn<string>[]): void {
  const rows = new Map<string, number>()
  const problems: Problem[] = []
  for (const [i, { column }] of columns.entries()) {
    const spelling = spellingOf(column)
    const row = rows.get(spelling)
    if (spelling === '') problems.push(problem(`columns.${i}.column`, 'required'))
    else if (row !== undefined) problems.push(problem(`columns.${i}.column`, 'column_again', { row }))
    else rows.set(spelling, i + 1)
  }
  if (problems.length > 0) throw invalidFields(problems)
}

/** The saved columns as a header is compared with them. */
export function bySpelling<Field extends string>(columns: readonly SavedColumn<Field>[]): SavedColumns<Field> {
  return new Map(columns.map(({ column, field }) => [spellingOf(column), field]))
}
