// SQL of categories, items and their foreign ids: reads them as records, and writes many at a time.
import { sql } from 'kysely'
import { existing, missing } from '#core/fields.ts'
import type { Market } from '#core/markets.ts'
import type { Note } from '#db/changes/change.ts'
import { liveItem } from '#db/live-item.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { detailsToRow } from './details.ts'
import type { ItemRecord } from './catalogue-records.ts'
import { freeSlugs, takenSlugs, preferredItemSlug } from './slugs.ts'
import { insertForeignIds, replaceForeignIds } from './foreign-ids.ts'

export interface SavedItems {
  /** in the order of the writes */
  ids: number[]
  /** positions of the writes that created an item */
  created: number[]
  /** positions of the writes that changed an item */
  updated: number[]
}

/** An item record with its references resolved. */
export interface ItemWrite {
  /** null creates a new item; an id that does not exist, or no longer exists, creates an item with that id */
  id: number | null
  record: ItemRecord
  categoryId: number
  categoryName: string
  groupIds: number[]
  /** the source record that a new item is copied from: `record` then has only the facts for refs and slugs */
  copies?: number
}

/** Locks the item that an id refers to until the transaction ends, and returns its current id. @throws NOT_FOUND */
export async function lockItem(tx: Tx, id: number): Promise<number> {
  const lock = () =>
    tx
      .selectFrom('items')
      .select('id')
      .where('id', '=', liveItem(existing('item', id)))
      .forUpdate()
      .executeTakeFirst()
  // If the item was merged while this waited for the lock, a second attempt finds the survivor.
  const row = (await lock()) ?? (await lock())
  if (!row) throw missing('item', id)
  return row.id
}

interface StoredItem {
  id: number
  market: Market
  ref: string
  slug: string
}

/**
 * Creates or updates items; ids and refs must be distinct. With `keepSlugs`, a stated slug that another item uses is ignored: the item
 * keeps its own, or gets a similar one.
 */
export async function saveItems(tx: Tx, note: Note, writes: readonly ItemWrite[], { keepSlugs = false } = {}): Promise<SavedItems> {
  if (writes.length === 0) return { ids: [], created: [], updated: [] }
  const existing = await storedItems(
    tx,
    writes.flatMap(({ id }) => id ?? []),
  )
  const requests = writes
    .filter(({ id }) => id === null || !existing.has(id))
    .map(({ record, categoryName }) => ({
      preferred: record.slug ?? preferredItemSlug(record, categoryName),
      ref: record.ref,
    }))
  const slugs = (await freeSlugs(tx, 'items', requests)).values()
  const taken = keepSlugs
    ? await takenSlugs(
        tx,
        'items',
        writes.flatMap(({ id, record }) => restatedSlug(existing.get(id ?? 0), record) ?? []),
      )
    : null
  const inserts: Insert[] = []
  const copied: { slug: string; n: number }[] = []
  const updates: { id: number; row: ItemRow; n: number; moved: boolean }[] = []
  for (const [n, write] of writes.entries()) {
    const stored = write.id === null ? undefined : existing.get(write.id)
    if (!stored) {
      const slug = slugs.next().value!
      if (write.copies === undefined) inserts.push({ row: itemRow(write, slug), n })
      else copied.push({ slug, n })
      continue
    }
    const newSlug = restatedSlug(stored, write.record)
    const row = itemRow(write, newSlug === undefined || taken?.has(newSlug) ? stored.slug : newSlug)
    updates.push({ id: write.id!, row, n, moved: row.ref !== stored.ref || row.market !== stored.market })
  }
  const restated = await replaceForeignIds(
    tx,
    updates.map(({ id, n }) => ({ id, foreignIds: writes[n]!.record.foreignIds })),
  )
  const differing = await updateItems(tx, updates, restated, note.at)
  const ids = writes.map(({ id }) => id ?? 0)
  const created = [...inserts, ...copied].map(({ n }) => n).sort((a, b) => a - b)
  const fresh = created.filter((n) => writes[n]!.id === null)
  for (const [i, id] of (await newIds(tx, fresh.length)).entries()) ids[fresh[i]!] = id
  await insertItems(
    tx,
    inserts.map(({ row, n }) => ({ id: ids[n]!, row })),
    note.at,
  )
  await insertForeignIds(
    tx,
    inserts.map(({ n }) => ({ id: ids[n]!, foreignIds: writes[n]!.record.foreignIds })),
  )
  await copyItems(
    tx,
    copied.map(({ slug, n }) => ({ ...writes[n]!, id: ids[n]!, slug })),
    note.at,
  )
  const updated = updates.flatMap(({ id, n }) => (differing.has(id) ? n : []))
  if (created.length + updated.length > 0)
    note.changed(
      'items',
      [...created, ...updated].map((n) => ids[n]!),
    )
  return { ids, created, updated }
}

/** The slug that a record states, if the item currently has a different one. */
function restatedSlug(stored: StoredItem | undefined, { slug }: ItemRecord): string | undefined {
  return stored && slug !== stored.slug ? slug : undefined
}

interface Insert {
  row: ItemRow
  /** position of its write */
  n: number
}

interface ItemRow {
  market: Market
  ref: string
  name: string
  code: string | null
  slug: string
  genre: string
  game: string
  category_id: number
  images: object[]
  attributes: object[]
  group_ids: number[]
  details: object
}

