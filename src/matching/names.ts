// Normal forms of card names: spellings of one name are equal, names of different cards are not.
import { fold, words } from '#index/fold.ts'
import { kept } from '#index/kept.ts'

/** Symbols and abbreviations that sources also write as words. */
const WORDS: Readonly<Record<string, string>> = {
  '★': 'star',
  '☆': 'star',
  '◇': 'prism star',
  '♢': 'prism star',
  lvx: 'lv x',
  delta: 'δ',
  mega: 'm',
  and: '',
  species: '',
}
const BRACKETED = /\([^()]*\)|\[[^[\]]*\]/g
/** Words that some sources leave out; a name without them is the same only in its loose form. */
const OPTIONAL = new Set(['basic', 'δ', 'star', 'prism', 'lv', 'x', 'team', 'forme', 'form'])

/** One form for all spellings of a name: `Gyarados-GX` and `Gyarados GX`, `Nidoran ♀` and `Nidoran Female`. */
export const normalName = kept(normalForm)

function normalForm(name: string): string {
  const found = words(fold(name.replaceAll('♢', '◇')))
    .map((word) => WORDS[word] ?? word)
    .filter(Boolean)
  if (found[0] === 'nidoran' && found.length === 2) return `nidoran ${SEXES[found[1]!] ?? found[1]}`
  // Basic energies are printed without the word, which some sources put before them.
  while (found[0] === 'basic' && found.length > 1 && found.at(-1) === 'energy') found.shift()
  return found.join(' ')
}

const SEXES: Readonly<Record<string, string>> = { f: '♀', female: '♀', m: '♂', male: '♂' }

/** The form without brackets and without words that some sources leave out; equal loose forms are a hint, no proof. */
export const looseName = kept(looseForm)

function looseForm(name: string): string {
  const bare = name.replace(BRACKETED, ' ').trim()
  const all = normalName(bare || name).split(' ')
  const kept = all.filter((word) => !OPTIONAL.has(word))
  return (kept.length > 0 ? kept : all).join(' ')
}

/** How alike two normal names are, 0 to 1: the share of words in common. */
export function likeness(a: string, b: string): number {
  const [one, other] = [new Set(a.split(' ')), new Set(b.split(' '))]
  return one.intersection(other).size / one.union(other).size
}
