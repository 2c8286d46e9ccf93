// The price archive chosen by the settings: a folder, or `archive` in the bucket of the dumps.
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import { openFileStore } from '#files/file-store.ts'
import { PriceArchive } from './price-archive.ts'

/** Opens the archive; does not access its store yet. */
export function openPriceArchive({ archiveDir, dumpsS3 }: { archiveDir: string; dumpsS3: BucketSettings | null }): PriceArchive {
  return new PriceArchive(openFileStore(archiveDir, dumpsS3, 'archive'))
}
