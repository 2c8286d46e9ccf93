// A node's memory without its listeners, loaded from the start file or from the database, and all of its responses.
import { LISTING_SORTS } from '#market/snapshot/queries.ts'
import { ListingSnapshot } from '#market/snapshot/listings.ts'
import { SORT_DIRECTIONS, SORT_FIELDS } from '#catalogue/index/sort-keys.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { MARKETS } from '#core/markets.ts'
import { ChangeFeed } from '#db/changes/change-feed.ts'
import type { Db } from '#db/schema.ts'
import { readConfig } from '#config.ts'
import { StartFile } from '#start-file.ts'

export interface MemoryOptions {
  db: Db
  dataDir: string
  now?: () => Date
  said?: (line: string) => void
}

/** The memory as a node composes it; nothing is loaded yet. */
export function memoryOf({ db, dataDir, now = () => new Date(), said = () => {} }: MemoryOptions) {
  const say = (_details: object, message: string) => said(message)
  const log = { error: say, warn: say, info: () => {}, debug: () => {} }
  const feed = new ChangeFeed(db, log)
  const catalogue = new Catalogue(db, { ...readConfig({}), readyBytesMb: 64, now })
  const listings = new ListingSnapshot({ db, catalogue, now, timeZone: 'Europe/Istanbul', readyBytesMb: 64 })
  const file = new StartFile({ dataDir, db, log, feed, catalogue, listings, settings: () => ({}) })
  feed.add(catalogue)
  feed.add(listings)
  const load = async () => {
    await feed.open()
    await catalogue.load()
    await listings.load()
    await feed.pull()
  }
  /** Loads it like a node that starts. */
  const start = async () => {
    const fromFile = await file.read()
    if (fromFile) await feed.pull()
    else await load()
    return fromFile
  }
  const write = () => file.write({ unlessWithinMs: 0, maxLockedMs: Infinity })
  return { feed, catalogue, listings, load, start, write }
}

type Memory = Pick<ReturnType<typeof memoryOf>, 'catalogue' | 'listings'>

const SEARCHES = [
  'alakazam reverse',
  'alakazam 1st edition',
  'alakazam',
  'drake',
  'charizard',
  'ember drake',
  'base',
  'hidden owl 12',
  'luffy',
  'chrizard',
  '4/102',
  'near mint',
  'en',
  'çelik',
]
const ALL = { item: true, pc: true, average: true, lastSales: true, details: true, explain: false }
const PAGE_SIZE = 100

/** Pages of every sort, filter and search, as sent. */
export function answersOf({ catalogue, listings }: Memory): string[] {
  const said: string[] = []
  const items = ({ rows, total }: { rows: Int32Array; total: number }, market: number | null = null) =>
    said.push(catalogue.pageBytes(rows, 'stats', market, `${total} [`, ']').toString())
  for (const field of SORT_FIELDS) {
    for (const direction of SORT_DIRECTIONS) {
      for (const market of [undefined, ...MARKETS]) {
        items(catalogue.queries.page({ market }, field, direction, 0, PAGE_SIZE), market === undefined ? null : MARKETS.indexOf(market))
      }
      items(catalogue.queries.page({ categoryId: 21, genre: 'single' }, field, direction, 3, PAGE_SIZE))
    }
  }
  for (const search of SEARCHES) {
    items(catalogue.queries.search(search, {}, 0, PAGE_SIZE))
    items(catalogue.queries.page({ search, game: 'pokemon' }, 'name', 'desc', 0, PAGE_SIZE))
  }
  said.push(JSON.stringify(catalogue.categories.ids().map((id) => [catalogue.categories.get(id), catalogue.items.countIn([id])])))
  for (const sort of LISTING_SORTS) {
    for (const filter of [{}, { games: ['pokemon'] }, { minKurus: 500_000 }, { minPc: 1 }, { sellerName: 'plus' }, { category: 'base-set' }]) {
      for (const search of [undefined, ...SEARCHES]) {
        const { rows, total } = listings.page(filter, search, sort, 0, PAGE_SIZE)
        said.push(listings.pageBytes(rows, ALL, `${total} [`, ']').toString())
      }
    }
  }
  return said
}

/** The first difference between two lists of responses, in short; null if there is none. */
export function difference(some: readonly string[], others: readonly string[]): string | null {
  const at = some.findIndex((text, i) => text !== others[i])
  if (at < 0) return null
  const from = [...some[at]!].findIndex((character, i) => character !== [...others[at]!][i])
  const part = (text: string) => [...text].slice(Math.max(0, from - 120), from + 120).join('')
  return `answer ${at}:\n${part(some[at]!)}\n${part(others[at]!)}`
}
