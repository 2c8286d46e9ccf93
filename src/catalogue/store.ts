// SQL of categories, items and their foreign ids: reading them as records, and writing many at once.
import { sql } from 'kysely'
import { existing, missing } from '#core/fields.ts'
import type { Market } from '#core/markets.ts'
import type { Note } from '#db/change.ts'
import { liveItem } from '#db/live-item.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { CategoryRecord, ForeignId, ItemDetails, ItemRecord } from './records.ts'
import { freeSlugs, slugWords, wantedItemSlug } from './slugs.ts'

export interface Written {
  created: number
  updated: number
  unchanged: number
  /** in the order of the records */
  ids: number[]
}

interface CategoryRow extends Required<CategoryRecord> {
  id: number
  parentId: number | null
  printedTotal: number | null
}

/** An item record with its references resolved. */
export interface ItemWrite {
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

/** Creates or updates one category by market and ref; `parentId` undefined leaves a stored parent as it is. */
export async function saveCategory(
  tx: Tx,
  note: Note,
  record: CategoryRecord,
  parentId: number | null | undefined,
): Promise<{ id: number; outcome: 'created' | 'updated' | 'unchanged' }> {
  const { market, ref, name, game, image } = record
  const existing = (await categoriesByRef(tx, market, [ref])).get(ref)
  const printedTotal = record.printedTotal ?? existing?.printedTotal ?? null
  const parent = parentId === undefined ? (existing?.parentId ?? null) : parentId
  const values = { name, game, image, parent_id: parent, printed_total: printedTotal }
  if (!existing) {
    const wanted = record.slug ?? ([slugWords(game), slugWords(name)].filter(Boolean).join('-') || slugWords(ref))
    const [slug] = await freeSlugs(tx, 'categories', [{ wanted, ref }])
    const row = await tx
      .insertInto('categories')
      .values({ market, ref, slug: slug!, ...values })
      .returning('id')
      .executeTakeFirstOrThrow()
    note.changed('categories', [row.id])
    return { id: row.id, outcome: 'created' }
  }
  const slug = record.slug ?? existing.slug
  const same =
    existing.name === name &&
    existing.game === game &&
    existing.image === image &&
    existing.parentId === parent &&
    existing.printedTotal === printedTotal &&
    existing.slug === slug
  if (same) return { id: existing.id, outcome: 'unchanged' }
  await tx.updateTable('categories').set({ ...values, slug, updated_at: sql<Date>`now()` }).where('id', '=', existing.id).execute()
  note.changed('categories', [existing.id])
  return { id: existing.id, outcome: 'updated' }
}

/** Gives an item or a category another ref (an item perhaps in another market); what is saved after it finds it there. */
export async function renameRef(
  tx: Tx,
  note: Note,
  table: 'items' | 'categories',
  id: number,
  ref: string,
  market?: Market,
): Promise<void> {
  const values = { ref, ...(market !== undefined && { market }), updated_at: sql<Date>`now()` }
  await tx.updateTable(table).set(values).where('id', '=', id).execute()
  note.changed(table, [id])
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
  id: number
  slug: string
  /** everything a write compares, as one text */
  content: string
}

/** Creates or updates items by market and ref; all of one market, no ref twice. */
export async function saveItems(tx: Tx, note: Note, writes: ItemWrite[]): Promise<Written> {
  if (writes.length === 0) return { created: 0, updated: 0, unchanged: 0, ids: [] }
  const market = writes[0]!.record.market
  const refs = writes.map((write) => write.record.ref)
  const existing = await storedItems(tx, market, refs)
  // An item that was merged is not made again, and a file about it does not change the survivor.
  const merged = await mergedItems(tx, market, refs)
  const fresh = writes.filter(({ record }) => !existing.has(record.ref) && !merged.has(record.ref))
  const slugs = await freeSlugs(
    tx,
    'items',
    fresh.map(({ record, categoryName }) => ({ wanted: record.slug ?? wantedItemSlug(record, categoryName), ref: record.ref })),
  )
  const inserts = fresh.map((write, i) => itemRow(write, slugs[i]!))
  const updates: { id: number; row: ItemRow; write: ItemWrite }[] = []
  for (const write of writes) {
    const stored = existing.get(write.record.ref)
    if (!stored) continue
    const row = itemRow(write, write.record.slug ?? stored.slug)
    if (contentOf(row, write.record.foreignIds) !== stored.content) updates.push({ id: stored.id, row, write })
  }
  const created = await insertItems(tx, inserts)
  await updateItems(tx, updates)
  await replaceForeignIds(tx, [
    ...fresh.map((write) => ({ id: created.get(write.record.ref)!, foreignIds: write.record.foreignIds, fresh: true })),
    ...updates.map(({ id, write }) => ({ id, foreignIds: write.record.foreignIds, fresh: false })),
  ])
  const changed = [...created.values(), ...updates.map((update) => update.id)]
  if (changed.length > 0) note.changed('items', changed)
  return {
    created: created.size,
    updated: updates.length,
    unchanged: writes.length - created.size - updates.length,
    ids: writes.map(({ record }) => existing.get(record.ref)?.id ?? merged.get(record.ref) ?? created.get(record.ref)!),
  }
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

/** Details in their fixed order of keys, without absent ones. */
export function detailsToRow(details: ItemDetails): Record<string, unknown> {
  const row = {
    rarity: details.rarity,
    illustrator: details.illustrator,
    hp: details.hp,
    types: details.types,
    dex_ids: details.dexIds,
    stage: details.stage,
    evolve_from: details.evolveFrom,
    suffix: details.suffix,
    level: details.level,
  }
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
}

export function detailsFromRow(row: Record<string, unknown>): ItemDetails {
  const { dex_ids: dexIds, evolve_from: evolveFrom, ...others } = row
  return { ...others, ...(dexIds !== undefined && { dexIds }), ...(evolveFrom !== undefined && { evolveFrom }) } as ItemDetails
}

function contentOf(row: Omit<ItemRow, 'market' | 'ref'>, foreignIds: ForeignId[]): string {
  const { name, code, slug, genre, game, category_id, images, attributes, group_ids, details } = row
  const ids = foreignIds.map(({ source, id, finish = '' }) => `${source}\t${id}\t${finish}`).sort()
  return JSON.stringify([name, code, slug, genre, game, category_id, images, attributes, group_ids, details, [...new Set(ids)]])
}

async function storedItems(tx: Tx, market: Market, refs: string[]): Promise<Map<string, StoredItem>> {
  const { rows } = await sql<Omit<ItemRow, 'market'> & { id: number; foreign_ids: ForeignId[] | null }>`
    select i.id, i.ref, i.name, i.code, i.slug, i.genre, i.game, i.category_id, i.images, i.attributes, i.group_ids, i.details,
      (select json_agg(json_build_object('source', f.source, 'id', f.foreign_id, 'finish', f.finish))
       from item_foreign_ids f where f.item_id = i.id) as foreign_ids
    from items i where i.market = ${market} and i.ref = any(${refs}::text[])`.execute(tx)
  return new Map(
    rows.map((row) => {
      const ordered = {
        ...row,
        images: (row.images as { url: string; order: number }[]).map(({ url, order }) => ({ url, order })),
        attributes: (row.attributes as { name: string; value: string }[]).map(({ name, value }) => ({ name, value })),
        details: detailsToRow(detailsFromRow(row.details as Record<string, unknown>)),
      }
      return [row.ref, { id: row.id, slug: row.slug, content: contentOf(ordered, row.foreign_ids ?? []) }]
    }),
  )
}

/** Items that the refs of merged ones stand for, by ref. */
async function mergedItems(tx: Tx, market: Market, refs: string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ ref: string; item_id: number }>`
    select ref, live_item(item_id) as item_id from item_aliases where market = ${market} and ref = any(${refs}::text[])`.execute(tx)
  return new Map(rows.map((row) => [row.ref, row.item_id]))
}

const ITEM_COLUMNS = sql.raw(
  'market text, ref text, name text, code text, slug text, genre text, game text, category_id int, images jsonb, attributes jsonb, group_ids int[], details jsonb',
)

async function insertItems(tx: Tx, rows: ItemRow[]): Promise<Map<string, number>> {
  if (rows.length === 0) return new Map()
  const { rows: created } = await sql<{ id: number; ref: string }>`
    insert into items (market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details)
    select market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details
    from rows from (jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as (${ITEM_COLUMNS})) with ordinality
      as r(market, ref, name, code, slug, genre, game, category_id, images, attributes, group_ids, details, n)
    order by n
    returning id, ref`.execute(tx)
  return new Map(created.map((row) => [row.ref, row.id]))
}

async function updateItems(tx: Tx, updates: { id: number; row: ItemRow }[]): Promise<void> {
  if (updates.length === 0) return
  await sql`
    update items i set name = r.name, code = r.code, slug = r.slug, genre = r.genre, game = r.game, category_id = r.category_id,
      images = r.images, attributes = r.attributes, group_ids = r.group_ids, details = r.details, updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(updates.map(({ id, row }) => ({ id, ...row })))}::jsonb) as r(id int, ${ITEM_COLUMNS})
    where i.id = r.id`.execute(tx)
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
