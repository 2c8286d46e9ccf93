// All records of a collection, newest first, in batches (interface.md, "GET /api/v1/plus/collections/{id}/items").
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { WithValue } from './records/fields.ts'
import { recordOf, recordsBefore, type RecordRow, requireCollection } from './records/store.ts'
import type { CollectionReadCtx, ValuedRecord } from './records/types.ts'
import { recordWithValue } from './worth.ts'

const BATCH = 1_000
const PAST_NEWEST = 2 ** 31 - 1

/** The newest records, then further batches read on demand; no database connection is held while the client does not read. */
export interface RecordList {
  first: ValuedRecord[]
  more: AsyncIterable<ValuedRecord[]> | null
}

export const listCollectionItems = verb(
  {
    name: 'listCollectionItems',
    needs: OPERATION_PLAN.listCollectionItems,
    input: Type.Object({ id: id('collection'), with_value: WithValue }),
  },
  async (ctx: CollectionReadCtx, { id: collectionId, with_value: withValue }): Promise<RecordList> => {
    const db = ctx.db.kysely
    await requireCollection(db, ctx.viewer, collectionId)
    const show = (row: RecordRow): ValuedRecord => (withValue ? recordWithValue(ctx, row) : recordOf(row))
    const first = await recordsBefore(db, collectionId, PAST_NEWEST, BATCH)
    const batchesAfter = async function* (last: RecordRow | undefined) {
      while (last) {
        const rows: RecordRow[] = await recordsBefore(db, collectionId, last.id, BATCH)
        if (rows.length > 0) yield rows.map(show)
        last = rows.length < BATCH ? undefined : rows.at(-1)
      }
    }
    return { first: first.map(show), more: first.length < BATCH ? null : batchesAfter(first.at(-1)) }
  },
)
