// The meaning of `market=` and its default: which items a market selects, and whose prices are shown.
import type { Market } from '#core/markets.ts'
import type { PriceState } from '#prices/evidence/evidence-types.ts'

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

/** How far a price recommends its market as the one that is shown: trusted ones first, unproven ones last. */
export function preferenceOf(state: PriceState): number {
  return state === 'trusted' ? 3 : state === 'unproven' ? 1 : 2
}

/**
 * The market whose prices are shown by default: the one with the best price, and of several the home or else the first in the order.
 * @param preference of each market's best price (`preferenceOf`); 0 without prices
 * @param order the setting MARKET_ORDER
 */
export function defaultMarket(home: Market, preference: (market: Market) => number, order: readonly Market[]): Market {
  return [home, ...order].reduce((best, market) => (preference(market) > preference(best) ? market : best))
}
