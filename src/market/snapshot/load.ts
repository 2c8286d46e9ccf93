// Reading of published listings and of sales from the database: everything at start, single ones again when they change.
import { breathing } from '#catalogue/snapshot/load.ts'
import { copyOut, int4At, int8At, readBinaryCopy } from '#db/copy.ts'
import type { Queryable } from '#db/schema.ts'
import type { LastSale } from './item-sales.ts'
import { LAST_SALES, POPULAR_MS } from './item-sales.ts'
import type { ListingSource } from './published.ts'

const FIELDS = `id, seller_id, item_id, coalesce(grade_id, 0), label_id, (price * 100)::int4, coalesce(language, ''),
  coalesce(published_at, 'epoch'), expires_at, coalesce(highlighted_until, 'epoch'), title`

/** Binary times count microseconds from here. */
const YEAR_2000_MS = Date.UTC(2000)
const msAt = (buffer: Buffer, offset: number) => int8At(buffer, offset) / 1_000 + YEAR_2000_MS

/** Streams listings that are approved and in stock, all for null; `take` must not keep what it is given. */
export async function loadPublished(db: Queryable, ids: number[] | null, take: (listing: ListingSource) => void): Promise<void> {
  const among = ids ? `and id = any('{${ids.join(',')}}'::int4[])` : ''
  const chunks = copyOut(
    db,
    `copy (select ${FIELDS} from listings where status = 'active' and quantity > 0 ${among}) to stdout (format binary)`,
  )
  await readBinaryCopy(breathing(chunks), (buffer, offsets, lengths) => {
    const int = (field: number) => int4At(buffer, offsets[field]!)
    const text = (field: number) => buffer.toString('utf8', offsets[field]!, offsets[field]! + lengths[field]!)
    take({
      id: int(0),
      sellerId: int(1),
      itemId: int(2),
      gradeId: int(3),
      labelId: int(4),
      kurus: int(5),
      language: text(6),
      publishedMs: msAt(buffer, offsets[7]!),
      expiresMs: msAt(buffer, offsets[8]!),
      highlightedMs: msAt(buffer, offsets[9]!),
      title: text(10),
    })
  })
}

/** Streams the sales that matter of each item, item by item, of all items for null. */
export async function loadSales(
  db: Queryable,
  itemIds: number[] | null,
  nowMs: number,
  take: (itemId: number, last: LastSale[], times: Float64Array) => void,
): Promise<void> {
  const items = itemIds ? `unnest('{${itemIds.join(',')}}'::int4[])` : '(select distinct item_id from sales)'
  const since = new Date(nowMs - POPULAR_MS).toISOString()
  const columns = '(unit_price * 100)::int4 as kurus, sold_at'
  const newest = `from sales s where s.item_id = i.item_id order by sold_at desc, id desc`
  const chunks = copyOut(
    db,
    `copy (
      select i.item_id, s.n::int4, s.kurus, s.sold_at from ${items} as i(item_id) cross join lateral (
        (select row_number() over () as n, l.* from (select ${columns} ${newest} limit ${LAST_SALES}) l)
        union all
        (select 0, ${columns} from sales s where s.item_id = i.item_id and s.sold_at > '${since}' order by s.sold_at)
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
  await readBinaryCopy(breathing(chunks), (buffer, offsets) => {
    const itemId = int4At(buffer, offsets[0]!)
    if (itemId !== current) give()
    current = itemId
    const atMs = msAt(buffer, offsets[3]!)
    if (int4At(buffer, offsets[1]!) === 0) times.push(atMs)
    else last.push({ kurus: int4At(buffer, offsets[2]!), atMs })
  })
  give()
}

/** Names of accounts that sell. */
export async function loadSellers(db: Queryable, ids: number[]): Promise<{ id: number; name: string }[]> {
  return db.selectFrom('accounts').select(['id', 'name']).where('id', '=', (eb) => eb.fn.any(eb.val(ids))).execute()
}
