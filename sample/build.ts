// Writes the sample catalogue (`pokemon.ndjson`, `onepiece.ndjson`) from the tables in `facts/`: node sample/build.ts
import { parse } from 'csv-parse/sync'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { SAMPLE_PICTURES } from '#catalogue/records/image-addresses.ts'
import { categoryLine, itemLine } from '#catalogue/sources/mintmark-ndjson.ts'
import type { CategoryRecord, ItemDetails, ItemRecord } from '#catalogue/records/catalogue-records.ts'
import { slugWords } from '#catalogue/records/slugs.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { minorToText } from '#core/money.ts'
import type { PricePoint } from '#prices/records/feed-rows.ts'

const GAMES = ['pokemon', 'onepiece'] as const

/** Units of each market's currency per US dollar, as of the invented prices. */
const PER_DOLLAR: Record<Market, number> = { service: 42, source_a: 1, source_b: 0.9, source_c: 1 }

/** Price of a finish relative to the plain card; the `usd` column is the price of the finish listed first. */
const FINISH_FACTOR: Record<string, number> = {
  Normal: 1,
  Holo: 1,
  'Reverse Holo': 1.6,
  '1st Edition': 4,
  '1st Edition Holo': 8,
  Parallel: 7,
  'Manga Parallel': 60,
}

const FIRST_DAY_MS = Date.parse('2026-10-20T00:00:00Z')
const SPREAD_MINUTES = 27 * 24 * 60

type CardRow = Record<'set' | 'code' | 'name' | 'rarity' | 'finishes' | 'usd', string>
type PokemonRow = CardRow & Record<'illustrator' | 'hp' | 'types' | 'dex' | 'stage' | 'evolve_from' | 'suffix' | 'level', string>
type OnePieceRow = CardRow & Record<'color' | 'kind' | 'cost' | 'power', string>

/** The rows of each table in `facts/`. */
interface Tables {
  categories: Record<'game' | 'market' | 'ref' | 'parent' | 'name', string>
  'pokemon-singles': PokemonRow
  'onepiece-singles': OnePieceRow
  sealed: Record<'game' | 'market' | 'genre' | 'name' | 'contents' | 'usd', string>
}

/** An item of the sample with the dollars that its prices are spread around. */
interface PricedItem {
  item: ItemRecord
  usd: number
}

/** The sample as text, by file name. */
export function buildSample(): Record<string, string> {
  const categories = readCategories()
  const items = [
    ...facts('pokemon-singles').flatMap((row) => singles(row, categories, pokemonCard(row))),
    ...facts('onepiece-singles').flatMap((row) => singles(row, categories, onePieceCard(row))),
    ...facts('sealed').map(sealedProduct),
  ]
  const files = GAMES.map((game) => {
    const lines = [
      ...categories.filter((category) => category.game === game).map(categoryLine),
      ...items.filter(({ item }) => item.game === game).map(({ item, usd }) => itemLine({ ...item, prices: samplePrices(item, usd) })),
    ]
    return [`${game}.ndjson`, lines.map((line) => `${line}\n`).join('')]
  })
  return Object.fromEntries(files)
}

function facts<Table extends keyof Tables>(table: Table): Tables[Table][] {
  return parse(readFileSync(new URL(`facts/${table}.csv`, import.meta.url)), { columns: true })
}

function readCategories(): CategoryRecord[] {
  const taken = new Set<string>()
  return facts('categories').map(({ game, market, ref, parent, name }) => {
    const rootSlug = slugWords(parent ? `${game} ${name}` : game)
    // The same root or era in a second market needs a slug of its own.
    const slug = taken.has(rootSlug) ? slugWords(`${rootSlug} ${market}`) : rootSlug
    taken.add(slug)
    return {
      market: market as Market,
      ref: `sample:${ref}`,
      name,
      slug,
      game,
      parent: parent ? `sample:${parent}` : null,
      image: null,
    }
  })
}

/** What differs between the card games: where a card's ref comes from, its details, and attributes beside the usual. */
interface CardFacts {
  key: string
  details: ItemDetails
  attributes: ItemRecord['attributes']
}

function pokemonCard(row: PokemonRow): CardFacts {
  return {
    key: `${row.set}-${row.code.split('/')[0]}`,
    details: {
      rarity: row.rarity || undefined,
      illustrator: row.illustrator || undefined,
      hp: Number(row.hp) || undefined,
      types: row.types ? [row.types] : undefined,
      dexIds: row.dex ? [Number(row.dex)] : undefined,
      stage: row.stage || undefined,
      evolveFrom: row.evolve_from || undefined,
      suffix: row.suffix || undefined,
      level: Number(row.level) || undefined,
    },
    attributes: [],
  }
}

function onePieceCard(row: OnePieceRow): CardFacts {
  return {
    key: row.code,
    details: { rarity: row.rarity },
    attributes: [
      { name: 'Color', value: row.color },
      { name: 'Card Type', value: row.kind },
      { name: row.kind === 'Leader' ? 'Life' : 'Cost', value: row.cost },
      { name: 'Power', value: row.power },
    ],
  }
}

