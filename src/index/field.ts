// One searched field: the distinct texts of its rows, and the words of these texts.
import { withCapacity } from '#index/columns.ts'
import { Dictionary, type MatchKind } from '#index/dictionary.ts'
import { Postings } from '#index/postings.ts'
import type { ColumnStore } from '#index/stored.ts'

const NONE = -1

/** Many rows share a text, and many texts share a word, so a search goes from words to texts to rows. */
export class TextField {
  /** words of the first lines */
  readonly words: Dictionary
  /** words of further lines, found only as whole words */
  readonly furtherWords = new Dictionary('whole')
  readonly #split: (line: string) => string[]
  readonly #splitFurther: (line: string) => string[]
  readonly #ids = new Map<string, number>()
  /** by text number: its first line; undefined while the number is free */
  texts: (string | undefined)[] = []
  /** by text number: its further lines, '' for none */
  further: string[] = []
  #spare: number[] = []
  /** by word: the texts that contain it */
  readonly #textsOf = new Postings()
  readonly #textsOfFurther = new Postings()
  #heads = new Int32Array(0)
  #counts = new Int32Array(0)
  /** by text: number of different words of its first line, at most 255 */
  #wordCounts = new Uint8Array(0)
  /** by row: its text, and the previous and next row with the same text */
  #of = new Int32Array(0)
  #before = new Int32Array(0)
  #after = new Int32Array(0)
  #rows = 0

  /**
   * @param split returns the words of a first line; must be deterministic
   * @param searched how these words are searched
   * @param splitFurther returns the words of a further line
   */
  constructor(split: (line: string) => string[], searched: MatchKind, splitFurther: (line: string) => string[] = split) {
    this.#split = split
    this.#splitFurther = splitFurther
    this.words = new Dictionary(searched)
  }

