// Stores uploaded files on disk until their import has ended; writes and hashes them as they arrive.
import { createHash } from 'node:crypto'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { newId } from '#core/process/time-and-chance.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'

/** Maximum size of an upload's body. */
export const MAX_UPLOAD_BYTES = 2 * 1024 * 1024 * 1024

export interface Upload {
  path: string
  size: number
  /** compressed with gzip, by its first bytes */
  gzip: boolean
  /** returns what represents the file when requests are compared */
  toJSON: () => object
}

/**
 * Writes a body to a new file in the folder.
 * @throws PAYLOAD_TOO_LARGE above 2 GB; the file is then removed
 */
export async function storeUpload(folder: string, body: AsyncIterable<Uint8Array>, mostBytes = MAX_UPLOAD_BYTES): Promise<Upload> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, newId())
  const hash = createHash('sha256')
  let size = 0
  let head = Buffer.alloc(0)
  const measured = async function* () {
    for await (const chunk of body) {
      size += chunk.length
      if (size > mostBytes) {
        throw new ServiceError('PAYLOAD_TOO_LARGE', reason('at_most', { part: 'file', units: 'bytes', max: mostBytes }))
      }
      if (head.length < 2) head = Buffer.concat([head, chunk.subarray(0, 2)])
      hash.update(chunk)
      yield chunk
    }
  }
  try {
    await pipeline(measured, createWriteStream(path, { mode: 0o600 }))
  } catch (error) {
    removeUpload(path)
    throw error
  }
  const sha256 = hash.digest('hex')
  return { path, size, gzip: head[0] === 0x1f && head[1] === 0x8b, toJSON: () => ({ size, sha256 }) }
}

export function removeUpload(path: string): void {
  rmSync(path, { force: true })
}
