// Reads YGOPRODeck's cards and sets of Yu-Gi-Oh!: a card with all of its printings, in the form of its API.
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { gameOf } from '#games/games.ts'
import { finishSlug } from '../records/finishes.ts'
import type { CatalogueFormat, ItemRecord } from '../records/catalogue-records.ts'
import { slugWords } from '../records/slugs.ts'
import {
  address,
  attributeList,
  catalogueRows,
  documentLines,
  type Entry,
  identifier,
  isObject,
  type Json,
  peek,
  RANK,
  text,
  wholeNumber,
} from './reading.ts'

const RULES = gameOf('yugioh').finishes
// Refs: `ygoprodeck:set:<slug of its name>`, `ygoprodeck:<set code>:<rarity>`.
const SOURCE = 'ygoprodeck'

export const ygoprodeck: CatalogueFormat = {
  name: SOURCE,
  title: 'YGOPRODeck cards (JSON with data) and sets (JSON array) of Yu-Gi-Oh!',
  defaultMarket: 'source_c',
  marks: [
    { type: 'json', names: ['id', 'frameType', 'race'] },
    { type: 'json', names: ['set_name', 'set_code', 'num_of_cards'] },
  ],
  rank: (head) => (head.trimStart().startsWith('[') ? RANK.sets : RANK.cards),
  open(market) {
    const sets = new Set<string>()
    return async function* (file) {
      const { start, source } = await peek(file)
      const lines = documentLines(source, start.startsWith('[') ? '$.*' : '$.data.*')
      yield* catalogueRows(lines, SOURCE, (row) => setEntry(row, market, sets) ?? cardEntries(row, market, sets))
    }
  },
}

function setEntry(row: Json, market: Market, sets: Set<string>): Entry[] | null {
  if (!('set_name' in row) || !('num_of_cards' in row)) return null
  const name = identifier(row.set_name)
  const code = identifier(row.set_code)
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'set', field: 'set_name' }) }]
  const ref = refOf(name)
  sets.add(ref)
  return [
    {
      category: {
        market,
        ref,
        name,
        game: 'yugioh',
        parent: null,
        image: address(row.set_image) ?? null,
        ...(code !== undefined && { codes: [code] }),
      },
    },
  ]
}

const refOf = (setName: string) => `${SOURCE}:set:${slugWords(setName)}`

/** An item for each printing: the same number may be printed in several rarities, so the rarity is the finish. */
function cardEntries(row: Json, market: Market, sets: Set<string>): Entry[] | null {
  if (!('id' in row) || !('race' in row) || !('type' in row)) return null
  const id = wholeNumber(row.id)
  const name = identifier(row.name)
  if (id === undefined) return [{ reject: reason('lacks', { thing: 'card', field: 'id' }) }]
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'name' }) }]
  const printings = Array.isArray(row.card_sets) ? row.card_sets : []
  if (printings.length === 0) return [{ reject: reason('lacks', { thing: 'card', id, field: 'card_sets' }) }]
  const seen = new Set<string>()
  return printings.flatMap((printing: unknown): Entry[] => {
    const stated = isObject(printing) ? printing : {}
    const code = identifier(stated.set_code)
    const set = identifier(stated.set_name)
    const rarity = identifier(stated.set_rarity)
    if (code === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'card_sets.set_code' }) }]
    if (set === undefined) return [{ reject: reason('lacks', { thing: 'card', id: code, field: 'card_sets.set_name' }) }]
    if (rarity === undefined) return [{ reject: reason('lacks', { thing: 'card', id: code, field: 'card_sets.set_rarity' }) }]
    const category = refOf(set)
    const isNew = !sets.has(category)
    sets.add(category)
    const entry = itemEntry(row, { market, name, code, category, rarity, edition: text(stated.set_edition) })
    // The source lists some printings twice.
    if (seen.size === seen.add(entry.item.ref).size) return []
    const found = { market, ref: category, name: set, game: 'yugioh', image: null, codes: [code.split('-', 1)[0]!], fillsOnly: true }
    return [...(isNew ? [{ category: found }] : []), entry]
  })
}

interface Printing {
  market: Market
  name: string
  code: string
  category: string
  rarity: string
  /** `1st Edition`, only in answers with `tcgplayer_data` */
  edition: string | undefined
}

/** The language in a number: `LOB-EN001`, `LOB-G001`; numbers of early sets have none and are English. */
const LANGUAGES: readonly (readonly [RegExp, string])[] = [
  [/-(?:DE|G)\d/, 'de'],
  [/-FR?\d/, 'fr'],
  [/-IT?\d/, 'it'],
  [/-SP?\d/, 'es'],
  [/-PT?\d/, 'pt'],
  [/-JP?\d/, 'ja'],
  [/-KR?\d/, 'ko'],
]

function itemEntry(card: Json, { market, name, code, category, rarity, edition }: Printing): Extract<Entry, { item: unknown }> {
  const label = edition === undefined ? rarity : `${rarity} ${edition}`
  const slug = finishSlug(label, RULES)
  const [picture] = Array.isArray(card.card_images) ? card.card_images : []
  const image = isObject(picture) ? address(picture.image_url) : undefined
  const item: ItemRecord = {
    market,
    ref: `${SOURCE}:${code}:${slug}`,
    name,
    code,
    genre: 'single',
    game: 'yugioh',
    category,
    images: image === undefined ? [] : [{ url: image, order: 1 }],
    attributes: attributeList([
      ['Rarity', rarity],
      ['Set Number', code],
      ['Finish', label],
      ['Card Type', text(card.humanReadableCardType) ?? text(card.type)],
      ['Attribute', text(card.attribute)],
      ['Types', text(card.race)],
      ['Languages', LANGUAGES.find(([form]) => form.test(code))?.[1] ?? 'en'],
    ]),
    groups: ['ungraded', 'graded'],
    details: { rarity },
    foreignIds: [{ source: SOURCE, id: code, finish: slug }],
  }
  return { key: { source: SOURCE, id: code, finish: slug }, item }
}
