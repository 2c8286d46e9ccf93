// What is searched of an item as whole words beside its names: finish, rarity, language and kind; and how items that match
// equally well are ordered by them.
import { fold, words } from '#index/fold.ts'
import { finishWords } from './finishes.ts'
import { languageCode, languageName } from './languages.ts'

/** Parts of the text of a tag. */
const SEPARATOR = '\t'

/** Words that ask for a sealed product. */
const SEALED_WORDS = new Set(
  'sealed box boxes booster boosters pack packs bundle tin tins collection case display blister blisters deck decks binder kit toolkit chest album'.split(
    ' ',
  ),
)
const SEALED_GENRES = new Set(['sealed', 'bundle'])
const NUMBER = /^\d+$/u
const MOST_PARSED = 10_000

/** Bits of the order, the most important first. */
const GENRE = 7
const VERSION = 5
const LANGUAGE = 1
const MOST_VERSION = 3
const MOST_LANGUAGE = 15

/** The tags of an item as one text, the same for equal ones. @param languages a list parted by commas, or one name */
export function tagsOf(finish: string, rarity: string, languages: string, genre: string): string {
  return [finish, rarity, languages, genre].map(fold).join(SEPARATOR)
}

interface Tags {
  /** words of the finish, without those that say nothing special */
  finish: readonly string[]
  rarity: readonly string[]
  /** codes */
  languages: readonly string[]
  genre: string
}

/** Few, and asked for with each search. */
const PARSED = new Map<string, Tags>()
/** Words of finishes and rarities that were met so far. */
const MET = new Set<string>()

function parsed(tags: string): Tags {
  const known = PARSED.get(tags)
  if (known) return known
  const made = parse(tags)
  if (PARSED.size >= MOST_PARSED) PARSED.clear()
  PARSED.set(tags, made)
  for (const word of [...made.finish, ...made.rarity]) MET.add(word)
  return made
}

function parse(tags: string): Tags {
  const [finish = '', rarity = '', languages = '', genre = ''] = tags.split(SEPARATOR)
  return {
    finish: finishWords(finish),
    rarity: words(rarity),
    languages: languages.split(',').flatMap((language) => (language.trim() ? [languageCode(language.trim())] : [])),
    genre,
  }
}

/** The words by which items with these tags are found. */
export function tagWords(tags: string): string[] {
  const { finish, rarity, languages, genre } = parsed(tags)
  const printed = words(tags.slice(0, tags.indexOf(SEPARATOR)))
  const foil = finish.includes('reverse') ? ['holo'] : finish.length === 0 ? ['normal'] : []
  // The finish of a first edition does not tell whether it is shadowless, too.
  const edition = finish.includes('edition') ? ['shadowless'] : finish.includes('shadowless') ? [] : ['unlimited']
  return [...printed, ...finish, ...foil, ...edition, ...rarity, ...languages.flatMap((code) => languageName(code) ?? []), genre]
}

/**
 * The order of tags for a query that asks for these words: singles before sealed products, unless a word asks for such; the plain
 * version before others, unless words ask for them; languages as in the setting; a normal card before a holo.
 */
export function tagOrder(languageOrder: readonly string[]): (asked: ReadonlySet<string>) => (tags: string) => number {
  const places = new Map(languageOrder.map((language, place) => [language, place]))
  /** where no word asks for a version or a sealed product */
  const usual = new Map<string, number>()
  const NOTHING: ReadonlySet<string> = new Set()
  const orderFor = (asked: ReadonlySet<string>): ((tags: string) => number) => {
    const wantsSealed = [...asked].some((word) => SEALED_WORDS.has(word))
    return (tags) => {
      const { finish, rarity, languages, genre } = parsed(tags)
      const behind = SEALED_GENRES.has(genre) !== wantsSealed
      const version = versionOf(finish, asked) + rarityOf(rarity, asked)
      const language = languages.length === 0 ? 0 : Math.min(...languages.map((code) => placeOf(code, places)))
      const foil = finish.includes('holo') && !asked.has('holo')
      return (Number(behind) << GENRE) | (Math.min(version, MOST_VERSION) << VERSION) | (Math.min(language, MOST_LANGUAGE) << LANGUAGE) | Number(foil)
    }
  }
  const orderUsually = orderFor(NOTHING)
  return (asked) => {
    if ([...asked].some((word) => SEALED_WORDS.has(word) || MET.has(word))) return orderFor(asked)
    return (tags) => {
      const known = usual.get(tags)
      if (known !== undefined) return known
      const order = orderUsually(tags)
      if (usual.size >= MOST_PARSED) usual.clear()
      usual.set(tags, order)
      return order
    }
  }
}

/** How far a finish is from what is asked for: 0 for a plain one, or for one of which all words are asked for. */
function versionOf(finish: readonly string[], asked: ReadonlySet<string>): number {
  const asksNumber = [...asked].some((word) => NUMBER.test(word))
  const left = finish.filter((word) => word !== 'holo' && !asked.has(word))
  // The first parallel is the one that is meant where no other is named.
  const counted = left.filter((word) => !NUMBER.test(word) || word !== '1' || asksNumber)
  if (counted.length === 0) return 0
  return counted.length === 1 && (counted[0] === 'reverse' || NUMBER.test(counted[0]!)) ? 1 : 2
}

/** One rarity has the words of another one in it: of those that are asked for, the one without further words comes first. */
function rarityOf(rarity: readonly string[], asked: ReadonlySet<string>): number {
  const left = rarity.filter((word) => !asked.has(word)).length
  return left < rarity.length && left > 0 ? 1 : 0
}

function placeOf(code: string, places: ReadonlyMap<string, number>): number {
  return places.get(code) ?? places.get(code.split('-', 1)[0]!) ?? places.size
}
