// What the columns of the caller's collection files hold: read and replaced by the account, and used for files of no known format.
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, verb, type Viewer } from '#core/verb.ts'
import { change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { SavedColumns } from '#intake/read-columns.ts'
import { bySpelling, checkSavedColumns, savedColumnsSchema } from '#intake/saved-columns.ts'
import { COLLECTION_FIELDS, type CollectionField } from './columns.ts'

export const CollectionColumnsSchema = savedColumnsSchema(COLLECTION_FIELDS, 'CollectionColumn', [
  { column: 'Karta', field: 'name' },
  { column: 'Regal', field: null },
])
export type CollectionColumns = Static<typeof CollectionColumnsSchema>

export const getCollectionColumns = verb(
  { name: 'getCollectionColumns', needs: OPERATION_PLAN.getCollectionColumns, input: Type.Object({}) },
  async ({ db, viewer }: ReadCtx): Promise<CollectionColumns> => ({ columns: await findColumns(db.kysely, ownAccount(viewer)) }),
)

export const setCollectionColumns = writeVerb(
  { name: 'setCollectionColumns', needs: OPERATION_PLAN.setCollectionColumns, input: CollectionColumnsSchema },
  (ctx: WriteCtx, { columns }): Promise<CollectionColumns> => {
    const accountId = ownAccount(ctx.viewer)
    checkSavedColumns(columns)
    return change(ctx, async (tx, note) => {
      await saveColumns(tx, accountId, columns)
      note.audit({ action: 'collection_columns.set', subject: 'account', id: accountId, after: { columns: columns.length } })
      return { columns }
    })
  },
)

/** What the caller says that columns hold, for reading a file. */
export async function savedColumns({ db, viewer }: { db: ReadCtx['db']; viewer: Viewer }): Promise<SavedColumns<CollectionField>> {
  return bySpelling(await findColumns(db.kysely, ownAccount(viewer)))
}

async function findColumns(on: Queryable, accountId: number): Promise<CollectionColumns['columns']> {
  const row = await on.selectFrom('collection_columns').select('columns').where('account_id', '=', accountId).executeTakeFirst()
  return (row?.columns ?? []) as CollectionColumns['columns']
}

async function saveColumns(tx: Tx, accountId: number, columns: CollectionColumns['columns']): Promise<void> {
  const values = { columns: JSON.stringify(columns) }
  await tx
    .insertInto('collection_columns')
    .values({ account_id: accountId, ...values })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(values))
    .execute()
}
