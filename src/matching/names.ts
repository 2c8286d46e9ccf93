// Normal forms of card names: spellings of the same name are equal, names of different cards are not.
import { GAMES } from '#games/games.ts'
import { fold, words } from '#index/fold.ts'
import { memoize } from '#index/memoize.ts'

const { characters, endings, faces, omitted } = GAMES.names
const CHARACTERS = Object.entries(characters)
/** Symbols and abbreviations that sources also write as words. */
const WORDS: ReadonlyMap<string, string> = new Map(Object.entries(GAMES.names.words))
const SECONDS = new Map(Object.entries(GAMES.names.second).map(([first, seconds]) => [first, new Map(Object.entries(seconds))]))
const BRACKETED = /\([^()]*\)|\[[^[\]]*\]/g
/** Words that some sources omit; names that differ in them are equal only in their loose form. */
const OPTIONAL: ReadonlySet<string> = new Set(GAMES.names.optional)

const NO_NAMES: readonly never[] = []

/** The same form for all spellings of a name: `Gyarados-GX` and `Gyarados GX`, `Nidoran ♀` and `Nidoran Female`. */
export const normalName = memoize(normalForm)

function normalForm(name: string): string {
  const found = words(fold(CHARACTERS.reduce((text, [from, to]) => text.replaceAll(from, to), name)))
    .map((word) => WORDS.get(word) ?? word)
    .filter(Boolean)
  const seconds = found.length === 2 ? SECONDS.get(found[0]!) : undefined
  if (seconds) return `${found[0]} ${seconds.get(found[1]!) ?? found[1]}`
  // Cards of basic energies are printed without the word `basic`, but some sources put it first.
  const last = found.at(-1)
  while (found.length > 1 && omitted.some((rule) => rule.first === found[0] && rule.last === last)) found.shift()
  return found.join(' ')
}

/** The form without brackets and without words that some sources omit; equal loose forms are a hint, not proof. */
export const looseName = memoize(looseForm)

function looseForm(name: string): string {
  const bare = name.replace(BRACKETED, ' ').trim()
  const all = normalName(bare || name).split(' ')
  const required = all.filter((word) => !OPTIONAL.has(word))
  return (required.length > 0 ? required : all).join(' ')
}

/** Similarity of two normal names, 0 to 1: the share of words in common. */
export function likeness(a: string, b: string): number {
  const [one, other] = [new Set(a.split(' ')), new Set(b.split(' '))]
  return one.intersection(other).size / one.union(other).size
}

/**
 * Other spellings of the name of a card. Level-up cards have LV.X printed after their name, which a source may omit; of a card with two faces
 * (`Fire // Ice`), a source may state only the first.
 */
export function otherNames(name: string, { stage, suffix }: { stage?: string | null; suffix?: string | null }): readonly string[] {
  const found = endings.filter((ending) => (stage != null && stage === ending.stage) || (suffix != null && suffix === ending.suffix))
  const missing = found.filter(({ text }) => !normalName(name).endsWith(normalName(text)))
  const separator = faces.find((one) => name.includes(one))
  if (missing.length === 0 && separator === undefined) return NO_NAMES
  const first = separator === undefined ? [] : [name.slice(0, name.indexOf(separator)).trim()]
  return [...missing.map(({ text }) => `${name} ${text}`), ...first]
}
