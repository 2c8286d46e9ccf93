// The bytes of one answer while it is written: texts are joined first, what is kept as bytes is copied between them.
import { pageMemory } from '#http/page-memory.ts'

/** Room that is held for the next answer; larger answers get some of their own. */
const ROOM = 256 * 1024
/** Bytes of UTF-8 that a unit of a text takes at most. */
const MOST_PER_UNIT = 3
const ASCII = 0x80

export class Output {
  /** What was written and is not bytes yet; writers add to it. */
  text = ''
  #room = Buffer.allocUnsafeSlow(ROOM)
  #bytes = this.#room
  #size = 0

  /** Begins another answer. */
  begin(): void {
    this.text = ''
    this.#bytes = this.#room
    this.#size = 0
  }

  /** Bytes so far, once all texts are among them. */
  size(): number {
    const { text } = this
    if (text === '') return this.#size
    this.text = ''
    this.#reach(text.length * MOST_PER_UNIT)
    const unit = text.charCodeAt(0)
    // Most texts between items are a comma.
    if (text.length === 1 && unit < ASCII) this.#bytes[this.#size++] = unit
    else this.#size += this.#bytes.write(text, this.#size, 'utf8')
    return this.#size
  }

  /** Adds bytes `from` to `to` of a source. */
  copy(source: Buffer, from: number, to: number): void {
    const at = this.size()
    this.#reach(to - from)
    source.copy(this.#bytes, at, from, to)
    this.#size = at + to - from
  }

  /** What was written since it had so many bytes; to be read before anything more is written. */
  since(size: number): Buffer {
    const end = this.size()
    return this.#bytes.subarray(size, end)
  }

  /** The answer, in memory of pages on their way out. */
  page(): Buffer {
    const size = this.size()
    const page = pageMemory(size)
    this.#bytes.copy(page, 0, 0, size)
    return page
  }

  #reach(more: number): void {
    const needed = this.#size + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.#size)
    this.#bytes = larger
  }
}
