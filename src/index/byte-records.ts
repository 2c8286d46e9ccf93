// One byte record per row in large buffers, so that the garbage collector need not visit a million objects.
import { withCapacity } from '#index/columns.ts'
import type { ColumnStore } from '#index/stored.ts'

const CHUNK_BYTES = 1024 * 1024
const LOW_BITS = 0x7f
const MORE = 0x80
/** A number takes at most this many bytes. */
const NUMBER_BYTES = 5

/** A record under construction; it is used again for the next one. */
export class RecordWriter {
  bytes: Buffer = Buffer.alloc(256)
  size = 0

  clear(): void {
    this.size = 0
  }

  /** Appends an integer from 0 to 2^31 - 1, in seven bits per byte. */
  number(number: number): void {
    if (this.size + NUMBER_BYTES > this.bytes.length) this.#grow(NUMBER_BYTES)
    for (; number > LOW_BITS; number >>>= 7) this.bytes[this.size++] = (number & LOW_BITS) | MORE
    this.bytes[this.size++] = number
  }

  copy(bytes: Buffer, from: number, to: number): void {
    if (this.size + to - from > this.bytes.length) this.#grow(to - from)
    this.size += bytes.copy(this.bytes, this.size, from, to)
  }

  #grow(bytes: number): void {
    const larger = Buffer.alloc(2 * (this.size + bytes))
    this.bytes.copy(larger, 0, 0, this.size)
    this.bytes = larger
  }
}

/** Reads one record at a time. */
export class RecordReader {
  bytes: Buffer = Buffer.alloc(0)
  at = 0
  end = 0

  number(): number {
    let number = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes[this.at++]!
      number |= (byte & LOW_BITS) << shift
      if (byte < MORE) return number
    }
  }
}

/** 4 GB of records in total. */
export class ByteRecords {
  /** Each record follows its length. A larger record has a buffer of its own, followed by empty ones for the positions that it covers. */
  #chunks: Buffer[] = []
  #used = CHUNK_BYTES
  /** by row: the position of its record, plus 1; 0 for none */
  #places = new Uint32Array(0)
  #live = 0
  /** bytes of records that were replaced or removed */
  #waste = 0
  readonly #reader = new RecordReader()

  store(columns: ColumnStore): void {
    this.#chunks = columns.chunks(this.#chunks)
    this.#places = columns.column(this.#places)
    ;[this.#used, this.#live, this.#waste] = columns.value([this.#used, this.#live, this.#waste] as const)
  }

  /** Reserves space for this many rows. */
  reserve(rows: number): void {
    this.#places = withCapacity(this.#places, rows)
  }

  has(row: number): boolean {
    return row < this.#places.length && this.#places[row] !== 0
  }

  /** The record of a row that has one; valid until another one is opened. */
  open(row: number): RecordReader {
    return this.#openAt(this.#chunks, this.#places[row]! - 1)
  }

  /** Stores the written record as the row's, replacing its previous one. */
  set(row: number, { bytes, size }: RecordWriter): void {
    this.delete(row)
    this.#append(row, bytes, 0, size)
    if (this.#waste > this.#live && this.#waste > CHUNK_BYTES) this.#compact()
  }

  delete(row: number): void {
    if (!this.has(row)) return
    const { at, end } = this.open(row)
    this.#live -= end - at
    this.#waste += end - at
    this.#places[row] = 0
  }

  /** Allocated memory. */
  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, this.#places.byteLength)
  }

  #openAt(chunks: readonly Buffer[], place: number): RecordReader {
    const reader = this.#reader
    reader.bytes = chunks[Math.floor(place / CHUNK_BYTES)]!
    reader.at = place % CHUNK_BYTES
    reader.end = reader.number()
    reader.end += reader.at
    return reader
  }

  #append(row: number, bytes: Buffer, from: number, to: number): void {
    const room = NUMBER_BYTES + to - from
    if (this.#used + room > CHUNK_BYTES) {
      // The start file contains the unused end, too, so it must be zeroed.
      this.#chunks.push(Buffer.alloc(Math.max(CHUNK_BYTES, room)))
      this.#used = 0
    }
    const chunk = this.#chunks.at(-1)!
    if (row >= this.#places.length) this.#places = withCapacity(this.#places, row + 1)
    this.#places[row] = (this.#chunks.length - 1) * CHUNK_BYTES + this.#used + 1
    for (let length = to - from; ; length >>>= 7) {
      chunk[this.#used++] = length > LOW_BITS ? (length & LOW_BITS) | MORE : length
      if (length <= LOW_BITS) break
    }
    this.#used += bytes.copy(chunk, this.#used, from, to)
    this.#live += to - from
    for (let covered = CHUNK_BYTES; covered < room; covered += CHUNK_BYTES) this.#chunks.push(Buffer.alloc(0))
    if (room > CHUNK_BYTES) this.#used = CHUNK_BYTES
  }

  /** Copies all records into new chunks, without gaps. */
  #compact(): void {
    const chunks = this.#chunks
    this.#chunks = []
    this.#used = CHUNK_BYTES
    this.#waste = 0
    this.#live = 0
    for (let row = 0; row < this.#places.length; row++) {
      const place = this.#places[row]! - 1
      if (place < 0) continue
      const { bytes, at, end } = this.#openAt(chunks, place)
      this.#append(row, bytes, at, end)
    }
  }
}
