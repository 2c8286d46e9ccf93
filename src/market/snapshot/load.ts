// Reads published listings and sales from the database: all at start, single ones when they change.
import { sql } from 'kysely'
import { yieldBetweenChunks } from '#catalogue/snapshot/load.ts'
import { copyOut, int4At, int8At, readBinaryCopy } from '#db/copy.ts'
import type { Queryable } from '#db/schema.ts'
import type { Utf8 } from '#index/utf8.ts'
import { RepeatedTexts } from '#index/vocabulary.ts'
import type { LastSale } from './item-sales.ts'
import { LAST_SALES, POPULAR_MS } from './item-sales.ts'
import { PUBLISHED } from '../records/rules.ts'
import type { ListingSource } from './published.ts'

const SHOWN = `from listings where status = '${PUBLISHED}' and quantity > 0`
const FIELDS = `id, seller_id, item_id, coalesce(grade_id, 0), label_id, (price * 100)::int4, coalesce(language, ''),
  coalesce(published_at, 'epoch'), expires_at, coalesce(highlighted_until, 'epoch'), title`

/** Binary timestamps count microseconds since this time. */
const YEAR_2000_MS = Date.UTC(2000)
const msAt = (buffer: Buffer, offset: number) => int8At(buffer, offset) / 1_000 + YEAR_2000_MS

/** Number of listings that `loadPublished` streams, and their largest id. */
export async function countPublished(db: Queryable): Promise<{ count: number; largestId: number }> {
  const { rows } = await sql<{ count: number; largestId: number }>`
    select count(*)::int4 as count, coalesce(max(id), 0) as "largestId" ${sql.raw(SHOWN)}`.execute(db)
  return rows[0]!
}

/** Streams approved listings in stock (all of them if `ids` is null); `take` receives the same object each time. */
export async function loadPublished(db: Queryable, ids: number[] | null, take: (listing: ListingSource) => void): Promise<void> {
  const among = ids ? `and id = any('{${ids.join(',')}}'::int4[])` : ''
  const chunks = copyOut(db, `copy (select ${FIELDS} ${SHOWN} ${among}) to stdout (format binary)`)
  const languages = new RepeatedTexts()
  const title: Utf8 = { bytes: Buffer.alloc(0), from: 0, to: 0 }
  const times = { publishedMs: 0, expiresMs: 0, highlightedMs: 0 }
  const listing = { id: 0, sellerId: 0, itemId: 0, gradeId: 0, labelId: 0, kurus: 0, language: '', ...times, title }
  await readBinaryCopy(yieldBetweenChunks(chunks), (buffer, offsets, lengths) => {
    listing.id = int4At(buffer, offsets[0]!)
    listing.sellerId = int4At(buffer, offsets[1]!)
    listing.itemId = int4At(buffer, offsets[2]!)
    listing.gradeId = int4At(buffer, offsets[3]!)
    listing.labelId = int4At(buffer, offsets[4]!)
    listing.kurus = int4At(buffer, offsets[5]!)
    listing.language = languages.textOf(buffer, offsets[6]!, offsets[6]! + lengths[6]!)
    listing.publishedMs = msAt(buffer, offsets[7]!)
    listing.expiresMs = msAt(buffer, offsets[8]!)
    listing.highlightedMs = msAt(buffer, offsets[9]!)
    title.bytes = buffer
    title.from = offsets[10]!
    title.to = offsets[10]! + lengths[10]!
    take(listing)
  })
}

/** Streams the relevant sales, item by item; those of all items if `ids` is null. */
export async function loadSales(
  db: Queryable,
  itemIds: number[] | null,
  nowMs: number,
  take: (itemId: number, last: LastSale[], times: Float64Array) => void,
): Promise<void> {
  const items = itemIds ? `unnest('{${itemIds.join(',')}}'::int4[])` : '(select distinct item_id from sales)'
  const since = new Date(nowMs - POPULAR_MS).toISOString()
  const columns = '(unit_price * 100)::int4 as kurus, sold_at'
  const newest = `from uncancelled_sales s where s.item_id = i.item_id order by sold_at desc, id desc`
  const chunks = copyOut(
    db,
    `copy (
      select i.item_id, s.n::int4, s.kurus, s.sold_at from ${items} as i(item_id) cross join lateral (
        (select row_number() over () as n, l.* from (select ${columns} ${newest} limit ${LAST_SALES}) l)
        union all
        (select 0, ${columns} from uncancelled_sales s where s.item_id = i.item_id and s.sold_at > '${since}' order by s.sold_at)
      ) s order by i.item_id, s.n, s.sold_at
    ) to stdout (format binary)`,
  )
  let current = 0
  let last: LastSale[] = []
  let times: number[] = []
  const give = () => {
    if (current !== 0) take(current, last, Float64Array.from(times))
    last = []
    times = []
  }
  await readBinaryCopy(yieldBetweenChunks(chunks), (buffer, offsets) => {
    const itemId = int4At(buffer, offsets[0]!)
    if (itemId !== current) give()
    current = itemId
    const atMs = msAt(buffer, offsets[3]!)
    if (int4At(buffer, offsets[1]!) === 0) times.push(atMs)
    else last.push({ kurus: int4At(buffer, offsets[2]!), atMs })
  })
  give()
}

export interface Seller {
  id: number
  name: string
  suspended: boolean
}

export async function loadSellers(db: Queryable, ids: number[]): Promise<Seller[]> {
  return db
    .selectFrom('accounts')
    .select(['id', 'name', 'suspended'])
    .where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .execute()
}

/** Ids of all suspended accounts. */
export async function loadSuspended(db: Queryable): Promise<number[]> {
  const rows = await db.selectFrom('accounts').select('id').where('suspended', '=', true).execute()
  return rows.map(({ id }) => id)
}

/** Ids of a seller's approved listings in stock. */
export async function publishedOf(db: Queryable, sellerId: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select id ${sql.raw(SHOWN)} and seller_id = ${sellerId}`.execute(db)
  return rows.map(({ id }) => id)
}
