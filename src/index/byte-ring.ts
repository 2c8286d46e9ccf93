// A ring of memory chunks within a budget: new entries go to the newest chunk; when the ring is full, the oldest chunk is dropped.

export const CHUNK_BYTES = 1024 * 1024

export interface Chunk {
  bytes: Buffer
  /** view of the same memory */
  words: Int32Array
}

/** Chunks are numbered from 1 and dropped whole, so that entries need no bookkeeping: an entry is valid as long as its chunk exists. */
export class ByteRing {
  /** each chunk at its number modulo the length of the full ring */
  #ring: Chunk[] = []
  #newest = 0
  #oldest = 1
  #used = CHUNK_BYTES
  readonly #maxChunks: number

  constructor(budgetBytes: number) {
    this.#maxChunks = Math.max(2, Math.floor(budgetBytes / CHUNK_BYTES))
  }

  /** Number of the chunk from which the last `take` allocated. */
  get newest(): number {
    return this.#newest
  }

  /** Whether the chunk of this number still exists. */
  has(chunk: number): boolean {
    return chunk >= this.#oldest
  }

  chunk(number: number): Chunk {
    return this.#ring[number % this.#maxChunks]!
  }

  /** Allocates memory in the newest chunk and returns its offset in bytes. A size larger than a chunk creates a chunk of that size. */
  take(size: number): number {
    if (this.#used >= CHUNK_BYTES || this.#used + size > this.chunk(this.#newest).bytes.length) this.#open(size)
    const offset = this.#used
    this.#used += size
    return offset
  }

  /** Drops all chunks and frees their memory. */
  clear(): void {
    this.#ring = []
    this.#newest = 0
    this.#oldest = 1
    this.#used = CHUNK_BYTES
  }

  /** Drops all entries but keeps the memory: chunk numbers continue, so that old entries are no longer valid. */
  dropAll(): void {
    this.#oldest = this.#newest + 1
    this.#used = CHUNK_BYTES
  }

  get bytes(): number {
    return this.#ring.reduce((sum, { bytes }) => sum + bytes.length, 0)
  }

  #open(size: number): void {
    this.#newest += 1
    const at = this.#newest % this.#maxChunks
    this.#oldest = Math.max(this.#oldest, this.#newest - this.#maxChunks + 1)
    const chunk = this.#ring[at]
    if (!chunk || chunk.bytes.length < size) this.#ring[at] = newChunk(size)
    this.#used = 0
  }
}

function newChunk(size: number): Chunk {
  const bytes = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, size))
  return { bytes, words: new Int32Array(bytes.buffer) }
}
