// Builds source records from parsed catalogue files.
import type { CategoryRecord, ItemRecord } from '#catalogue/records/catalogue-records.ts'
import { finishRules, finishSlug } from '#catalogue/records/finishes.ts'
import { cardKey, type MatchRecord, type MatchSet, recordKey } from './matcher-types.ts'
import { otherNames } from './names.ts'

/** Language families by source. All other sources are `intl`, except punk-records, whose ids contain the language. */
const FAMILIES: Readonly<Record<string, string>> = { 'tcgdex-asia': 'asia' }

/**
 * Converts an item of a catalogue file to the matcher's form.
 * @param category the item's category; null if unknown
 */
export function matchRecordOf(item: ItemRecord, category: CategoryRecord | null): MatchRecord {
  const source = sourceOf(item.ref)
  const own = item.foreignIds.find((foreign) => foreign.source === source)
  const id = own?.id ?? item.ref.slice(source.length + 1)
  const finish = finishOf(item, source)
  return {
    key: recordKey(source, id, finish),
    source,
    id,
    card: cardKey(source, id),
    game: item.game,
    genre: item.genre,
    family: source === 'punk-records' ? id.slice(0, id.indexOf(':')) : (FAMILIES[source] ?? 'intl'),
    set: category && matchSetOf(category),
    number: item.code,
    name: item.name,
    names: otherNames(item.name, item.details),
    finish,
    shopIds: item.foreignIds.filter((foreign) => foreign !== own),
    hp: item.details.hp ?? null,
  }
}

/** Converts a category to the set of its cards. */
export function matchSetOf({ ref, name, codes, printedTotal, foreignIds }: CategoryRecord): MatchSet {
  return { ref, name, codes: codes ?? [], printedTotal: printedTotal ?? null, ...(foreignIds && { shopIds: foreignIds }) }
}

/** The source of a ref: the part before the first colon, or `mintmark` without one. */
function sourceOf(ref: string): string {
  const colon = ref.indexOf(':')
  return colon < 0 ? 'mintmark' : ref.slice(0, colon)
}

/** The stated finish. A One Piece printing without a suffix is the plain one; in other sources, no finish means the card as a whole (null). */
function finishOf({ attributes, genre, game }: ItemRecord, source: string): string | null {
  const stated = attributes.find(({ name }) => name === 'Finish')?.value
  if (stated !== undefined) return finishSlug(stated, finishRules(game))
  return source === 'punk-records' && genre === 'single' ? 'normal' : null
}
