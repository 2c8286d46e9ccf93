// Stores a photo that a seller uploads for listings; the same upload again returns the same photo.
import { conflict } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change, earlierResult } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { ReceivedFile } from '#http/body/one-file.ts'
import { lockIntake, requireIntake } from '#market/intake/store.ts'
import type { PhotoRow } from './photo-store.ts'
import type { Photo, PhotoCtx } from './photo-types.ts'
import { photoAdded, publishFiles, saveFiles } from './save-photo.ts'

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
    const key = await saveFiles(ctx, upload, bytes)
    return change(ctx, async (tx, note) => {
      await lockIntake(tx, upload.accountId)
      const saved = await publishFiles(ctx, tx, upload, key)
      if (!saved) throw conflict('changed_since_read')
      const { photo, isNew } = saved
      if (isNew) note.audit(photoAdded(upload, photo))
      return shown(ctx, photo)
    })
  },
)

function shown({ catalogue: { addresses } }: PhotoCtx, { id, key, sha256, widths }: PhotoRow): Photo {
  const sizes = widths.map((width) => ({ width, url: addresses.ofPhoto(key, width) }))
  return { id, url: sizes.at(-1)!.url, sizes, sha256: sha256.toString('hex') }
}
