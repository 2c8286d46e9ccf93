// Which rows have a text with a given part in it, by the words of the texts alone: the texts themselves are not kept.
import { RowBits } from '#index/bits.ts'
import { Dictionary } from '#index/dictionary.ts'
import { Postings } from '#index/postings.ts'

/** Words as a query's parts are cut (`fold.ts`), and what stands between them, so that punctuation is found as well. */
const TERMS = /[\p{L}\p{N}\p{M}]+|\p{So}|[^\s\p{L}\p{N}\p{M}\p{So}]+/gu

/** A term of so many rows, and of more than one row in 32, is smaller as bits than as a list, and quicker to change. */
const MANY = 1024
const SHARE = 32

export class TermRows {
  readonly #terms = new Dictionary(false)
  readonly #lists = new Postings()
  /** rows of the terms that many rows have */
  readonly #sets = new Map<number, RowBits>()
  #space = 0

  /** Files a row under a folded text; a row may have one text only. */
  add(row: number, text: string): void {
    this.#space = Math.max(this.#space, row + 1)
    for (const term of termsOf(text)) this.#addTo(this.#terms.id(term) ?? this.#terms.add(term), row)
  }

  /** Takes a row out; the text is the one it was filed under. */
  delete(row: number, text: string): void {
    for (const term of termsOf(text)) this.#deleteFrom(this.#terms.id(term)!, row)
  }

  /** The terms that contain a part of a query (fold.ts, `words`; or punctuation alone). */
  infix(part: string): number[] {
    return this.#terms.infix(part)
  }

  /** How many rows have the terms, counted again for each term. */
  count(terms: readonly number[]): number {
    let count = 0
    for (const term of terms) count += this.#sets.get(term)?.size ?? this.#lists.length(term)
    return count
  }

  /** Adds the rows that have one of the terms. */
  collect(terms: readonly number[], into: RowBits): void {
    for (const term of terms) {
      const set = this.#sets.get(term)
      if (set) into.or(set)
      else into.addRows(this.#lists.view(term))
    }
  }

  #addTo(term: number, row: number): void {
    const set = this.#sets.get(term)
    if (set) return void set.add(row)
    this.#lists.add(term, row)
    const length = this.#lists.length(term)
    if (length < MANY || length * SHARE < this.#space) return
    this.#sets.set(term, RowBits.of(this.#lists.view(term)))
    this.#lists.clear(term)
  }

  #deleteFrom(term: number, row: number): void {
    const set = this.#sets.get(term)
    if (set) set.delete(row)
    else this.#lists.remove(term, row)
    if ((set?.size ?? this.#lists.length(term)) > 0) return
    this.#sets.delete(term)
    this.#terms.delete(term)
  }
}

function termsOf(text: string): Set<string> {
  return new Set(text.match(TERMS))
}
