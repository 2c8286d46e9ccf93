// The files of the audit log's archive, next to those of the price history: in a folder, or in the bucket of the dumps.
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import { openFileStore } from '#files/file-store.ts'
import { ParquetFiles } from '#files/parquet-files.ts'
import { AuditFile } from './audit-file.ts'

export type AuditArchive = ParquetFiles<AuditFile>

/** Opens the archive; does not access its store yet. */
export function openAuditArchive({ archiveDir, dumpsS3 }: { archiveDir: string; dumpsS3: BucketSettings | null }): AuditArchive {
  return new ParquetFiles(openFileStore(archiveDir, dumpsS3, 'archive'), (file) => AuditFile.open(file))
}
