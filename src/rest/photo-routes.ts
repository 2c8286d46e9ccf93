// Photos of sellers over REST.
import type { Route } from '#http/route.ts'
import { acceptOneFile } from '#http/body/one-file.ts'
import { addPhoto } from '#photos/add-photo.ts'
import { UNUSED_DAYS } from '#photos/photo-store.ts'
import { type Photo, type PhotoCtx, PhotoSchema } from '#photos/photo-types.ts'

export const photoRoutes: Route<PhotoCtx>[] = [
  {
    method: 'POST',
    path: '/plus/images',
    verb: addPhoto,
    summary: 'Upload a photo for listings',
    description:
      'The body is the image itself, or `multipart/form-data` with one file named `file`; at most 10 MB. The operator must enable listing import ' +
      'for the account (otherwise 403). The photo is turned upright and stored without its metadata, such as the place where it was taken, as WebP ' +
      'in up to three widths. Use `url` in `images` of a listing. Uploading the same file again returns the same photo. A photo that no unsold ' +
      `listing uses is removed after ${UNUSED_DAYS} days. Accepts an \`Idempotency-Key\`; does not support \`dry_run\`.`,
    tag: 'Listings',
    status: 201,
    bodyField: 'file',
    bodyLimit: 10 * 1024 * 1024,
    // Not also multipart/form-data, which it accepts: Orval generates no valid code for an alternative of file and form.
    bodyTypes: ['image/jpeg', 'image/png', 'image/webp', 'image/avif'],
    scope: (inner) => acceptOneFile(inner, 'file', addPhoto),
    answer: (data: Photo) => ({ data, message: 'Photo stored' }),
    data: PhotoSchema,
    errors: ['FORBIDDEN', 'PAYLOAD_TOO_LARGE', 'UNAVAILABLE'],
  },
]
