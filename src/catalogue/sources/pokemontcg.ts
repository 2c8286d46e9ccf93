// Reads the Pokémon TCG API's data: sets (one JSON array) and cards (NDJSON), English.
import { ndjsonRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { gameOf } from '#games/games.ts'
import type { CatalogueFormat, ItemRecord, StoredCategory } from '../records/catalogue-records.ts'
import { slugWords } from '../records/slugs.ts'
import { collectorNumber, printedTotalOf, rarityTerm, regulationMarkTerm } from './card-terms.ts'
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
  texts,
  wholeNumber,
  wholeNumbers,
} from './reading.ts'

const GAME = gameOf('pokemon')

// Refs: `pokemontcg:series:<slug of its name>`, `pokemontcg:set:<id>`, `pokemontcg:<card id>`.
export const pokemontcg: CatalogueFormat = {
  name: 'pokemontcg',
  title: 'Pokémon TCG API sets and cards (JSON array or NDJSON)',
  defaultMarket: 'source_a',
  marks: [
    { type: 'json', names: ['id', 'printedTotal'] },
    { type: 'json', names: ['id', 'supertype'] },
  ],
  rank: (head) => (head.includes('"printedTotal"') ? RANK.sets : RANK.cards),
  open(market, storedCategories) {
    const sets: SetsRead = { read: new Map(), series: new Set(), stored: storedCategories }
    return async function* (file) {
      const { start, source } = await peek(file)
      yield* catalogueRows(
        start.startsWith('[') ? documentLines(source, '$.*') : ndjsonRows(source),
        'pokemontcg',
        (row) => setEntries(row, market, sets) ?? cardEntries(row, market, sets),
      )
    }
  },
}

/** Facts about a set that this import has read. */
interface SetFacts {
  printedTotal: number | null
}

/** The sets that this import has read, by id, and the categories of earlier imports, by ref. */
interface SetsRead {
  read: Map<string, SetFacts>
  /** refs of series that already exist as categories */
  series: Set<string>
  stored: ReadonlyMap<string, StoredCategory>
}

/** A set, preceded by its series if that is new; null if the row is not a set. */
function setEntries(row: Json, market: Market, { read, series: seriesRead }: SetsRead): Entry[] | null {
  if (!('series' in row) || !('printedTotal' in row)) return null
  const id = identifier(row.id)
  const name = text(row.name)
  if (id === undefined) return [{ reject: reason('lacks', { thing: 'set', field: 'id' }) }]
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'set', id, field: 'name' }) }]
  const seriesName = text(row.series)
  const series = seriesName === undefined ? null : `pokemontcg:series:${slugWords(seriesName)}`
  const isNew = series !== null && !seriesRead.has(series)
  if (series !== null) seriesRead.add(series)
  const printedTotal = printedTotalOf(wholeNumber(row.printedTotal), name, GAME)
  read.set(id, { printedTotal })
  const image = (isObject(row.images) ? address(row.images.logo) : undefined) ?? null
  const of = { market, game: 'pokemon' }
  return [
    ...(isNew && seriesName ? [{ category: { ...of, ref: series, name: seriesName, parent: null, image: null } }] : []),
    { category: { ...of, ref: `pokemontcg:set:${id}`, name, parent: series, image, printedTotal, codes: codesOf(row, id) } },
  ]
}

function codesOf(set: Json, id: string): string[] {
  return [...new Set([id, text(set.ptcgoCode)].filter((code) => code !== undefined))]
}

function cardEntries(row: Json, market: Market, { read, stored }: SetsRead): Entry[] | null {
  if (!('supertype' in row) || !('number' in row)) return null
  const id = identifier(row.id)
  const name = text(row.name)
  const number = text(row.number)
  if (id === undefined) return [{ reject: reason('lacks', { thing: 'card', field: 'id' }) }]
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'name' }) }]
  if (number === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'number' }) }]
  const set = /^(.+)-[^-]*$/.exec(id)?.[1]
  if (set === undefined) return [{ reject: reason('no_set', { id }) }]
  const category = `pokemontcg:set:${set}`
  const code = collectorNumber(number, (read.get(set) ?? stored.get(category))?.printedTotal ?? null, GAME)
  const image = isObject(row.images) ? (address(row.images.large) ?? address(row.images.small)) : undefined
  const details = detailsOf(row)
  return [
    {
      key: { source: 'pokemontcg', id, finish: '' },
      item: {
        market,
        ref: `pokemontcg:${id}`,
        name,
        code,
        genre: 'single',
        game: 'pokemon',
        category,
        images: image === undefined ? [] : [{ url: image, order: 1 }],
        attributes: attributeList([
          ['Rarity', details.rarity],
          ['Set Number', code],
          ['Card Type', text(row.supertype)],
          ['Illustrator', details.illustrator],
          ['Regulation Mark', regulationMarkTerm(row.regulationMark)],
        ]),
        groups: ['ungraded', 'graded'],
        details,
        foreignIds: [{ source: 'pokemontcg', id, ...(isHoloOnly(details.rarity, set) && { finish: 'holo' }) }],
      },
    },
  ]
}

const PLAIN_RARITIES = new Set(['Common', 'Uncommon', 'Rare', 'Promo'])

/** Whether cards of this rarity exist only as holo; from Scarlet & Violet on, that includes Rare. */
function isHoloOnly(rarity: string | undefined, set: string): boolean {
  return rarity !== undefined && (!PLAIN_RARITIES.has(rarity) || (rarity === 'Rare' && /^([rz]?sv|me)\d/.test(set)))
}

// `subtypes` mixes stages, suffixes and mechanics. The first of these words that a card has is its stage: with both MEGA and Basic, it is a Mega.
const STAGES = ['VMAX', 'VSTAR', 'V-UNION', 'MEGA', 'BREAK', 'Level-Up', 'Restored', 'Stage 2', 'Stage 1', 'Baby', 'Basic']
const SUFFIXES = ['ex', 'EX', 'GX', 'V', 'SP', 'Prime', 'LEGEND', 'Prism Star', 'Star']
const SUFFIX_TERMS: ReadonlyMap<string, string> = new Map(Object.entries({ LEGEND: 'Legend' }))

function detailsOf(row: Json): ItemRecord['details'] {
  const subtypes = texts(row.subtypes) ?? []
  const isPokemon = text(row.supertype) === 'Pokémon'
  return {
    rarity: rarityTerm(row.rarity, GAME),
    illustrator: text(row.artist),
    hp: wholeNumber(row.hp),
    types: texts(row.types),
    dexIds: wholeNumbers(row.nationalPokedexNumbers),
    stage: isPokemon ? STAGES.find((stage) => subtypes.includes(stage)) : undefined,
    evolveFrom: text(row.evolvesFrom),
    suffix: isPokemon ? suffixOf(subtypes, row.level) : undefined,
    level: wholeNumber(row.level),
  }
}

function suffixOf(subtypes: string[], level: unknown): string | undefined {
  if (level === 'X') return 'LV.X'
  const suffix = SUFFIXES.find((s) => subtypes.includes(s))
  if (suffix === 'GX' && subtypes.includes('TAG TEAM')) return 'TAG TEAM-GX'
  return suffix && (SUFFIX_TERMS.get(suffix) ?? suffix)
}
