// A single vocabulary of finishes: the words of all sources become canonical slugs such as `reverse` or `holo-first-edition`.
import { fold, words } from '#index/fold.ts'
import { memoize } from '#index/memoize.ts'

const SAME_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    holofoil: 'holo',
    foil: 'holo',
    '1st': 'first',
    '1ed': 'first',
    firstedition: 'first edition',
    p: 'parallel',
    r: 'reprint',
  }),
)
/** Words that only state that a printing is ordinary. */
const PLAIN = new Set(['normal', 'unlimited', 'non', 'unstamped', 'standard', 'regular'])
const FOILS = ['reverse', 'holo']
const CAMEL = /(\p{Ll})(\p{Lu})/gu
/** Matches `_p1`, the suffix of a One Piece card id, and `Parallel1`. */
const NUMBERED = /^([a-z]+)(\d+)$/

/**
 * The words that distinguish a printing, in canonical spelling and order: the foil first, implied words dropped. Empty for a plain
 * printing.
 */
export const finishWords: (text: string) => readonly string[] = memoize(wordsOf)

function wordsOf(text: string): string[] {
  const found = words(fold(text.replace(CAMEL, '$1 $2')))
    .flatMap((word) => {
      const [, letters, digits] = NUMBERED.exec(word) ?? []
      const parts = letters === 'p' || letters === 'r' || letters === 'parallel' ? [letters, digits!] : [word]
      return parts.flatMap((part) => (SAME_WORDS.get(part) ?? part).split(' '))
    })
    .filter((word) => !PLAIN.has(word))
  const all = new Set(found)
  // First editions of sets with shadowless cards are always shadowless, and a reverse holo is always a holo.
  if (all.has('first') && all.has('edition')) all.delete('shadowless')
  if (all.has('reverse')) all.delete('holo')
  return [...FOILS.filter((foil) => all.has(foil)), ...[...all].filter((word) => !FOILS.includes(word))]
}

/** Canonical slug of a printing, from the name that any source uses: `Reverse Holofoil` → `reverse`, `Unlimited` → `normal`. */
export function finishSlug(text: string): string {
  return finishWords(text).join('-') || 'normal'
}

/** Equal for slugs of the same printing, regardless of the order of their words. */
export const finishKey = memoize((slug) => finishWords(slug).toSorted().join(' '))

/** How well the requested finish fits an item's finish. */
export const FIT = { none: 0, foil: 1, alike: 2, same: 3 } as const
export type Fit = (typeof FIT)[keyof typeof FIT]

/**
 * Printings are the same if their words are. They are alike if they differ only in `holo` or in a number, which not all sources state for special
 * printings, or if the item states no finish. A row without a finish may mean any of them, and a row that states only a foil fits a stamped or
 * patterned card of that foil if nothing fits better.
 * @param statedWords words of the description; null if it states no finish
 * @param has words of the item's finish; null if no source states one
 */
export function finishFit(statedWords: readonly string[] | null, has: readonly string[] | null): Fit {
  if (statedWords === null) return has === null ? FIT.same : FIT.alike
  const [one, other] = [new Set(statedWords), new Set(has ?? [])]
  if (has !== null && one.symmetricDifference(other).size === 0) return FIT.same
  const special = [...one].filter((word) => word !== 'holo')
  const others = [...other].filter((word) => word !== 'holo' && (one.has(word) || !/^\d+$/.test(word)))
  if (special.length === others.length && special.every((word) => other.has(word)) && (special.length > 0 || has === null)) return FIT.alike
  return special.length === 0 && has !== null && foilOf(one) === foilOf(other) && !others.some((word) => OTHER_PRINTS.has(word)) ? FIT.foil : FIT.none
}

/** Those whose finish fits best; empty if none fits. */
export function fittest<T extends { fit: Fit }>(all: readonly T[]): T[] {
  const best = Math.max(FIT.none, ...all.map(({ fit }) => fit))
  return best === FIT.none ? [] : all.filter(({ fit }) => fit === best)
}

/** Words of printings that a row with only a foil never refers to. */
const OTHER_PRINTS = new Set(['first', 'edition', 'shadowless', 'parallel', 'reprint', 'jumbo'])

function foilOf(words: ReadonlySet<string>): string {
  return FOILS.find((foil) => words.has(foil)) ?? 'normal'
}

/** Orders finishes by plainness: no finish, normal, holo, reverse, then by number of words and name. */
export function byPlainness(a: string | null, b: string | null): number {
  return plainness(a) - plainness(b) || ((a ?? '') < (b ?? '') ? -1 : a === b ? 0 : 1)
}

const PLAINEST: readonly (string | null)[] = [null, 'normal', 'holo', 'reverse']

function plainness(slug: string | null): number {
  const at = PLAINEST.indexOf(slug)
  return at >= 0 ? at : PLAINEST.length + slug!.split('-').length
}
