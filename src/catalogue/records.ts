// What an import reads and an export writes: categories and items as self-contained records, named by `ref` instead of id.
import type { FeedSource } from '#core/feed.ts'
import type { FileMark } from '#core/file-marks.ts'
import type { Market } from '#core/markets.ts'
import { namedValues } from '#core/named-values.ts'
import type { Reason } from '#core/problems.ts'
import type { PricePoint } from '#prices/records.ts'

/** Names a source record: what one source says of one printing of a card (or of one product). */
export interface SourceKey {
  /** `tcgdex`, `pokemontcg`, `cardmarket`, `mintmark`, `operator`, ... */
  source: string
  /** the source's id of the card, the same for all its finishes */
  id: string
  /** canonical slug; '' where the source does not state a finish */
  finish: string
}

export const GENRES = namedValues('Genre', ['single', 'card', 'sealed', 'bundle'])
export type Genre = (typeof GENRES)[number]

export interface CategoryRecord {
  market: Market
  /** unique per market, such as `tcgdex:base1` */
  ref: string
  name: string
  /** URL-friendly; made from name and game by default, kept once stored */
  slug?: string
  /** `pokemon`, `onepiece`, or any other slug: games are data */
  game: string
  /** ref of the parent category in the same market, null for a root; absent if the file does not say: kept once stored */
  parent?: string | null
  image: string | null
  /** the count printed on the cards (`102` in `4/102`); a known one is never forgotten */
  printedTotal?: number | null
  /** abbreviations and codes under which other lists name a set: `BRS`, `OP-01`; absent if the file does not say */
  codes?: string[]
  /** ids of a set in shops: Cardmarket's expansion, TCGplayer's group; absent if the file does not say */
  foreignIds?: ForeignId[]
  /** a source states it in passing: it fills only what is not stored yet */
  fillsOnly?: boolean
}

/** A foreign id of an item in another system, kept so that price feeds find the item. */
export interface ForeignId {
  /** `tcgdex`, `tcgplayer`, `cardmarket`, `pokemontcg`, `punk-records`, `pricecharting` */
  source: string
  id: string
  /** the finish this item stands for where one foreign id covers several finishes, such as `normal`, `reverse`, `holo` */
  finish?: string
}

export interface ItemDetails {
  rarity?: string
  illustrator?: string
  hp?: number
  types?: string[]
  /** National Pokédex numbers */
  dexIds?: number[]
  stage?: string
  evolveFrom?: string
  suffix?: string
  level?: number
  /** its name in other languages, each once */
  names?: string[]
}

export interface ItemImage {
  url: string
  /** position, from 1 */
  order: number
}

export interface ItemRecord {
  market: Market
  /** unique per market, such as `tcgdex:base1-4` */
  ref: string
  name: string
  /** collector number as printed (`4/102`, `OP01-001`, `SWSH020`), null if there is none */
  code: string | null
  /** URL-friendly; made from name, code, category and finish by default, kept once stored */
  slug?: string
  genre: Genre
  game: string
  /** ref of a category of the same market */
  category: string
  images: ItemImage[]
  /** shown to Professional and above, in this order: `Rarity`, `Set Number`, `Finish`, ... */
  attributes: { name: string; value: string }[]
  /** slugs of groups: `ungraded`, `graded` */
  groups: string[]
  details: ItemDetails
  foreignIds: ForeignId[]
  /** current prices, in `mintmark-ndjson` only */
  prices?: PricePoint[]
}

/** One thing read from a catalogue file; `line` is 1-based (array index + 1 in a JSON document). */
export type CatalogueRow =
  | { line: number; category: CategoryRecord }
  | { line: number; item: ItemRecord; key: SourceKey }
  | { line: number; reject: Reason }

export interface CatalogueFormat {
  name: string
  /** one line for `--help` and the operator's reference */
  title: string
  /** market whose catalogue the file becomes unless the caller names another */
  defaultMarket: Market
  /** a file that bears one of these is taken for this format */
  marks: readonly FileMark[]
  /** where a file that begins so stands among several: series 0, sets 1, cards 2 */
  rank?(head: string): number
  /**
   * Begins one import; its files are read one after another, and what one tells (printed totals) helps the next.
   * @param known categories of the market that earlier imports brought, by ref
   */
  open(market: Market, known: ReadonlyMap<string, KnownCategory>): CatalogueReader
}

export interface KnownCategory {
  parent: string | null
  printedTotal: number | null
}

/**
 * Reads a file to its end in batches. A row that cannot be used is yielded as `reject` with a human-readable reason; only
 * input that is not this format at all throws `FeedError`. One line can give several items and the category they need.
 */
export type CatalogueReader = (source: FeedSource) => AsyncIterable<CatalogueRow[]>
