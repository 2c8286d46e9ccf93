// Reads a search text into the words and parts that rows are matched with, as bits.
import { fold, words } from '#index/fold.ts'

/** Longer queries are cut: rows are marked with a bit per word and per part, in one number each. */
const MAX_WORDS = 12
const MAX_PARTS = 30

export interface Query {
  /** the whole text, folded */
  text: string
  /** each different word between spaces, in order */
  words: QueryWord[]
  /** each different part of these words; a word of punctuation alone is a part as it stands */
  parts: QueryPart[]
}

export interface QueryWord {
  text: string
  /** bit n is set when part n belongs to the word */
  parts: number
  /** nothing but punctuation, found in texts only as it stands and in codes only as the whole code */
  literal: boolean
}

export interface QueryPart {
  text: string
  literal: boolean
}

/** The folded words and parts of a search text; what is beyond the largest number of words is ignored. */
export function parseQuery(search: string): Query {
  const text = fold(search)
  const query: Query = { text, words: [], parts: [] }
  for (const word of new Set(
    text
      .split(' ')
      .filter((each) => each !== '')
      .slice(0, MAX_WORDS),
  )) {
    const inner = words(word)
    const literal = inner.length === 0
    let bits = 0
    for (const part of literal ? [word] : inner) {
      let at = query.parts.findIndex((known) => known.text === part)
      if (at < 0 && query.parts.length < MAX_PARTS) at = query.parts.push({ text: part, literal }) - 1
      if (at >= 0) bits |= 1 << at
    }
    query.words.push({ text: word, parts: bits, literal })
  }
  return query
}
