// Adds many records in one statement; each is checked independently, so that an invalid one does not affect the others.
import { sql } from 'kysely'
import { invalid, type ServiceError } from '#core/errors.ts'
import { missing } from '#core/fields.ts'
import type { Note } from '#db/changes/change.ts'
import { liveItem } from '#db/live-item.ts'
import type { StoredCertificate, Tx } from '#db/schema.ts'
import { decimalOf, notOwner, recordOf, type RecordRow } from './store.ts'

export interface NewRecord {
  collectionId: number
  /** account that must own the collection; null for any owner */
  ownerId: number | null
  itemId: number
  /** null: Ungraded; otherwise the first of these types that fits the item */
  gradeId: number | null
  quantity: number
  purchaseMinor: number | null
  saleMinor: number | null
  purchaseDate: string | null
  cardUniqId: string | null
  note: string | null
  /** at most `quantity`; default: 0 */
  forTrade?: number
  certificate?: StoredCertificate | null
  /** its key in the imported file; null if it is not imported */
  importKey: string | null
}

/** An added record, or the reason why it was rejected. */
type Added = { row: RecordRow } | { refused: Refusal }
type Refusal = 'no collection' | 'not yours' | 'no item' | 'wrong grade'

interface JudgedRow {
  id: number | null
  refused: Refusal | null
  /** id of the current item: a merge may have replaced the given id */
  item_id: number
  item_name: string
  item_slug: string
  grade_id: number | null
  group_label: string | null
}

/** Adds records and updates the counts of their collections, in this order and in one statement. */
export async function insertRecords(tx: Tx, records: readonly NewRecord[], at: Date): Promise<Added[]> {
  // The planner expects `where allowed` to match half of the rows, and `where refused is null` one: it would choose nested loops.
  const { rows } = await sql<JudgedRow>`
    with given as (
      select * from rows from (json_to_recordset(${JSON.stringify(records.map(columnsOf))}::json) as (
        collection_id int4, owner_id int4, item_id int4, asked_id int4, quantity int4, purchase_price numeric,
        sale_price numeric, purchase_date date, card_uniq_id text, note text, certificate jsonb, import_key text, for_trade int4
      )) with ordinality as g(collection_id, owner_id, item_id, asked_id, quantity, purchase_price, sale_price,
                              purchase_date, card_uniq_id, note, certificate, import_key, for_trade, n)
    ), weighed as (
      select given.*, i.id as live_id, i.name as item_name, i.slug as item_slug, suitable.id as grade_id, suitable.name as group_label,
             case when c.id is null then 'no collection'
                  when given.owner_id <> c.account_id then 'not yours'
                  when i.id is null then 'no item'
                  when given.asked_id is not null and suitable.id is null then 'wrong grade' end as refused
      from given
      left join collections c on c.id = given.collection_id
      left join item_aliases a on a.old_id = given.item_id
      left join items i on i.id = case when a.old_id is null then given.item_id else live_item(a.item_id) end
      left join lateral (
        select t.id, t.name from groups t
        where t.parent_id = any(i.group_ids) and t.id = coalesce(given.asked_id, t.id)
        order by t.slug <> 'ungraded', t.id limit 1
      ) suitable on true
    ), judged as (
      select *, refused is null as allowed from weighed
    ), good as materialized (
      select nextval('collection_items_id_seq')::int4 as id, judged.* from judged where allowed order by n
    ), counted as (
      update collections c set items_count = c.items_count + more.count
      from (select collection_id, count(*)::int4 as count from good group by collection_id) more
      where c.id = more.collection_id
      returning c.id
    ), added as (
      insert into collection_items (id, collection_id, item_id, grade_id, quantity, purchase_price, sale_price,
                                    purchase_date, card_uniq_id, note, certificate, import_key, for_trade, created_at, updated_at)
      select good.id, collection_id, live_id, grade_id, quantity, purchase_price, sale_price,
             purchase_date, card_uniq_id, note, certificate, import_key, for_trade, ${at}::timestamptz, ${at}::timestamptz
      from good join counted on counted.id = good.collection_id
    )
    select case when counted.id is not null then good.id end as id,
           judged.refused, judged.live_id as item_id, judged.item_name, judged.item_slug, judged.grade_id, judged.group_label
    from judged left join good on good.n = judged.n left join counted on counted.id = good.collection_id
    order by judged.n`.execute(tx)
  return rows.map((row, i) => outcomeOf(row, records[i]!))
}

