// The four price markets and what is fixed about them: their codes, their order and their default currencies.

/** Market codes in the order in which answers list them (interface.md, "GraphQL Price"). */
export const MARKETS = ['service', 'source_a', 'source_b', 'source_c'] as const

export type Market = (typeof MARKETS)[number]

/** Whether a value is the code of a market. */
export function isMarket(value: unknown): value is Market {
  return typeof value === 'string' && (MARKETS as readonly string[]).includes(value)
}