function itemRow({ record, categoryId, groupIds }: ItemWrite, slug: string): ItemRow {
  const { market, ref, name, code, genre, game, images, attributes, details } = record
  return {
    market,
    ref,
    name,
    code,
    slug,
    genre,
    game,
    category_id: categoryId,
    images: images.map(({ url, order }) => ({ url, order })),
    attributes: attributes.map(({ name: label, value }) => ({ name: label, value })),
    group_ids: groupIds.toSorted((a, b) => a - b),
    details: detailsToRow(details),
  }
}

async function storedItems(tx: Tx, ids: number[]): Promise<Map<number, StoredItem>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<StoredItem>`select id, market, ref, slug from items where id = any(${ids}::int4[])`.execute(tx)
  return new Map(rows.map((row) => [row.id, row]))
}

const ITEM_COLUMNS = sql.raw(
  'market text, ref text, name text, code text, slug text, genre text, game text, category_id int, images jsonb, attributes jsonb, group_ids int[], details jsonb',
)

/** Ids for new items, in order. */
async function newIds(tx: Tx, count: number): Promise<number[]> {
  if (count === 0) return []
  const { rows } = await sql<{ id: number }>`
    select nextval((select pg_get_serial_sequence('items', 'id')::regclass))::int4 as id from generate_series(1, ${count}::int4)`.execute(tx)
  return rows.map(({ id }) => id)
}

async function insertItems(tx: Tx, inserts: readonly { id: number; row: ItemRow }[], at: Date): Promise<void> {
  if (inserts.length === 0) return
  // A restored item has its old id again; ids are never reused for another item.
  await sql`
    insert into items (id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details, created_at, updated_at)
    overriding system value
    select id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details, ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(inserts.map(({ id, row }) => ({ id, ...row })))}::jsonb) as (id int, ${ITEM_COLUMNS})`.execute(tx)
}

/** Creates items in SQL directly from the facts of their only record. */
async function copyItems(tx: Tx, copies: readonly (ItemWrite & { id: number; slug: string })[], at: Date): Promise<void> {
  if (copies.length === 0) return
  const groups = copies.map(({ groupIds }) => `{${groupIds.toSorted((a, b) => a - b).join(',')}}`)
  await sql`
    with copied as materialized (
      select c.*, r.facts
      from unnest(${copies.map(({ id }) => id)}::int4[], ${copies.map((copy) => copy.copies)}::int4[], ${copies.map(({ record }) => record.ref)}::text[],
        ${copies.map(({ slug }) => slug)}::text[], ${copies.map(({ categoryId }) => categoryId)}::int4[], ${groups}::text[])
        as c(id, record_id, ref, slug, category_id, group_ids)
      join source_records r on r.id = c.record_id
    ), created as (
      insert into items (id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details, created_at, updated_at)
      overriding system value
      select id, facts->>'market', ref, facts->>'name', facts->>'code', slug, coalesce(facts->>'genre', 'single'), facts->>'game', category_id,
        coalesce(facts->'images', '[]'), coalesce(facts->'attributes', '[]'), group_ids::int4[], coalesce(facts->'details', '{}'),
        ${at}::timestamptz, ${at}::timestamptz
      from copied
    )
    insert into item_foreign_ids (source, foreign_id, item_id, finish)
    select distinct f->>'source', f->>'id', id, coalesce(f->>'finish', '') from copied, jsonb_array_elements(facts->'foreign_ids') f`.execute(tx)
}

/**
 * Updates the items that differ.
 * @param restated ids of items whose foreign ids changed
 * @returns ids of the items that changed
 */
async function updateItems(
  tx: Tx,
  updates: readonly { id: number; row: ItemRow; moved: boolean }[],
  restated: readonly number[],
  at: Date,
): Promise<Set<number>> {
  if (updates.length === 0) return new Set()
  // Refs are released first, because two items may swap theirs.
  await releaseRefs(
    tx,
    updates.filter((update) => update.moved).map(({ id }) => id),
  )
  const { rows } = await sql<{ id: number }>`
    update items i set market = r.market, ref = r.ref, name = r.name, code = r.code, slug = r.slug, genre = r.genre, game = r.game,
      category_id = r.category_id, images = r.images, attributes = r.attributes, group_ids = r.group_ids, details = r.details,
      updated_at = ${at}
    from jsonb_to_recordset(${JSON.stringify(updates.map(({ id, row }) => ({ id, ...row })))}::jsonb) as r(id int, ${ITEM_COLUMNS})
    where i.id = r.id and (r.id = any(${restated}::int4[])
      or (i.market, i.ref, i.name, i.code, i.slug, i.genre, i.game, i.category_id, i.images, i.attributes, i.group_ids, i.details)
        is distinct from (r.market, r.ref, r.name, r.code, r.slug, r.genre, r.game, r.category_id, r.images, r.attributes, r.group_ids, r.details))
    returning i.id`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/** Clears the refs of items that get new ones in the same transaction, so that they can be assigned to each other. */
export async function releaseRefs(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await sql`update items set ref = '~' || id where id = any(${ids}::int4[])`.execute(tx)
}

/** Those of the items that are in use: with prices, listings, sales or collection records. */
export async function itemsInUse(on: Queryable, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select id from unnest(${ids}::int4[]) as i(id)
    where exists (select from prices where item_id = id) or exists (select from price_points where item_id = id)
      or exists (select from held_prices where item_id = id and decision is null)
      or exists (select from listings where item_id = id) or exists (select from sales where item_id = id)
      or exists (select from collection_items where item_id = id)`.execute(on)
  return new Set(rows.map((row) => row.id))
}

/** Deletes items that are not in use (`itemsInUse`). */
export async function deleteItems(tx: Tx, note: Note, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await sql`delete from items where id = any(${ids}::int4[])`.execute(tx)
  note.changed('items', [...ids])
}
