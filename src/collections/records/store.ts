// SQL of collections and their records; adding records is in insert-records.ts.
import { type RawBuilder, sql } from 'kysely'
import { conflict, notFound } from '#core/errors.ts'
import { existing, missing } from '#core/fields.ts'
import { minorToText, parseMinor } from '#core/money.ts'
import type { Viewer } from '#core/verb.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Queryable, StoredCertificate, Tx } from '#db/schema.ts'
import { tokenAfter } from './share-token.ts'
import type { ClearableValues } from './fields.ts'
import type { Collection, CollectionRecord, StoredCollection, TaggedRecord } from './types.ts'

/** A record as stored; amounts as exact decimal text. */
export interface RecordRow {
  id: number
  item_id: number
  item_name: string
  item_slug: string
  grade_id: number | null
  group_label: string | null
  quantity: number
  purchase_price: string | null
  sale_price: string | null
  purchase_date: string | null
  card_uniq_id: string | null
  note: string | null
  for_trade: number
  certificate: StoredCertificate | null
  revision: number
}

/** Fields of a record that can change; absent ones do not change. */
export interface RecordChanges extends ClearableValues {
  quantity?: number
  forTrade?: number
}

const COLLECTION_COLUMNS = ['id', 'name', 'description', 'visibility', 'items_count', 'method'] as const
export const STORED_COLUMNS = ['account_id', ...COLLECTION_COLUMNS, 'created_at', 'updated_at'] as const

export function recordOf(row: RecordRow): CollectionRecord {
  const { id, item_id, item_name, item_slug, group_label, quantity, purchase_price, sale_price, ...rest } = row
  const { purchase_date, card_uniq_id, note, for_trade, certificate } = rest
  return {
    id,
    item_id,
    item_name,
    item_slug,
    group_label,
    quantity,
    purchase_price: purchase_price === null ? null : Number(purchase_price),
    sale_price: sale_price === null ? null : roundedToWhole(sale_price),
    purchase_date,
    card_uniq_id,
    note,
    for_trade: Math.min(for_trade, quantity),
    certificate,
  }
}

export function taggedRecord(row: RecordRow): TaggedRecord {
  return { record: recordOf(row), tag: tagOf(row) }
}

export function tagOf({ id, revision }: Pick<RecordRow, 'id' | 'revision'>): string {
  return `"${id}-${revision}"`
}

function roundedToWhole(amount: string): number {
  return Math.floor((parseMinor(amount)! + 50) / 100)
}

/** Which collections the viewer may access: an account its own, an operator all. */
export function ownerOf(viewer: Viewer): number | null {
  return viewer.kind === 'account' ? viewer.accountId : null
}

export function notOwner(collectionId: number) {
  return conflict('not_owner', { thing: 'collection', id: collectionId })
}

/** @throws NOT_FOUND, or CONFLICT for another account's */
export async function requireCollection(on: Queryable, viewer: Viewer, id: number): Promise<void> {
  const row = await on.selectFrom('collections').select('account_id').where('id', '=', existing('collection', id)).executeTakeFirst()
  if (!row) throw missing('collection', id)
  const owner = ownerOf(viewer)
  if (owner !== null && row.account_id !== owner) throw notOwner(id)
}

export async function collectionsOf(on: Queryable, accountId: number): Promise<Collection[]> {
  return on.selectFrom('collections').select(COLLECTION_COLUMNS).where('account_id', '=', accountId).orderBy('id').execute()
}

/** A `beforeId` of `recordsBefore` that includes all records. */
export const PAST_NEWEST = 2 ** 31 - 1

/** Records that match a condition, newest first, before an id. */
export async function recordsBefore(on: Queryable, matching: RawBuilder<unknown>, beforeId: number, limit: number): Promise<RecordRow[]> {
  const { rows } = await sql<RecordRow>`
    select ${RECORD_COLUMNS} from collection_items r ${RECORD_JOINS}
    where ${matching} and r.id < ${beforeId} order by r.id desc limit ${limit}`.execute(on)
  return rows
}

/** The record in the caller's collection. @throws NOT_FOUND, CONFLICT */
export async function fetchRecord(on: Queryable, viewer: Viewer, collectionId: number, recordId: number): Promise<RecordRow> {
  await requireCollection(on, viewer, collectionId)
  const { rows } = await sql<RecordRow>`
    select ${RECORD_COLUMNS} from collection_items r ${RECORD_JOINS}
    where r.id = ${existing('collection record', recordId)} and r.collection_id = ${collectionId}`.execute(on)
  return rows[0] ?? refuseRecord(on, viewer, collectionId, recordId)
}

/** The same, locked until the transaction ends. */
export async function lockRecord(tx: Tx, viewer: Viewer, collectionId: number, recordId: number): Promise<RecordRow> {
  await requireCollection(tx, viewer, collectionId)
  const lock = async () => {
    const { rows } = await sql<RecordRow>`
      select ${RECORD_COLUMNS} from collection_items r ${RECORD_JOINS}
      where r.id = ${existing('collection record', recordId)} and r.collection_id = ${collectionId} for update of r`.execute(tx)
    return rows[0]
  }
  // If the item of a record was merged while this query waited for the lock, only a second query finds the record.
  return (await lock()) ?? (await lock()) ?? refuseRecord(tx, viewer, collectionId, recordId)
}

/** Why the record was not found, without revealing whether it is in a collection of another account. */
async function refuseRecord(on: Queryable, viewer: Viewer, collectionId: number, recordId: number): Promise<never> {
  const elsewhere = await on
    .selectFrom('collection_items as r')
    .innerJoin('collections as c', 'c.id', 'r.collection_id')
    .select(['c.id', 'c.account_id'])
    .where('r.id', '=', recordId)
    .executeTakeFirst()
  const owner = ownerOf(viewer)
  if (elsewhere && (owner === null || elsewhere.account_id === owner)) {
    throw notFound('record_not_found', { id: recordId, collection: collectionId, other: elsewhere.id })
  }
  throw notFound('record_not_found', { id: recordId, collection: collectionId })
}

