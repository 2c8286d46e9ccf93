// Text search over rows with a name, a code and further texts: infixes, ranks and single typos, in time proportional to the matches.
import { RowBits } from '#index/bits.ts'
import { CodeMatches, EQUALS, EQUALS_WHOLE } from '#index/code-matches.ts'
import { numberOf } from '#index/codes.ts'
import { withCapacity } from '#index/columns.ts'
import { WholeWordMatches } from '#index/whole-word-matches.ts'
import { TextField } from '#index/field.ts'
import { fold, words } from '#index/fold.ts'
import { EQUAL, STARTS, TextMatches } from '#index/text-matches.ts'
import type { ColumnStore } from '#index/stored.ts'
import { addMeaning, type Meanings, parseQuery, type Query, type QueryWord } from '#index/query.ts'

/** The searched texts of a row. */
export interface Doc {
  name: string
  /** collector number as printed, such as `004/102`; null or empty for none */
  code: string | null
  /** further texts whose words count, such as the category's name */
  more: readonly string[]
  /** other names, each searched like a part of the name */
  aliases?: readonly string[]
  /** codes of the row's group, matched as whole words: a group's code together with the row's own code identifies the row */
  groupCodes?: readonly string[]
  /** a text that `TextOptions` splits into words; these are matched as whole words and order rows that match equally well */
  tags?: string
}

/** The same with already folded texts; null for none. */
export interface FoldedDoc {
  /** other names as further lines */
  name: string
  code: string | null
  /** codes of the group, as `groupCode` returns them, as further lines */
  more: string | null
  tags: string | null
}

/** What the owner knows about its texts. */
export interface TextOptions {
  /** alternative meanings of typed words */
  meanings?: Meanings
  /** whether an unknown word may be split into known ones: `hooh` as `ho oh` */
  splits?: boolean
  /** the folded words that tags are found by */
  tagWords?: (tags: string) => string[]
  /** for the parts of one query: the rank, 0 to 255, of rows with these tags among equally good matches */
  order?: (queryWords: ReadonlySet<string>) => (tags: string) => number
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

/** Rows, each once and in no order, and the rank of each at the same index; lower is better. */
export interface Matches {
  rows: Int32Array
  ranks: Uint16Array
}

// A rank consists of the tier, the distance between the row and the search words, and the order of the tags.
const TIER_SHIFT = 10
const LEFT_SHIFT = 8
const MAX_WORDS_LEFT = 3
const MAX_ORDER = 255
/** All ranks are below this. */
export const RANKS = (TIERS.typo + 1) << TIER_SHIFT

/** The tier of a rank. */
export function tierOf(rank: number): number {
  return rank >>> TIER_SHIFT
}

const NONE = -1
const NO_MATCH = -1

/** Query words below this length match without typos, and are not split. */
const SHORTEST_WITH_TYPO = 4
/** Words below this length have no similar words. */
const SHORTEST_ALIKE = 3
/** Maximum words of a search without results for which similar words are searched. */
const MAX_SUGGESTED_WORDS = 6
/** Searches below this length get no suggestions. */
const SHORTEST_SUGGESTION = 2
/** Maximum words that one word is split into. */
const MAX_PIECES = 4

/** Estimated cost of scanning all texts, the last resort. */
const SCAN = Number.MAX_VALUE

/** Cost of following a text to its rows, relative to checking the next of many rows. */
const WALK = 8

/** Positions of a bit for each word of a query. */
const WORD_BITS = (1 << EQUALS) - 1

/** A query word and, for each of its meanings, the part that the index looks up; the other parts are checked on the rows found. */
interface Drive {
  word: number
  parts: DrivePart[]
  /** estimated number of rows */
  cost: number
}

interface DrivePart {
  part: number
  inNames: number[]
  inMore: number[]
  /** number of texts, summed over the words */
  texts: number
  cost: number
}

/** The form in which group codes are compared: `SV03.5` becomes `sv3-5`. */
export function groupCode(folded: string): string {
  return numberOf(folded)
}

/** Finds and ranks row numbers by search text; knows only texts, nothing about cards. */
export class TextIndex {
  readonly #names = new TextField(words, 'typos', aliasWords)
  readonly #more = new TextField(words, 'typos', (code) => [code])
  readonly #nameMatches = new TextMatches(this.#names)
  readonly #aliasMatches = new WholeWordMatches(this.#names, true)
  readonly #moreMatches = new TextMatches(this.#more)
  readonly #groupMatches = new WholeWordMatches(this.#more, true)
  readonly #tags: TextField
  readonly #tagMatches: WholeWordMatches
  readonly #codeMatches = new CodeMatches()
  readonly #codes = this.#codeMatches.field
  readonly #options: TextOptions
  /** by tags: their order for the current query, plus 1; 0 if not computed yet */
  #orders = new Uint16Array(0)
  #orderOf: ((tags: string) => number) | null = null
  /** by name: number of words of the nearest alias that were not searched for, if the current query has already computed it */
  #aliasesLeft = new Map<number, number>()
  /** the state of the current query */
  #rows = new Int32Array(64)
  #ranks = new Uint16Array(64)
  #size = 0

