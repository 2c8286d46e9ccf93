// Categories and items as self-contained records that imports read and exports write; they use `ref` instead of ids.
import type { FeedSource } from '#core/files/feed.ts'
import type { FileMark } from '#core/files/file-marks.ts'
import type { Market } from '#core/markets.ts'
import { namedValues } from '#core/named-values.ts'
import type { Reason } from '#core/problems.ts'
import type { PricePoint } from '#prices/records/feed-rows.ts'

/** Identifies a source record: what a source states about one printing of a card, or about one product. */
export interface SourceKey {
  /** `tcgdex`, `pokemontcg`, `cardmarket`, `mintmark`, `operator`, ... */
  source: string
  /** the source's id of the card, equal for all its finishes */
  id: string
  /** canonical slug; '' if the source states no finish */
  finish: string
}

export const GENRES = namedValues('Genre', ['single', 'card', 'sealed', 'bundle'])
export type Genre = (typeof GENRES)[number]

export interface CategoryRecord {
  market: Market
  /** unique per market, such as `tcgdex:base1` */
  ref: string
  name: string
  /** URL-friendly; by default derived from name and game, and then never changed */
  slug?: string
  /** `pokemon`, `onepiece`, or any other slug: a new game needs no code changes */
  game: string
  /** ref of the parent category in the same market, null for a root; if absent, a stored one is kept */
  parent?: string | null
  image: string | null
  /** the count printed on the cards (`102` in `4/102`); once stored, it is kept */
  printedTotal?: number | null
  /** abbreviations and codes that other lists use for a set: `BRS`, `OP-01`; absent if the file does not state any */
  codes?: string[]
  /** ids of a set in shops: Cardmarket's expansion, TCGplayer's group; absent if the file does not state any */
  foreignIds?: ForeignId[]
  /** mentioned only in passing: fills in missing values of the stored category, but changes none */
  fillsOnly?: boolean
}

/** An item's id in another system, which price feeds use to refer to the item. */
export interface ForeignId {
  /** `tcgdex`, `tcgplayer`, `cardmarket`, `pokemontcg`, `punk-records`, `pricecharting` */
  source: string
  id: string
  /** the finish of this item if the foreign id covers several, such as `normal`, `reverse`, `holo` */
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
  /** its names in other languages, without duplicates */
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
  /** collector number as printed (`4/102`, `OP01-001`, `SWSH020`); null if there is none */
  code: string | null
  /** URL-friendly; by default derived from name, code, category and finish, and then never changed */
  slug?: string
  genre: Genre
  game: string
  /** ref of a category in the same market */
  category: string
  images: ItemImage[]
  /** visible to Professional and above, in this order: `Rarity`, `Set Number`, `Finish`, ... */
  attributes: { name: string; value: string }[]
  /** slugs of groups: `ungraded`, `graded` */
  groups: string[]
  details: ItemDetails
  foreignIds: ForeignId[]
  /** current prices, in `mintmark-ndjson` only */
  prices?: PricePoint[]
}

/** A card id that its source has retired: replaced by another id, or withdrawn (null) because the card does not exist. */
export interface IdMove {
  source: string
  from: string
  into: string | null
}

/** One entry of a catalogue file; `line` is 1-based (array index + 1 in a JSON document). */
export type CatalogueRow =
  | { line: number; category: CategoryRecord }
  | { line: number; item: ItemRecord; key: SourceKey }
  | { line: number; moved: IdMove }
  | { line: number; reject: Reason }

export interface CatalogueFormat {
  name: string
  /** one line for `--help` and the operator reference */
  title: string
  /** default market of the imported catalogue */
  defaultMarket: Market
  /** a file with one of these marks is recognised as this format */
  marks: readonly FileMark[]
  /** import order of a file, determined from its beginning: series 0, sets 1, cards 2 */
  rank?(head: string): number
  /**
   * Begins an import, whose files are read one after another; facts from one file (printed totals) are used for the next ones.
   * @param storedCategories categories of the market from earlier imports, by ref
   */
  open(market: Market, storedCategories: ReadonlyMap<string, StoredCategory>): CatalogueReader
}

export interface StoredCategory {
  parent: string | null
  printedTotal: number | null
}

/**
 * Reads a file in batches. An unusable row becomes a `reject` with a reason; `FeedError` is thrown only if the input has a different
 * format. One line may produce several items and the category that they need.
 */
export type CatalogueReader = (source: FeedSource) => AsyncIterable<CatalogueRow[]>
