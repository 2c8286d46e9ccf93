// Numbers for frequent words and short texts, looked up by bytes without creating strings.
import { withCapacity } from '#index/columns.ts'
import type { ColumnStore } from '#index/stored.ts'

/** Maximum number of words. The first words seen get numbers: frequent words come early, and their numbers take two bytes when packed. */
export const MAX_WORDS = 2 ** 14 - 1
/** Maximum length of a word that gets a number, in bytes. */
export const MAX_WORD_BYTES = 40
/** At least twice the number of words, so that a lookup takes one or two steps; a power of two. */
const SLOTS = 2 ** 15
/** Hashes of words that were seen once; a power of two. */
const SEEN = 2 ** 14

/** Words with a number each; at most `MAX_WORDS`, all others have none. */
export class Vocabulary {
  #bytes = new Uint8Array(0)
  /** by word: end of its bytes, which follow those of the previous word */
  #ends = new Int32Array(MAX_WORDS)
  /** hash table with linear probing: number of a word + 1; 0 for an empty slot */
  #slots = new Int32Array(SLOTS)
  #size = 0
  /** hashes of recent words without a number, if a word gets one when it is seen again */
  readonly #seen: Int32Array | null

  /** @param repeatedOnly whether a word gets a number only when it is seen again soon, for texts with many words that occur once */
  constructor(repeatedOnly = false) {
    this.#seen = repeatedOnly ? new Int32Array(SEEN) : null
  }

  store(columns: ColumnStore): void {
    this.#bytes = columns.column(this.#bytes)
    this.#ends = columns.column(this.#ends)
    this.#slots = columns.column(this.#slots)
    this.#size = columns.value(this.#size)
  }

  /** The number of the word in these bytes, assigned on first use; -1 if it gets none. */
  number(bytes: Uint8Array, from: number, to: number): number {
    let hash = 0x811c9dc5
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193)
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1)
    for (let word = this.#slots[slot]! - 1; word >= 0; word = this.#slots[slot]! - 1) {
      if (this.#is(word, bytes, from, to)) return word
      slot = (slot + 1) & (SLOTS - 1)
    }
    const length = to - from
    if (this.#size === MAX_WORDS || length > MAX_WORD_BYTES || length === 0) return -1
    if (this.#seen !== null && this.#seen[hash & (SEEN - 1)] !== hash) {
      this.#seen[hash & (SEEN - 1)] = hash
      return -1
    }
    const start = this.#start(this.#size)
    this.#bytes = withCapacity(this.#bytes, start + length)
    for (let at = 0; at < length; at++) this.#bytes[start + at] = bytes[from + at]!
    this.#ends[this.#size] = start + length
    this.#slots[slot] = this.#size + 1
    return this.#size++
  }

  /** The bytes of a word; callers must not change them. */
  bytesOf(word: number): Uint8Array {
    return this.#bytes.subarray(this.#start(word), this.#ends[word])
  }

  /** Copies the bytes of a word, at most `MAX_WORD_BYTES`; returns the position after them. */
  copy(word: number, target: Uint8Array, at: number): number {
    const bytes = this.#bytes
    const end = this.#ends[word]!
    for (let from = this.#start(word); from < end; from++) target[at++] = bytes[from]!
    return at
  }

  #start(word: number): number {
    return word === 0 ? 0 : this.#ends[word - 1]!
  }

  #is(word: number, bytes: Uint8Array, from: number, to: number): boolean {
    const start = this.#start(word)
    if (this.#ends[word]! - start !== to - from) return false
    for (let at = from; at < to; at++) if (this.#bytes[start + at - from] !== bytes[at]) return false
    return true
  }
}

/** Decodes short texts, many of which recur: equal texts return the same string, which makes map lookups fast. */
export class RepeatedTexts {
  readonly #numbers = new Vocabulary()
  readonly #texts: string[] = []

  textOf(bytes: Buffer, from: number, to: number): string {
    const number = this.#numbers.number(bytes, from, to)
    if (number < 0) return bytes.toString('utf8', from, to)
    return (this.#texts[number] ??= bytes.toString('utf8', from, to))
  }
}
