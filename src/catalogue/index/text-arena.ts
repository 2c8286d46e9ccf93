// Texts of items as numbers of words, because most words of names, addresses and attributes occur in many items.
import { ByteRecords, type RecordReader, RecordWriter } from '#index/byte-records.ts'
import type { ColumnStore } from '#index/stored.ts'
import type { Utf8 } from '#index/utf8.ts'
import { MAX_WORD_BYTES, Vocabulary } from '#index/vocabulary.ts'

/** The texts of an item; all but the slug are JSON texts that can be copied into a response. */
export interface ItemTexts {
  slug: string
  images: string
  attributes: string
  details: string
}

// A text is a list of numbers: those of its words, or LITERAL followed by the length and the bytes of a word without a number.
const LITERAL = 0
const END = 1
const FIRST_WORD = 2

export class TextArena {
  readonly #records = new ByteRecords()
  readonly #words = new Vocabulary(true)
  readonly #writer = new RecordWriter()
  /** the text that is read */
  #text: Buffer = Buffer.alloc(1_024)

  store(columns: ColumnStore): void {
    this.#records.store(columns)
    this.#words.store(columns)
  }

  /** Reserves memory for this many rows. */
  reserve(rows: number): void {
    this.#records.reserve(rows)
  }

  /** Stores the texts of a row, replacing existing ones. */
  set(row: number, { slug, images, attributes, details }: Record<keyof ItemTexts, Utf8>): void {
    this.#writer.clear()
    this.#write(slug)
    this.#write(images)
    this.#write(attributes)
    this.#write(details)
    this.#records.set(row, this.#writer)
  }

  get(row: number): ItemTexts {
    const record = this.#records.open(row)
    return { slug: this.#read(record), images: this.#read(record), attributes: this.#read(record), details: this.#read(record) }
  }

  slug(row: number): string {
    return this.#read(this.#records.open(row))
  }

  get bytes(): number {
    return this.#records.bytes
  }

  #write({ bytes, from, to }: Utf8): void {
    const writer = this.#writer
    for (let start = from; start < to; ) {
      let end = start + 1
      while (end < to && !isSeparator(bytes[end - 1]!)) end++
      const word = this.#words.number(bytes, start, end)
      if (word >= 0) writer.number(FIRST_WORD + word)
      else {
        writer.number(LITERAL)
        writer.number(end - start)
        writer.copy(bytes, start, end)
      }
      start = end
    }
    writer.number(END)
  }

  #read(record: RecordReader): string {
    let size = 0
    for (let number = record.number(); number !== END; number = record.number()) {
      const length = number === LITERAL ? record.number() : MAX_WORD_BYTES
      if (size + length > this.#text.length) this.#text = Buffer.concat([this.#text], 2 * (size + length))
      if (number === LITERAL) {
        size += record.bytes.copy(this.#text, size, record.at, record.at + length)
        record.at += length
      } else size = this.#words.copy(number - FIRST_WORD, this.#text, size)
    }
    return this.#text.toString('utf8', 0, size)
  }
}

/** A word ends after a space, hyphen or slash: the words of slugs, addresses and JSON as formatted by the database. */
function isSeparator(byte: number): boolean {
  return byte === 0x20 || byte === 0x2d || byte === 0x2f
}
