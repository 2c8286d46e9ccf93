// Stores a photo that a seller uploads for listings; the same upload again returns the same photo.
import { randomBytes } from 'node:crypto'
import { conflict, invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change, earlierResult } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { Queryable } from '#db/schema.ts'
import type { ReceivedFile } from '#http/body/one-file.ts'
import { lockIntake, requireIntake } from '#market/intake/store.ts'
import { encodePhoto } from './encode-photo.ts'
import { countPhotos, findPhoto, keepPhoto, type PhotoRow, publishPhoto, reservePhoto, UNUSED_DAYS } from './photo-store.ts'
import type { Photo, PhotoCtx } from './photo-types.ts'

export const addPhoto = writeVerb(
  {
    name: 'addPhoto',
    needs: OPERATION_PLAN.addPhoto,
    input: Type.Object({ file: Type.Unknown({ description: 'JPEG, PNG, WebP or AVIF of at most 40 megapixels' }) }),
    rehearsable: false,
  },
  async (ctx: PhotoCtx, { file }): Promise<Photo> => {
    const { bytes, sha256 } = file as ReceivedFile
    const upload = { accountId: ownAccount(ctx.viewer), sha256 }
    const earlier = await earlierResult<Photo>(ctx)
    if (earlier) return earlier
    await requireIntake(ctx.db.kysely, upload.accountId)
    const stored = await findPhoto(ctx.db.kysely, upload)
    const key = stored ? null : await saveFiles(ctx, upload, bytes)
    return change(ctx, async (tx, note) => {
      await lockIntake(tx, upload.accountId)
      if (key !== null) {
        const published = await publishPhoto(tx, { ...upload, key }, ctx.now())
        if (published) {
          await requireRoom(ctx, tx, upload.accountId, 0)
          note.audit({
            action: 'photo.add',
            subject: 'account',
            id: upload.accountId,
            after: { photo_id: published.id, sha256: sha256.toString('hex') },
          })
          return shown(ctx, published)
        }
      }
      // Another request has stored the same upload; the files of this one are removed later.
      const same = stored ?? (await findPhoto(tx, upload))
      const kept = same && (await keepPhoto(tx, same.id, ctx.now()))
      if (!kept) throw conflict('changed_since_read')
      return shown(ctx, kept)
    })
  },
)

/** Encodes an upload and stores its files. @returns the key of its reservation */
async function saveFiles(ctx: PhotoCtx, upload: { accountId: number; sha256: Buffer }, bytes: Buffer): Promise<string> {
  await requireRoom(ctx, ctx.db.kysely, upload.accountId, 1)
  const sizes = await encodePhoto(bytes)
  const key = randomBytes(16).toString('hex')
  await reservePhoto(ctx.db, { ...upload, key }, sizes, ctx.now())
  for (const size of sizes) await ctx.photos.files.save(key, size.width, size.bytes)
  return key
}

/** @throws VALIDATION_ERROR if the account may not have as many `more` photos */
async function requireRoom({ photos: { perAccount: max } }: PhotoCtx, on: Queryable, accountId: number, more: number): Promise<void> {
  if ((await countPhotos(on, accountId)) + more > max) throw invalid('file', 'photos_full', { max, days: UNUSED_DAYS })
}

function shown({ catalogue: { addresses } }: PhotoCtx, { id, key, sha256, widths }: PhotoRow): Photo {
  const sizes = widths.map((width) => ({ width, url: addresses.ofPhoto(key, width) }))
  return { id, url: sizes.at(-1)!.url, sizes, sha256: sha256.toString('hex') }
}
