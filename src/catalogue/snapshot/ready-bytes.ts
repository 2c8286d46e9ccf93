// Items already serialised, per plan, within a budget: a page of answers is a few copies of ready bytes.
import { grown } from '#index/columns.ts'

const CHUNK_BYTES = 1024 * 1024
/** Entries begin at whole words and end in zeros: they are hashed by words. */
const WORD_BYTES = 4

// Per row side by side, since a page asks for all of them of rows that lie anywhere: one cache line a row.
const FIELDS = 5
const CHUNK = 0
const OFFSET = 1
const LENGTH = 2
const HASH_HIGH = 3
const HASH_LOW = 4

interface Chunk {
  bytes: Buffer
  /** the same memory */
  words: Int32Array
}

/**
 * A cache of byte strings by row. New entries go to the newest of a ring of chunks; when the budget is full the oldest
 * chunk is dropped whole, so that there is no bookkeeping per entry, and its memory becomes the newest.
 */
export class ReadyBytes {
  #chunks = new Map<number, Chunk>()
  #newest = 0
  #oldest = 1
  #used = CHUNK_BYTES
  #entries = new Int32Array(0)
  readonly #maxChunks: number

  constructor(budgetBytes: number) {
    this.#maxChunks = Math.max(2, Math.floor(budgetBytes / CHUNK_BYTES))
  }

  has(row: number): boolean {
    return (this.#entries[row * FIELDS + CHUNK] ?? 0) >= this.#oldest
  }

  /** Length in bytes of an entry that is there. */
  length(row: number): number {
    return this.#entries[row * FIELDS + LENGTH]!
  }

  /** Copies an entry that is there; returns the position after it. */
  copy(row: number, target: Buffer, at: number): number {
    const entry = row * FIELDS
    const offset = this.#entries[entry + OFFSET]!
    const length = this.#entries[entry + LENGTH]!
    this.#chunks.get(this.#entries[entry + CHUNK]!)!.bytes.copy(target, at, offset, offset + length)
    return at + length
  }

  put(row: number, text: string): void {
    const size = Buffer.byteLength(text)
    const room = Math.ceil(size / WORD_BYTES) * WORD_BYTES
    if (this.#used + room > (this.#chunks.get(this.#newest)?.bytes.length ?? 0)) this.#open(room)
    const entry = row * FIELDS
    this.#entries = grown(this.#entries, entry + FIELDS)
    const { bytes, words } = this.#chunks.get(this.#newest)!
    bytes.write(text, this.#used, 'utf8')
    bytes.fill(0, this.#used + size, this.#used + room)
    this.#entries[entry + CHUNK] = this.#newest
    this.#entries[entry + OFFSET] = this.#used
    this.#entries[entry + LENGTH] = size
    this.#hash(entry, words, this.#used / WORD_BYTES, (this.#used + room) / WORD_BYTES)
    this.#used += room
  }

  /** Two 32-bit hashes of an entry's content, the same on every node; entity tags are made from them. */
  hashHigh(row: number): number {
    return this.#entries[row * FIELDS + HASH_HIGH]!
  }

  hashLow(row: number): number {
    return this.#entries[row * FIELDS + HASH_LOW]!
  }

  /** Forgets an entry: its item has changed. */
  drop(row: number): void {
    if (row * FIELDS < this.#entries.length) this.#entries[row * FIELDS + CHUNK] = 0
  }

  /** Forgets everything: something that stands in many items has changed. */
  clear(): void {
    this.#entries.fill(0)
    this.#chunks.clear()
    this.#oldest = this.#newest + 1
    this.#used = CHUNK_BYTES
  }

  get bytes(): number {
    let sum = 0
    for (const { bytes } of this.#chunks.values()) sum += bytes.length
    return sum
  }

  #hash(entry: number, words: Int32Array, from: number, to: number): void {
    let high = 0x811c9dc5 ^ this.#entries[entry + LENGTH]!
    let low = 0x9747b28c
    for (let i = from; i < to; i += 1) {
      const word = Math.imul(words[i]!, 0xcc9e2d51)
      const turned = (word << 15) | (word >>> 17)
      high = Math.imul(high ^ turned, 0x01000193) + (high >>> 15)
      low = Math.imul(low ^ turned, 0x85ebca6b) + (low >>> 13)
    }
    this.#entries[entry + HASH_HIGH] = high
    this.#entries[entry + HASH_LOW] = low
  }

  #open(size: number): void {
    const oldest = this.#chunks.size === this.#maxChunks ? this.#chunks.get(this.#oldest)! : null
    if (oldest) {
      this.#chunks.delete(this.#oldest)
      this.#oldest += 1
    }
    this.#newest += 1
    this.#chunks.set(this.#newest, oldest && oldest.bytes.length >= size ? oldest : newChunk(size))
    this.#used = 0
  }
}

function newChunk(size: number): Chunk {
  const bytes = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size))
  return { bytes, words: new Int32Array(bytes.buffer) }
}
