// What the columns of the caller's listing files hold: read and replaced by the account, and used before anything is guessed.
import { invalidFields } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { LINES } from '#core/text.ts'
import { ownAccount, verb, type Viewer } from '#core/verb.ts'
import { change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { MAX_COLUMN_NAME } from '#intake/column-name.ts'
import { spellingOf } from './column-names.ts'
import { LISTING_FIELDS, type SavedColumns } from './listing-columns.ts'

export const MAX_SAVED_COLUMNS = 200

const Column = Type.Object(
  {
    column: Type.String({
      pattern: LINES,
      minLength: 1,
      maxLength: MAX_COLUMN_NAME,
      allowed: reason('text', { min: 1, max: MAX_COLUMN_NAME, form: 'without bidirectional controls' }),
      description: 'Name of the column in your files; case, accents and punctuation do not count',
    }),
    field: orNull(Type.Enum(LISTING_FIELDS), { description: 'What the column holds; null: ignore it' }),
  },
  { additionalProperties: false, title: 'ListingColumn' },
)

export const ListingColumnsSchema = Type.Object(
  {
    columns: Type.Array(Column, {
      maxItems: MAX_SAVED_COLUMNS,
      description: 'What columns of your files hold, each column once',
      examples: [
        [
          { column: 'Cena', field: 'price' },
          { column: 'Regal', field: null },
        ],
      ],
    }),
  },
  { title: 'ListingColumns' },
)
export type ListingColumns = Static<typeof ListingColumnsSchema>

export const getListingColumns = verb(
  { name: 'getListingColumns', needs: OPERATION_PLAN.getListingColumns, input: Type.Object({}) },
  async ({ db, viewer }: ReadCtx): Promise<ListingColumns> => ({ columns: await findColumns(db.kysely, ownAccount(viewer)) }),
)

export const setListingColumns = writeVerb(
  { name: 'setListingColumns', needs: OPERATION_PLAN.setListingColumns, input: ListingColumnsSchema },
  (ctx: WriteCtx, { columns }): Promise<ListingColumns> => {
    const accountId = ownAccount(ctx.viewer)
    checkColumns(columns)
    return change(ctx, async (tx, note) => {
      await saveColumns(tx, accountId, columns)
      note.audit({ action: 'listing_columns.set', subject: 'account', id: accountId, after: { columns: columns.length } })
      return { columns }
    })
  },
)

/** What the caller says that columns hold, for reading a file. */
export async function savedColumns({ db, viewer }: { db: ReadCtx['db']; viewer: Viewer }): Promise<SavedColumns> {
  const columns = await findColumns(db.kysely, ownAccount(viewer))
  return new Map(columns.map(({ column, field }) => [spellingOf(column), field]))
}

/** @throws VALIDATION_ERROR for a column without visible characters, and for one that an earlier row names */
function checkColumns(columns: ListingColumns['columns']): void {
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

async function findColumns(on: Queryable, accountId: number): Promise<ListingColumns['columns']> {
  const row = await on.selectFrom('listing_columns').select('columns').where('account_id', '=', accountId).executeTakeFirst()
  return (row?.columns ?? []) as ListingColumns['columns']
}

async function saveColumns(tx: Tx, accountId: number, columns: ListingColumns['columns']): Promise<void> {
  const values = { columns: JSON.stringify(columns) }
  await tx
    .insertInto('listing_columns')
    .values({ account_id: accountId, ...values })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values))
    .execute()
}
