// Items already serialised, per plan, within a budget: a page of answers is a few copies of ready bytes.
import { grown } from '#index/columns.ts'

const CHUNK_BYTES = 1024 * 1024

// Per row side by side, since a page asks for all of them of rows that lie anywhere: one cache line a row.
const FIELDS = 5
const CHUNK = 0
const OFFSET = 1
const LENGTH = 2
const HASH_HIGH = 3
const HASH_LOW = 4

/**
 * A cache of byte strings by row. New entries go to the newest of a ring of chunks; when the budget is full the oldest
 * chunk is dropped whole, so that there is no bookkeeping per entry.
 */
export class ReadyBytes {
  #chunks = new Map<number, Buffer>()
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
    this.#chunks.get(this.#entries[entry + CHUNK]!)!.copy(target, at, offset, offset + length)
    return at + length
  }

  put(row: number, text: string): void {
    const size = Buffer.byteLength(text)
    if (this.#used + size > (this.#chunks.get(this.#newest)?.length ?? 0)) this.#open(size)
    const entry = row * FIELDS
    this.#entries = grown(this.#entries, entry + FIELDS)
    this.#chunks.get(this.#newest)!.write(text, this.#used, 'utf8')
    this.#entries[entry + CHUNK] = this.#newest
    this.#entries[entry + OFFSET] = this.#used
    this.#entries[entry + LENGTH] = size
    this.#used += size
    this.#hash(entry, text)
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
    for (const chunk of this.#chunks.values()) sum += chunk.length
    return sum
  }

  #hash(entry: number, text: string): void {
    let high = 0x811c9dc5
    let low = 0x9747b28c
    for (let i = 0; i < text.length; i += 1) {
      const unit = text.charCodeAt(i)
      high = Math.imul(high ^ unit, 0x01000193)
      low = Math.imul(low ^ unit, 0x85ebca6b) + (low >>> 13)
    }
    this.#entries[entry + HASH_HIGH] = high
    this.#entries[entry + HASH_LOW] = low
  }

  #open(size: number): void {
    this.#newest += 1
    this.#chunks.set(this.#newest, Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size)))
    this.#used = 0
    if (this.#chunks.size > this.#maxChunks) {
      this.#chunks.delete(this.#oldest)
      this.#oldest += 1
    }
  }
}
