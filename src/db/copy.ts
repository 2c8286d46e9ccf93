// COPY in and out of the database for bulk data, and reading of its binary form without an object per row.
import type { QueryExecutorProvider } from 'kysely'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { reserve } from './pool.ts'

/**
 * Streams `copy (select …) to stdout …`; each chunk holds whole or split rows as they come from the server.
 * @param on `db.kysely`, or a transaction to read in its snapshot
 */
export async function* copyOut(on: QueryExecutorProvider, sql: string): AsyncGenerator<Buffer, void> {
  const { connection, release } = await reserve(on)
  let over = false
  try {
    yield* connection.client.query(copyTo(sql)) as AsyncIterable<Buffer>
    over = true
  } catch (error) {
    over = true
    throw error
  } finally {
    // Left early, the server would wait for ever to send the rest: only the end of the connection stops it.
    if (!over) connection.end()
    release()
  }
}

/**
 * Feeds `copy table (…) from stdin …` and returns the number of rows taken. When the source fails, nothing is kept.
 * @param on a transaction to load as a part of it, or `db.kysely`
 */
export async function copyIn(
  on: QueryExecutorProvider,
  sql: string,
  chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): Promise<number> {
  const { connection, release } = await reserve(on)
  try {
    const sink = connection.client.query(copyFrom(sql))
    await pipeline(chunks, sink)
    return sink.rowCount
  } finally {
    release()
  }
}

/**
 * Field `i` of a row lies at `offsets[i]` with `lengths[i]` bytes, big-endian; NULL has length -1. Buffer and arrays
 * are used again for the next row: read at once, keep nothing.
 */
export type BinaryRow = (buffer: Buffer, offsets: Int32Array, lengths: Int32Array) => void

const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const MAX_COLUMNS = 1_664

/**
 * Reads the stream of `copy … to stdout (format binary)` without an object per row.
 * @returns the number of rows
 * @throws Error when the stream is no binary COPY or ends early
 */
export async function readBinaryCopy(chunks: AsyncIterable<Buffer>, onRow: BinaryRow): Promise<number> {
  const offsets = new Int32Array(MAX_COLUMNS)
  const lengths = new Int32Array(MAX_COLUMNS)
  let rest: Buffer | null = null
  let rows = 0
  let headerRead = false
  let ended = false
  for await (const chunk of chunks) {
    const buffer: Buffer = rest ? Buffer.concat([rest, chunk]) : chunk
    const size = buffer.length
    let at = 0
    if (!headerRead) {
      const headerSize = size < 19 ? Infinity : 19 + buffer.readUInt32BE(15)
      if (size >= 11 && !buffer.subarray(0, 11).equals(COPY_SIGNATURE)) throw new Error('no binary COPY stream')
      headerRead = size >= headerSize
      at = headerRead ? headerSize : size + 1
    }
    while (at + 2 <= size) {
      const fields = (buffer[at]! << 24 >> 16) | buffer[at + 1]!
      if (fields < 0) {
        ended = true
        break
      }
      let next = at + 2
      let field = 0
      for (; field < fields && next + 4 <= size; field++) {
        const length = int4At(buffer, next)
        next += 4
        offsets[field] = next
        lengths[field] = length
        if (length > 0) next += length
      }
      if (field < fields || next > size) break
      onRow(buffer, offsets, lengths)
      rows++
      at = next
    }
    rest = at === size ? null : buffer.subarray(at > size ? 0 : at)
  }
  if (!ended) throw new Error('binary COPY stream ended early')
  return rows
}

/** An `int4` (or `date`: days since 2000-01-01) of a binary row. */
export function int4At(buffer: Buffer, offset: number): number {
  return (buffer[offset]! << 24) | (buffer[offset + 1]! << 16) | (buffer[offset + 2]! << 8) | buffer[offset + 3]!
}

/** An `int8` of a binary row; exact up to 2^53. */
export function int8At(buffer: Buffer, offset: number): number {
  return int4At(buffer, offset) * 0x1_0000_0000 + (int4At(buffer, offset + 4) >>> 0)
}