  constructor(options: TextOptions = {}) {
    this.#options = options
    this.#tags = new TextField(options.tagWords ?? words, 'whole')
    this.#tagMatches = new WholeWordMatches(this.#tags, false)
  }

  store(columns: ColumnStore): void {
    for (const field of this.#fields()) field.store(columns)
    // `tagWords` records the words that it splits, and the order of tags depends on them: split the restored tags again.
    if (columns.reading && this.#options.tagWords) for (const tags of this.#tags.texts) if (tags !== undefined) this.#options.tagWords(tags)
  }

  /** Number of indexed rows. */
  get size(): number {
    return this.#names.rows
  }

  /** Reserves space for this many rows. */
  reserve(rows: number): void {
    for (const field of this.#fields()) field.reserve(rows)
  }

  /** Indexes a row, replacing its previous texts. */
  set(row: number, { name, code, more, aliases = [], groupCodes = [], tags }: Doc): void {
    const group = [more.map(fold).join(' '), ...groupCodes.map((each) => groupCode(fold(each)))].join('\n')
    this.setFolded(row, {
      name: [name, ...aliases].map(fold).join('\n'),
      code: code ? fold(code) : null,
      more: more.length + groupCodes.length > 0 ? group : null,
      tags: tags ?? null,
    })
  }

  /** The same with already folded texts, for texts that many rows share. */
  setFolded(row: number, { name, code, more, tags }: FoldedDoc): void {
    this.#names.set(row, name)
    this.#codes.set(row, code)
    this.#more.set(row, more)
    this.#tags.set(row, tags)
  }

  remove(row: number): void {
    for (const field of this.#fields()) field.set(row, null)
  }

  #fields(): TextField[] {
    return [this.#names, this.#more, this.#tags, this.#codes]
  }

  /** The rows that match every word of the query, each once and in no order; none for an empty query. No typos. */
  filter(search: string): Int32Array {
    this.#search(search, false)
    return this.#rows.slice(0, this.#size)
  }

  /** The given rows that match every word of the query. No typos. */
  among(search: string, rows: RowBits): RowBits {
    const query = this.#read(search)
    this.#start(query)
    if (query.words.length === 0) return new RowBits()
    const found = this.#partsIn(query)
    if (this.#cheapestDrive(query, found).cost * WALK <= rows.size) {
      this.#collect(query, found, false)
      return RowBits.of(this.#rows, this.#size).and(rows)
    }
    const contained = (field: TextField, wordsOf: (part: DrivePart) => number[]) =>
      field.contained(found.map((part, n) => ({ text: query.parts[n]!.text, words: query.parts[n]!.literal ? null : wordsOf(part) })))
    const columns = [this.#names, this.#more, this.#tags, this.#codes].map((field) => field.column(rows.words * 32))
    const inName = this.#aliasMatches.addTo(contained(this.#names, ({ inNames }) => inNames))
    const inMore = contained(this.#more, (part) => part.inMore)
    const inGroup = this.#groupMatches.addTo(new Int32Array(inMore.length))
    const inTags = this.#tagMatches.addTo(new Int32Array(this.#tags.space + 1))
    const inCode = this.#codeMatches.addTo(new Int32Array(this.#codes.space + 1))
    // With a single condition, any match is enough, and usually few fields have matches.
    if (query.words.length === 1 && query.parts.length === 1) {
      const bits = [inName, this.#groupMatches.addTo(inMore), inTags, inCode]
      const conditions = bits.map((each, n) => ({ column: columns[n]!, passes: haveAny(each) }))
      return rows.having(conditions.filter(({ passes }) => passes.includes(1)))
    }
    const [nameOf, moreOf, tagsOf, codeOf] = columns as [Int32Array, Int32Array, Int32Array, Int32Array]
    return rows.filter((row) => {
      const more = moreOf[row]! + 1
      const codes = inCode[codeOf[row]! + 1]! | inGroup[more]!
      return (codes & EQUALS_WHOLE) !== 0 || covers(query, inName[nameOf[row]! + 1]! | inMore[more]! | inTags[tagsOf[row]! + 1]!, codes)
    })
  }

  /** The rows that match every word of the query, with one typo allowed per longer word, and their ranks. */
  ranked(search: string): Matches {
    const query = this.#search(search, true)
    this.#addTypos(query)
    return { rows: this.#rows.slice(0, this.#size), ranks: this.#ranks.slice(0, this.#size) }
  }

  /**
   * Suggestions for a search without results: with corrected words, otherwise without unknown words.
   * @param finds whether a search has results with typos allowed
   * @param findsAsTyped whether it has results without typos; a word that matches only with a typo is corrected, too
   */
  suggestions(search: string, most: number, finds: (search: string) => boolean, findsAsTyped: (search: string) => boolean): string[] {
    const typed = fold(search).split(' ').filter(Boolean).slice(0, MAX_SUGGESTED_WORDS)
    const unknown = typed.flatMap((word, at) => (findsAsTyped(word) ? [] : [at]))
    const found = new Set<string>()
    const tryOut = (changed: readonly string[]) => {
      const text = changed.filter(Boolean).join(' ')
      if (found.size < most && text.length >= SHORTEST_SUGGESTION && !found.has(text) && finds(text)) found.add(text)
    }
    const alike = unknown.map((at) => this.#alike(typed[at]!, most))
    const best = typed.map((word, at) => (unknown.includes(at) ? (alike[unknown.indexOf(at)]![0] ?? '') : word))
    for (const [n, at] of unknown.entries()) for (const word of alike[n]!) tryOut(best.with(at, word))
    tryOut(typed.map((word, at) => (unknown.includes(at) ? '' : word)))
    for (let at = best.length - 1; at >= 0 && found.size < most; at -= 1) tryOut(best.with(at, ''))
    if (found.size === 0) for (const word of best) tryOut([word])
    return [...found]
  }

  /** Words of names similar to a folded word that may have several typos: the most similar first. */
  #alike(word: string, most: number): string[] {
    if (word.length < SHORTEST_ALIKE) return []
    const found = [...this.#names.words.alike(word, most), ...this.#names.furtherWords.alike(word, most)]
    found.sort((a, b) => a.distance - b.distance)
    return [...new Set(found.map((each) => each.word))].filter((each) => each !== word).slice(0, most)
  }

  /** Finds matches without typos. Matches are ranked only if `ranks`. */
  #search(search: string, ranks: boolean): Query {
    const query = this.#read(search)
    this.#start(query)
    if (query.words.length > 0) this.#collect(query, this.#partsIn(query), ranks)
    return query
  }

  #collect(query: Query, found: readonly DrivePart[], ranks: boolean): void {
    if (ranks) this.#startOrder(query)
    const drive = this.#cheapestDrive(query, found)
    // With one condition, its rows need no further check unless they are ranked.
    const sure = !ranks && query.words.length === 1 && query.parts.length === 1
    // Marking all texts that contain a part is cheaper than scanning the texts of rows, unless there are many more such texts.
    if (!sure && found.reduce((sum, { texts }) => sum + texts, 0) <= drive.cost) this.#mark(query, found)
    const nowhereElse = ![this.#moreMatches, this.#codeMatches, this.#aliasMatches, this.#groupMatches, this.#tagMatches].some(({ any }) => any)
    const take = (row: number, name: number, byName: number): void => {
      const tier = sure ? TIERS.infix : this.#tierOf(query, row, name, byName)
      if (tier !== NO_MATCH) this.#take(row, ranks ? this.#rankOf(query, tier, row, name) : 0)
    }
    const takeName = (name: number): void => {
      if (!this.#nameMatches.choose(name)) return
      // Often the name alone decides: it matches, and no other field could improve the rank.
      const tier = sure ? TIERS.infix : this.#tierOfName(query, name)
      const best = nowhereElse || (tier < TIERS.infix && !this.#codeMatches.anyWhole && !this.#groupMatches.any)
      const settled = tier !== NO_MATCH && (best || !ranks)
      for (let row = this.#names.firstRow(name); row !== NONE; row = this.#names.nextRow(row)) {
        if (settled) this.#take(row, ranks ? this.#rankOf(query, tier, row, name) : 0)
        else take(row, name, tier)
      }
    }
    // An unselected name lacks a part of the driving word in each of its meanings, so the name alone does not match.
    const takeMore = (more: number): void => {
      if (!this.#moreMatches.choose(more)) return
      for (let row = this.#more.firstRow(more); row !== NONE; row = this.#more.nextRow(row)) {
        const name = this.#names.textOf(row)
        if (!this.#nameMatches.isChosen(name)) take(row, name, NO_MATCH)
      }
    }
    const parts = drive.parts.reduce((bits, { part }) => bits | (1 << part), 0)
    const isTaken = (row: number, name: number) => this.#nameMatches.isChosen(name) || this.#moreMatches.isChosen(this.#more.textOf(row))
    const takeTags = (tags: number): void => {
      for (let row = this.#tags.firstRow(tags); row !== NONE; row = this.#tags.nextRow(row)) {
        const name = this.#names.textOf(row)
        if (!isTaken(row, name)) take(row, name, NO_MATCH)
      }
    }
    const takeCode = (code: number): void => {
      for (let row = this.#codes.firstRow(code); row !== NONE; row = this.#codes.nextRow(row)) {
        const name = this.#names.textOf(row)
        const taken = isTaken(row, name) || (this.#tagMatches.bits(this.#tags.textOf(row)) & parts) !== 0
        if (!taken) take(row, name, NO_MATCH)
      }
    }
    const word = 1 << drive.word
    for (const { part, inNames } of drive.parts) {
      const { text, literal } = query.parts[part]!
      if (literal) this.#names.texts.forEach((name, id) => name?.includes(text) && takeName(id))
      else this.#names.eachText(inNames, takeName)
    }
    this.#aliasMatches.each(parts, takeName)
    for (const { part, inMore } of drive.parts) {
      const { text, literal } = query.parts[part]!
      if (literal) this.#more.texts.forEach((more, id) => more?.includes(text) && takeMore(id))
      else this.#more.eachText(inMore, takeMore)
    }
    this.#groupMatches.each(word, takeMore)
    this.#tagMatches.each(parts, takeTags)
    this.#codeMatches.each(word | EQUALS_WHOLE, takeCode)
  }

  /** Marks the texts that contain the parts; no part may be punctuation. */
  #mark(query: Query, found: readonly DrivePart[]): void {
    for (const { part, inNames, inMore } of found) {
      this.#nameMatches.mark(query, part, inNames)
      this.#moreMatches.mark(query, part, inMore)
    }
  }

  /** Clears the matches of the previous query, and marks what this query matches by whole words and codes. */
  #start(query: Query): void {
    this.#size = 0
    for (const matches of [this.#nameMatches, this.#moreMatches, this.#aliasMatches, this.#groupMatches, this.#tagMatches]) matches.start()
    this.#aliasesLeft.clear()
    this.#codeMatches.start(query)
    for (const [part, { text, literal }] of query.parts.entries()) {
      if (literal) continue
      this.#tagMatches.mark(text, 1 << part)
      this.#aliasMatches.mark(text, 1 << part)
    }
    for (const [word, { text, literal }] of query.words.entries()) if (!literal) this.#groupMatches.mark(groupCode(text), 1 << word)
  }

  /** The words of a search, with their meanings. */
  #read(search: string): Query {
    const query = parseQuery(this.#parted(search), this.#options.meanings)
    if (!this.#options.splits) return query
    for (const word of query.words) if (this.#isUnknown(word)) addMeaning(query, word, this.#pieces(word.text, MAX_PIECES) ?? [])
    return query
  }

  /** A word that combines a group's code and a row's code, such as `swsh1-25`, as two words. */
  #parted(search: string): string {
    if (!search.includes('-')) return search
    return fold(search)
      .split(' ')
      .map((word) => {
        const at = word.lastIndexOf('-')
        const isCode = at > 0 && this.#isGroup(word.slice(0, at)) && !this.#codeMatches.isKnown(word)
        return isCode ? `${word.slice(0, at)} ${word.slice(at + 1)}` : word
      })
      .join(' ')
  }

  #isGroup(word: string): boolean {
    return this.#more.furtherWords.id(groupCode(word)) !== undefined
  }

  /** Whether no row has the word, or one of its parts. */
  #isUnknown({ text, literal, meanings }: QueryWord): boolean {
    if (literal || meanings.length > 0 || text.length < SHORTEST_WITH_TYPO || words(text)[0] !== text) return false
    if (this.#isWord(text) || this.#isGroup(text)) return false
    return [this.#names, this.#more, this.#codes].every((field) => field.words.infix(text).length === 0)
  }

  /** Splits a word into distinct known words, up to a maximum, longest first, at most one of them a single letter; null if impossible. */
  #pieces(word: string, most: number, before: readonly string[] = []): readonly string[] | null {
    if (word === '') return before
    if (most === 0) return null
    for (let length = word.length; length > 0; length--) {
      const piece = word.slice(0, length)
      if (!this.#isWord(piece) || before.includes(piece)) continue
      if (length === 1 && before.some((each) => each.length === 1)) continue
      const all = this.#pieces(word.slice(length), most - 1, [...before, piece])
      if (all) return all
    }
    return null
  }

  #isWord(word: string): boolean {
    const dictionaries = [this.#names.words, this.#names.furtherWords, this.#more.words, this.#tags.words]
    return dictionaries.some((dictionary) => dictionary.id(word) !== undefined)
  }

  /** The word with the fewest rows, and its parts. */
  #cheapestDrive(query: Query, parts: readonly DrivePart[]): Drive {
    let best: Drive | null = null
    for (let word = 0; word < query.words.length; word++) {
      const { parts: own, meanings } = query.words[word]!
      const cheapest = [own, ...meanings].map((bits) =>
        parts.filter(({ part }) => (bits & (1 << part)) !== 0).reduce((a, b) => (b.cost < a.cost ? b : a)),
      )
      const codes = expectedRows(this.#codes, this.#codeMatches.count(1 << word)) + expectedRows(this.#more, this.#groupMatches.count(1 << word))
      const cost = cheapest.reduce((sum, each) => sum + each.cost, codes)
      if (best === null || cost < best.cost) best = { word, parts: [...new Set(cheapest)], cost }
    }
    return best!
  }

  #partsIn(query: Query): DrivePart[] {
    return query.parts.map((_, part) => this.#drivePart(query, part))
  }

  #drivePart(query: Query, part: number): DrivePart {
    const { text, literal } = query.parts[part]!
    if (literal) return { part, inNames: [], inMore: [], texts: Infinity, cost: SCAN }
    const inNames = this.#names.words.infix(text)
    const inMore = this.#more.words.infix(text)
    const names = this.#names.countTexts(inNames)
    const more = this.#more.countTexts(inMore)
    const cost =
      expectedRows(this.#names, names + this.#aliasMatches.count(1 << part)) +
      expectedRows(this.#more, more) +
      expectedRows(this.#tags, this.#tagMatches.count(1 << part))
    return { part, inNames, inMore, texts: names + more, cost }
  }

  #take(row: number, rank: number): void {
    if (this.#size === this.#rows.length) {
      this.#rows = withCapacity(this.#rows, this.#size + 1)
      this.#ranks = withCapacity(this.#ranks, this.#rows.length)
    }
    this.#rows[this.#size] = row
    this.#ranks[this.#size++] = rank
  }

  /** Adds the rows that match only with typos. */
  #addTypos(query: Query): void {
    for (let part = 0; part < query.parts.length; part++) {
      const { text, literal } = query.parts[part]!
      if (literal || text.length < SHORTEST_WITH_TYPO) continue
      this.#nameMatches.findTypos(text, 1 << part)
      this.#moreMatches.findTypos(text, 1 << part)
    }
    for (const name of this.#nameMatches.withTypos) {
      for (let row = this.#names.firstRow(name); row !== NONE; row = this.#names.nextRow(row)) this.#takeIfTypo(query, row, name)
    }
    for (const more of this.#moreMatches.withTypos) {
      for (let row = this.#more.firstRow(more); row !== NONE; row = this.#more.nextRow(row)) {
        const name = this.#names.textOf(row)
        if (this.#nameMatches.typos(name) === 0) this.#takeIfTypo(query, row, name)
      }
    }
  }

  #takeIfTypo(query: Query, row: number, name: number): void {
    const code = this.#codeMatches.bits(this.#codes.textOf(row))
    if ((code & EQUALS_WHOLE) !== 0) return
    const more = this.#more.textOf(row)
    const codes = code | this.#groupMatches.bits(more)
    const has = this.#partsOf(query, row, name, more)
    if (covers(query, has, codes)) return
    if (covers(query, has | this.#nameMatches.typos(name) | this.#moreMatches.typos(more), codes)) {
      this.#take(row, this.#rankOf(query, TIERS.typo, row, name))
    }
  }

  /** The tier of a row, without typos. @param byName considers only its name */
  #tierOf(query: Query, row: number, name: number, byName: number): number {
    const codeBits = this.#codeMatches.bits(this.#codes.textOf(row))
    if ((codeBits & EQUALS_WHOLE) !== 0) return TIERS.exactCode
    const more = this.#more.textOf(row)
    const groupBits = this.#groupMatches.any ? this.#groupMatches.bits(more) : 0
    const inMore = this.#moreMatches.infix(more, query)
    // The usual case: the search is part of a word of the name, and no other field matches.
    const elsewhere = codeBits | groupBits | inMore
    if (byName === TIERS.infix && elsewhere === 0 && !this.#aliasMatches.any && !this.#tagMatches.any) return TIERS.infix
    if (byName === NO_MATCH) {
      const has = this.#nameMatches.infix(name, query) | inMore | this.#aliasMatches.bits(name) | this.#tagMatches.bits(this.#tags.textOf(row))
      if (!covers(query, has, codeBits | groupBits)) return NO_MATCH
    }
    const equal = (codeBits >>> EQUALS) & WORD_BITS
    const inName = this.#nameMatches.prefix(name)
    if (this.#groupMatches.any && equal !== 0) {
      // A code in the requested set. The whole name with a code ranks equally high, because some sets share their name with a card.
      if ((groupBits & ~equal) !== 0 && covers(query, 0, equal | groupBits)) return TIERS.exactCode
      if (query.parts.length > 1 && this.#nameMatches.left(name, query) === 0 && covers(query, inName, equal)) return TIERS.exactCode
    }
    if (byName !== NO_MATCH && byName < TIERS.infix) return byName
    const inAlias = this.#aliasMatches.bits(name)
    if (inAlias !== 0 && `\n${this.#names.further[name]!}\n`.includes(`\n${query.text}\n`)) return TIERS.namePrefix
    const inWords = inName | inAlias | (inMore === 0 ? 0 : this.#moreMatches.prefix(more)) | this.#tagMatches.bits(this.#tags.textOf(row))
    return covers(query, inWords, equal | groupBits) ? TIERS.wordPrefix : TIERS.infix
  }

  /** The tier of rows with this name, considering only the name. */
  #tierOfName(query: Query, name: number): number {
    if (!covers(query, this.#nameMatches.infix(name, query), 0)) return NO_MATCH
    const inName = this.#nameMatches.prefix(name)
    if ((inName & EQUAL) !== 0) return TIERS.exactName
    const all = covers(query, inName, 0)
    if (all && query.parts.length > 1 && this.#nameMatches.left(name, query) === 0) return TIERS.exactName
    if ((inName & STARTS) !== 0) return TIERS.namePrefix
    return all ? TIERS.wordPrefix : TIERS.infix
  }

  #startOrder(query: Query): void {
    const { order } = this.#options
    this.#orderOf = order ? order(new Set(query.parts.map(({ text }) => text))) : null
    this.#orders = withCapacity(this.#orders, this.#tags.space)
    this.#orders.fill(0)
  }

  #rankOf(query: Query, tier: number, row: number, name: number): number {
    const left = tier === TIERS.typo || (tier >= TIERS.wordPrefix && query.parts.length > 1) ? this.#leftOf(query, row, name) : 0
    return (tier << TIER_SHIFT) | (left << LEFT_SHIFT) | this.#orderIn(this.#tags.textOf(row))
  }

  /**
   * The distance between a row and the search, 0 to 3: number of words in its name (otherwise its other names) and its group's name that
   * were not searched for, plus meanings other than a word's first.
   */
  #leftOf(query: Query, row: number, name: number): number {
    if (query.parts.length === 1)
      return this.#nameMatches.typos(name) === 0 ? MAX_WORDS_LEFT : Math.min(this.#names.wordCount(name) - 1, MAX_WORDS_LEFT - 1)
    const left = this.#nameMatches.left(name, query)
    const more = this.#more.textOf(row)
    const moreLeft = more < 0 ? 0 : this.#moreMatches.left(more, query)
    // With the row's code, the group's name does not count.
    const inMore = more >= 0 && moreLeft < this.#more.wordCount(more) && this.#codeMatches.bits(this.#codes.textOf(row)) >>> EQUALS === 0
    let far = inMore ? MAX_WORDS_LEFT : 0
    if (left < this.#names.wordCount(name) || this.#nameMatches.typos(name) !== 0)
      far = Math.min(left, MAX_WORDS_LEFT - 1) + Number(inMore && moreLeft > 0)
    else if (this.#aliasMatches.bits(name) !== 0) far = Math.min(this.#aliasLeft(query, name), MAX_WORDS_LEFT - 1)
    for (const { parts, meanings } of query.words) {
      if (meanings.length < 2 || far >= MAX_WORDS_LEFT) continue
      const has = this.#partsOf(query, row, name, more)
      if ((has & parts) !== parts && (has & meanings[0]!) !== meanings[0]!) far += 1
    }
    return Math.min(far, MAX_WORDS_LEFT)
  }

  /** Number of words of the matching alias that were not searched for. */
  #aliasLeft(query: Query, name: number): number {
    const cached = this.#aliasesLeft.get(name)
    if (cached !== undefined) return cached
    const searched = new Set(query.parts.map(({ text }) => text))
    let fewest = MAX_WORDS_LEFT
    for (const alias of this.#names.further[name]!.split('\n')) {
      const inner = aliasWords(alias)
      const left = inner.filter((word) => !searched.has(word)).length
      if (left < inner.length) fewest = Math.min(fewest, left)
    }
    this.#aliasesLeft.set(name, fewest)
    return fewest
  }

  #orderIn(tags: number): number {
    if (tags < 0 || !this.#orderOf) return 0
    const cached = this.#orders[tags]!
    if (cached > 0) return cached - 1
    const order = Math.min(this.#orderOf(this.#tags.texts[tags]!), MAX_ORDER)
    this.#orders[tags] = order + 1
    return order
  }

  /** Bits of the parts that the row has in any of its texts. */
  #partsOf(query: Query, row: number, name: number, more: number): number {
    const inTexts = this.#nameMatches.infix(name, query) | this.#moreMatches.infix(more, query)
    return inTexts | this.#aliasMatches.bits(name) | this.#tagMatches.bits(this.#tags.textOf(row))
  }
}

/** Boundary between two scripts within a word, as in `噴火龍ex`. */
const SCRIPTS = /[a-z0-9]+|[^a-z0-9]+/g

/** The words of another name, whole and, if they mix two scripts, also split. */
function aliasWords(alias: string): string[] {
  return words(alias).flatMap((word) => {
    const parts = word.match(SCRIPTS)!
    return parts.length > 1 && word.charCodeAt(0) > LAST_LATIN ? [word, ...parts] : [word]
  })
}

/** The last Latin letter before those of other scripts. */
const LAST_LATIN = 0x24f

/** By position: 1 if any bit is set there, otherwise 0. */
function haveAny(bits: Int32Array): Uint8Array {
  const have = new Uint8Array(bits.length)
  for (let at = 0; at < bits.length; at++) have[at] = Number(bits[at] !== 0)
  return have
}

/** Whether each word has all parts of one of its meanings among the given bits, or its own bit among those of the code. */
function covers(query: Query, parts: number, code: number): boolean {
  for (let word = 0; word < query.words.length; word++) {
    if ((code & (1 << word)) !== 0) continue
    const { parts: ownParts, meanings } = query.words[word]!
    if ((parts & ownParts) !== ownParts && (meanings.length === 0 || !meanings.some((meaning) => (parts & meaning) === meaning))) return false
  }
  return true
}

/** Estimated number of rows that have one of this many texts of a field. */
function expectedRows(field: TextField, texts: number): number {
  return field.space === 0 ? 0 : (texts * field.rows) / field.space
}
