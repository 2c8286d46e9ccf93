// Opens the files of an import and detects their encoding and format.
import { FeedError, gunzip } from '#core/files/feed.ts'

export interface ImportFile {
  /** a name that ends in `.gz` means gzip */
  name: string | null
  /** size of the data that `open` returns; null if unknown */
  size: number | null
  open: () => AsyncIterable<Uint8Array>
}

/** The first bytes of a file, decompressed; formats recognise their files by them. */
export async function headOf(file: ImportFile): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  const unpacked = file.name?.endsWith('.gz') ? unpackSome(file.open()) : file.open()
  for await (const chunk of unpacked) {
    parts.push(Buffer.from(chunk))
    size += chunk.length
    if (size >= 4_096) break
  }
  return Buffer.concat(parts).toString('utf8', 0, 4_096)
}

async function* unpackSome(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* gunzip(bytes)
  } catch (error) {
    // Errors in the file are reported when it is read completely.
    if (!(error instanceof FeedError)) throw error
  }
}
