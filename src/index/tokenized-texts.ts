// Texts by row, stored and searched as word numbers, so that common words are stored and split once.
import { withCapacity } from '#index/columns.ts'
import { fold } from '#index/fold.ts'
import type { ColumnStore } from '#index/stored.ts'
import { TermRows } from '#index/terms.ts'
import { textOf, type Utf8 } from '#index/utf8.ts'
import { Vocabulary } from '#index/vocabulary.ts'

const CHUNK_BYTES = 1024 * 1024
const SPACE = 0x20
const LOW_BITS = 0x7f
const MORE = 0x80
/** A number takes at most three bytes. */
const NUMBER_BYTES = 3
const MAX_TEXT_BYTES = 2 ** 16 - 1

/** At most 65,535 bytes per text and 4 GB in total; a row has one text or none. */
export class TokenizedTexts {
  readonly terms = new TermRows()
  readonly #words = new Vocabulary()
  /** by word: its terms, kept permanently */
  #termsOf: number[][] = []
  // A record is its length and then, for each word between spaces, the word's number + 1, or 0 followed by the word's length and bytes.
  #chunks: Buffer[] = []
  #used = CHUNK_BYTES
  /** by row: the start of its record, plus 1; 0 for none */
  #places = new Uint32Array(0)
  #live = 0
  /** bytes of records that were replaced or removed */
  #waste = 0
  /** the record under construction, without its length */
  #record = new Uint8Array(256)
  #size = 0
  /** read position in a record */
  #at = 0
  /** the terms of one text, and by term the last text that had it, to remove duplicates */
  #terms: number[] = []
  #lastText = new Float64Array(0)
  #text = 0

