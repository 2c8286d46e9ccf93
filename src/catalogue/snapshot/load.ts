// Reading of the catalogue from the database: everything at start by binary COPY, single items again when they change.
import { MARKETS } from '#core/markets.ts'
import { copyOut, int4At, readBinaryCopy, timeAt } from '#db/copy.ts'
import type { Queryable } from '#db/schema.ts'
import { CURRENT_FIELDS, priceOf } from '#prices/current.ts'
import type { PriceChange } from '#prices/payload.ts'
import type { Category } from './category-tree.ts'
import type { ItemSource } from './items.ts'
import type { LabelNode } from './label-tree.ts'

const MARKET_ARRAY = `'{${MARKETS.join(',')}}'::text[]`
const ITEM_FIELDS = `id, array_position(${MARKET_ARRAY}, market) - 1, name, code, slug, genre, game, category_id, images::text,
  attributes::text, array_to_string(group_ids, ','), details::text, updated_at`

/** Bytes read between two pauses that let requests be answered: a reload happens while the node serves. */
const BREATH_BYTES = 128 * 1024

export async function loadGroups(db: Queryable): Promise<LabelNode[]> {
  const rows = await db.selectFrom('groups').select(['id', 'parent_id', 'name', 'slug']).orderBy('id').execute()
  return rows.map(({ parent_id, ...row }) => ({ ...row, parentId: parent_id }))
}

/** Categories by id, all for null. */
export async function loadCategories(db: Queryable, ids: number[] | null): Promise<Category[]> {
  let query = db.selectFrom('categories').select(['id', 'market', 'name', 'slug', 'game', 'image', 'parent_id'])
  if (ids) query = query.where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
  const rows = await query.orderBy('id').execute()
  return rows.map(({ parent_id, ...row }) => ({ ...row, parentId: parent_id }))
}

/** Streams items, all for null; `take` must not keep what it is given. */
export async function loadItems(db: Queryable, ids: number[] | null, take: (item: ItemSource) => void): Promise<void> {
  const where = ids ? `where id = any('{${ids.join(',')}}'::int4[])` : ''
  const chunks = copyOut(db, `copy (select ${ITEM_FIELDS} from items ${where} order by id) to stdout (format binary)`)
  await readBinaryCopy(breathing(chunks), (buffer, offsets, lengths) => {
    const text = (field: number) => buffer.toString('utf8', offsets[field]!, offsets[field]! + lengths[field]!)
    take({
      id: int4At(buffer, offsets[0]!),
      market: int4At(buffer, offsets[1]!),
      name: text(2),
      code: lengths[3]! < 0 ? null : text(3),
      slug: text(4),
      genre: text(5),
      game: text(6),
      categoryId: int4At(buffer, offsets[7]!),
      images: text(8),
      attributes: text(9),
      groups: text(10),
      details: text(11),
      updatedAtMs: timeAt(buffer, offsets[12]!),
    })
  })
}

/** Streams current prices, of all items for null, item by item. */
export async function loadPrices(db: Queryable, ids: number[] | null, take: (price: PriceChange) => void): Promise<void> {
  const where = ids ? `where item_id = any('{${ids.join(',')}}'::int4[])` : ''
  const chunks = copyOut(db, `copy (select ${CURRENT_FIELDS} from prices ${where} order by item_id) to stdout (format binary)`)
  await readBinaryCopy(breathing(chunks), (buffer, offsets) => take(priceOf(buffer, offsets)))
}

/** Lets other work in between chunks. */
export async function* breathing(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    yield chunk
    bytes += chunk.length
    if (bytes < BREATH_BYTES) continue
    bytes = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
}