export const RECORD_COLUMNS = sql.raw(
  `r.id, r.item_id, i.name as item_name, i.slug as item_slug, r.grade_id, g.name as group_label, r.quantity,
   r.purchase_price, r.sale_price, r.purchase_date, r.card_uniq_id, r.note, r.for_trade, r.certificate, r.revision`,
)
export const RECORD_JOINS = sql.raw('join items i on i.id = r.item_id left join groups g on g.id = r.grade_id')

/** Writes the changes to a locked record and returns it. */
export async function updateRecord(tx: Tx, locked: RecordRow, changes: RecordChanges, now: Date): Promise<RecordRow> {
  const { quantity, forTrade, purchaseMinor, saleMinor, purchaseDate, cardUniqId, note, certificate } = changes
  const values = {
    ...(quantity !== undefined && { quantity }),
    ...(forTrade !== undefined && { for_trade: forTrade }),
    ...(purchaseMinor !== undefined && { purchase_price: decimalOf(purchaseMinor) }),
    ...(saleMinor !== undefined && { sale_price: decimalOf(saleMinor) }),
    ...(purchaseDate !== undefined && { purchase_date: purchaseDate }),
    ...(cardUniqId !== undefined && { card_uniq_id: cardUniqId }),
    ...(note !== undefined && { note }),
    ...(certificate !== undefined && { certificate: certificate && JSON.stringify(certificate) }),
  }
  const stored = await tx
    .updateTable('collection_items')
    .set({ ...values, revision: locked.revision + 1, updated_at: now })
    .where('id', '=', locked.id)
    .returning(['quantity', 'purchase_price', 'sale_price', 'purchase_date', 'card_uniq_id', 'note', 'for_trade', 'certificate', 'revision'])
    .executeTakeFirstOrThrow()
  return { ...locked, ...stored }
}

export async function deleteRecord(tx: Tx, collectionId: number, recordId: number): Promise<void> {
  await tx.deleteFrom('collection_items').where('id', '=', recordId).execute()
  await tx
    .updateTable('collections')
    .set((e) => ({ items_count: e('items_count', '-', 1) }))
    .where('id', '=', collectionId)
    .execute()
}

export function decimalOf(minor: number | null | undefined): string | null {
  return minor === null || minor === undefined ? null : minorToText(minor)
}

export async function insertCollection(
  tx: Tx,
  values: Pick<StoredCollection, 'account_id' | 'name' | 'description' | 'visibility'>,
  now: Date,
): Promise<StoredCollection> {
  const stored = { ...values, share_token: tokenAfter(null, values.visibility), created_at: now, updated_at: now }
  return jsonReady(await tx.insertInto('collections').values(stored).returning(STORED_COLUMNS).executeTakeFirstOrThrow())
}

/** The collection, locked until the transaction ends. @throws NOT_FOUND */
export async function lockCollection(tx: Tx, id: number): Promise<StoredCollection> {
  const collections = tx.selectFrom('collections').select(STORED_COLUMNS)
  const row = await collections.where('id', '=', existing('collection', id)).forUpdate().executeTakeFirst()
  if (!row) throw missing('collection', id)
  return jsonReady(row)
}

/** Writes the changes to a locked collection. Its link is created, kept or revoked with its visibility. */
export async function updateCollection(
  tx: Tx,
  locked: StoredCollection,
  values: Partial<Pick<StoredCollection, 'name' | 'description' | 'visibility' | 'method'>>,
  now: Date,
): Promise<StoredCollection> {
  const { visibility } = values
  const token =
    visibility === undefined ? undefined : tokenAfter({ visibility: locked.visibility, token: await shareTokenOf(tx, locked.id) }, visibility)
  const update = tx
    .updateTable('collections')
    .set({ ...values, ...(token !== undefined && { share_token: token }), updated_at: now })
    .where('id', '=', locked.id)
  return jsonReady(await update.returning(STORED_COLUMNS).executeTakeFirstOrThrow())
}

/** The token of a collection's link; null while it is private or was not shared by its owner. */
async function shareTokenOf(on: Queryable, id: number): Promise<string | null> {
  const row = await on.selectFrom('collections').select('share_token').where('id', '=', id).executeTakeFirst()
  return row?.share_token ?? null
}

/** A collection, and the token of its link; null without one. */
export interface SharedRow {
  collection: Collection
  token: string | null
}

/** A collection of the caller. @throws NOT_FOUND, or CONFLICT for another account's */
export async function fetchCollection(on: Queryable, viewer: Viewer, id: number): Promise<SharedRow> {
  await requireCollection(on, viewer, id)
  const row = await on
    .selectFrom('collections')
    .select([...COLLECTION_COLUMNS, 'share_token'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) throw missing('collection', id)
  const { share_token: token, ...collection } = row
  return { collection, token: collection.visibility === 'private' ? null : token }
}

/** The collection that is shared by this token; null if none is, or its account is suspended. */
export async function collectionByToken(on: Queryable, token: string): Promise<Collection | null> {
  const row = await on
    .selectFrom('collections')
    .select(COLLECTION_COLUMNS)
    .where('share_token', '=', token)
    .where('visibility', '<>', 'private')
    .where('account_id', 'in', (e) => e.selectFrom('accounts').select('id').where('suspended', '=', false))
    .executeTakeFirst()
  return row ?? null
}
