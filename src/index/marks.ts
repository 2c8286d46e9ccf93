// What one query has found out about the texts of a field, in arrays used again by the next.
import { grown } from '#index/columns.ts'
import type { TextField } from '#index/field.ts'
import { endsWord, startsWord } from '#index/fold.ts'
import type { Query } from '#index/query.ts'

/** Set in `prefix` beside the bits of parts: the text starts with the whole query. */
export const STARTS = 1 << 30
/** Set in `prefix` beside it: the text is the whole query. */
export const EQUAL = 1 << 29

const LAST_QUERY = 2 ** 31 - 1

export class TextMarks {
  readonly #field: TextField
  /** by text, valid when `#seen` holds the query's number: bits of the parts it has, and has at the start of a word */
  #infix = new Int32Array(0)
  #prefix = new Int32Array(0)
  /** by text, valid likewise: how many of its words no part is; counted where the query has several parts */
  #left = new Uint8Array(0)
  #seen = new Int32Array(0)
  #chosen = new Int32Array(0)
  #query = 0
  /** by text: bits of the parts that one of its words is one typo away from; wiped after the query */
  #typos = new Int32Array(0)
  #withTypos: number[] = []

  constructor(field: TextField) {
    this.#field = field
  }

  /** Forgets the query before. */
  start(): void {
    for (const text of this.#withTypos) this.#typos[text] = 0
    this.#withTypos = []
    const space = this.#field.space
    this.#infix = grown(this.#infix, space)
    this.#prefix = grown(this.#prefix, space)
    this.#left = grown(this.#left, space)
    this.#seen = grown(this.#seen, space)
    this.#chosen = grown(this.#chosen, space)
    this.#typos = grown(this.#typos, space)
    if (this.#query === LAST_QUERY) {
      this.#seen.fill(0)
      this.#chosen.fill(0)
      this.#query = 0
    }
    this.#query++
  }

  /** Chooses a text for this query. @returns false if it was chosen before */
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
    if (this.#seen[text] !== this.#query) this.#look(text, query)
    return this.#infix[text]!
  }

  /** Bits of the parts that start a word of the text, and `STARTS`. To be asked after `infix`. */
  prefix(text: number): number {
    return text < 0 ? 0 : this.#prefix[text]!
  }

  /** How many words of the text are not parts of the query, which has several. To be asked after `infix`. */
  left(text: number): number {
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

  /** Looks a text over once per query, so its rows cost next to nothing. */
  #look(text: number, query: Query): void {
    const folded = this.#field.texts[text]!
    let infix = 0
    let prefix = folded.startsWith(query.text) ? (folded.length === query.text.length ? STARTS | EQUAL : STARTS) : 0
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
