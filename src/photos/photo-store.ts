// SQL of photos: reserving, publishing and finding them, and removing those that no listing uses.
import { hash } from 'node:crypto'
import { type SqlBool, sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '#core/duration.ts'
import { PHOTO_KEY } from '#catalogue/records/image-addresses.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { SOLD_OUT } from '#market/records/rules.ts'
import type { EncodedSize } from './encode-photo.ts'
import type { PhotoFiles } from './photo-files.ts'

/** A photo without an unsold listing that uses it is removed after this time. */
export const UNUSED_DAYS = 30
/** Longer than saving the files of a photo takes. */
const RESERVED_MS = HOUR_MS
const CHECK_MS = DAY_MS
/** Photos checked by one statement. */
const AT_ONCE = 500

export interface PhotoRow {
  id: number
  key: string
  sha256: Buffer
  widths: number[]
}

/** The image that a photo is made of. */
export interface Original {
  accountId: number
  sha256: Buffer
}

/** The account's photo of this image, if it has one. */
export async function findPhoto(on: Queryable, { accountId, sha256 }: Original): Promise<PhotoRow | null> {
  const own = on.selectFrom('photos').select(['id', 'key', 'sha256', 'widths']).where('account_id', '=', accountId).where('sha256', '=', sha256)
  return (await own.where('remove_after', 'is', null).executeTakeFirst()) ?? null
}

/** The account's photo with this id or key; null if there is none. */
export async function findOwnPhoto(
  on: Queryable,
  accountId: number,
  { id, key }: { id: number | null; key: string | null },
): Promise<PhotoRow | null> {
  const own = on.selectFrom('photos').select(['id', 'key', 'sha256', 'widths']).where('account_id', '=', accountId).where('remove_after', 'is', null)
  return (await own.where((is) => is.or([is('id', '=', id), is('key', '=', key)])).executeTakeFirst()) ?? null
}

/** Number of photos of an account. */
export async function countPhotos(on: Queryable, accountId: number): Promise<number> {
  const own = on.selectFrom('photos').select(sql<number>`count(*)::int4`.as('count')).where('account_id', '=', accountId)
  return (await own.where('remove_after', 'is', null).executeTakeFirstOrThrow()).count
}

/** Records files before they are written, so that they are removed if the photo is not published. */
export async function reservePhoto(db: Db, original: Original & Pick<PhotoRow, 'key'>, sizes: readonly EncodedSize[], now: Date): Promise<void> {
  const { accountId, ...columns } = original
  const files = {
    widths: sizes.map(({ width }) => width),
    size_hashes: sizes.map(({ bytes }) => hash('sha256', bytes, 'buffer')),
  }
  const times = { created_at: now, checked_at: now, unused_since: now, remove_after: new Date(now.getTime() + RESERVED_MS) }
  await db.kysely
    .insertInto('photos')
    .values({ account_id: accountId, ...columns, ...files, ...times })
    .execute()
}

/** Makes a reservation a photo, unless the account has one of the same image. @returns it; null if it has one, or if the reservation ended */
export async function publishPhoto(tx: Tx, { accountId, sha256, key }: Original & { key: string }, now: Date): Promise<PhotoRow | null> {
  const same = tx.selectFrom('photos').select('id').where('account_id', '=', accountId).where('sha256', '=', sha256).where('remove_after', 'is', null)
  const published = tx
    .updateTable('photos')
    .set({ remove_after: null })
    .where('key', '=', key)
    .where('remove_after', '>', now)
    .where((is) => is.not(is.exists(same)))
    .returning(['id', 'key', 'sha256', 'widths'])
  return (await published.executeTakeFirst()) ?? null
}

/** Extends the time for which a photo stays without a listing. @returns null if it was removed in the meantime */
export async function keepPhoto(tx: Tx, id: number, now: Date): Promise<PhotoRow | null> {
  const kept = tx
    .updateTable('photos')
    .set({ unused_since: sql<Date>`case when unused_since is not null then ${now}::timestamptz end` })
    .where('id', '=', id)
    .where('remove_after', 'is', null)
    .returning(['id', 'key', 'sha256', 'widths'])
  return (await kept.executeTakeFirst()) ?? null
}

/** Removes photos that no unsold listing has used for `UNUSED_DAYS`, and the files of photos that were not published. */
export async function forgetPhotos(db: Db, files: PhotoFiles, now: Date): Promise<void> {
  while ((await checkUse(db, now)) === AT_ONCE);
  const over = db.kysely.selectFrom('photos').select(['id', 'key', 'widths']).where('remove_after', '<=', now).orderBy('remove_after')
  for (const { id, key, widths } of await over.limit(AT_ONCE).execute()) {
    for (const width of widths) await files.remove(key, width)
    await db.kysely.deleteFrom('photos').where('id', '=', id).execute()
  }
}

/** Records which photos are in use, of those that were not checked for a day. @returns the number of photos checked */
async function checkUse(db: Db, now: Date): Promise<number> {
  const isUsed = sql<SqlBool>`exists (select from used where used.key = d.key)`
  const { numAffectedRows } = await sql`
    with due as (
      select id, account_id, key from photos
      where remove_after is null and checked_at <= ${new Date(now.getTime() - CHECK_MS)}
      order by checked_at limit ${AT_ONCE} for update skip locked
    ), used as (
      select substring(image.url from ${PHOTO_KEY}) as key
      from listings l cross join jsonb_to_recordset(l.images) as image(url text)
      where l.seller_id in (select account_id from due) and l.status <> ${SOLD_OUT}
    )
    update photos p set
      checked_at = ${now},
      unused_since = case when not ${isUsed} then coalesce(p.unused_since, ${now}) end,
      remove_after = case when not ${isUsed} and p.unused_since <= ${new Date(now.getTime() - UNUSED_DAYS * DAY_MS)} then ${now}::timestamptz end
    from due d where p.id = d.id`.execute(db.kysely)
  return Number(numAffectedRows)
}
