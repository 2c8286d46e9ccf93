// Finds rows whose text contains a given part, by word index only; the texts are not stored.
import { RowBits } from '#index/bits.ts'
import { Dictionary } from '#index/dictionary.ts'
import { Postings } from '#index/postings.ts'
import type { ColumnStore } from '#index/stored.ts'

/** Words as a query's parts are split (`fold.ts`), and the text between them, so that punctuation is found, too. */
const TERMS = /[\p{L}\p{N}\p{M}]+|\p{So}|[^\s\p{L}\p{N}\p{M}\p{So}]+/gu

/** A term with at least this many rows, and with more than one row in 32, is smaller and faster to change as a bitset than as a list. */
const MANY = 1024
const SHARE = 32

export class TermRows {
  readonly #terms = new Dictionary('infixes')
  readonly #lists = new Postings()
  /** by term: its rows if there are many */
  readonly #sets: (RowBits | undefined)[] = []
  /** terms that are kept even if no row has them */
  readonly #held = new Set<number>()
  #space = 0

  store(columns: ColumnStore): void {
    this.#terms.store(columns)
    this.#lists.store(columns)
    this.#space = columns.value(this.#space)
    const held = columns.numbers(this.#held)
    const many = columns.value(this.#sets.flatMap((set, term) => (set ? [term] : [])))
    if (columns.reading) {
      for (const term of held) this.#held.add(term)
      for (const term of many) this.#sets[term] = new RowBits()
    }
    for (const term of many) this.#sets[term]!.store(columns)
  }

  /** Distinct term numbers of a folded text; numbers without a use yet are new, and must be held or given to a row. */
  termsOf(text: string): number[] {
    const terms = []
    for (const term of new Set(text.match(TERMS))) terms.push(this.#terms.id(term) ?? this.#terms.add(term))
    return terms
  }

  /** Keeps the numbers of terms permanently, even if no row has them. */
  hold(terms: readonly number[]): void {
    for (const term of terms) this.#held.add(term)
  }

  /** Indexes a row under a term that it does not have yet. */
  add(row: number, term: number): void {
    if (row >= this.#space) this.#space = row + 1
    const set = this.#sets[term]
    if (set) return void set.add(row)
    this.#lists.add(term, row)
    const length = this.#lists.length(term)
    if (length < MANY || length * SHARE < this.#space) return
    this.#sets[term] = RowBits.of(this.#lists.view(term))
    this.#lists.clear(term)
  }

  /** Removes a row from a term that it has. */
  delete(row: number, term: number): void {
    const set = this.#sets[term]
    if (set) set.delete(row)
    else this.#lists.remove(term, row)
    if ((set?.size ?? this.#lists.length(term)) > 0) return
    this.#sets[term] = undefined
    if (!this.#held.has(term)) this.#terms.delete(term)
  }

  /** The terms that contain a part of a query (fold.ts, `words`; or punctuation alone). */
  infix(part: string): number[] {
    return this.#terms.infix(part)
  }

  /** Sum over the terms of the number of rows that have each. */
  count(terms: readonly number[]): number {
    let count = 0
    for (const term of terms) count += this.#sets[term]?.size ?? this.#lists.length(term)
    return count
  }

  /** Adds the rows that have one of the terms. */
  collect(terms: readonly number[], into: RowBits): void {
    for (const term of terms) {
      const set = this.#sets[term]
      if (set) into.or(set)
      else into.addRows(this.#lists.view(term))
    }
  }

  /** Releases the spare capacity that loading has reserved. */
  pack(): void {
    this.#lists.pack()
  }
}
