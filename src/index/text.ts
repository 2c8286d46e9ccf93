// Text search over rows with a name, a code and further texts: infixes, ranks and single typos, in time by the hits.
import { CodeMarks, EQUALS, EQUALS_WHOLE } from '#index/codeMarks.ts'
import { grown } from '#index/columns.ts'
import { TextField } from '#index/field.ts'
import { fold, words } from '#index/fold.ts'
import { STARTS, TextMarks } from '#index/marks.ts'
import { parseQuery, type Query } from '#index/query.ts'

/** What is searched of a row. */
export interface Doc {
  name: string
  /** collector number as printed, such as `004/102`; null or empty for none */
  code: string | null
  /** further texts whose words count, such as the category's name */
  more: readonly string[]
}

/** How well a row matches; lower is better. */
export const TIERS = {
  exactCode: 0,
  exactName: 1,
  namePrefix: 2,
  wordPrefix: 3,
  infix: 4,
  typo: 5,
} as const

/** Rows, each once and in no order, and the best tier of each at the same place. */
export interface Matches {
  rows: Int32Array
  tiers: Uint8Array
}

const NO_MATCH = -1

/** Query words shorter than this have no typos. */
const SHORTEST_WITH_TYPO = 4

/** The cost of looking through all texts, taken only when there is no other way. */
const SCAN = Number.MAX_VALUE

/** A query word and one of its parts, found by the index; all other conditions are checked on the rows it yields. */
interface Drive {
  word: number
  part: number
  inNames: number[]
  inMore: number[]
  /** about how many rows it yields */
  cost: number
}

export class TextIndex {
  readonly #names = new TextField(words, true)
  readonly #more = new TextField(words, true)
  readonly #nameMarks = new TextMarks(this.#names)
  readonly #moreMarks = new TextMarks(this.#more)
  readonly #codeMarks = new CodeMarks()
  readonly #codes = this.#codeMarks.field
  #found = new Int32Array(64)
  #size = 0

  /** How many rows are indexed. */
  get size(): number {
    return this.#names.rows
  }

  /** Indexes a row, in place of what it was indexed with before. */
  set(row: number, doc: Doc): void {
    this.#names.set(row, fold(doc.name))
    this.#codes.set(row, doc.code ? fold(doc.code) : null)
    this.#more.set(row, doc.more.length > 0 ? doc.more.map(fold).join(' ') : null)
  }

  remove(row: number): void {
    this.#names.set(row, null)
    this.#codes.set(row, null)
    this.#more.set(row, null)
  }

  /** The rows that match every word of the query, each once and in no order; none for an empty query. No typos. */
  filter(search: string): Int32Array {
    const query = this.#start(search)
    this.#yieldCandidates(query)
    // Rows that come by the only condition there is need no check.
    if (query.words.length > 1 || query.parts.length > 1) {
      this.#keep((row) => this.#matches(query, row, false) || this.#equalsWhole(row))
    }
    return this.#found.slice(0, this.#size)
  }

  /** The rows that match every word of the query, one typo per longer word allowed, and how well they do. */
  ranked(search: string): Matches {
    const query = this.#start(search)
    this.#yieldCandidates(query)
    const exactName = this.#names.find(query.text)
    const tiers = new Uint8Array(this.#size)
    let kept = 0
    this.#keep((row) => {
      const tier = this.#tier(query, row, exactName)
      if (tier !== NO_MATCH) tiers[kept++] = tier
      return tier !== NO_MATCH
    })
    this.#addTypos(query)
    const all = new Uint8Array(this.#size).fill(TIERS.typo)
    all.set(tiers.subarray(0, kept))
    return { rows: this.#found.slice(0, this.#size), tiers: all }
  }

  #start(search: string): Query {
    const query = parseQuery(search)
    this.#size = 0
    this.#nameMarks.start()
    this.#moreMarks.start()
    this.#codeMarks.start(query)
    return query
  }

