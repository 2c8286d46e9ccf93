// Writes a collection as mintmark-csv, oldest record first; importing the file restores it without loss.
import { sql } from 'kysely'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Db } from '#db/schema.ts'
import { csvLine } from '#core/files/csv.ts'
import { MINTMARK_CSV_COLUMNS } from './import/mintmark-csv.ts'
import { requireCollection } from './records/store.ts'

type Column = (typeof MINTMARK_CSV_COLUMNS)[number]

const BATCH = 2_000

export const exportCollection = verb(
  { name: 'exportCollection', needs: 'operator', input: Type.Object({ id: id('collection') }) },
  async (ctx: ReadCtx, { id: collectionId }): Promise<AsyncIterable<string>> => {
    await requireCollection(ctx.db.kysely, ctx.viewer, collectionId)
    return lines(ctx.db, collectionId)
  },
)

async function* lines(db: Db, collectionId: number): AsyncIterable<string> {
  yield csvLine(MINTMARK_CSV_COLUMNS)
  for (let last = 0; ; ) {
    const { rows } = await sql<Record<Column, string | number | null> & { id: number }>`
      select r.id, i.market, i.ref as item_ref, i.name as item_name, i.code, c.name as set, g.name as label, r.quantity,
             r.purchase_price, r.sale_price, r.purchase_date, r.card_uniq_id, r.note
      from collection_items r
      join items i on i.id = r.item_id join categories c on c.id = i.category_id left join groups g on g.id = r.grade_id
      where r.collection_id = ${collectionId} and r.id > ${last} order by r.id limit ${BATCH}`.execute(db.kysely)
    if (rows.length > 0) yield rows.map((row) => csvLine(MINTMARK_CSV_COLUMNS.map((column) => row[column]))).join('')
    if (rows.length < BATCH) return
    last = rows.at(-1)!.id
  }
}
