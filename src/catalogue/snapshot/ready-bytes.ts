// Items already serialised, per plan and market, within a budget: a page of answers is a few copies of ready bytes.
import { grown } from '#index/columns.ts'

const CHUNK_BYTES = 1024 * 1024
/** Entries begin at whole words and end in zeros: they are hashed by words. */
const WORD_BYTES = 4

// An entry begins with these words, its bytes follow them.
const LENGTH = 0
const HASH_HIGH = 1
const HASH_LOW = 2
const HEAD_WORDS = 3
const HEAD_BYTES = HEAD_WORDS * WORD_BYTES

/** A place is the number of a chunk and, in so many lower bits, the word of it at which an entry begins. */
const OFFSET_BITS = 18
const OFFSETS = 2 ** OFFSET_BITS
const LAST_CHUNK = 2 ** (32 - OFFSET_BITS) - 1

interface Chunk {
  bytes: Buffer
  /** the same memory */
  words: Int32Array
}

/**
 * A cache of byte strings by key, a small integer. New entries go to the newest of a ring of chunks; when the budget is
 * full the oldest chunk is dropped whole, so that there is no bookkeeping per entry, and its memory becomes the newest.
 */
export class ReadyBytes {
  /** those from the oldest to the newest, each at its number modulo the length of the full ring */
  #ring: Chunk[] = []
  // Chunks are numbered from 1, so that no place is 0.
  #newest = 0
  #oldest = 1
  #used = CHUNK_BYTES
  /** by key, 0 for none; four bytes a key, since there are many more keys than entries */
  #places = new Uint32Array(0)
  readonly #maxChunks: number

  constructor(budgetBytes: number) {
    this.#maxChunks = Math.max(2, Math.floor(budgetBytes / CHUNK_BYTES))
  }

  has(key: number): boolean {
    return (this.#places[key] ?? 0) >>> OFFSET_BITS >= this.#oldest
  }

  /** Length in bytes of an entry that is there. */
  length(key: number): number {
    return this.#head(key, LENGTH)
  }

  /** Copies an entry that is there; returns the position after it. */
  copy(key: number, target: Buffer, at: number): number {
    const place = this.#places[key]!
    const { bytes, words } = this.#chunkAt(place)
    const word = place & (OFFSETS - 1)
    const length = words[word + LENGTH]!
    const from = (word + HEAD_WORDS) * WORD_BYTES
    bytes.copy(target, at, from, from + length)
    return at + length
  }

  put(key: number, text: string): void {
    const size = Buffer.byteLength(text)
    const room = HEAD_BYTES + Math.ceil(size / WORD_BYTES) * WORD_BYTES
    if (this.#used >= CHUNK_BYTES || this.#used + room > this.#ring[this.#newest % this.#maxChunks]!.bytes.length) this.#open(room)
    this.#places = grown(this.#places, key + 1)
    const { bytes, words } = this.#ring[this.#newest % this.#maxChunks]!
    const word = this.#used / WORD_BYTES
    this.#used += room
    bytes.write(text, word * WORD_BYTES + HEAD_BYTES, 'utf8')
    bytes.fill(0, word * WORD_BYTES + HEAD_BYTES + size, this.#used)
    words[word + LENGTH] = size
    hash(words, word, this.#used / WORD_BYTES)
    this.#places[key] = this.#newest * OFFSETS + word
  }

  /** Two 32-bit hashes of an entry's content, the same on every node; entity tags are made from them. */
  hashHigh(key: number): number {
    return this.#head(key, HASH_HIGH)
  }

  hashLow(key: number): number {
    return this.#head(key, HASH_LOW)
  }

  /** Forgets an entry: its item has changed. */
  drop(key: number): void {
    if (key < this.#places.length) this.#places[key] = 0
  }

  /** Forgets everything: something that stands in many items has changed. */
  clear(): void {
    this.#places.fill(0)
    this.#ring = []
    this.#newest = 0
    this.#oldest = 1
    this.#used = CHUNK_BYTES
  }

  get bytes(): number {
    return this.#ring.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  #chunkAt(place: number): Chunk {
    return this.#ring[(place >>> OFFSET_BITS) % this.#maxChunks]!
  }

  #head(key: number, field: number): number {
    const place = this.#places[key]!
    return this.#chunkAt(place).words[(place & (OFFSETS - 1)) + field]!
  }

  #open(size: number): void {
    if (this.#newest === LAST_CHUNK) this.clear()
    this.#newest += 1
    const at = this.#newest % this.#maxChunks
    const oldest = this.#ring[at]
    if (oldest) this.#oldest += 1
    if (!oldest || oldest.bytes.length < size) this.#ring[at] = newChunk(size)
    this.#used = 0
  }
}

/** Hashes the bytes of an entry into its head. */
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

function newChunk(size: number): Chunk {
  const bytes = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size))
  return { bytes, words: new Int32Array(bytes.buffer) }
}
