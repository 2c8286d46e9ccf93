// Which texts of a field contain words of a query as whole words.
import { withCapacity } from '#index/columns.ts'
import type { TextField } from '#index/field.ts'

export class WholeWordMatches {
  readonly #field: TextField
  readonly #further: boolean
  /** by text: bits of the words that it contains; cleared after the query */
  #bits = new Int32Array(0)
  #marked: number[] = []

  /** @param further whether to search the words of further lines instead of those of the first line */
  constructor(field: TextField, further: boolean) {
    this.#field = field
    this.#further = further
  }

  /** Clears the matches of the previous query. */
  start(): void {
    for (const text of this.#marked) this.#bits[text] = 0
    this.#marked = []
    this.#bits = withCapacity(this.#bits, this.#field.space)
  }

  /** Marks all texts that contain the word. */
  mark(word: string, bits: number): void {
    const id = (this.#further ? this.#field.furtherWords : this.#field.words).id(word)
    if (id === undefined) return
    const visit = (text: number) => {
      if (this.#bits[text] === 0) this.#marked.push(text)
      this.#bits[text]! |= bits
    }
    if (this.#further) this.#field.eachFurther([id], visit)
    else this.#field.eachText([id], visit)
  }

  /** Bits of a text; none for text -1. */
  bits(text: number): number {
    return text < 0 ? 0 : this.#bits[text]!
  }

  /** Adds the bits of each text to those in `into`, which counts texts from 1. */
  addTo(into: Int32Array): Int32Array {
    for (const text of this.#marked) into[text + 1]! |= this.#bits[text]!
    return into
  }

  /** Calls `visit` with every text that has one of the bits. */
  each(bits: number, visit: (text: number) => void): void {
    for (const text of this.#marked) if ((this.#bits[text]! & bits) !== 0) visit(text)
  }

  /** Number of texts that have one of the bits. */
  count(bits: number): number {
    let count = 0
    this.each(bits, () => count++)
    return count
  }

  get any(): boolean {
    return this.#marked.length > 0
  }
}
