// Tags of an item, searched as whole words besides its names: finish, rarity, language and genre. They also order items that match
// equally well.
import { type Game, GAMES, gameOf } from '#games/games.ts'
import { fold, words } from '#index/fold.ts'
import { memoize } from '#index/memoize.ts'
import { finishWords } from '../records/finishes.ts'
import { languageCode, languageName } from '../records/languages.ts'

/** Separates the parts of a tag text. */
const SEPARATOR = '\t'

/** Words that request sealed products. */
const SEALED_WORDS: ReadonlySet<string> = new Set(GAMES.sealedWords)
const SEALED_GENRES = new Set(['sealed', 'bundle'])
const NUMBER = /^\d+$/u

/** Bit positions in the sort value, most significant first. */
const GENRE = 7
const VERSION = 5
const LANGUAGE = 1
const MAX_VERSION = 3
const MAX_LANGUAGE = 15

/** The tags of an item as one text, equal for equal tags. @param languages a comma-separated list, or one name */
export function tagsOf(finish: string, rarity: string, languages: string, genre: string, game: string): string {
  return [finish, rarity, languages, genre, game].map(fold).join(SEPARATOR)
}

interface Tags {
  /** words of the finish, without those that mean an ordinary printing */
  finish: readonly string[]
  rarity: readonly string[]
  /** language codes */
  languages: readonly string[]
  genre: string
  game: Game
}

/** Parsed tags by text, cached because there are few of them and every search needs them. */
const parsed = memoize(parse)
/** All words of finishes and rarities that have occurred so far. */
const SEEN_WORDS = new Set<string>()

function parse(tags: string): Tags {
  const [finish = '', rarity = '', languages = '', genre = '', slug = ''] = tags.split(SEPARATOR)
  const game = gameOf(slug)
  const parts = {
    finish: finishWords(finish, game.finishes),
    rarity: words(rarity),
    languages: languages.split(',').flatMap((language) => (language.trim() ? [languageCode(language.trim())] : [])),
    genre,
    game,
  }
  for (const word of [...parts.finish, ...parts.rarity]) SEEN_WORDS.add(word)
  return parts
}

/** The words that find items with these tags. */
export function tagWords(tags: string): string[] {
  const { finish, rarity, languages, genre, game } = parsed(tags)
  const printed = words(tags.slice(0, tags.indexOf(SEPARATOR)))
  const plain = finish.length === 0 ? ['normal'] : []
  const { alsoFound } = game.finishes
  const others = alsoFound.filter(
    (rule) => rule.with?.every((word) => finish.includes(word)) !== false && !rule.without?.some((word) => finish.includes(word)),
  )
  return [
    ...printed,
    ...finish,
    ...plain,
    ...others.map(({ word }) => word),
    ...rarity,
    ...languages.flatMap((code) => languageName(code) ?? []),
    genre,
  ]
}

/**
 * Orders tags for a query with these words: singles before sealed products, unless a word requests those; the plain version first, unless words
 * request another; languages in the configured order; a normal card before a holo.
 */
export function tagOrder(languageOrder: readonly string[]): (queryWords: ReadonlySet<string>) => (tags: string) => number {
  const places = new Map(languageOrder.map((language, place) => [language, place]))
  const NOTHING: ReadonlySet<string> = new Set()
  const orderFor = (queryWords: ReadonlySet<string>): ((tags: string) => number) => {
    const wantsSealed = [...queryWords].some((word) => SEALED_WORDS.has(word))
    return (tags) => {
      const { finish, rarity, languages, genre, game } = parsed(tags)
      const behind = SEALED_GENRES.has(genre) !== wantsSealed
      const { foil: ordinary } = game.finishes
      const version = versionOf(finish, queryWords, ordinary) + rarityOf(rarity, queryWords)
      const language = languages.length === 0 ? 0 : Math.min(...languages.map((code) => placeOf(code, places)))
      const foil = finish.includes(ordinary) && !queryWords.has(ordinary)
      return (Number(behind) << GENRE) | (Math.min(version, MAX_VERSION) << VERSION) | (Math.min(language, MAX_LANGUAGE) << LANGUAGE) | Number(foil)
    }
  }
  /** for queries that request neither a version nor sealed products */
  const usualOrder = memoize(orderFor(NOTHING))
  return (queryWords) => ([...queryWords].some((word) => SEALED_WORDS.has(word) || SEEN_WORDS.has(word)) ? orderFor(queryWords) : usualOrder)
}

/** Distance of a finish from the query: 0 for a plain one, or one whose words are all in the query. */
function versionOf(finish: readonly string[], queryWords: ReadonlySet<string>, foil: string): number {
  const asksNumber = [...queryWords].some((word) => NUMBER.test(word))
  const left = finish.filter((word) => word !== foil && !queryWords.has(word))
  // Without a number in the query, the first parallel is meant.
  const counted = left.filter((word) => !NUMBER.test(word) || word !== '1' || asksNumber)
  if (counted.length === 0) return 0
  return counted.length === 1 && (counted[0] === 'reverse' || NUMBER.test(counted[0]!)) ? 1 : 2
}

/** A rarity may contain the words of another one: among rarities with words of the query, those without further words come first. */
function rarityOf(rarity: readonly string[], queryWords: ReadonlySet<string>): number {
  const left = rarity.filter((word) => !queryWords.has(word)).length
  return left < rarity.length && left > 0 ? 1 : 0
}

function placeOf(code: string, places: ReadonlyMap<string, number>): number {
  return places.get(code) ?? places.get(code.split('-', 1)[0]!) ?? places.size
}
