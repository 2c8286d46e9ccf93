// Which codes of rows contain or equal the words of a query.
import { bareTerm, codeTerms, numberTerm, parseCode, partsOf, totalTerm } from '#index/codes.ts'
import { withCapacity } from '#index/columns.ts'
import { TextField } from '#index/field.ts'
import type { Query } from '#index/query.ts'

/** Bits of a code: from 0 on, the words that it contains; from here on, the words that it equals; and one more. */
export const EQUALS = 12
/** Set if the code equals the whole query. */
export const EQUALS_WHOLE = 1 << 24

export class CodeMatches {
  readonly field = new TextField(codeTerms, 'infixes')
  /** by code: its bits for this query; and the codes that have any bits */
  #bits = new Int32Array(0)
  #marked: number[] = []
  #anyWhole = false
  /** by code: 1 during the intersection of two lists of codes */
  #inFirst = new Uint8Array(0)

  /** Marks the codes that match this query, and clears the matches of the previous one. */
  start(query: Query): void {
    for (const code of this.#marked) this.#bits[code] = 0
    this.#marked = []
    this.#bits = withCapacity(this.#bits, this.field.space)
    this.#inFirst = withCapacity(this.#inFirst, this.field.space)
    for (let word = 0; word < query.words.length; word++) {
      const { text, literal } = query.words[word]!
      if (!literal) this.#markContaining(text, 1 << word)
      this.#markEqual(text, (1 << word) | (1 << (word + EQUALS)))
    }
    if (query.words.length > 0) this.#markEqual(query.text, EQUALS_WHOLE)
    this.#anyWhole = this.count(EQUALS_WHOLE) > 0
  }

  /** Whether any row has this code. */
  isKnown(text: string): boolean {
    const { number, total } = parseCode(text)
    return this.#term(bareTerm(number)).length > 0 || (total === '' && this.#term(numberTerm(number)).length > 0)
  }

  /** Adds the bits of each code to those in `into`, which counts codes from 1. */
  addTo(into: Int32Array): Int32Array {
    for (const code of this.#marked) into[code + 1]! |= this.#bits[code]!
    return into
  }

  /** Calls `visit` with every code that has one of the bits. */
  each(bits: number, visit: (code: number) => void): void {
    for (const code of this.#marked) if ((this.#bits[code]! & bits) !== 0) visit(code)
  }

  /** Whether any code matches the query. */
  get any(): boolean {
    return this.#marked.length > 0
  }

  /** Whether any code equals the whole query. */
  get anyWhole(): boolean {
    return this.#anyWhole
  }

  /** The bits of a code; none for code -1. */
  bits(code: number): number {
    return code < 0 ? 0 : this.#bits[code]!
  }

  /** Number of codes that have one of the bits. */
  count(bits: number): number {
    let count = 0
    this.each(bits, () => count++)
    return count
  }

  /** Marks the codes that contain a typed word; in a word, a slash ends the number and starts the total. */
  #markContaining(word: string, bits: number): void {
    const { words } = this.field
    const [number, total] = partsOf(word)
    if (number !== '' && total !== '') this.#markBoth(words.infix(`/${total}`), words.infix(`${number}/`), bits)
    else this.#mark(words.infix(word), bits)
  }

  /** Marks the codes for which `sameCode` is true. */
  #markEqual(text: string, bits: number): void {
    const { number, total } = parseCode(text)
    this.#mark(this.#term(bareTerm(number)), bits)
    if (total === '') this.#mark(this.#term(numberTerm(number)), bits)
    else this.#markBoth(this.#term(totalTerm(total)), this.#term(numberTerm(number)), bits)
  }

  #term(term: string): number[] {
    const id = this.field.words.id(term)
    return id === undefined ? [] : [id]
  }

  #mark(terms: readonly number[], bits: number): void {
    this.field.eachText(terms, (code) => this.#add(code, bits))
  }

  /** Marks the codes that have a term of each list; the first should be the shorter. */
  #markBoth(first: readonly number[], second: readonly number[], bits: number): void {
    this.field.eachText(first, (code) => {
      this.#inFirst[code] = 1
    })
    this.field.eachText(second, (code) => {
      if (this.#inFirst[code] === 1) this.#add(code, bits)
    })
    this.field.eachText(first, (code) => {
      this.#inFirst[code] = 0
    })
  }

  #add(code: number, bits: number): void {
    if (this.#bits[code] === 0) this.#marked.push(code)
    this.#bits[code]! |= bits
  }
}
