// The rows of a price feed: one price of one item under one label, not yet matched to the catalogue.
import type { FeedSource } from '#core/files/feed.ts'
import type { FileMark } from '#core/files/file-marks.ts'
import type { Market } from '#core/markets.ts'
import type { Reason } from '#core/problems.ts'
import type { Figures } from '../evidence/evidence-types.ts'
import type { PriceMapping } from './mappings.ts'
import type { FormatTerms } from './source-terms.ts'

/** A price as files and exports contain it. */
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
 * How a feed identifies an item: by Mintmark's own ref, or by a foreign id. With `finish`, the price is only for that finish, in any spelling
 * (`finishSlug`); without it, for the plainest finish with that id.
 */
export type ItemKey = { ref: string; market?: Market } | ({ source: string; id: string } & ItemWords)

/** A row's description of an item, as far as it has one, for rows whose ids no item has. */
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

/** Several keys of one item, best first, and the row's description of it. */
export type ItemKeys = { anyOf: readonly ItemKey[] } & ItemWords

/** The keys of a row's item, best first. */
export function keysOf(item: ItemKey | ItemKeys): readonly ItemKey[] {
  return 'anyOf' in item ? item.anyOf : [item]
}

/** A row's description of its item; empty if there is none. */
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

/** A price row: integer minor units (cents, kuruş) and epoch milliseconds, so that no amount is ever a sum of floats. */
export interface PriceRow {
  line: number
  item: ItemKey | ItemKeys
  market: Market
  label: string
  priceMinor: number
  /** currency of the price, if it may differ from the market's */
  currency?: string
  updatedAtMs: number
  /** the feed's own figures, in the same currency */
  figures?: Figures | null
}

/**
 * One line of a feed yields one or several prices, a rejection for each unusable value, or `none: true` if it legitimately has no price. Rows of one
 * line are adjacent and every line read yields at least one, so the number of lines read is the number of times `line` changes.
 */
export type FeedRow = PriceRow | { line: number; reject: Reason } | { line: number; none: true }

export interface PriceFormat {
  name: string
  /** one line for `--help` and the operator's reference */
  title: string
  /** market of the prices unless the caller sets another; null if the file states it */
  defaultMarket: Market | null
  /** what may be done with its prices, if that is not the default, and their licence or the terms of their source */
  terms?: FormatTerms
  /** whether its columns need a mapping */
  mapped?: true
  /**
   * Whether its ungraded prices in a market have a known condition: false for a trend or average over all conditions. By default they have; a mapped
   * list states it in its mapping.
   */
  conditionKnown?: (market: Market) => boolean
  /** a file that matches one of these is recognised as this format */
  marks: readonly FileMark[]
  /** As `CatalogueFormat.read`: bad rows are yielded as `reject`, only a file of another format throws `FeedError`. */
  read(source: FeedSource, options: PriceReadOptions): AsyncIterable<FeedRow[]>
}

export interface PriceReadOptions {
  market: Market | null
  /** for formats that need a mapping */
  mapping?: PriceMapping
  /** time for rows that carry none, epoch milliseconds */
  nowMs: number
}
