// Derives the source record of an item from its ref: for exported items, and those from before source records existed.
import { type Game, GAMES, gameOf } from '#games/games.ts'
import { finishSlug } from './finishes.ts'
import type { ForeignId, Genre, SourceKey } from './catalogue-records.ts'

const CARD_SOURCES = ['tcgdex-asia', 'tcgdex', 'pokemontcg']
const PRODUCT_SOURCES = ['cardmarket', 'tcgplayer']
/** The family of cards that need no other: items that are the same in several languages. */
const INTERNATIONAL = 'international'
const PUNK_RECORDS = /^punk-records:([a-z]+:[A-Z0-9]+-\d+(?:_([a-z]\d+))?)$/

export interface OriginFields {
  ref: string
  attributes?: readonly { name: string; value: string | null }[]
  foreign_ids?: readonly ForeignId[]
}

/** The record; null if the ref belongs to a source that the program does not read. */
export function originOf({ ref, attributes = [], foreign_ids: foreignIds = [] }: OriginFields): SourceKey | null {
  const source = ref.slice(0, ref.indexOf(':'))
  const rest = ref.slice(source.length + 1)
  if (PRODUCT_SOURCES.includes(source)) return { source, id: rest, finish: '' }
  if (CARD_SOURCES.includes(source)) {
    const finish = attributes.find(({ name }) => name === 'Finish')?.value
    const id = foreignIds.find((id) => id.source === source)?.id ?? rest.split(':', 1)[0]!
    return { source, id, finish: finish ? finishSlug(finish, gameOf('pokemon').finishes) : '' }
  }
  const [, id, printing] = PUNK_RECORDS.exec(ref) ?? []
  return id === undefined ? null : { source: 'punk-records', id, finish: finishSlug(printing ?? '', gameOf('onepiece').finishes) }
}

/** The source record of an item in our own export. */
export function exportedKey({ market, ref }: { market: string; ref: string }): SourceKey {
  return { source: 'mintmark', id: `${market}:${ref}`, finish: '' }
}

/** The world of a record. Records of different worlds of a game are never the same item. */
export function worldOf(key: SourceKey, facts: OfRecord): string {
  return worldOfFamily(familyOf(key, facts))
}

/** The world of a family: languages that are joined have one, such as French One Piece cards, which can be printings of the English ones. */
export function worldOfFamily(family: string): string {
  return WORLDS.get(family) ?? family
}

const WORLDS = new Map(
  GAMES.all.flatMap(({ slug, languages }) =>
    Object.entries(languages.joined).map(([language, other]) => [languageFamily(slug, language), languageFamily(slug, other)]),
  ),
)

/** The family of a language of a game whose languages have items of their own. */
function languageFamily(game: string, language: string): string {
  return `${game}-${language}`
}

/** The families of records that may contain a print of the game in the language, or of any game. */
export function languageFamilies(language: string, game: string | null): string[] {
  const games = game === null ? GAMES.all.filter(({ languages }) => languages.ownItems || Object.keys(languages.families).length > 0) : [gameOf(game)]
  return [...new Set(games.map(({ slug, languages }) => (languages.ownItems ? languageFamily(slug, language) : sharedFamily(language, languages))))]
}

function sharedFamily(language: string, { families }: Game['languages']): string {
  return Object.keys(families).find((name) => families[name]!.includes(language)) ?? INTERNATIONAL
}

interface OfRecord {
  ref?: string
  genre?: Genre
}

/** Sealed products, or a language family of cards. Only records of the same family can be matched by number and name. */
export function familyOf({ source, id }: Pick<SourceKey, 'source' | 'id'>, facts: OfRecord): string {
  if (facts.genre === 'sealed' || facts.genre === 'bundle') return 'sealed'
  const origin = source === 'mintmark' && facts.ref !== undefined ? originOf({ ref: facts.ref }) : null
  const from = origin?.source ?? source
  const [, language] = /^([a-z-]+):/.exec(origin?.id ?? id) ?? []
  if (from === 'punk-records') return languageFamily('onepiece', language!)
  // Scryfall's ids are of English printings, unless they start with another language.
  if (from === 'scryfall' && language !== undefined) return languageFamily('magic', language)
  return from === 'tcgdex-asia' ? 'asia' : INTERNATIONAL
}
