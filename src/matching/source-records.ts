// Builds source records from parsed catalogue files.
import type { CategoryRecord, ItemRecord } from '#catalogue/records.ts'
import { finishSlug } from '#catalogue/finishes.ts'
import { cardKey, type MatchRecord, type MatchSet, recordKey } from './records.ts'

/** Sources whose cards are one language family each; other One Piece records tell it by the language in their id. */
const FAMILIES: Readonly<Record<string, string>> = { 'tcgdex-asia': 'asia' }

/**
 * What the matcher needs of an item as a file states it.
 * @param category of the item, null when it is unknown
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
    ...(lacksLevelX(item) && { names: [`${item.name} LV.X`] }),
    finish,
    shopIds: item.foreignIds.filter((foreign) => foreign !== own),
    hp: item.details.hp ?? null,
  }
}

/** A level-up card is printed with LV.X behind its name, which a source may leave out. */
function lacksLevelX({ details, name }: ItemRecord): boolean {
  return (details.stage === 'Level-Up' || details.suffix === 'LV.X') && !/LV\.?\s?X$/i.test(name)
}

/** A category as the set of its cards. */
export function matchSetOf({ ref, name, codes, printedTotal, foreignIds }: CategoryRecord): MatchSet {
  return { ref, name, codes: codes ?? [], printedTotal: printedTotal ?? null, ...(foreignIds && { shopIds: foreignIds }) }
}

/** The source of a ref: what is before its first colon. */
function sourceOf(ref: string): string {
  const colon = ref.indexOf(':')
  return colon < 0 ? 'mintmark' : ref.slice(0, colon)
}

/** A One Piece printing without a suffix is the plain one; other sources that state none mean the card as a whole. */
function finishOf({ attributes, genre }: ItemRecord, source: string): string | null {
  const stated = attributes.find(({ name }) => name === 'Finish')?.value
  if (stated !== undefined) return finishSlug(stated)
  return source === 'punk-records' && genre === 'single' ? 'normal' : null
}
