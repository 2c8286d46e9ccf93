// Texts of items outside the JavaScript heap: one packed record per row in large buffers, so that the garbage collector need not visit a million
// items.
import { withCapacity } from '#index/columns.ts'
import type { ColumnStore } from '#index/stored.ts'
import type { Utf8 } from '#index/utf8.ts'

const CHUNK_BYTES = 4 * 1024 * 1024
const HEADER_BYTES = 16

/** The parts of a record; all but the slug are JSON texts that can be copied into a response. */
export interface ItemTexts {
  slug: string
  images: string
  attributes: string
  details: string
}

export class TextArena {
  #chunks: Buffer[] = []
  #used = CHUNK_BYTES
  #chunkOf = new Int32Array(0)
  #offsetOf = new Uint32Array(0)
  /** bytes of replaced records */
  #waste = 0
  #live = 0

  store(columns: ColumnStore): void {
    this.#chunks = columns.chunks(this.#chunks)
    this.#chunkOf = columns.column(this.#chunkOf)
    this.#offsetOf = columns.column(this.#offsetOf)
    ;[this.#used, this.#waste, this.#live] = columns.value([this.#used, this.#waste, this.#live] as const)
  }

  /** Reserves memory for this many rows. */
  reserve(rows: number): void {
    this.#chunkOf = withCapacity(this.#chunkOf, rows)
    this.#offsetOf = withCapacity(this.#offsetOf, rows)
  }

  /** Stores the texts of a row, replacing existing ones. */
  set(row: number, { slug, images, attributes, details }: Record<keyof ItemTexts, Utf8>): void {
    this.#chunkOf = withCapacity(this.#chunkOf, row + 1)
    this.#offsetOf = withCapacity(this.#offsetOf, row + 1)
    if (this.#chunkOf[row]! > 0) this.#waste += this.#record(row).length
    this.#write(row, slug, images, attributes, details)
    if (this.#waste > this.#live && this.#waste > CHUNK_BYTES) this.#compact()
  }

  get(row: number): ItemTexts {
    const record = this.#record(row)
    const slugEnd = HEADER_BYTES + record.readUInt16LE(0)
    const imagesEnd = slugEnd + record.readUInt32LE(4)
    const attributesEnd = imagesEnd + record.readUInt32LE(8)
    return {
      slug: record.toString('utf8', HEADER_BYTES, slugEnd),
      images: record.toString('utf8', slugEnd, imagesEnd),
      attributes: record.toString('utf8', imagesEnd, attributesEnd),
      details: record.toString('utf8', attributesEnd, record.length),
    }
  }

  slug(row: number): string {
    const record = this.#record(row)
    return record.toString('utf8', HEADER_BYTES, HEADER_BYTES + record.readUInt16LE(0))
  }

  get bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  }

  #record(row: number): Buffer {
    const chunk = this.#chunks[this.#chunkOf[row]! - 1]!
    const offset = this.#offsetOf[row]!
    return chunk.subarray(offset, offset + chunk.readUInt32LE(offset + 12))
  }

  #write(row: number, slug: Utf8, images: Utf8, attributes: Utf8, details: Utf8): void {
    const size = HEADER_BYTES + lengthOf(slug) + lengthOf(images) + lengthOf(attributes) + lengthOf(details)
    const { chunk, offset } = this.#place(row, size)
    chunk.writeUInt16LE(lengthOf(slug), offset)
    chunk.writeUInt32LE(lengthOf(images), offset + 4)
    chunk.writeUInt32LE(lengthOf(attributes), offset + 8)
    chunk.writeUInt32LE(size, offset + 12)
    copyInto(chunk, copyInto(chunk, copyInto(chunk, copyInto(chunk, offset + HEADER_BYTES, slug), images), attributes), details)
  }

  /** Allocates a record at the end and assigns it to the row. Chunks are zeroed, because the start file contains the unused end, too. */
  #place(row: number, size: number): { chunk: Buffer; offset: number } {
    if (this.#used + size > (this.#chunks.at(-1)?.length ?? 0)) {
      this.#chunks.push(Buffer.alloc(Math.max(CHUNK_BYTES, size)))
      this.#used = 0
    }
    const offset = this.#used
    this.#used += size
    this.#live += size
    this.#chunkOf[row] = this.#chunks.length
    this.#offsetOf[row] = offset
    return { chunk: this.#chunks.at(-1)!, offset }
  }

  #compact(): void {
    const old = { chunks: this.#chunks, chunkOf: this.#chunkOf.slice(), offsetOf: this.#offsetOf.slice() }
    this.#chunks = []
    this.#used = CHUNK_BYTES
    this.#waste = 0
    this.#live = 0
    for (let row = 0; row < old.chunkOf.length; row += 1) {
      if (old.chunkOf[row] === 0) continue
      const source = old.chunks[old.chunkOf[row]! - 1]!
      const from = old.offsetOf[row]!
      const size = source.readUInt32LE(from + 12)
      const { chunk, offset } = this.#place(row, size)
      source.copy(chunk, offset, from, from + size)
    }
  }
}

function lengthOf({ from, to }: Utf8): number {
  return to - from
}

/** @returns the position after the copy */
function copyInto(chunk: Buffer, at: number, { bytes, from, to }: Utf8): number {
  return at + bytes.copy(chunk, at, from, to)
}
