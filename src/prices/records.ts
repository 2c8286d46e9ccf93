// What a price feed is read into: one price of one item under one label, not yet matched to the catalogue.
import type { FeedSource } from '#core/feed.ts'
import type { FileMark } from '#core/file-marks.ts'
import type { Market } from '#core/markets.ts'
import type { Reason } from '#core/problems.ts'
import type { Figures } from './evidence/types.ts'

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
 * finish only (words of `finishOf`); where it is not, it is of the thing that the id names.
 */
export type ItemKey = { ref: string; market?: Market } | { source: string; id: string; finish?: string; name?: string; number?: string }

/** A price row: integer minor units (cents, kuruş) and epoch milliseconds, so that nothing is ever a float sum. */
export interface PriceRow {
  line: number
  item: ItemKey
  market: Market
  label: string
  priceMinor: number
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
  /** market of the prices unless the caller names another; null where the file names it, whatever the caller says */
  defaultMarket: Market | null
  /** a file that bears one of these is taken for this format */
  marks: readonly FileMark[]
  /** As `CatalogueFormat.read`: bad rows are yielded as `reject`, only a file of another format throws `FeedError`. */
  read(source: FeedSource, options: PriceReadOptions): AsyncIterable<FeedRow[]>
}

export interface PriceReadOptions {
  market: Market | null
  /** time for rows that carry none, epoch milliseconds */
  nowMs: number
}
