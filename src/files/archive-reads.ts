// Reads across a table and the files of its archived months.
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'

/**
 * Reads data from the database and the archive, and again whenever a month has moved between them in the meantime: this ends, because there are only
 * so many months.
 * @param findFiles the files that the read needs, as JSON
 */
export async function readWithArchive<Files, T>(findFiles: () => Promise<Files>, read: (files: Files) => Promise<T>): Promise<T> {
  let files = await findFiles()
  for (;;) {
    const outcome = await read(files).then(
      (result) => ({ result }),
      (error: Error) => ({ error }),
    )
    const after = await findFiles()
    if (JSON.stringify(after) === JSON.stringify(files)) {
      if ('error' in outcome) throw outcome.error
      return outcome.result
    }
    files = after
  }
}

/** Reads files of an archive. @throws UNAVAILABLE with this rule if they cannot be read */
export async function fromArchive<T>(rule: 'price_archive' | 'audit_archive', reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ServiceError) throw error
    const cause = new Error(`Failed to read the archive: ${(error as Error).message}`, { cause: error })
    throw new ServiceError('UNAVAILABLE', reason(rule), { headers: { 'retry-after': '30' }, cause })
  }
}
