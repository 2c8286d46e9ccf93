// Reads the TCGdex catalogue: series, sets and cards, international and Asian, and cards in the form of its English API.
import type { Market } from '#core/markets.ts'
import { ndjsonRows } from '#core/files/feed.ts'
import { gameOf } from '#games/games.ts'
import { reason } from '#core/problems.ts'
import type { Term } from '#core/problem-texts/terms.ts'
import { fold } from '#index/fold.ts'
import type { CatalogueFormat, ForeignId, ItemRecord, StoredCategory } from '../records/catalogue-records.ts'
import { cardTypeTerm, collectorNumber, printedTotalOf, rarityTerm, regulationMarkTerm, stageTerm } from './card-terms.ts'
import {
  address,
  attributeList,
  catalogueRows,
  type Entry,
  identifier,
  isObject,
  type Json,
  RANK,
  text,
  texts,
  wholeNumber,
  wholeNumbers,
} from './reading.ts'
import { type Finish, finishesOf } from './tcgdex-finishes.ts'

// Refs: `tcgdex:serie:<id>`, `tcgdex:set:<id>`, `tcgdex:<card id>`, `tcgdex:<card id>:<finish>`. Asian releases reuse ids of
// international ones for other things, so their refs start with `tcgdex-asia:`.
type Source = 'tcgdex' | 'tcgdex-asia'

const GAME = gameOf('pokemon')

const WESTERN = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl', 'pl']
const ASIAN = ['ja', 'zh-tw', 'zh-cn', 'ko', 'th', 'id']

/** Maximum printings of a card: each may become an item with all texts of its card, and each is compared with the others. */
const MAX_PRINTINGS = 200

/** Pokémon TCG Pocket: its cards are digital only. */
const DIGITAL_SERIE = 'tcgdex:serie:tcgp'

/** The documented host of the source's pictures (https://tcgdex.dev/assets). */
const ASSETS = 'https://assets.tcgdex.net'

/** The facts about a set that its cards need. */
interface SetFacts {
  printedTotal: number | null
  /** ref of its series */
  parent: string | null
}

export const tcgdex: CatalogueFormat = {
  name: 'tcgdex',
  title: 'TCGdex series, sets and cards (NDJSON), international and Asian, or cards of its English API',
  defaultMarket: 'source_c',
  marks: [
    { type: 'json', names: ['id', 'localId', 'name'] },
    { type: 'json', names: ['id', 'name', 'cardCount'] },
    // Series consist only of names by language.
    ...[...WESTERN, ...ASIAN].filter((language) => language !== 'id').map((language) => ({ type: 'json' as const, names: ['id', 'name', language] })),
  ],
  rank: (head) => RANK[kindOfHead(head)],
  open(market, storedCategories) {
    const sets: SetsRead = { read: new Map(), stored: storedCategories }
    return (source) => catalogueRows(ndjsonRows(source), 'tcgdex', rowReader(market, sets))
  },
}

/** The sets that this import has read, by ref, and those of earlier imports. */
interface SetsRead {
  read: Map<string, SetFacts>
  stored: ReadonlyMap<string, StoredCategory>
}

function setOf(ref: string, { read, stored }: SetsRead): SetFacts | undefined {
  return read.get(ref) ?? stored.get(ref)
}

function rowReader(market: Market, sets: SetsRead): (row: Json) => Entry[] | null {
  let previous: Source = 'tcgdex'
  return (row) => {
    const kind = kindOf(row)
    if (kind === null) return null
    const id = identifier(row.id)
    if (id === undefined || id === 'null') return [{ reject: reason('lacks', { thing: THING[kind], field: 'id' }) }]
    // A set in the Asian file may have only an English name; it then belongs to the same source as the previous row.
    const onlyEnglish = isObject(row.name) && Object.keys(row.name).join() === 'en'
    const source = kind === 'sets' && onlyEnglish ? previous : sourceOf(row.name)
    previous = source
    const name = localized(row.name, source)
    if (name === undefined) return [{ reject: reason('lacks', { thing: THING[kind], id, field: 'name' }) }]
    const reading = { market, source, id, name, sets }
    if (kind === 'series') {
      return [{ category: { market, ref: `${source}:serie:${id}`, name, game: 'pokemon', parent: null, image: null } }]
    }
    if (kind === 'sets') return [setEntry(row, reading)]
    const setId = identifier(isObject(row.set) ? row.set.id : row.set)
    if (setId === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'set' }) }]
    const category = isObject(row.set) ? embeddedSet(row.set, { ...reading, id: setId }) : []
    return [...category, ...cardEntries(row, { ...reading, setId })]
  }
}

