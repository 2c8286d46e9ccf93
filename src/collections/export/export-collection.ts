// Writes a collection as a file, oldest record first: mintmark-csv, which restores it without loss, the format of another app, or its lots.
import { sql } from 'kysely'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Db } from '#db/schema.ts'
import type { ExportedRecord, WrittenFormat } from '../import/app-format.ts'
import { EXPORT_FORMATS, LOTS_FORMAT, WRITTEN_FORMATS } from '../import/formats.ts'
import { lotLines } from './export-lots.ts'
import { firstLots } from '../lots/figures-ctx.ts'
import { requireCollection } from '../records/store.ts'
import type { PricingCtx } from '../records/types.ts'

export type ExportCtx = ReadCtx & Pick<PricingCtx, 'currencies' | 'market'>

const BATCH = 2_000

export const exportCollection = verb(
  {
    name: 'exportCollection',
    needs: OPERATION_PLAN.exportCollection,
    input: Type.Object({
      id: id('collection'),
      format: Type.Optional(Type.Enum(EXPORT_FORMATS, { default: 'mintmark-csv', description: 'Format of the file' })),
    }),
  },
  async (ctx: ExportCtx, { id: collectionId, format: name = 'mintmark-csv' }): Promise<AsyncIterable<string>> => {
    await requireCollection(ctx.db.kysely, ctx.viewer, collectionId)
    if (name === LOTS_FORMAT) return lotLines(ctx.db.kysely, firstLots(ctx), collectionId)
    return lines(ctx.db, collectionId, WRITTEN_FORMATS.find((format) => format.name === name)!)
  },
)

/** A record whose copies are all sold has none to write. */
async function* lines(db: Db, collectionId: number, format: WrittenFormat): AsyncIterable<string> {
  yield format.head
  for (let last = 0; ; ) {
    const { rows } = await sql<ExportedRecord & { id: number }>`
      select r.id, i.market, i.ref as item_ref, i.name as item_name, i.code, i.game, c.name as set, k.codes[1] as set_code, g.name as label,
             r.quantity, least(r.for_trade, r.quantity) as for_trade, r.purchase_price, r.sale_price, r.purchase_date, r.card_uniq_id, r.note, r.certificate,
             (select a ->> 'value' from jsonb_array_elements(i.attributes) a where a ->> 'name' = 'Finish' limit 1) as finish,
             (select min(f.foreign_id) from item_foreign_ids f where f.item_id = i.id and f.source = 'cardmarket') as cardmarket_id
      from collection_items r
      join items i on i.id = r.item_id join categories c on c.id = i.category_id
      left join category_codes k on k.category_id = c.id left join groups g on g.id = r.grade_id
      where r.collection_id = ${collectionId} and r.id > ${last} and r.quantity > 0 order by r.id limit ${BATCH}`.execute(db.kysely)
    if (rows.length > 0) yield rows.map(format.line).join('')
    if (rows.length < BATCH) return
    last = rows.at(-1)!.id
  }
}
