// COPY in and out of the database for bulk data, and its binary format, read and written without an object per row.
import type { QueryExecutorProvider } from 'kysely'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { DAY_MS } from '#core/duration.ts'
import { CopyOut } from './local/copy-out.ts'
import { reserve } from './connection/pool.ts'

/**
 * Streams `copy (select …) to stdout …`; each chunk holds whole rows, plus the header before the first and the trailer after the last.
 * @param on `db.kysely`, or a transaction to read in its snapshot
 */
export async function* copyOut(on: QueryExecutorProvider, sql: string): AsyncGenerator<Buffer, void> {
  const { connection, release } = await reserve(on)
  let over = false
  try {
    const copy = connection.client.query(new CopyOut(sql))
    for (let chunk = await copy.next(); chunk; chunk = await copy.next()) yield chunk
    over = true
  } catch (error) {
    over = true
    throw error
  } finally {
    // If the reader stops early, the server would wait forever to send the rest; only closing the connection stops it.
    if (!over) connection.end()
    release()
  }
}

/**
 * Feeds `copy table (…) from stdin …` and returns the number of rows. If the source fails, nothing is stored.
 * @param on a transaction to load as part of, or `db.kysely`
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
 * Field `i` of a row is at `offsets[i]` with `lengths[i]` bytes, big-endian; NULL has length -1. The buffer and the arrays
 * are reused for the next row: read them at once.
 */
export type BinaryRow = (buffer: Buffer, offsets: Int32Array, lengths: Int32Array) => void

const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const MAX_COLUMNS = 1_664
const EPOCH_2000_MS = Date.UTC(2000, 0, 1)
/** The base of the digits of a `numeric`. */
const NUMERIC_BASE = 10_000
const FIRST_BYTES = 64 * 1024
/** The largest field that `BinaryRows` writes, including its length. */
const FIELD_BYTES = 18

/**
 * Reads the stream of `copy … to stdout (format binary)` without an object per row.
 * @returns the number of rows
 * @throws Error if the stream is not a binary COPY or ends early
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
      const fields = ((buffer[at]! << 24) >> 16) | buffer[at + 1]!
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

/** An `int4` of a binary row. */
export function int4At(buffer: Buffer, offset: number): number {
  return (buffer[offset]! << 24) | (buffer[offset + 1]! << 16) | (buffer[offset + 2]! << 8) | buffer[offset + 3]!
}

/** Milliseconds since 1970 of the beginning of a `date` of a binary row, in UTC. */
export function dateMsAt(buffer: Buffer, offset: number): number {
  return int4At(buffer, offset) * DAY_MS + EPOCH_2000_MS
}

/** An `int8` of a binary row; exact up to 2^53. */
export function int8At(buffer: Buffer, offset: number): number {
  return int4At(buffer, offset) * 0x1_0000_0000 + (int4At(buffer, offset + 4) >>> 0)
}

/** Milliseconds since 1970 of a `timestamptz` of a binary row. */
export function timeAt(buffer: Buffer, offset: number): number {
  return Math.round(int8At(buffer, offset) / 1000) + EPOCH_2000_MS
}

/** Minor units of a `numeric` of a binary row that has at most two decimals. */
export function minorAt(buffer: Buffer, offset: number): number {
  const digits = int2At(buffer, offset)
  // Digits are groups of four decimal digits; the weight is the power of 10,000 of the first.
  let unit = int2At(buffer, offset + 2)
  let whole = 0
  let cents = 0
  for (let i = 0; i < digits; i++, unit--) {
    const four = int2At(buffer, offset + 8 + i * 2)
    if (unit >= 0) whole = whole * NUMERIC_BASE + four
    else if (unit === -1) cents = four / 100
  }
  for (; unit >= 0; unit--) whole *= NUMERIC_BASE
  return whole * 100 + cents
}

/** An `int2` of a binary row. */
export function int2At(buffer: Buffer, offset: number): number {
  return ((buffer[offset]! << 24) >> 16) | buffer[offset + 1]!
}

/** Builds rows for `copy … from stdin (format binary)`: for each row `begin`, then its fields in order. */
export class BinaryRows {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES)
  #size: number

  constructor() {
    this.#size = COPY_SIGNATURE.copy(this.#buffer)
    this.#int4(0)
    this.#int4(0)
  }

  begin(fields: number): this {
    const room = this.#size + 2 + fields * FIELD_BYTES + 2
    if (room > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(room, this.#buffer.length * 2))
      this.#buffer.copy(larger, 0, 0, this.#size)
      this.#buffer = larger
    }
    this.#int2(fields)
    return this
  }

  int2(value: number): this {
    this.#int4(2)
    this.#int2(value)
    return this
  }

  int4(value: number): this {
    this.#int4(4)
    this.#int4(value)
    return this
  }

  /** A `timestamptz` of milliseconds since 1970. */
  time(ms: number): this {
    const micros = Math.round((ms - EPOCH_2000_MS) * 1000)
    this.#int4(8)
    this.#int4(Math.floor(micros / 0x1_0000_0000))
    this.#int4(micros)
    return this
  }

  /** A `numeric` with two decimals, of minor units from 0 up to 10^14. */
  minor(minor: number): this {
    const cents = minor % 100
    const whole = (minor - cents) / 100
    const weight = whole >= NUMERIC_BASE * NUMERIC_BASE ? 2 : whole >= NUMERIC_BASE ? 1 : 0
    const digits = weight + (cents === 0 ? 1 : 2)
    this.#int4(8 + digits * 2)
    this.#int2(digits)
    this.#int2(weight)
    this.#int2(0)
    this.#int2(2)
    if (weight === 2) this.#int2(Math.floor(whole / (NUMERIC_BASE * NUMERIC_BASE)))
    if (weight >= 1) this.#int2(Math.floor(whole / NUMERIC_BASE) % NUMERIC_BASE)
    this.#int2(whole % NUMERIC_BASE)
    if (cents !== 0) this.#int2(cents * 100)
    return this
  }

  /** All rows as COPY input; nothing can be added after this. */
  end(): Buffer {
    this.#int2(-1)
    return this.#buffer.subarray(0, this.#size)
  }

  #int2(value: number): void {
    this.#buffer[this.#size++] = value >> 8
    this.#buffer[this.#size++] = value
  }

  #int4(value: number): void {
    this.#buffer[this.#size++] = value >> 24
    this.#buffer[this.#size++] = value >> 16
    this.#buffer[this.#size++] = value >> 8
    this.#buffer[this.#size++] = value
  }
}
