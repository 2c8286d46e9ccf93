// What an account says that the columns of its files hold: read and replaced by it, for each kind of file.
import { invalidFields } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { LINES } from '#core/text.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { Queryable } from '#db/schema.ts'
import { MAX_COLUMN_NAME } from './column-name.ts'
import { spellingOf } from './column-names.ts'
import type { SavedColumns } from './read-columns.ts'

export const MAX_SAVED_COLUMNS = 200

/** Columns as the account saved them. */
export interface SavedColumnRows<Field extends string> {
  columns: { column: string; field: Field | null }[]
}

interface KindOfFile<Field extends string> {
  /** what a row of the file becomes; names the table and the audit action */
  of: 'listing' | 'collection'
  fields: readonly Field[]
  /** title of the schema of one column; that of the list is its plural */
  title: 'ListingColumn' | 'CollectionColumn'
  examples: SavedColumnRows<Field>['columns']
}

/** The schema, the two verbs and the look-up of the columns that accounts save for a kind of file. */
export function savedColumnsOf<Field extends string>({ of, fields, title, examples }: KindOfFile<Field>) {
  // Both tables have the same columns.
  const table = `${of}_columns` as 'listing_columns'
  const schema = columnsSchema(fields, title, examples)
  const find = async (on: Queryable, accountId: number): Promise<SavedColumnRows<Field>> => {
    const row = await on.selectFrom(table).select('columns').where('account_id', '=', accountId).executeTakeFirst()
    return { columns: (row?.columns ?? []) as SavedColumnRows<Field>['columns'] }
  }
  const getName = `get${title}s` as const
  const setName = `set${title}s` as const
  return {
    schema,
    get: verb({ name: getName, needs: OPERATION_PLAN[getName], input: Type.Object({}) }, ({ db, viewer }: ReadCtx) =>
      find(db.kysely, ownAccount(viewer)),
    ),
    set: writeVerb(
      { name: setName, needs: OPERATION_PLAN[setName], input: schema },
      (ctx: WriteCtx, { columns }): Promise<SavedColumnRows<Field>> => {
        const account_id = ownAccount(ctx.viewer)
        checkColumns(columns)
        return change(ctx, async (tx, note) => {
          const values = { columns: JSON.stringify(columns) }
          const insert = tx.insertInto(table).values({ account_id, ...values })
          await insert.onConflict((conflict) => conflict.column('account_id').doUpdateSet(values)).execute()
          note.audit({ action: `${table}.set`, subject: 'account', id: account_id, after: { columns: columns.length } })
          return { columns: columns as SavedColumnRows<Field>['columns'] }
        })
      },
    ),
    /** What the caller says that columns hold, as a header is compared with it. */
    bySpelling: async ({ db, viewer }: Pick<ReadCtx, 'db' | 'viewer'>): Promise<SavedColumns<Field>> => {
      const { columns } = await find(db.kysely, ownAccount(viewer))
      return new Map(columns.map(({ column, field }) => [spellingOf(column), field]))
    },
  }
}

function columnsSchema<Field extends string>(fields: readonly Field[], title: string, examples: SavedColumnRows<Field>['columns']) {
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
function checkColumns(columns: readonly { column: string }[]): void {
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
