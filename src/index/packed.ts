// Texts by row as UTF-8 in a few large buffers: millions of them cost the garbage collector nothing.
import { grown } from '#index/columns.ts'

const CHUNK_BYTES = 4 * 1024 * 1024
/** A text stands behind its length in bytes. */
const LENGTH_BYTES = 2
const LONGEST_BYTES = 2 ** 16 - 1

/** At most 65,535 bytes a text and 16 GB in all. */
export class PackedTexts {
  #chunks: Buffer[] = []
  #used = CHUNK_BYTES
  /** by row: where its text begins, in units of four bytes, plus 1; 0 for none */
  #places = new Uint32Array(0)
  #kept = 0
  /** bytes of texts that were replaced or taken out */
  #waste = 0

  /** The row's text, null for none. */
  get(row: number): string | null {
    const place = row < this.#places.length ? this.#places[row] : 0
    if (place === 0) return null
    const { chunk, at } = this.#find(place)
    return chunk.toString('utf8', at + LENGTH_BYTES, at + LENGTH_BYTES + chunk.readUInt16LE(at))
  }

  /**
   * Gives the row a text, null for none.
   * @throws RangeError when the text is longer than 65,535 bytes
   */
  set(row: number, text: string | null): void {
    this.#places = grown(this.#places, row + 1)
    this.#release(row)
    if (text === null) return
    const bytes = Buffer.byteLength(text)
    if (bytes > LONGEST_BYTES) throw new RangeError(`a text of ${bytes} bytes is too long to be packed`)
    const { chunk, at } = this.#take(row, bytes)
    chunk.writeUInt16LE(bytes, at)
    chunk.write(text, at + LENGTH_BYTES, bytes, 'utf8')
    if (this.#waste > this.#kept && this.#waste > CHUNK_BYTES) this.#compact()
  }

  #find(place: number): { chunk: Buffer; at: number } {
    const at = (place - 1) * 4
    return { chunk: this.#chunks[Math.floor(at / CHUNK_BYTES)], at: at % CHUNK_BYTES }
  }

  #release(row: number): void {
    const place = this.#places[row]
    if (place === 0) return
    const { chunk, at } = this.#find(place)
    const size = roomFor(chunk.readUInt16LE(at))
    this.#kept -= size
    this.#waste += size
    this.#places[row] = 0
  }

  #take(row: number, bytes: number): { chunk: Buffer; at: number } {
    const size = roomFor(bytes)
    if (this.#used + size > CHUNK_BYTES) {
      this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES))
      this.#used = 0
    }
    const at = this.#used
    this.#places[row] = ((this.#chunks.length - 1) * CHUNK_BYTES + at) / 4 + 1
    this.#used += size
    this.#kept += size
    return { chunk: this.#chunks.at(-1)!, at }
  }

  #compact(): void {
    const chunks = this.#chunks
    this.#chunks = []
    this.#used = CHUNK_BYTES
    this.#waste = 0
    this.#kept = 0
    for (let row = 0; row < this.#places.length; row++) {
      const place = this.#places[row]
      if (place === 0) continue
      const from = (place - 1) * 4
      const source = chunks[Math.floor(from / CHUNK_BYTES)]
      const bytes = source.readUInt16LE(from % CHUNK_BYTES)
      const { chunk, at } = this.#take(row, bytes)
      source.copy(chunk, at, from % CHUNK_BYTES, (from % CHUNK_BYTES) + LENGTH_BYTES + bytes)
    }
  }
}

/** Texts begin at multiples of four bytes. */
function roomFor(bytes: number): number {
  return (bytes + LENGTH_BYTES + 3) & ~3
}
