// Decompresses JSON bodies, up to the maximum size of a body.
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, type ZlibOptions } from 'node:zlib'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'

const UNPACK = new Map<string, (body: Buffer, options: ZlibOptions) => Promise<Buffer>>([
  ['gzip', promisify<Buffer, ZlibOptions, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, ZlibOptions, Buffer>(inflate)],
  ['br', promisify<Buffer, ZlibOptions, Buffer>(brotliDecompress)],
])

/**
 * The bytes of a body before its `Content-Encoding`.
 * @throws UNSUPPORTED_MEDIA_TYPE for other encodings, BAD_REQUEST for bytes with another encoding, PAYLOAD_TOO_LARGE
 */
export async function unpackBody(encoding: string | undefined, body: Buffer, mostBytes: number): Promise<Buffer> {
  const name = encoding?.toLowerCase() ?? 'identity'
  if (name === 'identity' || body.length === 0) return body
  const unpack = UNPACK.get(name)
  if (!unpack) throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', reason('body_encoding', { values: [...UNPACK.keys()] }))
  try {
    return await unpack(body, { maxOutputLength: mostBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new ServiceError('PAYLOAD_TOO_LARGE', reason('body_size'))
    }
    throw new ServiceError('BAD_REQUEST', reason('body_packed'))
  }
}
