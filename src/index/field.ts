// One searched field: the distinct texts rows have in it, and the words of these texts.
import { grown } from '#index/columns.ts'
import { Dictionary } from '#index/dictionary.ts'
import { Postings } from '#index/postings.ts'

const NONE = -1

/** Rows share few texts and texts share few words, so a search goes from words to texts to rows. */
export class TextField {
  readonly words: Dictionary
  readonly #split: (text: string) => string[]
  readonly #ids = new Map<string, number>()
  /** by text number; undefined while the number is free */
  readonly texts: (string | undefined)[] = []
  #spare: number[] = []
  /** by word: the texts that have it */
  readonly #textsOf = new Postings()
  #heads = new Int32Array(0)
  #counts = new Int32Array(0)
  /** by row: its text, and the rows before and after it that have the same text */
  #of = new Int32Array(0)
  #before = new Int32Array(0)
  #after = new Int32Array(0)
  #rows = 0

  /**
   * @param split the words of a text, each the same every time
   * @param typos whether words one typo away are searched too
   */
  constructor(split: (text: string) => string[], typos: boolean) {
    this.#split = split
    this.words = new Dictionary(typos)
  }

  /** How many rows have a text. */
  get rows(): number {
    return this.#rows
  }

  /** How many numbers texts have; all are below it. */
  get space(): number {
    return this.texts.length
  }

  /** Makes room for so many rows. */
  reserve(rows: number): void {
    this.#of = grown(this.#of, rows, NONE)
    this.#before = grown(this.#before, rows)
    this.#after = grown(this.#after, rows)
  }

  /** The number of the row's text, -1 for none. */
  textOf(row: number): number {
    return row < this.#of.length ? this.#of[row]! : NONE
  }

  /** The number of a text that some row has, -1 for any other. */
  find(text: string): number {
    return this.#ids.get(text) ?? NONE
  }

  /** How many rows have this text. */
  count(text: number): number {
    return this.#counts[text]!
  }

  /** Gives the row a text, null for none. */
  set(row: number, text: string | null): void {
    const old = this.textOf(row)
    const id = text === null ? NONE : this.#ids.get(text)
    if (id === old) return
    if (old !== NONE) this.#unlink(row, old)
    if (text !== null) this.#link(row, id ?? this.#addText(text))
  }

  /** Calls `visit` with the number of every text that has one of the words; more than once if it has several. */
  eachText(words: readonly number[], visit: (text: number) => void): void {
    for (const word of words) {
      const length = this.#textsOf.length(word)
      for (let at = 0; at < length; at++) visit(this.#textsOf.at(word, at))
    }
  }

  /** How many texts have the words, counted again for each word. */
  countTexts(words: readonly number[]): number {
    let count = 0
    for (const word of words) count += this.#textsOf.length(word)
    return count
  }

  /** The first row that has this text, and the one after a row that has it; -1 at the end. */
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
    this.texts[id] = text
    this.#ids.set(text, id)
    this.#heads = grown(this.#heads, id + 1)
    this.#counts = grown(this.#counts, id + 1)
    this.#heads[id] = NONE
    for (const word of new Set(this.#split(text))) {
      this.#textsOf.add(this.words.id(word) ?? this.words.add(word), id)
    }
    return id
  }

  #deleteText(id: number): void {
    const text = this.texts[id]!
    for (const word of new Set(this.#split(text))) {
      const known = this.words.id(word)!
      this.#textsOf.remove(known, id)
      if (this.#textsOf.length(known) === 0) this.words.delete(known)
    }
    this.#ids.delete(text)
    this.texts[id] = undefined
    this.#spare.push(id)
  }
}
