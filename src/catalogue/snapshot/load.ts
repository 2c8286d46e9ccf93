// Loads the catalogue from the database: everything at start by binary COPY, changed items individually.
import { sql } from 'kysely'
import { type Market, MARKETS } from '#core/markets.ts'
import { copyOut, int2At, int4At, minorAt, readBinaryCopy, timeAt } from '#db/copy.ts'
import type { Queryable } from '#db/schema.ts'
import type { Utf8 } from '#index/utf8.ts'
import { RepeatedTexts } from '#index/vocabulary.ts'
import { CURRENT_FIELDS, priceOf } from '#prices/records/current.ts'
import { confirmedMinutes, figureWord, NO_FIGURE, type PackedEvidence, verdictByte } from '#prices/evidence/evidence-payload.ts'
import type { PriceChange } from '#prices/records/price-payload.ts'
import type { Category } from '../index/category-tree.ts'
import type { ItemSource } from '../index/items.ts'
import type { LabelNode } from '../index/label-tree.ts'

const ITEM_FIELDS = `id, market, name, code, slug, genre, game, category_id, images, attributes, array_to_string(group_ids, ','),
  case when details ? 'names' then details - 'names' else details end, updated_at, details->'names', details->'dex_ids'`
/** Binary `jsonb` is its text after a version number. */
const JSONB_HEAD_BYTES = 1
const NONE: readonly never[] = []

/** Bytes to read before yielding to requests, because the node keeps serving during a reload. */
const BREATH_BYTES = 128 * 1024

export async function loadGroups(db: Queryable): Promise<LabelNode[]> {
  const rows = await db.selectFrom('groups').select(['id', 'parent_id', 'name', 'slug']).orderBy('id').execute()
  return rows.map(({ parent_id, ...row }) => ({ ...row, parentId: parent_id }))
}

/** Loads categories by id; all if `ids` is null. */
export async function loadCategories(db: Queryable, ids: number[] | null): Promise<Category[]> {
  let query = db
    .selectFrom('categories')
    .leftJoin('category_codes', 'category_id', 'id')
    .select(['id', 'market', 'name', 'slug', 'game', 'image', 'parent_id', 'printed_total', 'codes'])
  if (ids) query = query.where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
  const rows = await query.orderBy('id').execute()
  return rows.map(({ parent_id, printed_total, codes, ...row }) => ({
    ...row,
    parentId: parent_id,
    printedTotal: printed_total,
    codes: codes ?? [],
  }))
}

/** The number of items, the estimated number of prices, and the largest item id. */
export async function countItems(db: Queryable): Promise<{ items: number; prices: number; largestId: number }> {
  const { rows } = await sql<{ items: number; prices: number; largestId: number }>`
    select count(*)::int4 as items, coalesce(max(id), 0) as "largestId",
      (select greatest(reltuples, 0)::int4 from pg_class where oid = 'prices'::regclass) as prices
    from items`.execute(db)
  return rows[0]!
}

/** Streams items; all if `ids` is null. Every call of `take` receives the same, reused object. */
export async function loadItems(db: Queryable, ids: number[] | null, take: (item: ItemSource) => void): Promise<void> {
  const where = ids ? `where id = any('{${ids.join(',')}}'::int4[])` : ''
  const chunks = copyOut(db, `copy (select ${ITEM_FIELDS} from items ${where} order by id) to stdout (format binary)`)
  const names = new RepeatedTexts()
  const others = new RepeatedTexts()
  const part = (): Utf8 => ({ bytes: Buffer.alloc(0), from: 0, to: 0 })
  const numbers = { id: 0, market: 0, categoryId: 0, updatedAtMs: 0 }
  const texts = { slug: part(), images: part(), attributes: part(), details: part() }
  const item: ItemSource = { ...numbers, name: '', code: null, genre: '', game: '', groups: '', names: NONE, dexIds: NONE, ...texts }
  await readBinaryCopy(yieldBetweenChunks(chunks), (buffer, offsets, lengths) => {
    const text = (field: number) => others.textOf(buffer, offsets[field]!, offsets[field]! + lengths[field]!)
    const list = <T>(field: number): readonly T[] =>
      lengths[field]! < 0 ? NONE : (JSON.parse(buffer.toString('utf8', offsets[field]! + JSONB_HEAD_BYTES, offsets[field]! + lengths[field]!)) as T[])
    const point = (to: Utf8, field: number, headBytes: number) => {
      to.bytes = buffer
      to.from = offsets[field]! + headBytes
      to.to = offsets[field]! + lengths[field]!
    }
    item.id = int4At(buffer, offsets[0]!)
    item.market = MARKETS.indexOf(text(1) as Market)
    item.name = names.textOf(buffer, offsets[2]!, offsets[2]! + lengths[2]!)
    item.code = lengths[3]! < 0 ? null : text(3)
    point(item.slug, 4, 0)
    item.genre = text(5)
    item.game = text(6)
    item.categoryId = int4At(buffer, offsets[7]!)
    point(item.images, 8, JSONB_HEAD_BYTES)
    point(item.attributes, 9, JSONB_HEAD_BYTES)
    item.groups = text(10)
    point(item.details, 11, JSONB_HEAD_BYTES)
    item.updatedAtMs = timeAt(buffer, offsets[12]!)
    item.names = list(13)
    item.dexIds = list(14)
    take(item)
  })
}

