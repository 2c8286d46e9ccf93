// What the columns of the caller's listing files hold: read and replaced by the account, and used before anything is guessed.
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, verb, type Viewer } from '#core/verb.ts'
import { change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { SavedColumns } from '#intake/read-columns.ts'
import { bySpelling, checkSavedColumns, savedColumnsSchema } from '#intake/saved-columns.ts'
import { LISTING_FIELDS, type ListingField } from './listing-columns.ts'

export const ListingColumnsSchema = savedColumnsSchema(LISTING_FIELDS, 'ListingColumn', [
  { column: 'Cena', field: 'price' },
  { column: 'Regal', field: null },
])
export type ListingColumns = Static<typeof ListingColumnsSchema>

export const getListingColumns = verb(
  { name: 'getListingColumns', needs: OPERATION_PLAN.getListingColumns, input: Type.Object({}) },
  async ({ db, viewer }: ReadCtx): Promise<ListingColumns> => ({ columns: await findColumns(db.kysely, ownAccount(viewer)) }),
)

export const setListingColumns = writeVerb(
  { name: 'setListingColumns', needs: OPERATION_PLAN.setListingColumns, input: ListingColumnsSchema },
  (ctx: WriteCtx, { columns }): Promise<ListingColumns> => {
    const accountId = ownAccount(ctx.viewer)
    checkSavedColumns(columns)
    return change(ctx, async (tx, note) => {
      await saveColumns(tx, accountId, columns)
      note.audit({ action: 'listing_columns.set', subject: 'account', id: accountId, after: { columns: columns.length } })
      return { columns }
    })
  },
)

/** What the caller says that columns hold, for reading a file. */
export async function savedColumns({ db, viewer }: { db: ReadCtx['db']; viewer: Viewer }): Promise<SavedColumns<ListingField>> {
  return bySpelling(await findColumns(db.kysely, ownAccount(viewer)))
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
