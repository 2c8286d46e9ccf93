// Saves a photo of an account within its limit: first its files, and then, in a transaction, the photo itself.
import { secretBytes } from '#core/process/secret-bytes.ts'
import { invalid } from '#core/errors.ts'
import type { AuditEntry } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { encodePhoto } from './encode-photo.ts'
import { countPhotos, findPhoto, keepPhoto, type PhotoRow, publishPhoto, reservePhoto, type Original, UNUSED_DAYS } from './photo-store.ts'
import type { PhotoCtx } from './photo-types.ts'

type SavingCtx = Pick<PhotoCtx, 'db' | 'now' | 'photos'>

/**
 * Encodes an image and stores its files, which are removed later unless `publishFiles` follows.
 * @returns the key of the files; null if the account has a photo of this image
 * @throws VALIDATION_ERROR of the field `file` as `encodePhoto` does, and if the account has too many photos; UNAVAILABLE, RATE_LIMITED
 */
export async function saveFiles(ctx: SavingCtx, original: Original, bytes: Buffer): Promise<string | null> {
  if (await findPhoto(ctx.db.kysely, original)) return null
  await requireRoom(ctx, ctx.db.kysely, original.accountId, 1)
  const sizes = await encodePhoto(bytes)
  const key = secretBytes(16).toString('hex')
  await reservePhoto(ctx.db, { ...original, key }, sizes, ctx.now())
  for (const size of sizes) await ctx.photos.files.save(key, size.width, size.bytes)
  return key
}

/**
 * The photo of the saved files, or the one that the account has of this image. The caller has locked the account.
 * @returns null if another request has removed it in the meantime
 * @throws VALIDATION_ERROR if the account has too many photos
 */
export async function publishFiles(
  ctx: SavingCtx,
  tx: Tx,
  original: Original,
  key: string | null,
): Promise<{ photo: PhotoRow; isNew: boolean } | null> {
  const published = key === null ? null : await publishPhoto(tx, { ...original, key }, ctx.now())
  if (published) {
    await requireRoom(ctx, tx, original.accountId, 0)
    return { photo: published, isNew: true }
  }
  // Another request has stored the same image; the files of this one are removed later.
  const same = await findPhoto(tx, original)
  const photo = same && (await keepPhoto(tx, same.id, ctx.now()))
  return photo && { photo, isNew: false }
}

/** @throws VALIDATION_ERROR if the account may not have as many `more` photos */
export async function requireRoom({ photos: { perAccount: max } }: SavingCtx, on: Queryable, accountId: number, more: number): Promise<void> {
  if ((await countPhotos(on, accountId)) + more > max) throw invalid('file', 'photos_full', { max, days: UNUSED_DAYS })
}

export function photoAdded({ accountId, sha256 }: Original, { id }: PhotoRow): AuditEntry {
  return { action: 'photo.add', subject: 'account', id: accountId, after: { photo_id: id, sha256: sha256.toString('hex') } }
}
