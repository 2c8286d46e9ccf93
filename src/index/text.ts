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

const NONE = -1
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

/** Finds and ranks row numbers by search text; it knows the texts and no cards. */
export class TextIndex {
  readonly #names = new TextField(words, true)
  readonly #more = new TextField(words, true)
  readonly #nameMarks = new TextMarks(this.#names)
  readonly #moreMarks = new TextMarks(this.#more)
  readonly #codeMarks = new CodeMarks()
  readonly #codes = this.#codeMarks.field
  /** what the query under way has found so far */
  #rows = new Int32Array(64)
  #tiers = new Uint8Array(64)
  #size = 0

  /** How many rows are indexed. */
  get size(): number {
    return this.#names.rows
  }

  /** Makes room for so many rows. */
  reserve(rows: number): void {
    this.#names.reserve(rows)
    this.#codes.reserve(rows)
    this.#more.reserve(rows)
  }

  /** Indexes a row, in place of what it was indexed with before. */
  set(row: number, doc: Doc): void {
    this.setFolded(row, fold(doc.name), doc.code ? fold(doc.code) : null, doc.more.length > 0 ? doc.more.map(fold).join(' ') : null)
  }

  /** The same with texts that are folded already, as where many rows share them. */
  setFolded(row: number, name: string, code: string | null, more: string | null): void {
    this.#names.set(row, name)
    this.#codes.set(row, code)
    this.#more.set(row, more)
  }

  remove(row: number): void {
    this.#names.set(row, null)
    this.#codes.set(row, null)
    this.#more.set(row, null)
  }

  /** The rows that match every word of the query, each once and in no order; none for an empty query. No typos. */
  filter(search: string): Int32Array {
    this.#search(search, false)
    return this.#rows.slice(0, this.#size)
  }

