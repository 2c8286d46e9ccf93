// The four price markets with their codes, order and default currencies.
import { namedValues } from './named-values.ts'

/** Market codes in the order of responses (interface.md, "GraphQL Price"). */
export const MARKETS = namedValues('MarketCode', ['service', 'source_a', 'source_b', 'source_c'])

export type Market = (typeof MARKETS)[number]

/** Names that the operator gives to the markets; a market without a name shows its code. */
export type MarketNames = Readonly<Partial<Record<Market, string>>>

/** Position of a market in MARKETS, its number in the database and the snapshots; null for none. */
export function marketPosition(market: Market | undefined): number | null {
  return market === undefined ? null : MARKETS.indexOf(market)
}

/** Whether a value is the code of a market. */
export function isMarket(value: unknown): value is Market {
  return typeof value === 'string' && (MARKETS as readonly string[]).includes(value)
}
