// Lookup tables that apply the rule of `shown-market.ts` to in-memory items.
import { MARKETS, type Market } from '#core/markets.ts'
import { isSelectedBy, defaultMarket } from '../records/shown-market.ts'

/** A set of markets as bits by position in MARKETS. */
export type MarketSet = number

const SETS = 2 ** MARKETS.length
/** Bits for the preference of a market (`preferenceOf`). */
const PREFERENCE_BITS = 2
const PREFERENCES = 2 ** (PREFERENCE_BITS * MARKETS.length)

/** The rule by home market and the markets with prices; markets are positions in MARKETS. */
export class MarketRule {
  readonly #shown = new Uint8Array(MARKETS.length * PREFERENCES)
  /** the markets that select an item, as bit sets */
  readonly #selecting = new Uint8Array(MARKETS.length * SETS)

  /** @param order the setting MARKET_ORDER */
  constructor(order: readonly Market[]) {
    for (const [home, code] of MARKETS.entries()) {
      for (let preferences = 0; preferences < PREFERENCES; preferences += 1) {
        const shown = defaultMarket(code, (market) => preferenceIn(preferences, MARKETS.indexOf(market)), order)
        this.#shown[home * PREFERENCES + preferences] = MARKETS.indexOf(shown)
      }
      for (let priced = 0; priced < SETS; priced += 1) {
        const item = { home: code, hasPrices: (market: Market) => hasMarket(priced, MARKETS.indexOf(market)) }
        for (const [market, other] of MARKETS.entries()) if (isSelectedBy(other, item)) this.#selecting[home * SETS + priced]! |= 1 << market
      }
    }
  }

  /** The market that is shown by default. @param preferences of each market, packed by `withPreference` */
  shown(home: number, preferences: number): number {
    return this.#shown[home * PREFERENCES + preferences]!
  }

  /** The markets that select the item. */
  selecting(home: number, priced: MarketSet): MarketSet {
    return this.#selecting[home * SETS + priced]!
  }
}

export function hasMarket(set: MarketSet, market: number): boolean {
  return ((set >>> market) & 1) === 1
}

/** The preference of a market in packed ones. */
function preferenceIn(preferences: number, market: number): number {
  return (preferences >>> (market * PREFERENCE_BITS)) & (2 ** PREFERENCE_BITS - 1)
}

/** Packed preferences with at least this one for a market. */
export function withPreference(preferences: number, market: number, preference: number): number {
  const before = preferenceIn(preferences, market)
  return preference <= before ? preferences : preferences + ((preference - before) << (market * PREFERENCE_BITS))
}
