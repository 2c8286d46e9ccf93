// SQL of categories, items and their foreign ids: reading them as records, and writing many at once.
import { sql } from 'kysely'
import { existing, missing } from '#core/fields.ts'
import type { Market } from '#core/markets.ts'
import type { Note } from '#db/change.ts'
import { liveItem } from '#db/live-item.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { detailsFromRow, detailsToRow } from './details.ts'
import type { CategoryRecord, ForeignId, ItemRecord } from './records.ts'
import { freeSlugs, slugWords, takenSlugs, wantedItemSlug } from './slugs.ts'

export interface Written {
  /** in the order of the writes */
  ids: number[]
  /** positions of the writes that made an item */
  created: number[]
  /** positions of the writes that changed one */
  updated: number[]
}

interface CategoryRow extends Required<Omit<CategoryRecord, 'codes' | 'foreignIds'>> {
  id: number
  parentId: number | null
  printedTotal: number | null
}

/** An item record with its references resolved. */
export interface ItemWrite {
  /** null: a new item; one that does not exist (any more): a new item with that id */
  id: number | null
  record: ItemRecord
  categoryId: number
  categoryName: string
  groupIds: number[]
}

/** Categories by ref in one market; refs that are not there are absent. */
export async function categoriesByRef(db: Queryable, market: Market, refs: string[]): Promise<Map<string, CategoryRow>> {
  const rows = await db
    .selectFrom('categories as c')
    .leftJoin('categories as p', 'p.id', 'c.parent_id')
    .select(['c.id', 'c.market', 'c.ref', 'c.name', 'c.slug', 'c.game', 'c.image', 'c.parent_id', 'c.printed_total', 'p.ref as parent'])
    .where('c.market', '=', market)
    .where('c.ref', '=', (eb) => eb.fn.any(eb.val(refs)))
    .execute()
  return new Map(
    rows.map(({ parent_id, printed_total, ...row }) => [row.ref, { ...row, parentId: parent_id, printedTotal: printed_total }]),
  )
}

/** A category as it was before a change, or is after it. */
export type CategoryState = Pick<CategoryRecord, 'name' | 'game' | 'image'> & { slug: string; parent_id: number | null; printed_total: number | null }

/** How a category was saved; `before` is null for a new one. */
export interface SavedCategory {
  id: number
  outcome: 'created' | 'updated' | 'unchanged'
  before: CategoryState | null
  after: CategoryState
}

/**
 * Creates or updates one category by market and ref; `parentId` undefined leaves a stored parent as it is.
 * @param statedOnly an image or parent that the record does not have leaves the stored one as it is
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
  const values = {
    name,
    game,
    image: record.image ?? (statedOnly ? (existing?.image ?? null) : null),
    parent_id: stays ? (existing?.parentId ?? null) : parentId,
    printed_total: record.printedTotal ?? existing?.printedTotal ?? null,
  }
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
    name: existing.name, game: existing.game, image: existing.image, parent_id: existing.parentId, printed_total: existing.printedTotal, slug: existing.slug,
  }
  const after: CategoryState = { ...values, slug: record.slug ?? existing.slug }
  const { id } = existing
  if (CATEGORY_FIELDS.every((field) => before[field] === after[field])) return { id, outcome: 'unchanged', before, after }
  await tx.updateTable('categories').set({ ...after, updated_at: sql<Date>`now()` }).where('id', '=', id).execute()
  note.changed('categories', [id])
  return { id, outcome: 'updated', before, after }
}

const CATEGORY_FIELDS = ['name', 'game', 'image', 'parent_id', 'printed_total', 'slug'] as const

/** Gives a category another ref; what is saved after it finds it there, and source records name it so. */
export async function renameCategory(tx: Tx, note: Note, id: number, ref: string): Promise<void> {
  await sql`
    with renamed as (
      update categories c set ref = ${ref}, updated_at = now() from categories old
      where c.id = ${id}::int4 and old.id = c.id
      returning c.market, old.ref
    ), records as (
      update source_records s set facts = jsonb_set(s.facts, '{category}', to_jsonb(${ref}::text)) from renamed r
      where s.facts->>'category' = r.ref and s.facts->>'market' = r.market
    )
    update source_statements s set facts = jsonb_set(s.facts, '{category}', to_jsonb(${ref}::text)) from renamed r
    where s.facts->>'category' = r.ref and s.facts->>'market' = r.market`.execute(tx)
  note.changed('categories', [id])
}

