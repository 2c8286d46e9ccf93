// Records that their owner puts up for sale.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import type { Viewer } from '#core/verb.ts'
import type { StoredCertificate, Tx } from '#db/schema.ts'
import { requireCollection } from './store.ts'

export interface RecordToList {
  id: number
  item_id: number
  /** null for a card without a grade of its own */
  grade_id: number | null
  quantity: number
  certificate: StoredCertificate | null
}

/** The records of the caller's collection by id, locked until the transaction ends. @throws NOT_FOUND, CONFLICT for another account's collection */
export async function lockRecordsToList(tx: Tx, viewer: Viewer, collectionId: number, ids: readonly number[]): Promise<Map<number, RecordToList>> {
  await requireCollection(tx, viewer, collectionId)
  const { rows } = await sql<RecordToList>`
    select r.id, r.item_id, (select g.id from groups g where g.id = r.grade_id and g.slug <> 'ungraded') as grade_id, r.quantity, r.certificate
    from collection_items r
    where r.collection_id = ${idForSql(collectionId)} and r.id = any(${ids.map(idForSql)}::int4[]) order by r.id for update`.execute(tx)
  return new Map(rows.map((row) => [row.id, row]))
}
