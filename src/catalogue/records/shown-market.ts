// The meaning of `market=` and its default: which items a market selects, and whose prices are shown.
import type { Market } from '#core/markets.ts'

/** The facts about an item that the rule depends on. */
export interface ItemMarkets {
  /** the market whose catalogue the item comes from */
  home: Market
  hasPrices: (market: Market) => boolean
}

/** Whether `market=` selects the item: the market is its home or has prices for it. */
export function isSelectedBy(market: Market, { home, hasPrices }: ItemMarkets): boolean {
  return home === market || hasPrices(market)
}

/**
 * The market whose prices are shown by default: home if it has prices, otherwise the first market that has.
 * @param order the setting MARKET_ORDER
 */
export function defaultMarket({ home, hasPrices }: ItemMarkets, order: readonly Market[]): Market {
  return hasPrices(home) ? home : (order.find(hasPrices) ?? home)
}
