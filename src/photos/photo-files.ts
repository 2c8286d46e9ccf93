// The files of photos: in a folder of DATA_DIR or of all nodes, or in the bucket of the dumps.
import { writeFile } from 'node:fs/promises'
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { openFileStore } from '#files/file-store.ts'

export interface PhotoFiles {
  /** Stores a size; durable once this resolves. @throws UNAVAILABLE */
  save: (key: string, width: number, bytes: Buffer) => Promise<void>
  /** A size as WebP; null if it does not exist. @throws UNAVAILABLE */
  read: (key: string, width: number) => Promise<Buffer | null>
  remove: (key: string, width: number) => Promise<void>
}

/** Opens the store without accessing it. */
export function openPhotoFiles({ photosDir, dumpsS3 }: { photosDir: string; dumpsS3: BucketSettings | null }): PhotoFiles {
  const store = openFileStore(photosDir, dumpsS3, 'photos')
  const nameOf = (key: string, width: number) => `${key}-${width}.webp`
  return {
    save: (key, width, bytes) =>
      available(
        store.stage().then(async (staged) => {
          await writeFile(staged, bytes)
          await store.store(staged, nameOf(key, width))
        }),
      ),
    read: (key, width) => available(store.readAll(nameOf(key, width))),
    remove: (key, width) => store.remove(nameOf(key, width)),
  }
}

async function available<T>(access: Promise<T>): Promise<T> {
  try {
    return await access
  } catch (cause) {
    throw new ServiceError('UNAVAILABLE', reason('photo_store'), { headers: { 'retry-after': '30', 'cache-control': 'no-store' }, cause })
  }
}