/** Loads the survivors of merged items; all if `ids` is null. */
export async function loadAliases(db: Queryable, ids: number[] | null): Promise<[id: number, into: number][]> {
  const where = ids ? sql`where old_id = any(${`{${ids.join(',')}}`}::int4[])` : sql``
  const { rows } = await sql<{ old_id: number; item_id: number }>`select old_id, item_id from item_aliases ${where}`.execute(db)
  return rows.map((row) => [row.old_id, row.item_id])
}

/** A current price with its evidence and its import. */
export interface LoadedPrice extends PriceChange, PackedEvidence {
  importId: number
}

/** The fields that follow those of the price. */
const EVIDENCE_FIELDS = 'state, confidence, flags, confirmed_at, avg_7, avg_30, low, high'
/** The index of the first one. */
const EVIDENCE = CURRENT_FIELDS.split(',').length
const FIGURES = EVIDENCE + 4
const IMPORT = FIGURES + 4

/** Streams current prices in no particular order, of all items if `ids` is null. Sorting would take longer than looking up each item. */
export async function loadPrices(db: Queryable, ids: number[] | null, take: (price: LoadedPrice) => void): Promise<void> {
  const where = ids ? `where item_id = any('{${ids.join(',')}}'::int4[])` : ''
  const chunks = copyOut(db, `copy (select ${CURRENT_FIELDS}, ${EVIDENCE_FIELDS}, import_id from prices ${where}) to stdout (format binary)`)
  await readBinaryCopy(yieldBetweenChunks(chunks), (buffer, offsets, lengths) => {
    const price = priceOf(buffer, offsets)
    take({
      itemId: price.itemId,
      market: price.market,
      labelId: price.labelId,
      minor: price.minor,
      updatedAtMs: price.updatedAtMs,
      verdict: verdictByte(int2At(buffer, offsets[EVIDENCE]!), int2At(buffer, offsets[EVIDENCE + 1]!)),
      flags: int4At(buffer, offsets[EVIDENCE + 2]!),
      confirmedMinutes: lengths[EVIDENCE + 3]! < 0 ? 0 : confirmedMinutes(timeAt(buffer, offsets[EVIDENCE + 3]!)),
      avg7: figureAt(FIGURES, buffer, offsets, lengths),
      avg30: figureAt(FIGURES + 1, buffer, offsets, lengths),
      low: figureAt(FIGURES + 2, buffer, offsets, lengths),
      high: figureAt(FIGURES + 3, buffer, offsets, lengths),
      importId: int4At(buffer, offsets[IMPORT]!),
    })
  })
}

function figureAt(field: number, buffer: Buffer, offsets: Int32Array, lengths: Int32Array): number {
  return lengths[field]! < 0 ? NO_FIGURE : figureWord(minorAt(buffer, offsets[field]!))
}

/** Yields to other work between chunks. */
export async function* yieldBetweenChunks(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    yield chunk
    bytes += chunk.length
    if (bytes < BREATH_BYTES) continue
    bytes = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
}
