// Opens files that are passed to commands.
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import { gunzip } from '#core/files/feed.ts'
import type { ImportFile } from '#imports/files.ts'

/** The file at a path; `-` is standard input. @throws Error that names the path */
export function fileAt(path: string): ImportFile {
  if (path === '-') return { name: null, size: null, open: () => process.stdin }
  try {
    const { size } = statSync(path)
    return { name: basename(path), size, open: () => createReadStream(path, { highWaterMark: 256 * 1024 }) }
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

/** The bytes of the file at a path; those of a `.gz` are decompressed. @throws Error that names the path */
export function bytesAt(path: string): AsyncIterable<Uint8Array> {
  const { name, open } = fileAt(path)
  return name?.endsWith('.gz') ? gunzip(open()) : open()
}
