// The real prices of single cards with all figures of their feeds, by card and finish, for measurements in memory.
import { createReadStream, existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { csvRows, gunzip, ndjsonRows } from '#core/files/feed.ts'
import { parseSourceAmount } from '#core/money.ts'
import type { Figures } from '#prices/evidence/evidence-types.ts'

const FOLDER = new URL('../../../shared/data/', import.meta.url)
export const FILES = {
  first: 'prices/pokemon-singles-brl-2026-07-23.ndjson.gz',
  second: 'prices/pokemon-singles-brl-2026-08-05.ndjson.gz',
  changes: 'prices/pokemon-singles-brl-changes.csv.gz',
  eur: 'prices/pokemon-singles-eur-2026-03.csv.gz',
} as const

export const SOURCE_B = 2
export const SOURCE_C = 3

/** A row of a feed for an item and market, in minor units of the market's currency. */
export interface FeedPrice extends Figures {
  item: string
  market: number
  minor: number
}

/** A card in one finish. */
export interface Card {
  /** card id and finish, as keyed in the earlier file */
  item: string
  name: string
  setId: string
  number: string
  finish: string
}

/** All rows of one file: what a service would read from it on one day. */
export interface Feed {
  atMs: number
  prices: FeedPrice[]
  cards: Card[]
}

const RATES: Readonly<Record<keyof typeof DAYS, { eur: number; usd: number }>> = {
  first: { eur: 5.7775, usd: 5.07154143258427 },
  second: { eur: 5.9102, usd: 5.115284749870175 },
}
export const DAYS = { first: '2026-07-23', second: '2026-08-05' } as const

/** Printings of the later file that match the row's own finish. */
const PRINTINGS: Readonly<Record<string, readonly string[]>> = {
  'unlimited normal': ['normal', 'unlimited'],
  'unlimited holo': ['holofoil', 'unlimited-holofoil'],
  'unlimited reverse': ['reverse-holofoil'],
  'firstEdition normal': ['1st-edition'],
  'firstEdition holo': ['1st-edition-holofoil'],
}

interface BrlRow {
  cardId: string
  finish: string
  printVariation?: string
  name: string
  number: string
  setId: string
  sources: { source: string; valueBrl: number }[]
}

export function hasSingles(): boolean {
  return existsSync(new URL(FILES.first, FOLDER))
}

/** Lira per unit, in the proportions stated by the second file. */
export const LIRA = { EUR: 45.5, USD: (45.5 * 5.115284749870175) / 5.9102, TRY: 1 }

/** One of the two files with the values of all sources, read by the rules of the `singles-brl` format. */
export async function readSingles(which: 'first' | 'second'): Promise<Feed> {
  const rows: BrlRow[] = []
  for await (const lines of ndjsonRows(source(FILES[which])))
    for (const line of lines) if ('value' in line) rows.push(line.value as unknown as BrlRow)
  const reverseTrends = new Map<string, number | undefined>()
  for (const row of rows) if (row.finish === 'reverse') reverseTrends.set(row.cardId, brlOf(row, 'cardmarketTrend'))
  const rates = RATES[which]
  const feed: Feed = { atMs: Date.parse(`${DAYS[which]}T16:00:00Z`), prices: [], cards: [] }
  for (const row of rows) {
    const firstEdition = row.finish === 'firstEdition' || row.printVariation === 'firstEdition'
    const finish = firstEdition ? 'firstEdition' : row.finish
    const item = `${row.cardId}::${finish}`
    feed.cards.push({ item, name: row.name, setId: row.setId, number: row.number, finish })
    const eur = (name: string) => exchanged(brlOf(row, name), rates.eur)
    const trend = eur('cardmarketTrend')
    // As in the format: one Cardmarket product includes both editions, and the reverse holo's trend is copied to the holo card.
    const isCopy = firstEdition || (row.finish === 'holo' && brlOf(row, 'cardmarketTrend') === reverseTrends.get(row.cardId))
    if (trend && !isCopy) {
      const [avg1, avg7, avg30, low] = [eur('cardmarketAvg1'), eur('cardmarketAvg7'), eur('cardmarketAvg30'), eur('cardmarketLow')]
      feed.prices.push({ item, market: SOURCE_B, minor: trend, avg1, avg7, avg30, low, mid: null, high: null, samples: null })
    }
    for (const printing of which === 'first' ? [''] : (PRINTINGS[`${row.printVariation} ${row.finish}`] ?? [])) {
      if (which === 'first' && firstEdition) continue
      const usd = (name: string) => exchanged(brlOf(row, which === 'first' ? name : `${name}:${printing}`), rates.usd)
      const market = usd('tcgplayerMarket')
      if (!market) continue
      const [low, mid] = [usd('tcgplayerLow'), usd('tcgplayerMid')]
      feed.prices.push({ item, market: SOURCE_C, minor: market, avg1: null, avg7: null, avg30: null, low, mid, high: null, samples: null })
      break
    }
  }
  return feed
}

/** The changes on the days between the two files: `brl` are centavos, means of different kinds of values. */
export async function readChanges(): Promise<{ item: string; day: string; brl: number; before: number | null }[]> {
  const changes: { item: string; day: string; brl: number; before: number | null }[] = []
  for await (const lines of csvRows(source(FILES.changes), ['key', 'date', 'oldPriceBrl', 'newPriceBrl'])) {
    for (const line of lines) {
      if (!('value' in line)) continue
      const { key, date, oldPriceBrl, newPriceBrl } = line.value as Record<string, string>
      changes.push({ item: key!, day: date!, brl: parseSourceAmount(newPriceBrl!)!, before: oldPriceBrl ? parseSourceAmount(oldPriceBrl) : null })
    }
  }
  return changes
}

export interface EurRow {
  name: string
  set: string
  number: string
  minor: number
  atMs: number
}

/** The EUR file, whose amounts have three forms: `0.58€`, `57,99 €`, `1,671.68€`. */
export async function readEur(): Promise<EurRow[]> {
  const found: EurRow[] = []
  for await (const lines of csvRows(source(FILES.eur), ['name', 'set', 'number', 'eur_price', 'last_updated'])) {
    for (const line of lines) {
      if (!('value' in line)) continue
      const { name, set, number, eur_price: price, last_updated: at } = line.value as Record<string, string>
      const amount = price!
        .replace(/[\s€]/g, '')
        .replace(/,(?=\d\d$)/, '.')
        .replaceAll(/,(?=\d{3})/g, '')
      const minor = amount === '' ? null : parseSourceAmount(amount)
      if (minor && set && number) found.push({ name: name!, set, number, minor, atMs: Date.parse(`${at}Z`) })
    }
  }
  return found
}

function source(file: string) {
  return { bytes: gunzip(createReadStream(fileURLToPath(new URL(file, FOLDER)))), fileName: null }
}

function brlOf(row: BrlRow, name: string): number | undefined {
  return row.sources.find((entry) => entry.source === name)?.valueBrl
}

function exchanged(brl: number | undefined, rate: number): number | null {
  return brl === undefined || brl <= 0 ? null : Math.max(1, Math.round((brl * 100) / rate))
}
