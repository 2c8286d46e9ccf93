// Normal forms of card names: spellings of the same name are equal, names of different cards are not.
import { fold, words } from '#index/fold.ts'
import { memoize } from '#index/memoize.ts'

/** Symbols and abbreviations that sources also write as words. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '★': 'star',
    '☆': 'star',
    '◇': 'prism star',
    '♢': 'prism star',
    lvx: 'lv x',
    delta: 'δ',
    mega: 'm',
    and: '',
    species: '',
  }),
)
const BRACKETED = /\([^()]*\)|\[[^[\]]*\]/g
/** Words that some sources omit; names that differ in them are equal only in their loose form. */
const OPTIONAL = new Set(['basic', 'δ', 'star', 'prism', 'lv', 'x', 'team', 'forme', 'form'])

const NO_NAMES: readonly never[] = []

/** The same form for all spellings of a name: `Gyarados-GX` and `Gyarados GX`, `Nidoran ♀` and `Nidoran Female`. */
export const normalName = memoize(normalForm)

function normalForm(name: string): string {
  const found = words(fold(name.replaceAll('♢', '◇')))
    .map((word) => WORDS.get(word) ?? word)
    .filter(Boolean)
  if (found[0] === 'nidoran' && found.length === 2) return `nidoran ${SEXES.get(found[1]!) ?? found[1]}`
  // Cards of basic energies are printed without the word `basic`, but some sources put it first.
  while (found[0] === 'basic' && found.length > 1 && found.at(-1) === 'energy') found.shift()
  return found.join(' ')
}

const SEXES: ReadonlyMap<string, string> = new Map(Object.entries({ f: '♀', female: '♀', m: '♂', male: '♂' }))

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

/** Other spellings of the name of a card: level-up cards have LV.X printed after their name, which a source may omit. */
export function otherNames(name: string, { stage, suffix }: { stage?: string | null; suffix?: string | null }): readonly string[] {
  return (stage === 'Level-Up' || suffix === 'LV.X') && !/LV\.?\s?X$/i.test(name) ? [`${name} LV.X`] : NO_NAMES
}
