// What a price feed is read into: one price of one item under one label, not yet matched to the catalogue.
import type { FeedSource } from '#core/feed.ts'
import type { FileMark } from '#core/file-marks.ts'
import type { Market } from '#core/markets.ts'
import type { Reason } from '#core/problems.ts'
import type { Figures } from './evidence/types.ts'
import type { PriceMapping } from './mappings.ts'

/** A price as files and exports carry it. */
export interface PricePoint {
  market: Market
  /** canonical label, such as `Near Mint` or `PSA 10` */
  label: string
  /** exact decimal text with at most two decimals, such as `168.56` */
  price: string
  /** ISO 8601, UTC, suffix `Z` */
  updatedAt: string
}

/**
 * How a feed names an item: by Mintmark's own ref, or by a foreign id. Where `finish` is there, the price is of that
 * finish only, in any spelling (`finishSlug`); where it is not, it is of the plainest that the id names.
 */
export type ItemKey = { ref: string; market?: Market } | ({ source: string; id: string } & ItemWords)

/** What a row says of an item in words, as far as it does, for when no item bears its ids. */
export interface ItemWords {
  finish?: string
  name?: string
  /** collector number, with or without its total */
  number?: string
  /** name or code of the set */
  set?: string
  /** slug of the game */
  game?: string
  /** of the print, such as `en` */
  language?: string
}

/** Several keys of one item, the best first, and what else the row says of it. */
export type ItemKeys = { anyOf: readonly ItemKey[] } & ItemWords

/** The keys of a row's item, the best first. */
export function keysOf(item: ItemKey | ItemKeys): readonly ItemKey[] {
  return 'anyOf' in item ? item.anyOf : [item]
}

/** What a row says of its item in words; empty if it says nothing. */
export function wordsOf(item: ItemKey | ItemKeys): ItemWords {
  if ('ref' in item) return {}
  const { name, number, set, finish, game, language } = item
  return {
    ...(name && { name }),
    ...(number && { number }),
    ...(set && { set }),
    ...(finish && { finish }),
    ...(game && { game }),
    ...(language && { language }),
  }
}

/** A price row: integer minor units (cents, kuruş) and epoch milliseconds, so that nothing is ever a float sum. */
export interface PriceRow {
  line: number
  item: ItemKey | ItemKeys
  market: Market
  label: string
  priceMinor: number
  /** of the price, where that is not known to be the market's */
  currency?: string
  updatedAtMs: number
  /** what the feed states beside it, in the same currency */
  figures?: Figures | null
}

/**
 * One line of a feed gives one price, several, a reject for each value that cannot be used, or `none: true` when it
 * rightly has no price. Rows of one line stand together and every line read gives at least one, so the number of lines
 * read is the number of times `line` changes.
 */
export type FeedRow = PriceRow | { line: number; reject: Reason } | { line: number; none: true }

export interface PriceFormat {
  name: string
  /** one line for `--help` and the operator's reference */
  title: string
  /** market of the prices unless the caller names another; null if the file names it, whatever the caller says */
  defaultMarket: Market | null
  /** what its columns mean is told by a mapping, without which it cannot be read */
  mapped?: true
  /** a file that bears one of these is taken for this format */
  marks: readonly FileMark[]
  /** As `CatalogueFormat.read`: bad rows are yielded as `reject`, only a file of another format throws `FeedError`. */
  read(source: FeedSource, options: PriceReadOptions): AsyncIterable<FeedRow[]>
}

export interface PriceReadOptions {
  market: Market | null
  /** of formats that are read by one */
  mapping?: PriceMapping
  /** time for rows that carry none, epoch milliseconds */
  nowMs: number
}