  /** Finds all rows that may match: those of the condition that yields fewest, and those of the whole code. */
  #yieldCandidates(query: Query): void {
    if (query.words.length === 0) return
    let best = this.#drive(query, 0)
    for (let word = 1; word < query.words.length; word++) {
      const other = this.#drive(query, word)
      if (other.cost < best.cost) best = other
    }
    this.#takeTexts(query, best)
    const bits = (1 << best.word) | EQUALS_WHOLE
    for (const code of this.#codeMarks.marked) {
      if ((this.#codeMarks.bits(code) & bits) === 0) continue
      for (let row = this.#codes.firstRow(code); row >= 0; row = this.#codes.nextRow(row)) {
        const taken = this.#nameMarks.isChosen(this.#names.textOf(row)) || this.#moreMarks.isChosen(this.#more.textOf(row))
        if (!taken) this.#take(row)
      }
    }
  }

  /** The cheapest part of a word to find its rows by. */
  #drive(query: Query, word: number): Drive {
    let best: Drive = { word, part: 0, inNames: [], inMore: [], cost: Number.POSITIVE_INFINITY }
    const codes = expectedRows(this.#codes, this.#codeMarks.count(1 << word))
    for (let part = 0; part < query.parts.length; part++) {
      if ((query.words[word].parts & (1 << part)) === 0) continue
      const { text, literal } = query.parts[part]
      if (literal) {
        if (SCAN < best.cost) best = { ...best, part, cost: SCAN }
        continue
      }
      const inNames = this.#names.words.infix(text)
      const inMore = this.#more.words.infix(text)
      const cost =
        expectedRows(this.#names, this.#names.countTexts(inNames)) +
        expectedRows(this.#more, this.#more.countTexts(inMore)) +
        codes
      if (cost < best.cost) best = { word, part, inNames, inMore, cost }
    }
    return best
  }

  /** Takes the rows whose name or further text has the part that drives. */
  #takeTexts(query: Query, drive: Drive): void {
    const { text, literal } = query.parts[drive.part]
    const takeName = (name: number): void => {
      if (this.#nameMarks.choose(name)) this.#takeRows(this.#names, name)
    }
    const takeMore = (more: number): void => {
      if (!this.#moreMarks.choose(more)) return
      for (let row = this.#more.firstRow(more); row >= 0; row = this.#more.nextRow(row)) {
        if (!this.#nameMarks.isChosen(this.#names.textOf(row))) this.#take(row)
      }
    }
    if (literal) {
      this.#names.texts.forEach((name, id) => name?.includes(text) && takeName(id))
      this.#more.texts.forEach((more, id) => more?.includes(text) && takeMore(id))
    } else {
      this.#names.eachText(drive.inNames, takeName)
      this.#more.eachText(drive.inMore, takeMore)
    }
  }

  #takeRows(field: TextField, text: number): void {
    for (let row = field.firstRow(text); row >= 0; row = field.nextRow(row)) this.#take(row)
  }

  #take(row: number): void {
    this.#found = grown(this.#found, this.#size + 1)
    this.#found[this.#size++] = row
  }

  /** Drops the found rows that fail the test, which is asked in order. */
  #keep(test: (row: number) => boolean): void {
    let kept = 0
    for (let at = 0; at < this.#size; at++) {
      const row = this.#found[at]
      if (test(row)) this.#found[kept++] = row
    }
    this.#size = kept
  }

  /** Adds the rows that match only when typos are allowed. */
  #addTypos(query: Query): void {
    for (let part = 0; part < query.parts.length; part++) {
      const { text, literal } = query.parts[part]
      if (literal || text.length < SHORTEST_WITH_TYPO) continue
      this.#nameMarks.findTypos(text, 1 << part)
      this.#moreMarks.findTypos(text, 1 << part)
    }
    const takeIfTypo = (row: number): void => {
      if (!this.#equalsWhole(row) && !this.#matches(query, row, false) && this.#matches(query, row, true)) this.#take(row)
    }
    for (const name of this.#nameMarks.withTypos) {
      for (let row = this.#names.firstRow(name); row >= 0; row = this.#names.nextRow(row)) takeIfTypo(row)
    }
    for (const more of this.#moreMarks.withTypos) {
      for (let row = this.#more.firstRow(more); row >= 0; row = this.#more.nextRow(row)) {
        if (this.#nameMarks.typos(this.#names.textOf(row)) === 0) takeIfTypo(row)
      }
    }
  }

  #tier(query: Query, row: number, exactName: number): number {
    if (this.#equalsWhole(row)) return TIERS.exactCode
    if (!this.#matches(query, row, false)) return NO_MATCH
    const name = this.#names.textOf(row)
    if (name === exactName) return TIERS.exactName
    const inName = this.#nameMarks.prefix(name)
    if ((inName & STARTS) !== 0) return TIERS.namePrefix
    const prefixes = inName | this.#moreMarks.prefix(this.#more.textOf(row))
    return this.#covers(query, prefixes, this.#codeBits(row) >>> EQUALS) ? TIERS.wordPrefix : TIERS.infix
  }

  /** Whether every word of the query is in the row's texts or its code. */
  #matches(query: Query, row: number, typos: boolean): boolean {
    const name = this.#names.textOf(row)
    const more = this.#more.textOf(row)
    let parts = this.#nameMarks.infix(name, query) | this.#moreMarks.infix(more, query)
    if (typos) parts |= this.#nameMarks.typos(name) | this.#moreMarks.typos(more)
    return this.#covers(query, parts, this.#codeBits(row))
  }

  /** Whether each word has all its parts among the given ones, or its bit among those of the code. */
  #covers(query: Query, parts: number, code: number): boolean {
    for (let word = 0; word < query.words.length; word++) {
      const wanted = query.words[word].parts
      if ((parts & wanted) !== wanted && (code & (1 << word)) === 0) return false
    }
    return true
  }

  #equalsWhole(row: number): boolean {
    return (this.#codeBits(row) & EQUALS_WHOLE) !== 0
  }

  #codeBits(row: number): number {
    return this.#codeMarks.bits(this.#codes.textOf(row))
  }
}

/** About how many rows have one of so many texts of a field. */
function expectedRows(field: TextField, texts: number): number {
  return field.space === 0 ? 0 : (texts * field.rows) / field.space
}
