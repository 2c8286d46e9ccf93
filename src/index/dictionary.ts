// Distinct words with an n-gram index, which finds infixes and words with one typo without scanning all words.
import { Postings } from '#index/postings.ts'
import type { ColumnStore } from '#index/stored.ts'

/** Minimum length of words with typos: shorter words neither have nor are typos (a typo may drop one letter of a four-letter word). */
const SHORTEST_TYPO = 3

/** Maximum typos in a similar word. */
const MAX_TYPOS = 3

/** Maximum length of a word that similar words are searched for: one bit per letter. */
const MAX_ALIKE = 32

/** Letters at either end of a word that a single typo elsewhere does not change. */
const END = 2

/** How words are searched: exactly, by parts of them, or also with a typo. */
export type MatchKind = 'whole' | 'infixes' | 'typos'

/** A set of words, each with a small number that does not change while the word is in the set. */
export class Dictionary {
  readonly #searched: MatchKind
  #words: string[] = []
  readonly #ids = new Map<string, number>()
  readonly #grams = new Map<string, number>()
  readonly #lists = new Postings()
  #spare: number[] = []
  #spareLists: number[] = []

  /** @param searched search kinds to support in addition to `id`, which cost memory: `infix`, or `infix` and `near` */
  constructor(searched: MatchKind) {
    this.#searched = searched
  }

