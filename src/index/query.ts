// Parses a search text into words and parts, represented as bits, for matching rows.
import { fold, words } from '#index/fold.ts'

/** Longer queries are truncated: rows are marked with a bit per word and per part, in one number each. */
const MAX_WORDS = 12
const MAX_PARTS = 29
/** Maximum words of a phrase that has meanings. */
export const MAX_PHRASE_WORDS = 3

export interface Query {
  /** the whole text, folded */
  text: string
  /** each different word between spaces, in order; a phrase with meanings is one word */
  words: QueryWord[]
  /** each distinct part of these words; a word of punctuation alone is its own part */
  parts: QueryPart[]
}

export interface QueryWord {
  text: string
  /** bit n is set if part n belongs to the word */
  parts: number
  /** parts of the word's alternative meanings, one number for each meaning */
  meanings: number[]
  /** only punctuation: matches texts only literally, and codes only as the whole code */
  literal: boolean
}

export interface QueryPart {
  text: string
  literal: boolean
}

/** Alternative meanings of a folded word or phrase, as folded texts; undefined for none. */
export type Meanings = (phrase: string) => readonly string[] | undefined

const NO_MEANINGS: Meanings = () => undefined

/** The folded words and parts of a search text; words beyond the maximum are ignored. */
export function parseQuery(search: string, meanings: Meanings = NO_MEANINGS): Query {
  const text = fold(search)
  const query: Query = { text, words: [], parts: [] }
  for (const word of phrasesOf(text, meanings)) {
    const inner = words(word)
    const literal = inner.length === 0
    const parts = bitsOf(query, literal ? [word] : inner, literal)
    query.words.push({ text: word, parts, meanings: [], literal })
  }
  // After all typed words, so that meanings never displace one.
  for (const word of query.words) {
    for (const meaning of meanings(word.text) ?? []) {
      const inner = words(meaning)
      addMeaning(query, word, inner.length === 0 ? [meaning] : inner, inner.length === 0)
    }
  }
  return query
}

/** Adds the meanings of a word, unless the query already has the maximum number of parts. */
export function addMeaning(query: Query, word: QueryWord, parts: readonly string[], literal = false): void {
  const added = new Set(parts.filter((part) => !query.parts.some((other) => other.text === part)))
  if (parts.length === 0 || query.parts.length + added.size > MAX_PARTS) return
  word.meanings.push(bitsOf(query, parts, literal))
}

function phrasesOf(text: string, meanings: Meanings): Set<string> {
  const typed = text
    .split(' ')
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS)
  const found = new Set<string>()
  for (let at = 0; at < typed.length; at++) {
    let length = Math.min(MAX_PHRASE_WORDS, typed.length - at)
    while (length > 1 && !meanings(typed.slice(at, at + length).join(' '))) length--
    found.add(typed.slice(at, at + length).join(' '))
    at += length - 1
  }
  return found
}

function bitsOf(query: Query, texts: readonly string[], literal: boolean): number {
  let bits = 0
  for (const text of texts) {
    let at = query.parts.findIndex((other) => other.text === text)
    if (at < 0 && query.parts.length < MAX_PARTS) at = query.parts.push({ text, literal }) - 1
    if (at >= 0) bits |= 1 << at
  }
  return bits
}