  /** The rows that match every word of the query, one typo per longer word allowed, and how well they do. */
  ranked(search: string): Matches {
    const query = this.#search(search, true)
    this.#addTypos(query)
    return { rows: this.#rows.slice(0, this.#size), tiers: this.#tiers.slice(0, this.#size) }
  }

  /** Finds what matches without typos. Only if `ranks`, the tiers below `infix` are told apart. */
  #search(search: string, ranks: boolean): Query {
    const query = parseQuery(search)
    this.#size = 0
    this.#nameMarks.start()
    this.#moreMarks.start()
    this.#codeMarks.start(query)
    if (query.words.length === 0) return query
    const drive = this.#cheapestDrive(query)
    const exactName = this.#names.find(query.text)
    // With one condition, what it yields needs no check unless it is ranked.
    const sure = !ranks && query.words.length === 1 && query.parts.length === 1
    const tierOf = (name: number, more: number, code: number): number => (sure ? TIERS.infix : this.#tierOf(query, name, more, code, exactName))

    const takeName = (name: number): void => {
      if (!this.#nameMarks.choose(name)) return
      const tier = tierOf(name, NONE, NONE)
      // Often the name alone settles it: it matches, and category or code could not rank it better.
      const settled = ranks ? tier !== NO_MATCH && tier < TIERS.infix && !this.#codeMarks.anyWhole : tier !== NO_MATCH
      for (let row = this.#names.firstRow(name); row !== NONE; row = this.#names.nextRow(row)) {
        this.#take(row, settled ? tier : tierOf(name, this.#more.textOf(row), this.#codes.textOf(row)))
      }
    }
    const takeMore = (more: number): void => {
      if (!this.#moreMarks.choose(more)) return
      for (let row = this.#more.firstRow(more); row !== NONE; row = this.#more.nextRow(row)) {
        const name = this.#names.textOf(row)
        if (!this.#nameMarks.isChosen(name)) this.#take(row, tierOf(name, more, this.#codes.textOf(row)))
      }
    }
    const takeCode = (code: number): void => {
      for (let row = this.#codes.firstRow(code); row !== NONE; row = this.#codes.nextRow(row)) {
        const name = this.#names.textOf(row)
        const more = this.#more.textOf(row)
        const taken = this.#nameMarks.isChosen(name) || this.#moreMarks.isChosen(more)
        if (!taken) this.#take(row, tierOf(name, more, code))
      }
    }
    const { text, literal } = query.parts[drive.part]!
    if (literal) {
      this.#names.texts.forEach((name, id) => name?.includes(text) && takeName(id))
      this.#more.texts.forEach((more, id) => more?.includes(text) && takeMore(id))
    } else {
      this.#names.eachText(drive.inNames, takeName)
      this.#more.eachText(drive.inMore, takeMore)
    }
    this.#codeMarks.each((1 << drive.word) | EQUALS_WHOLE, takeCode)
    return query
  }

  /** The part of a word that yields fewest rows; a row it does not yield matches only by its code. */
  #cheapestDrive(query: Query): Drive {
    let best: Drive | null = null
    for (let word = 0; word < query.words.length; word++) {
      const codes = expectedRows(this.#codes, this.#codeMarks.count(1 << word))
      for (let part = 0; part < query.parts.length; part++) {
        if ((query.words[word]!.parts & (1 << part)) === 0) continue
        const { text, literal } = query.parts[part]!
        const inNames = literal ? [] : this.#names.words.infix(text)
        const inMore = literal ? [] : this.#more.words.infix(text)
        const texts = expectedRows(this.#names, this.#names.countTexts(inNames)) + expectedRows(this.#more, this.#more.countTexts(inMore))
        const cost = literal ? SCAN : codes + texts
        if (best === null || cost < best.cost) best = { word, part, inNames, inMore, cost }
      }
    }
    return best!
  }

  #take(row: number, tier: number): void {
    if (tier === NO_MATCH) return
    if (this.#size === this.#rows.length) {
      this.#rows = grown(this.#rows, this.#size + 1)
      this.#tiers = grown(this.#tiers, this.#size + 1)
    }
    this.#rows[this.#size] = row
    this.#tiers[this.#size++] = tier
  }

  /** Adds the rows that match only when typos are allowed. */
  #addTypos(query: Query): void {
    for (let part = 0; part < query.parts.length; part++) {
      const { text, literal } = query.parts[part]!
      if (literal || text.length < SHORTEST_WITH_TYPO) continue
      this.#nameMarks.findTypos(text, 1 << part)
      this.#moreMarks.findTypos(text, 1 << part)
    }
    const takeIfTypo = (row: number, name: number, more: number): void => {
      const code = this.#codeMarks.bits(this.#codes.textOf(row))
      const infix = this.#infixOf(query, name, more)
      if ((code & EQUALS_WHOLE) !== 0 || covers(query, infix, code)) return
      const typos = this.#nameMarks.typos(name) | this.#moreMarks.typos(more)
      if (covers(query, infix | typos, code)) this.#take(row, TIERS.typo)
    }
    for (const name of this.#nameMarks.withTypos) {
      for (let row = this.#names.firstRow(name); row !== NONE; row = this.#names.nextRow(row)) {
        takeIfTypo(row, name, this.#more.textOf(row))
      }
    }
    for (const more of this.#moreMarks.withTypos) {
      for (let row = this.#more.firstRow(more); row !== NONE; row = this.#more.nextRow(row)) {
        const name = this.#names.textOf(row)
        if (this.#nameMarks.typos(name) === 0) takeIfTypo(row, name, more)
      }
    }
  }

  /** The tier of a row with these texts and this code, any of them -1 for none, without typos. */
  #tierOf(query: Query, name: number, more: number, code: number, exactName: number): number {
    const codeBits = this.#codeMarks.bits(code)
    if ((codeBits & EQUALS_WHOLE) !== 0) return TIERS.exactCode
    if (!covers(query, this.#infixOf(query, name, more), codeBits)) return NO_MATCH
    if (name === exactName) return TIERS.exactName
    const inName = this.#nameMarks.prefix(name)
    if ((inName & STARTS) !== 0) return TIERS.namePrefix
    return covers(query, inName | this.#moreMarks.prefix(more), codeBits >>> EQUALS) ? TIERS.wordPrefix : TIERS.infix
  }

  #infixOf(query: Query, name: number, more: number): number {
    return this.#nameMarks.infix(name, query) | this.#moreMarks.infix(more, query)
  }
}

/** Whether each word has all its parts among the given ones, or its bit among those of the code. */
function covers(query: Query, parts: number, code: number): boolean {
  for (let word = 0; word < query.words.length; word++) {
    const wanted = query.words[word]!.parts
    if ((parts & wanted) !== wanted && (code & (1 << word)) === 0) return false
  }
  return true
}

/** About how many rows have one of so many texts of a field. */
function expectedRows(field: TextField, texts: number): number {
  return field.space === 0 ? 0 : (texts * field.rows) / field.space
}
