// Derives the source record of an item from its ref: for exported items, and those from before source records existed.
import { finishSlug } from './finishes.ts'
import type { ForeignId, Genre, SourceKey } from './catalogue-records.ts'

const CARD_SOURCES = ['tcgdex-asia', 'tcgdex', 'pokemontcg']
const PRODUCT_SOURCES = ['cardmarket', 'tcgplayer']
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
    return { source, id, finish: finish ? finishSlug(finish) : '' }
  }
  const [, id, printing] = PUNK_RECORDS.exec(ref) ?? []
  return id === undefined ? null : { source: 'punk-records', id, finish: finishSlug(printing ?? '') }
}

/** The source record of an item in our own export. */
export function exportedKey({ market, ref }: { market: string; ref: string }): SourceKey {
  return { source: 'mintmark', id: `${market}:${ref}`, finish: '' }
}

/** The world of a record. Records of different worlds of a game are never the same item. */
export function worldOf(key: SourceKey, facts: OfRecord): string {
  return worldOfFamily(familyOf(key, facts))
}

/** French One Piece cards can be printings of the English ones (`translationsOf`), whose world is older. */
export function worldOfFamily(family: string): string {
  return family === 'onepiece-fr' ? 'onepiece-en' : family
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
  // Ids of printings in other languages than English start with the language.
  const language = from === 'scryfall' ? /^([a-z]+):/.exec(origin?.id ?? id)?.[1] : undefined
  if (language !== undefined) return `magic-${language}`
  if (from === 'punk-records') return `onepiece-${(origin?.id ?? id).split(':', 1)[0]}`
  return from === 'tcgdex-asia' ? 'asia' : 'international'
}