type Kind = keyof typeof RANK
const THING: Readonly<Record<Kind, Term>> = { series: 'series', sets: 'set', cards: 'card' }
const SERIES_FIELDS = new Set(['id', 'name', 'energies', 'logo'])

/** The kind of a row, judged by its fields. */
function kindOf(row: Json): Kind | null {
  if (!('id' in row) || !('name' in row)) return null
  if ('set' in row) return 'localId' in row ? 'cards' : null
  if ('serie' in row) return 'sets'
  return Object.keys(row).every((field) => SERIES_FIELDS.has(field)) ? 'series' : null
}

/** The kind of a file, judged by its first line; the line of a card may be longer than the head of the file. */
function kindOfHead(head: string): Kind {
  try {
    const row: unknown = JSON.parse(head.trimStart().split('\n', 1)[0]!)
    return (isObject(row) && kindOf(row)) || 'cards'
  } catch {
    return 'cards'
  }
}

function sourceOf(name: unknown): Source {
  const languages = isObject(name) ? Object.keys(name) : []
  return languages.length > 0 && languages.every((language) => ASIAN.includes(language)) ? 'tcgdex-asia' : 'tcgdex'
}

/** The text in the first available language; the API form has plain text. */
function localized(value: unknown, source: Source): string | undefined {
  if (!isObject(value)) return text(value)
  const languages = source === 'tcgdex-asia' ? ASIAN : WESTERN
  return [...languages, ...Object.keys(value)].map((language) => text(value[language])).find((t) => t !== undefined)
}

interface Reading {
  market: Market
  source: Source
  id: string
  name: string
  sets: SetsRead
}

function setEntry(row: Json, { market, source, id, name, sets }: Reading): Entry {
  const ref = `${source}:set:${id}`
  const serie = text(row.serie)
  const parent = serie === undefined || serie === 'null' ? null : `${source}:serie:${serie}`
  const printedTotal = printedTotalIn(row, name)
  if (!sets.read.has(ref)) sets.read.set(ref, { printedTotal, parent })
  return {
    category: { market, ref, name, game: 'pokemon', parent, image: logoOf(row), printedTotal, codes: codesOf(row, id), foreignIds: shopIdsOf(row) },
  }
}

/** The set's id and its abbreviations; a set and its gallery may share the online game's abbreviation. */
function codesOf(set: Json, id: string): string[] {
  const official = isObject(set.abbreviations) ? text(set.abbreviations.official) : undefined
  return [...new Set([id, official, text(set.tcgOnline)].filter((code) => code !== undefined))]
}

function shopIdsOf({ thirdParty }: Json): ForeignId[] {
  if (!isObject(thirdParty)) return []
  return ['cardmarket', 'tcgplayer'].flatMap((source) => {
    const id = wholeNumber(thirdParty[source])
    return id === undefined ? [] : [{ source, id: String(id) }]
  })
}

/** The set embedded in a card of the API form, returned once per import. It has fewer facts than a set row, and no series. */
function embeddedSet(set: Json, { market, source, id, sets }: Omit<Reading, 'name'>): Entry[] {
  const ref = `${source}:set:${id}`
  const name = text(set.name)
  if (sets.read.has(ref) || name === undefined) return []
  const printedTotal = printedTotalIn(set, name)
  sets.read.set(ref, { printedTotal, parent: sets.stored.get(ref)?.parent ?? null })
  return [{ category: { market, ref, name, game: 'pokemon', image: logoOf(set), printedTotal, fillsOnly: true } }]
}

function printedTotalIn(set: Json, name: string): number | null {
  return printedTotalOf(isObject(set.cardCount) ? wholeNumber(set.cardCount.official) : undefined, name, GAME)
}

