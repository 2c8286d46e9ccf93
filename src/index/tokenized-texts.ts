// Texts by row, stored and searched as word numbers, so that common words are stored and split once.
import { ByteRecords, type RecordReader, RecordWriter } from '#index/byte-records.ts'
import { withCapacity } from '#index/columns.ts'
import { fold } from '#index/fold.ts'
import type { ColumnStore } from '#index/stored.ts'
import { TermRows } from '#index/terms.ts'
import { textOf, type Utf8 } from '#index/utf8.ts'
import { Vocabulary } from '#index/vocabulary.ts'

const SPACE = 0x20
const MAX_TEXT_BYTES = 2 ** 16 - 1

/** At most 65,535 bytes per text and 4 GB in total; a row has one text or none. */
export class TokenizedTexts {
  readonly terms = new TermRows()
  readonly #words = new Vocabulary()
  /** by word: its terms, kept permanently */
  #termsOf: number[][] = []
  /** for each word between spaces, the word's number + 1, or 0 followed by the word's length and bytes */
  readonly #records = new ByteRecords()
  readonly #writer = new RecordWriter()
  /** the terms of one text, and by term the last text that had it, to remove duplicates */
  #terms: number[] = []
  #lastText = new Float64Array(0)
  #text = 0

  store(columns: ColumnStore): void {
    this.terms.store(columns)
    this.#words.store(columns)
    this.#termsOf = columns.value(this.#termsOf)
    this.#records.store(columns)
  }

  /** Reserves space for this many rows. */
  reserve(rows: number): void {
    this.#records.reserve(rows)
  }

  /** Releases the spare capacity that loading has reserved. */
  pack(): void {
    this.terms.pack()
  }

  has(row: number): boolean {
    return this.#records.has(row)
  }

  /** The row's text; null for none. */
  get(row: number): string | null {
    if (!this.has(row)) return null
    const record = this.#records.open(row)
    const words = []
    while (record.at < record.end) {
      const word = record.number() - 1
      words.push(word < 0 ? literal(record) : Buffer.from(this.#words.bytesOf(word)).toString())
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
    if (had) this.#file(row, false)
    if (text === null) this.#records.delete(row)
    else {
      this.#records.set(row, this.#writer)
      this.#file(row, true)
    }
    return true
  }

  /** Builds the record of a text. */
  #write({ bytes, from, to }: Utf8): void {
    if (to - from > MAX_TEXT_BYTES) throw new RangeError(`a text of ${to - from} bytes is too long to store`)
    const writer = this.#writer
    writer.clear()
    for (let start = from; start <= to; start++) {
      let end = start
      while (end < to && bytes[end] !== SPACE) end++
      const word = this.#words.number(bytes, start, end)
      writer.number(word + 1)
      if (word === this.#termsOf.length) this.#learn(bytes, start, end)
      if (word < 0) {
        writer.number(end - start)
        writer.copy(bytes, start, end)
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
    const record = this.#records.open(row)
    this.#text++
    this.#terms.length = 0
    while (record.at < record.end) {
      const word = record.number() - 1
      for (const term of word < 0 ? this.terms.termsOf(fold(literal(record))) : this.#termsOf[word]!) {
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

  #isAsWritten(row: number): boolean {
    const { bytes, at, end } = this.#records.open(row)
    const { bytes: written, size } = this.#writer
    return end - at === size && bytes.compare(written, 0, size, at, end) === 0
  }
}

function literal(record: RecordReader): string {
  const length = record.number()
  record.at += length
  return textOf(record.bytes, record.at - length, record.at)
}