/** One item per finish; the finish listed first keeps the plain ref and slug. */
function singles(row: CardRow, categories: CategoryRecord[], card: CardFacts): PricedItem[] {
  const set = categories.find((category) => category.ref === `sample:${row.set}`)
  if (!set) throw new Error(`${row.code} ${row.name}: no category "${row.set}"`)
  const finishes = row.finishes.split('|')
  const primary = finishes[0]!
  return finishes.map((finish) => {
    const further = finish === primary ? '' : finish
    const slug = slugWords(`${row.name} ${row.code} ${set.name} ${further}`)
    const item: ItemRecord = {
      market: set.market,
      ref: `sample:${card.key}${further && `:${slugWords(further)}`}`,
      name: row.name,
      code: row.code,
      slug,
      genre: 'single',
      game: set.game,
      category: set.ref,
      images: pictureOf(slug),
      attributes: [
        { name: 'Rarity', value: row.rarity },
        { name: 'Set Number', value: row.code },
        { name: 'Finish', value: finish },
        ...card.attributes,
        { name: 'Price Data', value: 'Sample' },
      ].filter(({ value }) => value !== ''),
      groups: ['ungraded', 'graded'],
      details: card.details,
      foreignIds: [],
    }
    return { item, usd: (Number(row.usd) * FINISH_FACTOR[finish]!) / FINISH_FACTOR[primary]! }
  })
}

function sealedProduct(row: Tables['sealed']): PricedItem {
  const slug = slugWords(row.name)
  const item: ItemRecord = {
    market: row.market as Market,
    ref: `sample:${row.game}:${slug}`,
    name: row.name,
    code: null,
    slug,
    genre: row.genre as 'sealed' | 'bundle',
    game: row.game,
    category: `sample:${row.game}-sealed`,
    images: pictureOf(slug),
    attributes: [
      { name: 'Contents', value: row.contents },
      { name: 'Price Data', value: 'Sample' },
    ],
    groups: ['ungraded'],
    details: {},
    foreignIds: [],
  }
  return { item, usd: Number(row.usd) }
}

/** Drawn by build-pictures.ts. */
function pictureOf(slug: string): ItemRecord['images'] {
  return [{ url: `${SAMPLE_PICTURES}${slug}.svg`, order: 1 }]
}

/** Invented prices around `usd`: every condition in the item's own market, and the dearer the card the more grades. */
function samplePrices(item: ItemRecord, usd: number): PricePoint[] {
  const vary = (what: string, from: number, to: number) => from + (to - from) * fractionOf(`${item.ref} ${what}`)
  const psa10 = usd * vary('PSA 10', 2.2, 4.2) + 14
  const psa9 = usd * vary('PSA 9', 1.2, 1.6) + 9
  const dollars: Record<string, number> = {
    'Near Mint': usd,
    'Lightly Played': usd * vary('Lightly Played', 0.8, 0.86),
    'Moderately Played': usd * vary('Moderately Played', 0.6, 0.68),
    'Heavily Played': usd * vary('Heavily Played', 0.38, 0.46),
    'PSA 10': psa10,
    'PSA 9': psa9,
    'CGC 10': psa10 * vary('CGC 10', 0.74, 0.86),
    'CGC 9': psa9 * vary('CGC 9', 0.84, 0.94),
    'BGS 9.5': psa9 + (psa10 - psa9) * vary('BGS 9.5', 0.3, 0.45),
  }
  return MARKETS.flatMap((market) => {
    const rate = PER_DOLLAR[market] * vary(market, 0.95, 1.05)
    const minutes = Math.floor(vary(`${market} time`, 0, SPREAD_MINUTES))
    const updatedAt = new Date(FIRST_DAY_MS + minutes * 60_000).toISOString().replace('.000', '')
    return Object.entries(dollars)
      .filter(([label]) => isQuoted(label, item, market, usd))
      .map(([label, amount]) => ({ market, label, price: minorToText(Math.round(amount * rate * 100)), updatedAt }))
  })
}

function isQuoted(label: string, item: ItemRecord, market: Market, usd: number): boolean {
  if (label === 'Near Mint') return true
  if (item.genre !== 'single') return false
  const ownMarket = market === item.market
  const chance = fractionOf(`${item.ref} ${market} ${label} quoted`)
  if (label.endsWith('Played')) return ownMarket
  // source_a is the guide of graded prices, so it always knows the top grades of a card worth grading.
  if (label.endsWith(' 10')) return usd >= 4 && (ownMarket || market === 'source_a' || chance < 0.7)
  return ownMarket && usd >= 25 && chance < 0.75
}

/** A number in [0, 1) that depends on the key alone, so that a new item changes no other item's prices. */
function fractionOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE(0) / 2 ** 32
}

if (import.meta.main) {
  for (const [name, text] of Object.entries(buildSample())) writeFileSync(new URL(name, import.meta.url), text)
}