function logoOf(set: Json): string | null {
  const logo = address(set.logo)
  return logo === undefined ? null : `${logo}.webp`
}

function cardEntries(row: Json, reading: Reading & { setId: string }): Entry[] {
  const { market, source, id, name, setId, sets } = reading
  const number = printedNumber(row.localId)
  if (number === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'localId' }) }]
  if (Array.isArray(row.variants) && row.variants.length > MAX_PRINTINGS) {
    return [{ reject: reason('at_most', { part: 'card', id, units: 'printings', max: MAX_PRINTINGS }) }]
  }
  const set = setOf(`${source}:set:${setId}`, sets)
  const code = collectorNumber(number, set?.printedTotal ?? null, GAME)
  const image = address(row.image) ?? assetOf(row, reading, set?.parent ?? null)
  // Cards of the API form have flags in `variants` instead of a list of printings; these are ignored, because they also state `normal` for holos.
  const flat = !isObject(row.name)
  const details = detailsOf(row, source)
  return finishesOf(flat ? { ...row, variants: undefined } : row).map((finish, i) => ({
    key: { source: flat ? 'tcgdex-api' : source, id, finish: finish.slug ?? '' },
    item: {
      market,
      ref: i === 0 ? `${source}:${id}` : `${source}:${id}:${finish.slug}`,
      name,
      code,
      genre: 'single',
      game: 'pokemon',
      category: `${source}:set:${setId}`,
      images: image === undefined ? [] : [{ url: `${image}/high.webp`, order: 1 }],
      attributes: attributesOf(row, code, finish, set?.parent === DIGITAL_SERIE),
      groups: ['ungraded', 'graded'],
      details,
      foreignIds: [{ source, id, ...(finish.priceFinish && { finish: finish.priceFinish }) }, ...finish.foreignIds],
    },
  }))
}

/**
 * The address of a card's picture, which the database files omit; undefined if uncertain. Cards of the API form state it themselves,
 * and the source has few pictures in languages other than English.
 */
function assetOf({ name, localId }: Json, { source, setId }: { source: Source; setId: string }, serie: string | null): string | undefined {
  if (source !== 'tcgdex' || !isObject(name) || text(name.en) === undefined || serie === null) return undefined
  const path = [serie.replace(/^tcgdex:serie:/, ''), setId, text(localId)!]
  return path.every((part) => encodeURIComponent(part) === part) ? `${ASSETS}/en/${path.join('/')}` : undefined
}

/** `localId` as printed; it is percent-encoded if a file name could not contain a character. */
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
    rarity: rarityTerm(row.rarity, GAME),
    illustrator: text(row.illustrator),
    hp: wholeNumber(row.hp),
    types: texts(row.types),
    dexIds: wholeNumbers(row.dexId),
    stage: stageTerm(row.stage, GAME),
    evolveFrom: localized(row.evolveFrom, source),
    suffix: text(row.suffix),
    level: wholeNumber(row.level),
    names: otherNames(row.name, source),
  }
}

/** The names in other languages that differ from the card's name here. */
function otherNames(names: unknown, source: Source): string[] | undefined {
  if (!isObject(names)) return undefined
  const seen = new Set([fold(localized(names, source) ?? '')])
  const others = Object.values(names).flatMap((value) => {
    const name = text(value)
    if (name === undefined || seen.has(fold(name))) return []
    seen.add(fold(name))
    return [name]
  })
  return others.length > 0 ? others : undefined
}

function attributesOf(row: Json, code: string, finish: Finish, digital: boolean): ItemRecord['attributes'] {
  const names = isObject(row.name) ? row.name : {}
  const languages = Object.keys(names).filter((language) => text(names[language]) !== undefined)
  return attributeList([
    ['Rarity', rarityTerm(row.rarity, GAME)],
    ['Set Number', code],
    ['Finish', finish.label],
    ['Card Type', cardTypeTerm(row.category, GAME)],
    ['Illustrator', text(row.illustrator)],
    ['Regulation Mark', regulationMarkTerm(row.regulationMark)],
    ['Languages', languages.length > 0 ? languages.sort().join(', ') : undefined],
    ['Digital only', digital ? 'yes' : undefined],
  ])
}
