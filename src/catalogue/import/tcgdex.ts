// Reads the TCGdex catalogue: series, sets and cards, international and Asian, and cards in its English API's form.
import type { Market } from '#core/markets.ts'
import { ndjsonRows } from '#core/feed.ts'
import type { CatalogueFormat, CategoryRecord, ItemRecord } from '../records.ts'
import {
  cardTypeTerm, collectorNumber, printedTotalOf, rarityTerm, regulationMarkTerm, stageTerm,
} from './card-terms.ts'
import {
  address, attributeList, catalogueRows, type Entry, isObject, type Json, text, texts, wholeNumber, wholeNumbers,
} from './reading.ts'
import { type Finish, finishesOf } from './tcgdex-finishes.ts'

// Refs: `tcgdex:serie:<id>`, `tcgdex:set:<id>`, `tcgdex:<card id>`, `tcgdex:<card id>:<finish>`. Asian releases reuse
// ids of the international ones for other things and are therefore named `tcgdex-asia:...` throughout.
type Source = 'tcgdex' | 'tcgdex-asia'

const WESTERN = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl', 'pl']
const ASIAN = ['ja', 'zh-tw', 'zh-cn', 'ko', 'th', 'id']

const DIGITAL_SERIE = 'tcgp'

/** What cards need of their set. */
interface SetFacts {
  printedTotal: number | null
  digital: boolean
}

export const tcgdex: CatalogueFormat = {
  name: 'tcgdex',
  title: 'TCGdex series, sets and cards (NDJSON), international and Asian, or cards of its English API',
  defaultMarket: 'source_c',
  open(market) {
    const sets = new Map<string, SetFacts>()
    return (source) => catalogueRows(ndjsonRows(source), 'a series, set or card of TCGdex', rowReader(market, sets))
  },
}

function rowReader(market: Market, sets: Map<string, SetFacts>): (row: Json) => Entry[] | null {
  let previous: Source = 'tcgdex'
  return (row) => {
    const kind = kindOf(row)
    if (kind === null) return null
    const id = text(row.id)
    if (id === undefined || id === 'null') return [{ reject: `the ${kind} has no id` }]
    // A set of the Asian file can be named in English alone; the row before tells where it belongs.
    const onlyEnglish = isObject(row.name) && Object.keys(row.name).join() === 'en'
    const source = kind === 'set' && onlyEnglish ? previous : sourceOf(row.name)
    previous = source
    const name = localized(row.name, source)
    if (name === undefined) return [{ reject: `the ${kind} ${id} has no name` }]
    const reading = { market, source, id, name, sets }
    if (kind === 'series') return [{ category: categoryOf(market, `${source}:serie:${id}`, name, null, null) }]
    if (kind === 'set') return [setEntry(row, reading)]
    const setId = text(isObject(row.set) ? row.set.id : row.set)
    if (setId === undefined) return [{ reject: `the card ${id} has no set` }]
    const category = isObject(row.set) ? embeddedSet(row.set, { ...reading, id: setId }) : []
    return [...category, ...cardEntries(row, { ...reading, setId })]
  }
}

const SERIES_FIELDS = new Set(['id', 'name', 'energies', 'logo'])

function kindOf(row: Json): 'series' | 'set' | 'card' | null {
  if (!('id' in row) || !('name' in row)) return null
  if ('set' in row) return 'localId' in row ? 'card' : null
  if ('serie' in row) return 'set'
  return Object.keys(row).every((field) => SERIES_FIELDS.has(field)) ? 'series' : null
}

function sourceOf(name: unknown): Source {
  const languages = isObject(name) ? Object.keys(name) : []
  return languages.length > 0 && languages.every((language) => ASIAN.includes(language)) ? 'tcgdex-asia' : 'tcgdex'
}

/** Text in the first of the languages it exists in; the API form has plain text. */
function localized(value: unknown, source: Source): string | undefined {
  if (!isObject(value)) return text(value)
  const languages = source === 'tcgdex-asia' ? ASIAN : WESTERN
  return [...languages, ...Object.keys(value)].map((language) => text(value[language])).find((t) => t !== undefined)
}

