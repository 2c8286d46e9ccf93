// Distinct texts as numbers: a column of a million names contains small integers, and equal names are equal numbers.
import type { ColumnStore } from '#index/stored.ts'

/** Assigns numbers to distinct texts, starting at 0; a number never changes its text. `key` derives a text's sort key. */
export class Interned {
  texts: string[] = []
  /** sort key of each text, computed once */
  keys: string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #key: (text: string) => string

  constructor(key: (text: string) => string) {
    this.#key = key
  }

  store(columns: ColumnStore): void {
    this.texts = columns.texts(this.texts)
    this.keys = columns.texts(this.keys)
    if (columns.reading) for (const [number, text] of this.texts.entries()) this.#numbers.set(text, number)
  }

  /** The number of a text; a new text gets the next number. */
  number(text: string): number {
    const stored = this.#numbers.get(text)
    if (stored !== undefined) return stored
    const number = this.texts.length
    this.texts.push(text)
    this.keys.push(this.#key(text))
    this.#numbers.set(text, number)
    return number
  }

  /** The number of a text that has one, otherwise -1. */
  find(text: string): number {
    return this.#numbers.get(text) ?? -1
  }

  /** Compares two numbers by their sort keys; returns 0 for equal keys, even of different texts. */
  compare(a: number, b: number): number {
    if (a === b) return 0
    const keyA = this.keys[a]!
    const keyB = this.keys[b]!
    return keyA < keyB ? -1 : keyA > keyB ? 1 : 0
  }

  /** Rank of each number in the order of keys; equal keys have equal ranks. */
  ranks(): Int32Array {
    const sorted = Int32Array.from(this.texts.keys()).sort((a, b) => this.compare(a, b))
    const ranks = new Int32Array(sorted.length)
    let rank = 0
    for (let i = 0; i < sorted.length; i += 1) {
      if (i > 0 && this.keys[sorted[i]!] !== this.keys[sorted[i - 1]!]) rank += 1
      ranks[sorted[i]!] = rank
    }
    return ranks
  }
}
