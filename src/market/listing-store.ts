// SQL of listings.
import { type RawBuilder, sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import { existing, idForSql, missing } from '#core/fields.ts'
import { type HasPrecondition, requireCurrent } from '#core/precondition.ts'
import { readInParts, ROWS_AT_ONCE } from '#core/yield-to-event-loop.ts'
import type { Viewer } from '#core/verb.ts'
import { ConcurrentWriteError } from '#db/connection/transaction.ts'
import type { ListingStatus, Queryable, StoredCertificate, Tx } from '#db/schema.ts'
import { mapUniqueViolation } from '#db/unique.ts'
import { QUEUED, REJECTED } from './records/rules.ts'

/** The versions in which price, stock, and content or SKU were last changed; null if never since the listing was created. */
const CHANGE_VERSIONS = ['priced_version', 'stocked_version', 'edited_version'] as const

export type ChangeVersions = Pick<ListingRow, (typeof CHANGE_VERSIONS)[number]>

export const COLUMNS = [
  'id',
  'seller_id',
  'item_id',
  'grade_id',
  'label_id',
  'title',
  'description',
  'price',
  'quantity',
  'language',
  'images',
  'shipping_payer',
  'offers_enabled',
  'min_offer_price',
  'status',
  'approved_price',
  'approved',
  'approved_at',
  'rejection_reason',
  'waiting_since',
  'published_at',
  'expires_at',
  'highlighted_until',
  'sku',
  'record_id',
  'certificate',
  'changed_by',
  ...CHANGE_VERSIONS,
  'version',
  'created_at',
  'updated_at',
] as const

/** The content of a listing, without price and stock: operators approve it, and a change requires a new approval. */
export const CONTENT = [
  'item_id',
  'grade_id',
  'title',
  'description',
  'language',
  'images',
  'shipping_payer',
  'offers_enabled',
  'min_offer_price',
  'certificate',
] as const

export type ListingRow = Awaited<ReturnType<typeof fetchListing>>

export type ListingValues = Partial<{ [Name in (typeof COLUMNS)[number]]: ListingRow[Name] }>

/** Identifies a version of a listing: the header `ETag`, the field `etag`, and the value for `If-Match`. */
export function listingTag({ id, version }: { id: number; version: number }): string {
  return `"${id}-${version}"`
}

/** A listing that the caller may change, locked until the transaction ends. @throws NOT_FOUND, as `checkCaller` does */
export async function lockListing(tx: Tx, ctx: HasPrecondition & { viewer: Viewer }, id: number): Promise<ListingRow> {
  const row = await tx.selectFrom('listings').select(COLUMNS).where('id', '=', existing('listing', id)).forUpdate().executeTakeFirst()
  if (!row) throw missing('listing', id)
  checkCaller(ctx, row)
  return row
}

/**
 * Accounts may change their own listings, operators all; both only the version that they have read (interface.md, "Errors").
 * @throws CONFLICT, PRECONDITION_FAILED
 */
export function checkCaller(ctx: HasPrecondition & { viewer: Viewer }, listing: Pick<ListingRow, 'id' | 'seller_id' | 'version'>): void {
  const { viewer } = ctx
  if (viewer.kind === 'account' && viewer.accountId !== listing.seller_id) {
    throw conflict('not_owner', { thing: 'listing', id: listing.id })
  }
  requireCurrent(ctx, listingTag(listing))
}

export async function fetchListing(on: Queryable, id: number) {
  const row = await findListing(on, id)
  if (!row) throw missing('listing', id)
  return row
}

/** Null if no such listing exists. */
export async function findListing(on: Queryable, id: number) {
  return (await on.selectFrom('listings').select(COLUMNS).where('id', '=', idForSql(id)).executeTakeFirst()) ?? null
}

/** Fields that searches return only on request. */
const DETAIL_COLUMNS = [
  'id',
  'grade_id',
  'language',
  'quantity',
  'images',
  'shipping_payer',
  'offers_enabled',
  'highlighted_until',
  'published_at',
  'expires_at',
  'certificate',
] as const

export type DetailsRow = Pick<ListingRow, (typeof DETAIL_COLUMNS)[number]>

/** By id, without deleted listings. */
export async function detailsById(on: Queryable, ids: readonly number[]): Promise<Map<number, DetailsRow>> {
  const rows = await on
    .selectFrom('listings')
    .select(DETAIL_COLUMNS)
    .where('id', '=', (eb) => eb.fn.any(eb.val([...ids])))
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** The columns that follow from a status: the time it joined the queue, or the reason of a rejection. */
function statusColumns(status: RawBuilder<ListingStatus>, now: Date) {
  return {
    status,
    waiting_since: sql<Date | null>`case when ${status} = ${QUEUED} then coalesce(listings.waiting_since, ${now}) end`,
    rejection_reason: sql<string | null>`case when ${status} in (${REJECTED}, listings.status) then listings.rejection_reason end`,
    updated_at: now,
  }
}

/** Writes the next status, new values and a new version of a locked listing. */
export async function updateListingRow(tx: Tx, id: number, status: ListingStatus, values: ListingValues, now: Date): Promise<ListingRow> {
  const { images, approved, changed_by: changedBy, certificate, ...plain } = values
  const updated = tx
    .updateTable('listings')
    .set({
      ...statusColumns(sql`${status}::text`, now),
      ...plain,
      ...(images !== undefined && { images: JSON.stringify(images) }),
      ...(approved !== undefined && { approved: jsonOrNull(approved) }),
      ...(changedBy !== undefined && { changed_by: jsonOrNull(changedBy) }),
      ...(certificate !== undefined && { certificate: jsonOrNull(certificate) }),
      version: sql<number>`version + 1`,
    })
    .where('id', '=', id)
    .returning(COLUMNS)
  return mapTaken(() => updated.executeTakeFirstOrThrow())
}

function jsonOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

/**
 * Runs a write whose races the unique indexes settle: CONFLICT for an SKU that another listing of the account uses. If another listing with the
 * same certificate has become active, the transaction starts again and then sees that listing (certificates/taken.ts).
 */
function mapTaken<T>(write: () => Promise<T>): Promise<T> {
  return mapUniqueViolation(write, (index) => {
    if (index === 'listings_by_sku') return conflict('taken', { thing: 'listing', field: 'sku' })
    return index === 'listings_by_active_certificate' ? new ConcurrentWriteError() : null
  })
}

/** The columns that bulk changes need. */
export const STOCK_COLUMNS = [
  'id',
  'seller_id',
  'title',
  'price',
  'approved_price',
  'min_offer_price',
  'quantity',
  'status',
  'expires_at',
  'sku',
  'certificate',
  'changed_by',
  ...CHANGE_VERSIONS,
  'version',
] as const

export type StockRow = Pick<ListingRow, (typeof STOCK_COLUMNS)[number]>

/** The columns for planning a new price, in addition to those for checking it. */
const LISTED_COLUMNS = [...STOCK_COLUMNS, 'item_id', 'label_id', 'record_id'] as const

export type ListedStock = Pick<ListingRow, (typeof LISTED_COLUMNS)[number]>

/** Listings with these ids, of any account, and those of a seller with these SKUs; without locks. */
export async function stockToPlan(
  on: Queryable,
  { ids, sellerId, skus }: { ids: number[]; sellerId: number; skus: string[] },
): Promise<ListedStock[]> {
  const listings = on.selectFrom('listings').select(LISTED_COLUMNS)
  const byId = await readInParts(ids, (part) => listings.where('id', '=', sql<number>`any(${part}::int4[])`).execute())
  const own = listings.where('seller_id', '=', sellerId)
  const bySku = await readInParts(skus, (part) => own.where('sku', '=', sql<string>`any(${part}::text[])`).execute())
  return [...byId, ...bySku]
}

/** Locked in the order of ids, so that batches of several nodes do not deadlock. */
export async function lockStock(tx: Tx, ids: number[]): Promise<Map<number, StockRow>> {
  const inOrder = ids.map(idForSql).sort((a, b) => a - b)
  const listings = tx.selectFrom('listings').select(STOCK_COLUMNS).orderBy('id').forUpdate()
  const rows = await readInParts(inOrder, (part) => listings.where('id', '=', sql<number>`any(${part}::int4[])`).execute())
  return new Map(rows.map((row) => [row.id, row]))
}

/** Whole listings, locked as `lockStock` does. */
export async function lockListings(tx: Tx, ids: readonly number[]): Promise<Map<number, ListingRow>> {
  const listings = tx
    .selectFrom('listings')
    .select(COLUMNS)
    .where('id', '=', sql<number>`any(${ids.map(idForSql)}::int4[])`)
  const rows = await listings.orderBy('id').forUpdate().execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Writes price, stock, SKU, status, version and author of locked listings. @throws CONFLICT if an SKU is taken */
export async function updateStock(tx: Tx, rows: StockRow[], now: Date): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) await updateSome(tx, rows.slice(from, from + ROWS_AT_ONCE), now)
}

async function updateSome(tx: Tx, rows: StockRow[], now: Date): Promise<void> {
  const changed = rows.map(({ id, version, price, approved_price, quantity, status, sku, changed_by, ...row }) => {
    const { priced_version, stocked_version, edited_version } = row
    return { id, version, price, approved_price, quantity, status, sku, changed_by, priced_version, stocked_version, edited_version }
  })
  const newRows = sql<StockRow>`json_populate_recordset(null::listings, ${JSON.stringify(changed)})`
  const update = tx
    .updateTable('listings')
    .from(newRows.as<'new_rows'>(sql`new_rows`))
    .set((eb) => ({
      ...statusColumns(sql.ref('new_rows.status'), now),
      version: eb.ref('new_rows.version'),
      price: eb.ref('new_rows.price'),
      approved_price: eb.ref('new_rows.approved_price'),
      quantity: eb.ref('new_rows.quantity'),
      sku: eb.ref('new_rows.sku'),
      changed_by: sql<string | null>`new_rows.changed_by`,
      priced_version: eb.ref('new_rows.priced_version'),
      stocked_version: eb.ref('new_rows.stocked_version'),
      edited_version: eb.ref('new_rows.edited_version'),
    }))
    .whereRef('listings.id', '=', 'new_rows.id')
  await mapTaken(() => update.execute())
}

/** Writes status, period, approved price and version of locked listings. */
export async function updatePeriods(tx: Tx, rows: readonly ListingRow[], now: Date): Promise<void> {
  if (rows.length === 0) return
  const changed = rows.map(({ id, version, status, approved_price, published_at, expires_at }) => ({
    id,
    version,
    status,
    approved_price,
    published_at,
    expires_at,
  }))
  const newRows = sql<ListingRow>`json_populate_recordset(null::listings, ${JSON.stringify(changed)})`
  const update = tx
    .updateTable('listings')
    .from(newRows.as<'new_rows'>(sql`new_rows`))
    .set((eb) => ({
      ...statusColumns(sql.ref('new_rows.status'), now),
      version: eb.ref('new_rows.version'),
      approved_price: eb.ref('new_rows.approved_price'),
      published_at: eb.ref('new_rows.published_at'),
      expires_at: eb.ref('new_rows.expires_at'),
    }))
    .whereRef('listings.id', '=', 'new_rows.id')
  await mapTaken(() => update.execute())
}

export interface NewListing {
  seller_id: number
  item_id: number
  grade_id: number | null
  label_id: number
  title: string
  description: string
  price: string
  quantity: number
  language: string | null
  images: { url: string; order: number }[]
  shipping_payer: 'buyer' | 'seller'
  offers_enabled: boolean
  min_offer_price: string | null
  sku: string | null
  /** the owner's collection record that it sells; absent for none */
  record_id?: number
  certificate: StoredCertificate | null
}

/**
 * Adds new listings to the approval queue.
 * @returns them in order; null for one whose SKU another listing of its account has
 */
export async function insertListings(tx: Tx, listings: readonly NewListing[], now: Date): Promise<(ListingRow | null)[]> {
  const inserted: (ListingRow | null)[] = []
  for (let from = 0; from < listings.length; from += ROWS_AT_ONCE) {
    const some = listings.slice(from, from + ROWS_AT_ONCE)
    const queued = { status: QUEUED as ListingStatus, waiting_since: now, created_at: now, updated_at: now }
    const rows = await tx
      .insertInto('listings')
      .values(
        some.map((listing) => ({ ...listing, ...queued, images: JSON.stringify(listing.images), certificate: jsonOrNull(listing.certificate) })),
      )
      .onConflict((conflict) => conflict.columns(['seller_id', 'sku']).where('sku', 'is not', null).doNothing())
      .returning(COLUMNS)
      .execute()
    // Rows are returned in the order of their values, without those in conflict.
    let next = 0
    for (const { seller_id, sku } of some) {
      const row = rows[next]
      const isIts = row !== undefined && row.seller_id === seller_id && row.sku === sku
      inserted.push(isIts ? row : null)
      if (isIts) next += 1
    }
  }
  return inserted
}
