// Reads the Flesh and Blood cards of the npm package `@flesh-and-blood/cards` or of the repository the-fab-cube/flesh-and-blood-cards, as one JSON
// array: a card with all of its printings.
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { gameOf } from '#games/games.ts'
import { finishSlug } from '../records/finishes.ts'
import type { CatalogueFormat, ForeignId, ItemRecord } from '../records/catalogue-records.ts'
import { slugWords } from '../records/slugs.ts'
import { type CardsRead, printingsOf, readCards, SET } from './flesh-and-blood-faces.ts'
import { attributeList, catalogueRows, type Entry, identifier, isObject, type Json, RANK, text, texts } from './reading.ts'

const RULES = gameOf('fab').finishes
// Refs: `flesh-and-blood:set:<slug of its name>`, `flesh-and-blood:<identifier>`, `flesh-and-blood:<identifier>:<finish>`.
const SOURCE = 'flesh-and-blood'

export const fleshAndBlood: CatalogueFormat = {
  name: SOURCE,
  title: 'Flesh and Blood cards of the npm package @flesh-and-blood/cards or the repository the-fab-cube/flesh-and-blood-cards (JSON array)',
  defaultMarket: 'source_c',
  marks: [
    { type: 'json', names: ['cardIdentifier', 'classes', 'name'] },
    { type: 'json', names: ['unique_id', 'color', 'pitch'] },
    { type: 'json', names: ['unique_id', 'edition', 'start_card_id'] },
  ],
  rank: (head) => (head.includes('"start_card_id"') ? RANK.sets : RANK.cards),
  open(market) {
    const sets = new Set<string>()
    const setNames = new Map<string, string>()
    return async function* (file) {
      const { lines, faces, codes } = await readCards(file, setNames)
      yield* catalogueRows(lines, SOURCE, (card) => (card === SET ? [] : cardEntries(card, { market, sets, faces, codes })))
    }
  },
}

interface Reading extends Pick<CardsRead, 'faces' | 'codes'> {
  market: Market
  /** names of the sets that this import has returned */
  sets: Set<string>
}

/** The items of a card, each preceded by its set if that is new. The back of a card yields nothing: its front does. */
function cardEntries(card: Json, { market, sets, faces, codes }: Reading): Entry[] | null {
  if (!('cardIdentifier' in card) || !('printings' in card)) return null
  const id = identifier(card.cardIdentifier)
  if (id === undefined) return [{ reject: reason('lacks', { thing: 'card', field: 'cardIdentifier' }) }]
  if (identifier(card.name) === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'name' }) }]
  return printingsOf(card).flatMap((printing): Entry[] => {
    const code = identifier(printing.identifier)
    const set = identifier(printing.set)
    if (code === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'printings.identifier' }) }]
    if (set === undefined) return [{ reject: reason('lacks', { thing: 'card', id: code, field: 'printings.set' }) }]
    const own = faces.get(code)!
    // Some printings are listed once more for their picture on the back.
    if (own[0] !== card || /-Back(?:-|$)/.test(text(printing.print) ?? '')) return []
    const category = `${SOURCE}:set:${slugWords(set)}`
    const isNew = !sets.has(set)
    sets.add(set)
    const entry = { category: { market, ref: category, name: set, game: 'fab', parent: null, image: null, codes: [...codes.get(set)!] } }
    return [...(isNew ? [entry] : []), itemEntry(printing, { market, code, category, faces: own })]
  })
}

const COLORS: Readonly<Record<number, string>> = { 1: 'Red', 2: 'Yellow', 3: 'Blue' }

/** Cards of one name in three colours are three cards, so the colour is part of the name, as shops write it: `Aether Hail (Red)`. */
function nameOf({ name, pitch }: Json): string {
  const color = COLORS[Number(pitch)]
  return color === undefined ? text(name)! : `${text(name)} (${color})`
}

function itemEntry(
  printing: Json,
  { market, code, category, faces }: { market: Market; code: string; category: string; faces: readonly Json[] },
): Entry {
  const [front] = faces as [Json]
  const written = faces.filter((face) => identifier(face.name) !== undefined)
  const name = written.map(nameOf).join(' // ')
  const names = new Set(written.flatMap((face) => [nameOf(face), text(face.name)!, ...(texts(face.nicknames) ?? [])]))
  names.delete(name)
  const label = finishLabel(printing)
  const slug = finishSlug(label, RULES)
  const rarity = text(printing.rarity) ?? text(front.rarity)
  const artist = texts(printing.artists)?.join(', ')
  const item: ItemRecord = {
    market,
    ref: `${SOURCE}:${code}${slug === 'normal' ? '' : `:${slug}`}`,
    name,
    code,
    genre: 'single',
    game: 'fab',
    category,
    images: [],
    attributes: attributeList([
      ['Rarity', rarity],
      ['Set Number', code],
      ['Finish', label],
      ['Card Type', text(front.typeText)],
      ['Color', COLORS[Number(front.pitch)]],
      ['Illustrator', artist],
      ['Languages', 'en'],
    ]),
    groups: ['ungraded', 'graded'],
    details: { rarity, illustrator: artist, ...(names.size > 0 && { names: [...names] }) },
    foreignIds: [{ source: SOURCE, id: code, finish: slug }, ...shopIdsOf(printing)],
  }
  return { key: { source: SOURCE, id: code, finish: slug }, item }
}

/** `First Edition Extended Art Rainbow Foil`: everything by which printings with the same number differ. */
function finishLabel(printing: Json): string {
  const [edition, foiling] = [text(printing.edition), text(printing.foiling)]
  const parts = [edition === 'First' ? 'First Edition' : edition === 'Promo' ? undefined : edition, ...(texts(printing.treatments) ?? [])]
  // Further pictures with the same number and treatment are versions: `OMN203-Cold-Alternate Art-V2`.
  const [, version] = /-(V\d+)$/.exec(text(printing.print) ?? '') ?? []
  return [...parts, foiling && `${foiling} Foil`, version].filter((part) => part !== undefined).join(' ') || 'Normal'
}

/** TCGplayer's product with its name of the printing, which the product's address states: `Printing=1st+Edition+Rainbow+Foil`. */
function shopIdsOf({ tcgplayer: shop }: Json): ForeignId[] {
  const id = isObject(shop) ? text(shop.productId) : undefined
  if (!isObject(shop) || id === undefined) return []
  const printing = /[?&]Printing=([^&]+)/.exec(text(shop.url) ?? '')?.[1]?.replaceAll('+', ' ')
  return [{ source: 'tcgplayer', id, ...(printing && { finish: finishSlug(printing, RULES) }) }]
}
