// SQL of categories, items and their foreign ids: reads them as records, and writes many at a time.
import { type RawBuilder, sql } from 'kysely'
import { existing, missing } from '#core/fields.ts'
import type { Market } from '#core/markets.ts'
import type { Note } from '#db/changes/change.ts'
import { liveItem } from '#db/live-item.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { detailsToRow } from './details.ts'
import { foreignIdKey } from './facts.ts'
import type { CategoryRecord, ForeignId, ItemRecord } from './catalogue-records.ts'
import { freeSlugs, slugWords, takenSlugs, preferredItemSlug } from './slugs.ts'

export interface SavedItems {
  /** in the order of the writes */
  ids: number[]
  /** positions of the writes that created an item */
  created: number[]
  /** positions of the writes that changed an item */
  updated: number[]
}

interface CategoryRow extends Required<Omit<CategoryRecord, 'codes' | 'foreignIds' | 'fillsOnly'>> {
  id: number
  parentId: number | null
  printedTotal: number | null
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

/** Categories by ref in one market; refs that do not exist are absent. */
export async function categoriesByRef(db: Queryable, market: Market, refs: string[]): Promise<Map<string, CategoryRow>> {
  const rows = await db
    .selectFrom('categories as c')
    .leftJoin('categories as p', 'p.id', 'c.parent_id')
    .select(['c.id', 'c.market', 'c.ref', 'c.name', 'c.slug', 'c.game', 'c.image', 'c.parent_id', 'c.printed_total', 'p.ref as parent'])
    .where('c.market', '=', market)
    .where('c.ref', '=', (eb) => eb.fn.any(eb.val(refs)))
    .execute()
  return new Map(rows.map(({ parent_id, printed_total, ...row }) => [row.ref, { ...row, parentId: parent_id, printedTotal: printed_total }]))
}

/** A category before or after a change. */
export type CategoryState = Pick<CategoryRecord, 'name' | 'game' | 'image'> & { slug: string; parent_id: number | null; printed_total: number | null }

/** How a category was saved; `before` is null for a new one. */
export interface SavedCategory {
  id: number
  outcome: 'created' | 'updated' | 'unchanged'
  before: CategoryState | null
  after: CategoryState
}

/**
 * Creates or updates one category by market and ref; if `parentId` is undefined, a stored parent is kept.
 * @param statedOnly if the record has no image or parent, the stored one is kept
 */
export async function saveCategory(
  tx: Tx,
  note: Note,
  record: CategoryRecord,
  parentId: number | null | undefined,
  { statedOnly = false } = {},
): Promise<SavedCategory> {
  const { market, ref, name, game } = record
  const existing = (await categoriesByRef(tx, market, [ref])).get(ref)
  const stays = parentId === undefined || (statedOnly && parentId === null)
  const stated = {
    name,
    game,
    image: record.image ?? (statedOnly ? (existing?.image ?? null) : null),
    parent_id: stays ? (existing?.parentId ?? null) : parentId,
    printed_total: record.printedTotal ?? existing?.printedTotal ?? null,
  }
  const values =
    record.fillsOnly && existing
      ? {
          ...stated,
          name: existing.name,
          game: existing.game,
          image: existing.image ?? stated.image,
          printed_total: existing.printedTotal ?? stated.printed_total,
        }
      : stated
  if (!existing) {
    const wanted = record.slug ?? ([slugWords(game), slugWords(name)].filter(Boolean).join('-') || slugWords(ref))
    const [slug] = await freeSlugs(tx, 'categories', [{ wanted, ref }])
    const row = await tx
      .insertInto('categories')
      .values({ market, ref, slug: slug!, ...values })
      .returning('id')
      .executeTakeFirstOrThrow()
    note.changed('categories', [row.id])
    return { id: row.id, outcome: 'created', before: null, after: { ...values, slug: slug! } }
  }
  const before: CategoryState = {
    name: existing.name,
    game: existing.game,
    image: existing.image,
    parent_id: existing.parentId,
    printed_total: existing.printedTotal,
    slug: existing.slug,
  }
  const after: CategoryState = { ...values, slug: record.slug ?? existing.slug }
  const { id } = existing
  if (CATEGORY_FIELDS.every((field) => before[field] === after[field])) return { id, outcome: 'unchanged', before, after }
  await tx
    .updateTable('categories')
    .set({ ...after, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute()
  note.changed('categories', [id])
  return { id, outcome: 'updated', before, after }
}

const CATEGORY_FIELDS = ['name', 'game', 'image', 'parent_id', 'printed_total', 'slug'] as const

/** Changes a category's ref, also in source records. */
export async function renameCategory(tx: Tx, note: Note, id: number, ref: string): Promise<void> {
  await sql`
    with renamed as (
      update categories c set ref = ${ref}, updated_at = now() from categories old
      where c.id = ${id}::int4 and old.id = c.id
      returning c.market, old.ref
    ), records as (
      -- Operators' records of earlier releases may have a category without its market, which is then that of the item.
      update source_records s set facts = jsonb_set(s.facts, '{category}', to_jsonb(${ref}::text)) from renamed r
      where s.facts->>'category' = r.ref and r.market = coalesce(s.facts->>'market',
        (select i.market from item_sources l join items i on i.id = l.item_id where l.record_id = s.id limit 1))
    )
    update source_statements s set facts = jsonb_set(s.facts, '{category}', to_jsonb(${ref}::text)) from renamed r
    where s.facts->>'category' = r.ref and s.facts->>'market' = r.market`.execute(tx)
  note.changed('categories', [id])
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
      wanted: record.slug ?? preferredItemSlug(record, categoryName),
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
  const copied: Insert[] = []
  const updates: { id: number; row: ItemRow; n: number; moved: boolean }[] = []
  for (const [n, write] of writes.entries()) {
    const stored = write.id === null ? undefined : existing.get(write.id)
    if (!stored) {
      const into = write.copies === undefined ? inserts : copied
      into.push({ row: itemRow(write, slugs.next().value!), n })
      continue
    }
    const wanted = restatedSlug(stored, write.record)
    const row = itemRow(write, wanted === undefined || taken?.has(wanted) ? stored.slug : wanted)
    updates.push({ id: write.id!, row, n, moved: row.ref !== stored.ref || row.market !== stored.market })
  }
  const restated = await replaceForeignIds(
    tx,
    updates.map(({ id, n }) => ({ id, foreignIds: writes[n]!.record.foreignIds })),
  )
  const differing = await updateItems(tx, updates, restated)
  const ids = writes.map(({ id }) => id ?? 0)
  const created = [...inserts, ...copied].map(({ n }) => n).sort((a, b) => a - b)
  const fresh = created.filter((n) => writes[n]!.id === null)
  for (const [i, id] of (await newIds(tx, fresh.length)).entries()) ids[fresh[i]!] = id
  await insertItems(
    tx,
    inserts.map(({ row, n }) => ({ id: ids[n]!, row })),
  )
  await insertForeignIds(
    tx,
    inserts.map(({ n }) => ({ id: ids[n]!, foreignIds: writes[n]!.record.foreignIds })),
  )
  await copyItems(
    tx,
    copied.map(({ row, n }) => ({ id: ids[n]!, row, recordId: writes[n]!.copies! })),
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
    group_ids: [...groupIds].sort((a, b) => a - b),
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

async function insertItems(tx: Tx, inserts: readonly { id: number; row: ItemRow }[]): Promise<void> {
  if (inserts.length === 0) return
  // A restored item has its old id again; ids are never reused for another item.
  await sql`
    insert into items (id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details)
    overriding system value
    select id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details
    from jsonb_to_recordset(${JSON.stringify(inserts.map(({ id, row }) => ({ id, ...row })))}::jsonb) as (id int, ${ITEM_COLUMNS})`.execute(tx)
}

/** Creates items in SQL directly from the facts of their only record. */
async function copyItems(tx: Tx, copies: readonly { id: number; row: ItemRow; recordId: number }[]): Promise<void> {
  if (copies.length === 0) return
  const [ids, records] = [copies.map(({ id }) => id), copies.map(({ recordId }) => recordId)]
  await sql`
    insert into items (id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details)
    overriding system value
    select c.id, facts->>'market', c.ref, facts->>'name', facts->>'code', c.slug, coalesce(facts->>'genre', 'single'), facts->>'game', c.category_id,
      coalesce(facts->'images', '[]'), coalesce(facts->'attributes', '[]'), c.group_ids::int4[], coalesce(facts->'details', '{}')
    from unnest(${ids}::int4[], ${records}::int4[], ${copies.map(({ row }) => row.ref)}::text[], ${copies.map(({ row }) => row.slug)}::text[],
      ${copies.map(({ row }) => row.category_id)}::int4[], ${copies.map(({ row }) => `{${row.group_ids.join(',')}}`)}::text[])
      as c(id, record_id, ref, slug, category_id, group_ids)
    join source_records r on r.id = c.record_id`.execute(tx)
  await sql`
    insert into item_foreign_ids (source, foreign_id, item_id, finish)
    select distinct f->>'source', f->>'id', c.id, coalesce(f->>'finish', '')
    from unnest(${ids}::int4[], ${records}::int4[]) as c(id, record_id)
    join source_records r on r.id = c.record_id, jsonb_array_elements(r.facts->'foreign_ids') f`.execute(tx)
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
      updated_at = now()
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

interface WithForeignIds {
  id: number
  foreignIds: readonly ForeignId[]
}

interface StoredForeignId {
  item_id: number
  source: string
  foreign_id: string
  finish: string
}

/** @returns ids of the items whose foreign ids changed */
async function replaceForeignIds(tx: Tx, items: readonly WithForeignIds[]): Promise<number[]> {
  if (items.length === 0) return []
  const { rows: stored } = await sql<StoredForeignId>`
    select item_id, source, foreign_id, finish from item_foreign_ids where item_id = any(${`{${items.map(({ id }) => id).join(',')}}`}::int4[])`.execute(
    tx,
  )
  const storedOf = Map.groupBy(stored, (row) => row.item_id)
  const gone: WithForeignIds[] = []
  const added: WithForeignIds[] = []
  for (const { id, foreignIds } of items) {
    const left = new Map(
      (storedOf.get(id) ?? []).map(({ source, foreign_id, finish }) => [`${source}\t${foreign_id}\t${finish}`, { source, id: foreign_id, finish }]),
    )
    const wanted = new Map(foreignIds.map((foreign) => [foreignIdKey(foreign), foreign]))
    const missing = [...wanted].flatMap(([key, foreign]) => (left.delete(key) ? [] : [foreign]))
    if (missing.length > 0) added.push({ id, foreignIds: missing })
    if (left.size > 0) gone.push({ id, foreignIds: [...left.values()] })
  }
  if (gone.length > 0) {
    await sql`
      delete from item_foreign_ids i using ${foreignIdRows(gone)}
      where (i.source, i.foreign_id, i.item_id, i.finish) = (f.source, f.foreign_id, f.item_id, f.finish)`.execute(tx)
  }
  await insertForeignIds(tx, added)
  return [...new Set([...gone, ...added].map(({ id }) => id))]
}

async function insertForeignIds(tx: Tx, items: readonly WithForeignIds[]): Promise<void> {
  if (items.length === 0) return
  await sql`
    insert into item_foreign_ids (source, foreign_id, item_id, finish)
    select distinct source, foreign_id, item_id, finish from ${foreignIdRows(items)}`.execute(tx)
}

function foreignIdRows(items: readonly WithForeignIds[]): RawBuilder<unknown> {
  const rows = items.flatMap(({ id, foreignIds }) => foreignIds.map((foreign) => ({ ...foreign, item_id: id })))
  return sql`unnest(${rows.map((r) => r.source)}::text[], ${rows.map((r) => r.id)}::text[], ${rows.map((r) => r.item_id)}::int4[],
    ${rows.map((r) => r.finish ?? '')}::text[]) as f(source, foreign_id, item_id, finish)`
}
