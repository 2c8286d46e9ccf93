// Lookup tables that apply the rule of `shown-market.ts` to in-memory items.
import { MARKETS, type Market } from '#core/markets.ts'
import { isSelectedBy, defaultMarket } from '../records/shown-market.ts'

/** A set of markets as bits by position in MARKETS. */
export type MarketSet = number

const SETS = 2 ** MARKETS.length

/** The rule by home market and set of markets with prices; markets are positions in MARKETS. */
export class MarketRule {
  readonly #shown = new Uint8Array(MARKETS.length * SETS)
  /** the markets that select an item, as bit sets */
  readonly #selecting = new Uint8Array(MARKETS.length * SETS)

  /** @param order the setting MARKET_ORDER */
  constructor(order: readonly Market[]) {
    for (const [home, code] of MARKETS.entries()) {
      for (let priced = 0; priced < SETS; priced += 1) {
        const item = { home: code, hasPrices: (market: Market) => hasMarket(priced, MARKETS.indexOf(market)) }
        const at = home * SETS + priced
        this.#shown[at] = MARKETS.indexOf(defaultMarket(item, order))
        for (const [market, other] of MARKETS.entries()) if (isSelectedBy(other, item)) this.#selecting[at]! |= 1 << market
      }
    }
  }

  /** The market that is shown by default. */
  shown(home: number, priced: MarketSet): number {
    return this.#shown[home * SETS + priced]!
  }

  /** The markets that select the item. */
  selecting(home: number, priced: MarketSet): MarketSet {
    return this.#selecting[home * SETS + priced]!
  }
}

export function hasMarket(set: MarketSet, market: number): boolean {
  return ((set >>> market) & 1) === 1
}
