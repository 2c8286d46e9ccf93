// Per-query state of the texts of a field, in arrays that the next query reuses.
import { withCapacity } from '#index/columns.ts'
import type { TextField } from '#index/field.ts'
import { endsWord, startsWord } from '#index/fold.ts'
import type { Query } from '#index/query.ts'

/** Bit of `prefix` in addition to the bits of parts: the text starts with the whole query. */
export const STARTS = 1 << 30
/** Bit of `prefix`: the text equals the whole query. */
export const EQUAL = 1 << 29

const LAST_QUERY = 2 ** 31 - 1

export class TextMatches {
  readonly #field: TextField
  /** by text, valid if `#seen` holds the query's number: bits of the parts that it contains anywhere, and at the start of a word */
  #infix = new Int32Array(0)
  #prefix = new Int32Array(0)
  /** by text, valid under the same condition: number of its words that are not a part of the query; counted if the query has several parts */
  #left = new Uint8Array(0)
  #seen = new Int32Array(0)
  #chosen = new Int32Array(0)
  #query = 0
  /** whether the query's parts were marked; an unmarked text then contains none of them */
  #marked = false
  #any = false
  /** by text: bits of the parts that one of its words is one typo away from; cleared after the query */
  #typos = new Int32Array(0)
  #withTypos: number[] = []

  constructor(field: TextField) {
    this.#field = field
  }

  /** Clears the previous query. */
  start(): void {
    for (const text of this.#withTypos) this.#typos[text] = 0
    this.#withTypos = []
    const space = this.#field.space
    this.#infix = withCapacity(this.#infix, space)
    this.#prefix = withCapacity(this.#prefix, space)
    this.#left = withCapacity(this.#left, space)
    this.#seen = withCapacity(this.#seen, space)
    this.#chosen = withCapacity(this.#chosen, space)
    this.#typos = withCapacity(this.#typos, space)
    if (this.#query === LAST_QUERY) {
      this.#seen.fill(0)
      this.#chosen.fill(0)
      this.#query = 0
    }
    this.#query++
    this.#marked = false
    this.#any = false
  }

  /**
   * Marks the texts that contain a part of the query, so that no text has to be scanned. Call it for every part or for none.
   * @param words all words that contain the part, which is not punctuation
   */
  mark(query: Query, part: number, words: readonly number[]): void {
    this.#marked = true
    const sought = query.parts[part]!.text
    const bit = 1 << part
    const { texts } = this.#field
    let last = -1
    let starts = false
    let equal = false
    this.#field.eachText(words, (text, id) => {
      if (id !== last) {
        last = id
        const word = this.#field.words.word(id)
        starts = word.startsWith(sought)
        equal = starts && word.length === sought.length
      }
      if (this.#seen[text] !== this.#query) {
        this.#seen[text] = this.#query
        this.#infix[text] = 0
        this.#prefix[text] = 0
        this.#left[text] = this.#field.wordCount(text)
        this.#any = true
      }
      this.#infix[text]! |= bit
      if (!starts) return
      // A text that starts with the query has its first part at the start of a word.
      if (part === 0 && (this.#prefix[text]! & bit) === 0) this.#prefix[text]! |= startOf(texts[text]!, query.text)
      this.#prefix[text]! |= bit
      if (equal) this.#left[text]!--
    })
  }

  /** Whether a text contains any part of the query; true if the parts were not marked. */
  get any(): boolean {
    return this.#any || !this.#marked
  }

  /** Selects a text for this query. @returns false if it was already selected */
  choose(text: number): boolean {
    if (this.#chosen[text] === this.#query) return false
    this.#chosen[text] = this.#query
    return true
  }

  isChosen(text: number): boolean {
    return text >= 0 && this.#chosen[text] === this.#query
  }

  /** Bits of the query's parts that the text contains; none for text -1. */
  infix(text: number, query: Query): number {
    if (text < 0) return 0
    if (this.#seen[text] !== this.#query) {
      if (this.#marked) return 0
      this.#look(text, query)
    }
    return this.#infix[text]!
  }

  /** Bits of the parts that start a word of the text, and `STARTS`. Call it after `infix`. */
  prefix(text: number): number {
    return text >= 0 && this.#seen[text] === this.#query ? this.#prefix[text]! : 0
  }

  /** Number of words of the text that are not parts of the query, which has several. */
  left(text: number, query: Query): number {
    if (this.#seen[text] !== this.#query) {
      if (this.#marked) return this.#field.wordCount(text)
      this.#look(text, query)
    }
    return this.#left[text]!
  }

  typos(text: number): number {
    return text < 0 ? 0 : this.#typos[text]!
  }

  /** Marks all texts that have a word one typo away from the part. */
  findTypos(part: string, bit: number): void {
    this.#field.eachText(this.#field.words.near(part), (text) => {
      if (this.#typos[text] === 0) this.#withTypos.push(text)
      this.#typos[text]! |= bit
    })
  }

  /** The texts marked by `findTypos`, each once. */
  get withTypos(): readonly number[] {
    return this.#withTypos
  }

  /** Scans a text once per query, so that checking further rows with this text is almost free. */
  #look(text: number, query: Query): void {
    const folded = this.#field.texts[text]!
    let infix = 0
    let prefix = startOf(folded, query.text)
    const several = query.parts.length > 1
    let left = several ? this.#field.wordCount(text) : 0
    for (let part = 0; part < query.parts.length; part++) {
      const { text: sought, literal } = query.parts[part]!
      let at = folded.indexOf(sought)
      if (at < 0) continue
      infix |= 1 << part
      while (at >= 0 && !literal && !startsWord(folded, at)) at = folded.indexOf(sought, at + 1)
      if (at < 0) continue
      prefix |= 1 << part
      if (!several || literal) continue
      while (at >= 0 && !(startsWord(folded, at) && endsWord(folded, at + sought.length))) at = folded.indexOf(sought, at + 1)
      if (at >= 0) left--
    }
    this.#infix[text] = infix
    this.#prefix[text] = prefix
    if (several) this.#left[text] = Math.max(left, 0)
    this.#seen[text] = this.#query
  }
}

function startOf(text: string, query: string): number {
  if (!text.startsWith(query)) return 0
  return text.length === query.length ? STARTS | EQUAL : STARTS
}