function categoryOf(
  market: Market, ref: string, name: string, parent: string | null | undefined, image: string | null,
): CategoryRecord {
  return { market, ref, name, game: 'pokemon', ...(parent !== undefined && { parent }), image }
}

interface Reading {
  market: Market
  source: Source
  id: string
  name: string
  sets: Map<string, SetFacts>
}

function setEntry(row: Json, { market, source, id, name, sets }: Reading): Entry {
  const serie = text(row.serie)
  const ref = `${source}:set:${id}`
  if (!sets.has(ref)) sets.set(ref, setFacts(row, name, serie === DIGITAL_SERIE))
  const parent = serie === undefined || serie === 'null' ? null : `${source}:serie:${serie}`
  return { category: categoryOf(market, ref, name, parent, logoOf(row)) }
}

/** The set inside a card of the API form, unless this import has it already; its series is not told there. */
function embeddedSet(set: Json, { market, source, id, sets }: Omit<Reading, 'name'>): Entry[] {
  const ref = `${source}:set:${id}`
  const name = text(set.name)
  if (sets.has(ref) || name === undefined) return []
  sets.set(ref, setFacts(set, name, false))
  return [{ category: categoryOf(market, ref, name, undefined, logoOf(set)) }]
}

function setFacts(set: Json, name: string, digital: boolean): SetFacts {
  const official = isObject(set.cardCount) ? wholeNumber(set.cardCount.official) : undefined
  return { printedTotal: printedTotalOf(official, name), digital }
}

function logoOf(set: Json): string | null {
  const logo = address(set.logo)
  return logo === undefined ? null : `${logo}.webp`
}

function cardEntries(row: Json, reading: Reading & { setId: string }): Entry[] {
  const { market, source, id, name, setId, sets } = reading
  const number = printedNumber(row.localId)
  if (number === undefined) return [{ reject: `the card ${id} has no localId` }]
  const set = sets.get(`${source}:set:${setId}`)
  const code = collectorNumber(number, set?.printedTotal ?? null)
  const image = address(row.image)
  return finishesOf(row).map((finish, i) => ({
    item: {
      market,
      ref: i === 0 ? `${source}:${id}` : `${source}:${id}:${finish.slug}`,
      name,
      code,
      genre: 'single',
      game: 'pokemon',
      category: `${source}:set:${setId}`,
      images: image === undefined ? [] : [{ url: `${image}/high.webp`, order: 1 }],
      attributes: attributesOf(row, code, finish, set?.digital ?? false),
      groups: ['ungraded', 'graded'],
      details: detailsOf(row, source),
      foreignIds: [{ source, id, ...(finish.priceFinish && { finish: finish.priceFinish }) }, ...finish.foreignIds],
    },
  }))
}

/** `localId` as printed: it is percent-encoded where a file name could not hold the character. */
function printedNumber(localId: unknown): string | undefined {
  const number = text(localId)
  try {
    return number && decodeURIComponent(number)
  } catch {
    return number
  }
}

function detailsOf(row: Json, source: Source): ItemRecord['details'] {
  return {
    rarity: rarityTerm(row.rarity),
    illustrator: text(row.illustrator),
    hp: wholeNumber(row.hp),
    types: texts(row.types),
    dexIds: wholeNumbers(row.dexId),
    stage: stageTerm(row.stage),
    evolveFrom: localized(row.evolveFrom, source),
    suffix: text(row.suffix),
    level: wholeNumber(row.level),
  }
}

function attributesOf(row: Json, code: string, finish: Finish, digital: boolean): ItemRecord['attributes'] {
  const names = isObject(row.name) ? row.name : {}
  const languages = Object.keys(names).filter((language) => text(names[language]) !== undefined)
  return attributeList([
    ['Rarity', rarityTerm(row.rarity)],
    ['Set Number', code],
    ['Finish', finish.label],
    ['Card Type', cardTypeTerm(row.category)],
    ['Illustrator', text(row.illustrator)],
    ['Regulation Mark', regulationMarkTerm(row.regulationMark)],
    ['Languages', languages.length > 0 ? languages.sort().join(', ') : undefined],
    ['Digital only', digital ? 'yes' : undefined],
  ])
}
