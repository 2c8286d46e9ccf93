// Serialised items by plan and market, within a memory budget: a page of a response consists of copies of these bytes.
import { ByteRing, type Chunk } from '#index/byte-ring.ts'
import { withCapacity } from '#index/columns.ts'

/** Entries are aligned to words and padded with zeros, because they are hashed by words. */
const WORD_BYTES = 4

// Header words of an entry; its bytes follow.
const LENGTH = 0
const HASH_HIGH = 1
const HASH_LOW = 2
const HEAD_WORDS = 3
const HEAD_BYTES = HEAD_WORDS * WORD_BYTES

/** A position combines the number of a chunk with, in this many lower bits, the entry's word offset in it. */
const OFFSET_BITS = 18
const OFFSETS = 2 ** OFFSET_BITS
const LAST_CHUNK = 2 ** (32 - OFFSET_BITS) - 1

/** A cache of byte strings, keyed by small integers. */
export class ReadyBytes {
  readonly #ring: ByteRing
  /** position by key, 0 for none; four bytes per key, because there are many more keys than entries */
  #places = new Uint32Array(0)

  readonly #once: boolean

  /** @param once whether an entry is dropped when it is copied, to measure what the cache gains */
  constructor(budgetBytes: number, once = false) {
    this.#ring = new ByteRing(budgetBytes)
    this.#once = once
  }

  has(key: number): boolean {
    return this.#ring.has((this.#places[key] ?? 0) >>> OFFSET_BITS)
  }

  /** Length in bytes of an existing entry. */
  length(key: number): number {
    return this.#head(key, LENGTH)
  }

  /** Copies an existing entry; returns the position after it. */
  copy(key: number, target: Buffer, at: number): number {
    const place = this.#places[key]!
    const { bytes, words } = this.#chunkAt(place)
    const word = place & (OFFSETS - 1)
    const length = words[word + LENGTH]!
    const from = (word + HEAD_WORDS) * WORD_BYTES
    bytes.copy(target, at, from, from + length)
    if (this.#once) this.drop(key)
    return at + length
  }

  put(key: number, text: string): void {
    const size = Buffer.byteLength(text)
    const room = HEAD_BYTES + Math.ceil(size / WORD_BYTES) * WORD_BYTES
    // Higher chunk numbers do not fit into a position.
    if (this.#ring.newest === LAST_CHUNK) this.clear()
    const from = this.#ring.take(room)
    const { bytes, words } = this.#ring.chunk(this.#ring.newest)
    const word = from / WORD_BYTES
    bytes.write(text, from + HEAD_BYTES, 'utf8')
    bytes.fill(0, from + HEAD_BYTES + size, from + room)
    words[word + LENGTH] = size
    hash(words, word, (from + room) / WORD_BYTES)
    this.#places = withCapacity(this.#places, key + 1)
    this.#places[key] = this.#ring.newest * OFFSETS + word
  }

  /** Two 32-bit hashes of an entry's content, the same on every node; entity tags are computed from them. */
  hashHigh(key: number): number {
    return this.#head(key, HASH_HIGH)
  }

  hashLow(key: number): number {
    return this.#head(key, HASH_LOW)
  }

  /** Removes an entry whose item has changed. */
  drop(key: number): void {
    if (key < this.#places.length) this.#places[key] = 0
  }

  /** Removes all entries, after a change that affects many items. */
  clear(): void {
    this.#places.fill(0)
    this.#ring.clear()
  }

  get bytes(): number {
    return this.#ring.bytes
  }

  #chunkAt(place: number): Chunk {
    return this.#ring.chunk(place >>> OFFSET_BITS)
  }

  #head(key: number, field: number): number {
    const place = this.#places[key]!
    return this.#chunkAt(place).words[(place & (OFFSETS - 1)) + field]!
  }
}

/** Stores the hashes of an entry's bytes in its header. */
function hash(words: Int32Array, entry: number, to: number): void {
  let high = 0x811c9dc5 ^ words[entry + LENGTH]!
  let low = 0x9747b28c
  for (let i = entry + HEAD_WORDS; i < to; i += 1) {
    const word = Math.imul(words[i]!, 0xcc9e2d51)
    const turned = (word << 15) | (word >>> 17)
    high = Math.imul(high ^ turned, 0x01000193) + (high >>> 15)
    low = Math.imul(low ^ turned, 0x85ebca6b) + (low >>> 13)
  }
  words[entry + HASH_HIGH] = high
  words[entry + HASH_LOW] = low
}
