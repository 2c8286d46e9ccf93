// Reads the Pokémon TCG API's data: sets (one JSON array) and cards (NDJSON), English.
import { type FeedLine, type FeedSource, jsonDocument, ndjsonRows } from '#core/feed.ts'
import type { Market } from '#core/markets.ts'
import type { CatalogueFormat, ItemRecord } from '../records.ts'
import { collectorNumber, printedTotalOf, rarityTerm, regulationMarkTerm } from './card-terms.ts'
import {
  address, attributeList, catalogueRows, documentLines, type Entry, isObject, type Json, peek, slugOf, text, texts,
  wholeNumber, wholeNumbers,
} from './reading.ts'

// Refs: `pokemontcg:series:<slug of its name>`, `pokemontcg:set:<id>`, `pokemontcg:<card id>`.
export const pokemontcg: CatalogueFormat = {
  name: 'pokemontcg',
  title: 'Pokémon TCG API sets and cards (JSON array or NDJSON)',
  defaultMarket: 'source_a',
  open(market) {
    const sets = new Map<string, SetFacts>()
    return async function* (file) {
      const { start, source } = await peek(file)
      yield* catalogueRows(
        start.startsWith('[') ? await arrayLines(source) : ndjsonRows(source),
        'a set or card of the Pokémon TCG API',
        (row) => setEntries(row, market, sets) ?? cardEntries(row, market, sets),
      )
    }
  },
}

/** What this import has read of a set. */
interface SetFacts {
  series: string | null
  printedTotal: number | null
}

async function arrayLines(source: FeedSource): Promise<Iterable<FeedLine<Json>[]>> {
  const rows = await jsonDocument(source)
  return documentLines(Array.isArray(rows) ? rows : [])
}

/** A set, after its series when that is new; null when the row is no set. */
function setEntries(row: Json, market: Market, sets: Map<string, SetFacts>): Entry[] | null {
  if (!('series' in row) || !('printedTotal' in row)) return null
  const id = text(row.id)
  const name = text(row.name)
  if (id === undefined) return [{ reject: 'the set has no id' }]
  if (name === undefined) return [{ reject: `the set ${id} has no name` }]
  const seriesName = text(row.series)
  const series = seriesName === undefined ? null : `pokemontcg:series:${slugOf(seriesName)}`
  const isNew = series !== null && ![...sets.values()].some((set) => set.series === series)
  sets.set(id, { series, printedTotal: printedTotalOf(wholeNumber(row.printedTotal), name) })
  const image = (isObject(row.images) ? address(row.images.logo) : undefined) ?? null
  const of = { market, game: 'pokemon' }
  return [
    ...(isNew ? [{ category: { ...of, ref: series, name: seriesName!, parent: null, image: null } }] : []),
    { category: { ...of, ref: `pokemontcg:set:${id}`, name, parent: series, image } },
  ]
}

function cardEntries(row: Json, market: Market, sets: ReadonlyMap<string, SetFacts>): Entry[] | null {
  if (!('supertype' in row) || !('number' in row)) return null
  const id = text(row.id)
  const name = text(row.name)
  const number = text(row.number)
  if (id === undefined) return [{ reject: 'the card has no id' }]
  if (name === undefined) return [{ reject: `the card ${id} has no name` }]
  if (number === undefined) return [{ reject: `the card ${id} has no number` }]
  const set = /^(.+)-[^-]*$/.exec(id)?.[1]
  if (set === undefined) return [{ reject: `the id ${id} names no set` }]
  const code = collectorNumber(number, sets.get(set)?.printedTotal ?? null)
  const image = isObject(row.images) ? (address(row.images.large) ?? address(row.images.small)) : undefined
  const details = detailsOf(row)
  return [{
    item: {
      market,
      ref: `pokemontcg:${id}`,
      name,
      code,
      genre: 'single',
      game: 'pokemon',
      category: `pokemontcg:set:${set}`,
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
      foreignIds: [{ source: 'pokemontcg', id }],
    },
  }]
}

// `subtypes` mixes stages, suffixes and mechanics. The first of these that a card has is its stage: a Mega is no Basic.
const STAGES = [
  'VMAX', 'VSTAR', 'V-UNION', 'MEGA', 'BREAK', 'Level-Up', 'Restored', 'Stage 2', 'Stage 1', 'Baby', 'Basic',
]
const SUFFIXES = ['ex', 'EX', 'GX', 'V', 'SP', 'Prime', 'LEGEND', 'Prism Star', 'Star']
const SUFFIX_TERMS: Readonly<Record<string, string>> = { LEGEND: 'Legend' }

function detailsOf(row: Json): ItemRecord['details'] {
  const subtypes = texts(row.subtypes) ?? []
  const isPokemon = text(row.supertype) === 'Pokémon'
  return {
    rarity: rarityTerm(row.rarity),
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
  return suffix && (SUFFIX_TERMS[suffix] ?? suffix)
}