/** Keeps other changes of the item that an id means waiting until the transaction ends, and gives its id. @throws NOT_FOUND */
export async function lockItem(tx: Tx, id: number): Promise<number> {
  const lock = () => tx.selectFrom('items').select('id').where('id', '=', liveItem(existing('item', id))).forUpdate().executeTakeFirst()
  // Merged while this waited for the lock: the second look finds the survivor.
  const row = (await lock()) ?? (await lock())
  if (!row) throw missing('item', id)
  return row.id
}

interface StoredItem {
  market: Market
  ref: string
  slug: string
  /** everything a write compares, as one text */
  content: string
}

/**
 * Creates or updates items, no id and no ref twice. A stated slug that another item has is not taken where `keepSlugs` is
 * set: the item keeps its own, or gets one like it.
 */
export async function saveItems(tx: Tx, note: Note, writes: readonly ItemWrite[], { keepSlugs = false } = {}): Promise<Written> {
  if (writes.length === 0) return { ids: [], created: [], updated: [] }
  const existing = await storedItems(tx, writes.flatMap(({ id }) => id ?? []))
  const wishes = writes.filter(({ id }) => id === null || !existing.has(id)).map(({ record, categoryName }) => ({
    wanted: record.slug ?? wantedItemSlug(record, categoryName),
    ref: record.ref,
  }))
  const slugs = (await freeSlugs(tx, 'items', wishes)).values()
  const taken = keepSlugs ? await takenSlugs(tx, 'items', writes.flatMap(({ id, record }) => restatedSlug(existing.get(id ?? 0), record) ?? [])) : null
  const inserts: { id: number | null; row: ItemRow; n: number }[] = []
  const updates: { id: number; row: ItemRow; n: number; moved: boolean }[] = []
  for (const [n, write] of writes.entries()) {
    const stored = write.id === null ? undefined : existing.get(write.id)
    if (!stored) {
      inserts.push({ id: write.id, row: itemRow(write, slugs.next().value!), n })
      continue
    }
    const wanted = restatedSlug(stored, write.record)
    const row = itemRow(write, wanted === undefined || taken?.has(wanted) ? stored.slug : wanted)
    const moved = row.ref !== stored.ref || row.market !== stored.market
    if (moved || contentOf(row, write.record.foreignIds) !== stored.content) updates.push({ id: write.id!, row, n, moved })
  }
  await updateItems(tx, updates)
  const ids = writes.map(({ id }) => id ?? 0)
  for (const [i, id] of (await insertItems(tx, inserts)).entries()) ids[inserts[i]!.n] = id
  await replaceForeignIds(tx, [
    ...inserts.map(({ n }) => ({ id: ids[n]!, foreignIds: writes[n]!.record.foreignIds, fresh: true })),
    ...updates.map(({ id, n }) => ({ id, foreignIds: writes[n]!.record.foreignIds, fresh: false })),
  ])
  const created = inserts.map(({ n }) => n)
  const updated = updates.map(({ n }) => n)
  if (created.length + updated.length > 0) note.changed('items', [...created, ...updated].map((n) => ids[n]!))
  return { ids, created, updated }
}

/** The slug that a record states where the item has another one. */
function restatedSlug(stored: StoredItem | undefined, { slug }: ItemRecord): string | undefined {
  return stored && slug !== stored.slug ? slug : undefined
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

function contentOf(row: Omit<ItemRow, 'market' | 'ref'>, foreignIds: ForeignId[]): string {
  const { name, code, slug, genre, game, category_id, images, attributes, group_ids, details } = row
  const ids = foreignIds.map(({ source, id, finish = '' }) => `${source}\t${id}\t${finish}`).sort()
  return JSON.stringify([name, code, slug, genre, game, category_id, images, attributes, group_ids, details, [...new Set(ids)]])
}

async function storedItems(tx: Tx, ids: number[]): Promise<Map<number, StoredItem>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<ItemRow & { id: number; foreign_ids: ForeignId[] | null }>`
    select i.id, i.market, i.ref, i.name, i.code, i.slug, i.genre, i.game, i.category_id, i.images, i.attributes, i.group_ids, i.details,
      (select json_agg(json_build_object('source', f.source, 'id', f.foreign_id, 'finish', f.finish))
       from item_foreign_ids f where f.item_id = i.id) as foreign_ids
    from items i where i.id = any(${ids}::int4[])`.execute(tx)
  return new Map(
    rows.map((row) => {
      const ordered = {
        ...row,
        images: (row.images as { url: string; order: number }[]).map(({ url, order }) => ({ url, order })),
        attributes: (row.attributes as { name: string; value: string }[]).map(({ name, value }) => ({ name, value })),
        details: detailsToRow(detailsFromRow(row.details as Record<string, unknown>)),
      }
      return [row.id, { market: row.market, ref: row.ref, slug: row.slug, content: contentOf(ordered, row.foreign_ids ?? []) }]
    }),
  )
}

