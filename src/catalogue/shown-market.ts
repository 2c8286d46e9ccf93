// Meaning of `market=` and its default: which items a market selects, and whose prices are shown.
import type { Market } from '#core/markets.ts'

/** What the rule looks at of an item. */
export interface ItemMarkets {
  /** the market whose catalogue the item came from */
  home: Market
  hasPrices: (market: Market) => boolean
}

/** Whether `market=` selects the item: the market prices it or is its home. */
export function isSelectedBy(market: Market, { home, hasPrices }: ItemMarkets): boolean {
  return home === market || hasPrices(market)
}

/**
 * The market whose prices are shown where no market is asked for: home if it has prices, else the first that has.
 * @param order the setting MARKET_ORDER
 */
export function shownMarket({ home, hasPrices }: ItemMarkets, order: readonly Market[]): Market {
  return hasPrices(home) ? home : (order.find(hasPrices) ?? home)
}
