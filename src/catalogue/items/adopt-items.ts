// Creates source records for items imported before source records existed.
import { sql } from 'kysely'
import type { Market } from '#core/markets.ts'
import type { Tx } from '#db/schema.ts'
import { detailsFromRow, detailsToRow } from '../records/details.ts'
import { type Facts, withoutEmptyValues } from '../records/facts.ts'
import { exportedKey, originOf, worldOf } from '../records/record-origin.ts'
import type { ForeignId, Genre, ItemImage, SourceKey } from '../records/catalogue-records.ts'
import { BEFORE_RECORDS } from './source-records.ts'

interface BareItem {
  id: number
  market: Market
  ref: string
  name: string
  code: string | null
  genre: Genre
  game: string
  category: string
  images: ItemImage[]
  attributes: { name: string; value: string }[]
  groups: string[]
  details: Record<string, unknown>
  foreign_ids: ForeignId[] | null
}

const PART = 2_000

/**
 * Creates records for items that have none: all items, those with the given ids, or at most a given number.
 * @returns the number of adopted items
 */
export async function adoptItems(
  tx: Tx,
  at: Date,
  { ids = null, most = Number.POSITIVE_INFINITY }: { ids?: readonly number[] | null; most?: number } = {},
): Promise<number> {
  let adopted = 0
  let last = 0
  while (adopted < most) {
    const items = await bareItems(tx, ids, last)
    if (items.length === 0) break
    await adopt(tx, items, at)
    adopted += items.length
    last = items.at(-1)!.id
  }
  return adopted
}

async function bareItems(tx: Tx, ids: readonly number[] | null, after: number): Promise<BareItem[]> {
  const { rows } = await sql<BareItem>`
    with bare as materialized (
      select i.id from items i
      where i.id > ${after}::int4 and (${ids}::int4[] is null or i.id = any(${ids}::int4[]))
        and not exists (select from item_sources s where s.item_id = i.id)
      order by i.id limit ${PART}
    )
    select i.id, i.market, i.ref, i.name, i.code, i.genre, i.game, c.ref as category, i.images, i.attributes, i.details,
      array(select g.slug from groups g where g.id = any(i.group_ids) order by g.id) as groups,
      (select json_agg(json_build_object('source', f.source, 'id', f.foreign_id, 'finish', f.finish))
       from item_foreign_ids f where f.item_id = i.id) as foreign_ids
    from bare join items i using (id) join categories c on c.id = i.category_id order by i.id`.execute(tx)
  return rows
}

async function adopt(tx: Tx, items: readonly BareItem[], at: Date): Promise<void> {
  const records = items.map((item) => {
    const facts = factsOfItem(item)
    const key = keyOf(item, facts)
    const world = worldOf({ ...key, id: key.foreign_id }, facts)
    return { item_id: item.id, ...key, game: item.game, world, facts }
  })
  // Two items may now map to the same record; the second one gets a separate record.
  const taken = await insertAdopted(tx, records, at)
  const second = records
    .filter(({ item_id: id }) => !taken.has(id))
    .map((record) => ({ ...record, finish: `${record.finish || 'item'}-${record.item_id}` }))
  if (second.length > 0) await insertAdopted(tx, second, at)
}

function factsOfItem({ id: _id, foreign_ids: foreignIds, details, ...item }: BareItem): Facts {
  const ids = (foreignIds ?? []).map(({ source, id, finish }) => ({ source, id, ...(finish && { finish }) }))
  return withoutEmptyValues({ ...item, details: detailsToRow(detailsFromRow(details)), foreign_ids: ids })
}

function keyOf(item: BareItem, facts: Facts): { source: string; foreign_id: string; finish: string } {
  const { source, id, finish }: SourceKey = item.ref.startsWith('manual:')
    ? { source: 'operator', id: String(item.id), finish: '' }
    : (originOf({ ref: item.ref, ...facts }) ?? exportedKey(item))
  return { source, foreign_id: id, finish }
}

async function insertAdopted(tx: Tx, records: readonly object[], at: Date): Promise<Set<number>> {
  const { rows } = await sql<{ item_id: number }>`
    with adopted as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(records)}::jsonb)
        as r(item_id int4, source text, foreign_id text, finish text, game text, world text, facts jsonb)
    ), created as (
      insert into source_records (source, foreign_id, finish, game, world, facts)
      select distinct on (source, foreign_id, finish) source, foreign_id, finish, game, world, facts from adopted
      order by source, foreign_id, finish, item_id
      on conflict do nothing
      returning id, source, foreign_id, finish, facts->>'ref' as ref, facts->>'market' as market
    ), stated as (
      insert into source_statements (import_id, record_id) select ${BEFORE_RECORDS}::int4, id from created
    ), linked as (
      insert into item_sources (record_id, item_id, method, confidence, decided_at)
      select m.id, w.item_id, 'own', 100, ${at}::timestamptz
      from created m join adopted w using (source, foreign_id, finish)
      where w.facts->>'ref' = m.ref and w.facts->>'market' = m.market
      returning item_id
    )
    select item_id from linked`.execute(tx)
  return new Set(rows.map((row) => row.item_id))
}
