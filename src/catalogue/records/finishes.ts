// A single vocabulary of finishes: the words of all sources become canonical slugs such as `reverse` or `holo-first-edition`.
import { gameOf } from '#games/games.ts'
import type { FinishRules } from '#games/schema.ts'
import { fold, words } from '#index/fold.ts'
import { memoize } from '#index/memoize.ts'

const CAMEL = /(\p{Ll})(\p{Lu})/gu
/** Matches `p1`, of the suffix `_p1` of a One Piece card id, and `Parallel1`. */
const NUMBERED = /^([a-z]+)(\d+)$/

/** The rules of a game, prepared for repeated use. */
interface Vocabulary {
  wordsOf: (text: string) => readonly string[]
  keyOf: (slug: string) => string
  /** positions of finishes by plainness, before those of more words */
  plainest: ReadonlyMap<string | null, number>
  separate: ReadonlySet<string>
}

const vocabularies = new WeakMap<FinishRules, Vocabulary>()

function vocabularyOf(rules: FinishRules): Vocabulary {
  return vocabularies.getOrInsertComputed(rules, () => {
    const wordsOf = memoize(wordsBy(rules))
    const others = rules.foils.filter((foil) => foil !== rules.foil)
    return {
      wordsOf,
      keyOf: memoize((slug) => wordsOf(slug).toSorted().join(' ')),
      plainest: new Map([null, 'normal', rules.foil, ...others].map((slug, i) => [slug, i])),
      separate: new Set(rules.separate),
    }
  })
}

/** The rules for the finishes of a game. */
export function finishRules(game: string): FinishRules {
  return gameOf(game).finishes
}

/**
 * The words that distinguish a printing, in canonical spelling and order: the foil first, implied words dropped. Empty for a plain
 * printing.
 */
export function finishWords(text: string, rules: FinishRules): readonly string[] {
  return vocabularyOf(rules).wordsOf(text)
}

function wordsBy({ words: spellings, plain, foils, numbered, implied }: FinishRules): (text: string) => string[] {
  const sameWords = new Map(Object.entries(spellings))
  const isPlain = new Set(plain)
  return (text) => {
    const found = words(fold(text.replace(CAMEL, '$1 $2')))
      .flatMap((word) => {
        const [, letters, digits] = NUMBERED.exec(word) ?? []
        const parts = letters !== undefined && numbered.includes(letters) ? [letters, digits!] : [word]
        return parts.flatMap((part) => (sameWords.get(part) ?? part).split(' '))
      })
      .filter((word) => word !== '' && !isPlain.has(word))
    const all = new Set(found)
    for (const { by, word } of implied) if (by.every((one) => all.has(one))) all.delete(word)
    return [...foils.filter((foil) => all.has(foil)), ...[...all].filter((word) => !foils.includes(word))]
  }
}

/** Canonical slug of a printing, from the name that any source uses: `Reverse Holofoil` → `reverse`, `Unlimited` → `normal`. */
export function finishSlug(text: string, rules: FinishRules): string {
  return finishWords(text, rules).join('-') || 'normal'
}

/** Equal for slugs of the same printing, regardless of the order of their words. */
export function finishKey(slug: string, rules: FinishRules): string {
  return vocabularyOf(rules).keyOf(slug)
}

/** How well the requested finish fits an item's finish. */
export const FIT = { none: 0, foil: 1, alike: 2, same: 3 } as const
export type Fit = (typeof FIT)[keyof typeof FIT]

/**
 * Printings are the same if their words are. They are alike if they differ only in the ordinary foil or in a number, which not all sources state for special
 * printings, or if the item states no finish. A row without a finish may mean any of them, and a row that states only a foil fits a stamped or
 * patterned card of that foil if nothing fits better.
 * @param statedWords distinct words of the description; null if it states no finish
 * @param has words of the item's finish; null if no source states one
 */
export function finishFit(statedWords: readonly string[] | null, has: readonly string[] | null, rules: FinishRules): Fit {
  if (statedWords === null) return has === null ? FIT.same : FIT.alike
  const [one, other] = [statedWords, has ?? []]
  if (has !== null && one.length === other.length && one.every((word) => other.includes(word))) return FIT.same
  const special = one.filter((word) => word !== rules.foil)
  const others = other.filter((word) => word !== rules.foil && (one.includes(word) || !/^\d+$/.test(word)))
  if (special.length === others.length && special.every((word) => other.includes(word)) && (special.length > 0 || has === null)) return FIT.alike
  if (special.length > 0 || has === null || foilOf(one, rules) !== foilOf(other, rules)) return FIT.none
  const { separate } = vocabularyOf(rules)
  return others.some((word) => separate.has(word)) ? FIT.none : FIT.foil
}

/** Those whose finish fits best; empty if none fits. */
export function fittest<T extends { fit: Fit }>(all: readonly T[]): T[] {
  const best = Math.max(FIT.none, ...all.map(({ fit }) => fit))
  return best === FIT.none ? [] : all.filter(({ fit }) => fit === best)
}

function foilOf(words: readonly string[], { foils }: FinishRules): string {
  return foils.find((foil) => words.includes(foil)) ?? 'normal'
}

/** Orders finishes by plainness: no finish, normal, ordinary foil, other foils, then by number of words and name. */
export function byPlainness(rules: FinishRules): (a: string | null, b: string | null) => number {
  const { plainest } = vocabularyOf(rules)
  const plainness = (slug: string | null) => plainest.get(slug) ?? plainest.size + slug!.split('-').length
  return (a, b) => plainness(a) - plainness(b) || ((a ?? '') < (b ?? '') ? -1 : a === b ? 0 : 1)
}

/** Whether the word is a foil. */
export function isFoil(word: string | undefined, { foils }: FinishRules): boolean {
  return word !== undefined && foils.includes(word)
}