  store(columns: ColumnStore): void {
    const texts = columns.texts(mapped(this.texts, (text) => text ?? ''))
    this.further = columns.texts(this.further)
    this.#spare = columns.numbers(this.#spare)
    for (const part of [this.words, this.furtherWords, this.#textsOf, this.#textsOfFurther]) part.store(columns)
    this.#heads = columns.column(this.#heads)
    this.#counts = columns.column(this.#counts)
    this.#wordCounts = columns.column(this.#wordCounts)
    this.#of = columns.column(this.#of)
    this.#before = columns.column(this.#before)
    this.#after = columns.column(this.#after)
    this.#rows = columns.value(this.#rows)
    if (!columns.reading) return
    this.texts = texts
    for (const id of this.#spare) this.texts[id] = undefined
    for (const id of texts.keys()) if (texts[id] !== undefined) this.#ids.set(this.#whole(id), id)
  }

  /** Number of rows that have a text. */
  get rows(): number {
    return this.#rows
  }

  /** All text numbers are below this. */
  get space(): number {
    return this.texts.length
  }

  /** Reserves space for this many rows. */
  reserve(rows: number): void {
    this.#of = withCapacity(this.#of, rows, NONE)
    this.#before = withCapacity(this.#before, rows)
    this.#after = withCapacity(this.#after, rows)
  }

  /** The number of the row's text; -1 for none. */
  textOf(row: number): number {
    return row < this.#of.length ? this.#of[row]! : NONE
  }

  /** Text of each row; -1 for none. @param rows number of rows that will be read */
  column(rows: number): Int32Array {
    this.reserve(rows)
    return this.#of
  }

  /** By text, counted from 1: bits of the parts that it contains, each given by its text and its words in `words`; null for punctuation. */
  contained(parts: readonly { text: string; words: readonly number[] | null }[]): Int32Array {
    const bits = new Int32Array(this.space + 1)
    for (const [part, { text: sought, words }] of parts.entries()) {
      if (words !== null) this.#textsOf.mark(words, bits.subarray(1), 1 << part)
      else for (let text = 0; text < this.space; text++) if (this.texts[text]?.includes(sought)) bits[text + 1]! |= 1 << part
    }
    return bits
  }

  /** Number of rows that have this text. */
  count(text: number): number {
    return this.#counts[text]!
  }

  /** Number of different words of the first line of a text; 255 means 255 or more. */
  wordCount(text: number): number {
    return this.#wordCounts[text]!
  }

  /** Sets the text of a row; null removes it. */
  set(row: number, text: string | null): void {
    const old = this.textOf(row)
    const id = text === null ? NONE : this.#ids.get(text)
    if (id === old) return
    if (old !== NONE) this.#unlink(row, old)
    if (text !== null) this.#link(row, id ?? this.#addText(text))
  }

  /** Calls `visit` with the number of every text that has one of the words, and the word; several times if it has several of them. */
  eachText(words: readonly number[], visit: (text: number, word: number) => void): void {
    eachIn(this.#textsOf, words, visit)
  }

  /** The same for words of further lines. */
  eachFurther(words: readonly number[], visit: (text: number) => void): void {
    eachIn(this.#textsOfFurther, words, visit)
  }

  /** Sum over the words of the number of texts that contain each. */
  countTexts(words: readonly number[]): number {
    let count = 0
    for (const word of words) count += this.#textsOf.length(word)
    return count
  }

  /** The first row with this text, and the row after a given one; -1 at the end. */
  firstRow(text: number): number {
    return this.#heads[text]!
  }

  nextRow(row: number): number {
    return this.#after[row]!
  }

  #link(row: number, text: number): void {
    if (row >= this.#of.length) this.reserve(row + 1)
    const head = this.#heads[text]!
    if (head !== NONE) this.#before[head] = row
    this.#before[row] = NONE
    this.#after[row] = head
    this.#heads[text] = row
    this.#of[row] = text
    this.#counts[text]!++
    this.#rows++
  }

  #unlink(row: number, text: number): void {
    const before = this.#before[row]!
    const after = this.#after[row]!
    if (before === NONE) this.#heads[text] = after
    else this.#after[before] = after
    if (after !== NONE) this.#before[after] = before
    this.#of[row] = NONE
    this.#rows--
    if (--this.#counts[text]! === 0) this.#deleteText(text)
  }

  #addText(text: string): number {
    const id = this.#spare.pop() ?? this.texts.length
    const end = text.indexOf('\n')
    const first = end < 0 ? text : text.slice(0, end)
    this.texts[id] = first
    this.further[id] = end < 0 ? '' : text.slice(end + 1)
    this.#ids.set(text, id)
    this.#heads = withCapacity(this.#heads, id + 1)
    this.#counts = withCapacity(this.#counts, id + 1)
    this.#heads[id] = NONE
    const distinct = new Set(this.#split(first))
    for (const word of distinct) this.#textsOf.add(this.words.id(word) ?? this.words.add(word), id)
    for (const word of this.#wordsOfFurther(id)) this.#textsOfFurther.add(this.furtherWords.id(word) ?? this.furtherWords.add(word), id)
    this.#wordCounts = withCapacity(this.#wordCounts, id + 1)
    this.#wordCounts[id] = Math.min(distinct.size, 255)
    return id
  }

  #deleteText(id: number): void {
    const first = this.texts[id]!
    for (const word of new Set(this.#split(first))) forget(word, id, this.words, this.#textsOf)
    for (const word of this.#wordsOfFurther(id)) forget(word, id, this.furtherWords, this.#textsOfFurther)
    this.#ids.delete(this.#whole(id))
    this.texts[id] = undefined
    this.further[id] = ''
    this.#spare.push(id)
  }

  /** All lines of a text. */
  #whole(id: number): string {
    return this.further[id] === '' ? this.texts[id]! : `${this.texts[id]!}\n${this.further[id]!}`
  }

  #wordsOfFurther(id: number): Set<string> {
    const further = this.further[id]!
    return new Set(further === '' ? [] : further.split('\n').flatMap(this.#splitFurther))
  }
}

function* mapped<T, U>(list: readonly T[], map: (entry: T) => U): Generator<U> {
  for (const entry of list) yield map(entry)
}

function eachIn(textsOf: Postings, words: readonly number[], visit: (text: number, word: number) => void): void {
  for (const word of words) {
    const length = textsOf.length(word)
    for (let at = 0; at < length; at++) visit(textsOf.at(word, at), word)
  }
}

/** Removes a text from a word; a word without texts is removed, too. */
function forget(word: string, text: number, words: Dictionary, textsOf: Postings): void {
  const wordId = words.id(word)!
  textsOf.remove(wordId, text)
  if (textsOf.length(wordId) === 0) words.delete(wordId)
}