function columnsOf(record: NewRecord): object {
  const { collectionId, ownerId, itemId, gradeId, quantity, purchaseMinor, saleMinor, ...texts } = record
  return {
    collection_id: collectionId,
    owner_id: ownerId,
    item_id: itemId,
    asked_id: gradeId,
    quantity,
    purchase_price: decimalOf(purchaseMinor),
    sale_price: decimalOf(saleMinor),
    purchase_date: texts.purchaseDate,
    card_uniq_id: texts.cardUniqId,
    note: texts.note,
    certificate: texts.certificate,
    import_key: texts.importKey,
    for_trade: texts.forTrade ?? 0,
  }
}

function outcomeOf({ id, refused, ...names }: JudgedRow, record: NewRecord): Added {
  // Neither if the collection was deleted while the statement ran.
  if (id === null) return { refused: refused ?? 'no collection' }
  return {
    row: {
      id,
      ...names,
      quantity: record.quantity,
      purchase_price: decimalOf(record.purchaseMinor),
      sale_price: decimalOf(record.saleMinor),
      purchase_date: record.purchaseDate,
      card_uniq_id: record.cardUniqId,
      note: record.note,
      for_trade: record.forTrade ?? 0,
      certificate: record.certificate ?? null,
      revision: 1,
    },
  }
}

/** A record to add, with ids as the caller sent them. */
export interface Addition {
  record: NewRecord
  asked: { itemId: number; gradeId: number | null }
}

/** Adds records and audits each. @returns the added records in order, or why one is rejected */
export async function addRecords(tx: Tx, writes: { input: Addition; note: Note }[]): Promise<(RecordRow | ServiceError)[]> {
  const added = await insertRecords(
    tx,
    writes.map(({ input }) => input.record),
    writes[0]!.note.at,
  )
  const outcomes: (RecordRow | ServiceError)[] = []
  for (const [i, { input, note }] of writes.entries()) {
    const one = added[i]!
    if ('row' in one) note.audit({ action: 'collection_item.add', subject: 'collection_item', id: one.row.id, after: recordOf(one.row) })
    outcomes.push('row' in one ? one.row : await refusalOf(tx, input, one.refused))
  }
  return outcomes
}

/** The error of a rejection, with the allowed values. */
async function refusalOf(tx: Tx, { record: { collectionId, itemId, gradeId }, asked }: Addition, refused: Refusal): Promise<ServiceError> {
  if (refused === 'no collection') return missing('collection', collectionId)
  if (refused === 'not yours') return notOwner(collectionId)
  if (refused === 'no item') return missing('item', asked.itemId)
  const field = 'item_group_type_id'
  const grade = await tx.selectFrom('groups').select(['name', 'parent_id']).where('id', '=', gradeId).executeTakeFirst()
  if (!grade) return missing('grade', asked.gradeId!)
  if (grade.parent_id === null) return invalid(field, 'not_a_grade', { id: gradeId!, name: grade.name })
  const { rows } = await sql<{ id: number; name: string }>`
    select t.id, t.name from groups t join items i on t.parent_id = any(i.group_ids) where i.id = ${liveItem(itemId)} order by t.id`.execute(tx)
  const values = rows.map(({ id, name }) => `${id} (${name})`)
  return invalid(field, 'grade_of_item', { name: `${gradeId} (${grade.name})`, values })
}