  store(columns: ColumnStore): void {
    this.terms.store(columns)
    this.#words.store(columns)
    this.#termsOf = columns.value(this.#termsOf)
    this.#chunks = columns.chunks(this.#chunks)
    this.#places = columns.column(this.#places)
    ;[this.#used, this.#live, this.#waste] = columns.value([this.#used, this.#live, this.#waste] as const)
  }

  /** Reserves space for this many rows. */
  reserve(rows: number): void {
    this.#places = withCapacity(this.#places, rows)
  }

  /** Releases the spare capacity that loading has reserved. */
  pack(): void {
    this.terms.pack()
  }

  has(row: number): boolean {
    return row < this.#places.length && this.#places[row] !== 0
  }

  /** The row's text; null for none. */
  get(row: number): string | null {
    if (!this.has(row)) return null
    const { chunk, end } = this.#open(row)
    const words = []
    while (this.#at < end) {
      const word = this.#number(chunk) - 1
      words.push(word < 0 ? this.#literal(chunk) : Buffer.from(this.#words.bytesOf(word)).toString())
    }
    return words.join(' ')
  }

  /**
   * Sets the text of a row; null removes it.
   * @returns whether the text has changed
   * @throws RangeError if the text is longer than 65,535 bytes
   */
  set(row: number, text: Utf8 | null): boolean {
    const had = this.has(row)
    if (text === null && !had) return false
    if (text !== null) {
      this.#write(text)
      if (had && this.#isAsWritten(row)) return false
    }
    if (had) this.#release(row)
    if (text === null) return true
    if (row >= this.#places.length) this.#places = withCapacity(this.#places, row + 1)
    this.#keep(row)
    this.#file(row, true)
    if (this.#waste > this.#live && this.#waste > CHUNK_BYTES) this.#compact()
    return true
  }

  /** Builds the record of a text. */
  #write({ bytes, from, to }: Utf8): void {
    if (to - from > MAX_TEXT_BYTES) throw new RangeError(`a text of ${to - from} bytes is too long to store`)
    this.#size = 0
    for (let start = from; start <= to; start++) {
      let end = start
      while (end < to && bytes[end] !== SPACE) end++
      const word = this.#words.number(bytes, start, end)
      const room = this.#size + 2 * NUMBER_BYTES + end - start
      if (room > this.#record.length) this.#record = withCapacity(this.#record, room)
      this.#put(word + 1)
      if (word === this.#termsOf.length) this.#learn(bytes, start, end)
      if (word < 0) {
        this.#put(end - start)
        this.#record.set(bytes.subarray(start, end), this.#size)
        this.#size += end - start
      }
      start = end
    }
  }

  /** Splits a new word into its terms, for all texts that will contain it. */
  #learn(bytes: Uint8Array, from: number, to: number): void {
    const terms = this.terms.termsOf(fold(textOf(bytes, from, to)))
    this.terms.hold(terms)
    this.#termsOf.push(terms)
  }

  /** Indexes a row under the terms of its text, or removes it. */
  #file(row: number, add: boolean): void {
    const { chunk, end } = this.#open(row)
    this.#text++
    this.#terms.length = 0
    while (this.#at < end) {
      const word = this.#number(chunk) - 1
      for (const term of word < 0 ? this.terms.termsOf(fold(this.#literal(chunk))) : this.#termsOf[word]!) {
        if (term >= this.#lastText.length) this.#lastText = withCapacity(this.#lastText, term + 1)
        if (this.#lastText[term] === this.#text) continue
        this.#lastText[term] = this.#text
        this.#terms.push(term)
      }
    }
    for (const term of this.#terms) {
      if (add) this.terms.add(row, term)
      else this.terms.delete(row, term)
    }
  }

  #put(number: number): void {
    for (; number > LOW_BITS; number >>>= 7) this.#record[this.#size++] = (number & LOW_BITS) | MORE
    this.#record[this.#size++] = number
  }

  #number(chunk: Buffer): number {
    let number = 0
    for (let shift = 0; ; shift += 7) {
      const byte = chunk[this.#at++]!
      number |= (byte & LOW_BITS) << shift
      if (byte < MORE) return number
    }
  }

  #literal(chunk: Buffer): string {
    const length = this.#number(chunk)
    this.#at += length
    return textOf(chunk, this.#at - length, this.#at)
  }

  /** Starts reading the record of a row that has a text. */
  #open(row: number): { chunk: Buffer; end: number } {
    const place = this.#places[row]! - 1
    const chunk = this.#chunks[Math.floor(place / CHUNK_BYTES)]!
    this.#at = place % CHUNK_BYTES
    const length = this.#number(chunk)
    return { chunk, end: this.#at + length }
  }

  #isAsWritten(row: number): boolean {
    const { chunk, end } = this.#open(row)
    return end - this.#at === this.#size && chunk.compare(this.#record, 0, this.#size, this.#at, end) === 0
  }

  /** Appends the new record, and makes it the row's. */
  #keep(row: number): void {
    const room = NUMBER_BYTES + this.#size
    if (this.#used + room > CHUNK_BYTES) {
      // The start file contains the unused end, too, so it must be zeroed.
      this.#chunks.push(Buffer.alloc(CHUNK_BYTES))
      this.#used = 0
    }
    const chunk = this.#chunks.at(-1)!
    const start = this.#used
    for (let length = this.#size; ; length >>>= 7) {
      chunk[this.#used++] = length > LOW_BITS ? (length & LOW_BITS) | MORE : length
      if (length <= LOW_BITS) break
    }
    for (let at = 0; at < this.#size; at++) chunk[this.#used++] = this.#record[at]!
    this.#places[row] = (this.#chunks.length - 1) * CHUNK_BYTES + start + 1
    this.#live += this.#used - start
  }

  #release(row: number): void {
    this.#file(row, false)
    const size = this.#at - ((this.#places[row]! - 1) % CHUNK_BYTES)
    this.#live -= size
    this.#waste += size
    this.#places[row] = 0
  }

  #compact(): void {
    const chunks = this.#chunks
    this.#chunks = []
    this.#used = CHUNK_BYTES
    this.#waste = 0
    this.#live = 0
    for (let row = 0; row < this.#places.length; row++) {
      const place = this.#places[row]! - 1
      if (place < 0) continue
      const chunk = chunks[Math.floor(place / CHUNK_BYTES)]!
      this.#at = place % CHUNK_BYTES
      this.#size = this.#number(chunk)
      this.#record = withCapacity(this.#record, this.#size)
      chunk.copy(this.#record, 0, this.#at, this.#at + this.#size)
      this.#keep(row)
    }
  }
}