const ITEM_COLUMNS = sql.raw(
  'market text, ref text, name text, code text, slug text, genre text, game text, category_id int, images jsonb, attributes jsonb, group_ids int[], details jsonb',
)

async function insertItems(tx: Tx, inserts: readonly { id: number | null; row: ItemRow }[]): Promise<number[]> {
  if (inserts.length === 0) return []
  // An item that comes back has its old id again: ids are never given twice.
  const { rows } = await sql<{ id: number }>`
    insert into items (id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details)
    overriding system value
    select coalesce(id, nextval(pg_get_serial_sequence('items', 'id'))), market, ref, name, code, slug, genre, game, category_id,
      images, attributes, group_ids, details
    from rows from (jsonb_to_recordset(${JSON.stringify(inserts.map(({ id, row }) => ({ id, ...row })))}::jsonb) as (id int, ${ITEM_COLUMNS}))
      with ordinality as r(id, market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details, n)
    order by n
    returning id`.execute(tx)
  return rows.map(({ id }) => id)
}

async function updateItems(tx: Tx, updates: readonly { id: number; row: ItemRow; moved: boolean }[]): Promise<void> {
  if (updates.length === 0) return
  // Two items may change their refs with each other.
  const moved = updates.filter((update) => update.moved).map(({ id }) => id)
  if (moved.length > 0) await sql`update items set ref = '~' || id where id = any(${moved}::int4[])`.execute(tx)
  await sql`
    update items i set market = r.market, ref = r.ref, name = r.name, code = r.code, slug = r.slug, genre = r.genre, game = r.game,
      category_id = r.category_id, images = r.images, attributes = r.attributes, group_ids = r.group_ids, details = r.details,
      updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(updates.map(({ id, row }) => ({ id, ...row })))}::jsonb) as r(id int, ${ITEM_COLUMNS})
    where i.id = r.id`.execute(tx)
}

/** Those of the items on which something hangs that people have or paid for: prices, listings, sales, collection records. */
export async function itemsInUse(on: Queryable, ids: readonly number[]): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    select id from unnest(${ids}::int4[]) as i(id)
    where exists (select from prices where item_id = id) or exists (select from price_points where item_id = id)
      or exists (select from held_prices where item_id = id and decision is null)
      or exists (select from listings where item_id = id) or exists (select from sales where item_id = id)
      or exists (select from collection_items where item_id = id)`.execute(on)
  return new Set(rows.map((row) => row.id))
}

/** Removes items on which nothing hangs (`itemsInUse`). */
export async function deleteItems(tx: Tx, note: Note, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await sql`delete from items where id = any(${ids}::int4[])`.execute(tx)
  note.changed('items', [...ids])
}

async function replaceForeignIds(tx: Tx, items: { id: number; foreignIds: ForeignId[]; fresh: boolean }[]): Promise<void> {
  const old = items.filter((item) => !item.fresh).map((item) => item.id)
  if (old.length > 0) await tx.deleteFrom('item_foreign_ids').where('item_id', 'in', old).execute()
  const rows = items.flatMap(({ id, foreignIds }) => foreignIds.map((foreign) => ({ ...foreign, item_id: id })))
  if (rows.length === 0) return
  await sql`
    insert into item_foreign_ids (source, foreign_id, item_id, finish)
    select * from unnest(${rows.map((r) => r.source)}::text[], ${rows.map((r) => r.id)}::text[],
                         ${rows.map((r) => r.item_id)}::int4[], ${rows.map((r) => r.finish ?? '')}::text[])
    on conflict do nothing`.execute(tx)
}