  store(columns: ColumnStore): void {
    this.#words = columns.texts(this.#words)
    this.#spare = columns.numbers(this.#spare)
    this.#spareLists = columns.numbers(this.#spareLists)
    const grams = columns.texts(this.#grams.keys())
    const lists = columns.numbers(this.#grams.values())
    this.#lists.store(columns)
    if (!columns.reading) return
    for (const [id, word] of this.#words.entries()) if (word !== '') this.#ids.set(word, id)
    for (const [i, gram] of grams.entries()) this.#grams.set(gram, lists[i]!)
  }

  /** The number of a word; undefined when it is not in the set. */
  id(word: string): number | undefined {
    return this.#ids.get(word)
  }

  /** The word with this number. */
  word(id: number): string {
    return this.#words[id]!
  }

  /** Adds a word that is not in the set (and not empty). @returns its number */
  add(word: string): number {
    const id = this.#spare.pop() ?? this.#words.length
    this.#words[id] = word
    this.#ids.set(word, id)
    for (const gram of this.#gramsOf(word)) {
      let list = this.#grams.get(gram)
      // There are as many lists as grams in use, so the next number is free if none has been released.
      if (list === undefined) this.#grams.set(gram, (list = this.#spareLists.pop() ?? this.#grams.size))
      this.#lists.add(list, id)
    }
    return id
  }

  /** Removes a word from the set; its number is reused. */
  delete(id: number): void {
    const word = this.#words[id]!
    for (const gram of this.#gramsOf(word)) {
      const list = this.#grams.get(gram)!
      this.#lists.remove(list, id)
      if (this.#lists.length(list) > 0) continue
      this.#spareLists.push(list)
      this.#grams.delete(gram)
    }
    this.#ids.delete(word)
    this.#words[id] = ''
    this.#spare.push(id)
  }

  /** The numbers of all words that contain the part (not empty). */
  infix(part: string): number[] {
    const found: number[] = []
    const list = this.#rarest(part)
    if (list === undefined) return found
    const length = this.#lists.length(list)
    for (let at = 0; at < length; at++) {
      const id = this.#lists.at(list, at)
      if (part.length <= 3 || this.#words[id]!.includes(part)) found.push(id)
    }
    return found
  }

  /**
   * The numbers of all words one typo away: a letter added, dropped or changed, or two adjacent letters swapped. Words that
   * contain the part are omitted; `infix` returns them.
   * @param part of four letters or more
   */
  near(part: string): number[] {
    const found: number[] = []
    const start = part.slice(0, END)
    const end = part.slice(-END)
    // One typo cannot affect both ends, except in four letters by swapping the middle two.
    for (let length = part.length - 1; length <= part.length + 1; length++) {
      this.#collectNear(startGram(length, start), part, null, found)
      this.#collectNear(endGram(length, end), part, start, found)
    }
    if (part.length === 2 * END) {
      const swapped = this.#ids.get(part[0]! + part[2]! + part[1]! + part[3]!)
      if (swapped !== undefined && part[1] !== part[2]) found.push(swapped)
    }
    return found
  }

  /**
   * Words a few typos away: at most one typo per three letters, fewest typos first.
   * @param word of three letters or more; a word of more than `MAX_ALIKE` letters has none
   */
  alike(word: string, most: number): { word: string; distance: number }[] {
    if (word.length > MAX_ALIKE) return []
    const allowed = Math.min(Math.floor(word.length / 3), MAX_TYPOS)
    const shared = this.#searched === 'whole' ? null : this.#sharedPairs(word)
    // A typo changes two letter pairs at most, and three if it swaps two letters.
    const fewest = Math.max(word.length - 1 - 3 * allowed, 1)
    const typosTo = typosFrom(word)
    const found: { word: string; distance: number }[] = []
    for (let id = 0; id < this.#words.length; id++) {
      const other = this.#words[id]!
      if (other === '' || Math.abs(other.length - word.length) > allowed || (shared && shared[id]! < fewest)) continue
      const distance = typosTo(other)
      if (distance <= allowed) found.push({ word: other, distance })
    }
    return found.sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1)).slice(0, most)
  }

  /** By word: number of letter pairs that it shares with this one. */
  #sharedPairs(word: string): Uint8Array {
    const shared = new Uint8Array(this.#words.length)
    for (let at = 0; at + 2 <= word.length; at++) {
      const list = this.#grams.get(word.slice(at, at + 2))
      if (list !== undefined) for (const id of this.#lists.view(list)) shared[id]! += 1
    }
    return shared
  }

  #collectNear(gram: string, part: string, knownStart: string | null, found: number[]): void {
    const list = this.#grams.get(gram)
    if (list === undefined) return
    const length = this.#lists.length(list)
    for (let at = 0; at < length; at++) {
      const id = this.#lists.at(list, at)
      const word = this.#words[id]!
      if (knownStart !== null && word.startsWith(knownStart)) continue
      if (isOneTypo(part, word) && !word.includes(part)) found.push(id)
    }
  }

  /** The shortest list among those of the part's longest grams; undefined if one of these grams occurs in no word. */
  #rarest(part: string): number | undefined {
    if (part.length <= 3) return this.#grams.get(part)
    let rarest: number | undefined
    for (let at = 0; at + 3 <= part.length; at++) {
      const list = this.#grams.get(part.slice(at, at + 3))
      if (list === undefined) return undefined
      if (rarest === undefined || this.#lists.length(list) < this.#lists.length(rarest)) rarest = list
    }
    return rarest
  }

  /** All distinct parts of one to three letters of a word, and its two ends with its length if typos are searched. */
  #gramsOf(word: string): Set<string> {
    const grams = new Set<string>()
    if (this.#searched === 'whole') return grams
    for (let size = 1; size <= 3; size++) {
      for (let at = 0; at + size <= word.length; at++) grams.add(word.slice(at, at + size))
    }
    if (this.#searched === 'typos' && word.length >= SHORTEST_TYPO) {
      grams.add(startGram(word.length, word.slice(0, END)))
      grams.add(endGram(word.length, word.slice(-END)))
    }
    return grams
  }
}

// Four characters with a marker that no word contains, so that they share a table with the grams of one to three letters.
const startGram = (length: number, start: string): string => `^${String.fromCharCode(length)}${start}`
const endGram = (length: number, end: string): string => `$${String.fromCharCode(length)}${end}`

/**
 * Returns the number of typos between a word and another: letters added, dropped, changed, or adjacent ones swapped. A column of the usual table
 * is the bits of a few integers (H. Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003).
 * @param word of at most 32 letters
 */
function typosFrom(word: string): (other: string) => number {
  const places = new Map<number, number>()
  for (let i = 0; i < word.length; i++) places.set(word.charCodeAt(i), (places.get(word.charCodeAt(i)) ?? 0) | (1 << i))
  const last = 1 << (word.length - 1)
  return (other) => {
    let [more, fewer, same, placesBefore] = [-1, 0, 0, 0]
    let typos = word.length
    for (let i = 0; i < other.length; i++) {
      const here = places.get(other.charCodeAt(i)) ?? 0
      const swapped = ((~same & here) << 1) & placesBefore
      same = ((((here & more) + more) | 0) ^ more) | here | fewer | swapped
      const rises = fewer | ~(same | more)
      const falls = same & more
      if ((rises & last) !== 0) typos++
      else if ((falls & last) !== 0) typos--
      const risesNext = (rises << 1) | 1
      more = (falls << 1) | ~(same | risesNext)
      fewer = risesNext & same
      placesBefore = here
    }
    return typos
  }
}

/** Whether adding, dropping or changing one letter, or swapping two adjacent ones, turns `a` into `b`; false if they are equal. */
export function isOneTypo(a: string, b: string): boolean {
  if (a.length > b.length) return isOneTypo(b, a)
  if (b.length - a.length > 1) return false
  let start = 0
  while (start < a.length && a.charCodeAt(start) === b.charCodeAt(start)) start++
  let end = 0
  while (end < a.length - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++
  const left = a.length - start - end
  if (a.length < b.length) return left === 0
  if (left !== 2) return left === 1
  return a[start] === b[start + 1] && a[start + 1] === b[start]
}
