// Converts GraphQL arguments to input of verbs: ids are strings, nulls mean "not sent", markets have two spellings.
import { MARKETS } from '#core/markets.ts'

/** An ID as a number if it is one; the verb rejects other values by name. */
export function idOf(id: string | number): string | number {
  return typeof id === 'string' && /^-?\d{1,15}$/.test(id) ? Number(id) : id
}

/** A market's code from its code or its name in the enum `Market`; the verb rejects other values by name. */
export function marketOf(market: string): string {
  return MARKET_OF_NAME.get(market) ?? market
}

const MARKET_OF_NAME = new Map(MARKETS.map((market) => [market.toUpperCase(), market]))

type WithoutNulls<T> = { [K in keyof T]: NonNullable<T[K]> | undefined }

/** Arguments without nulls: for optional arguments, null means the same as not sent. */
export function withoutNulls<T extends object>(args: T): Partial<WithoutNulls<T>> {
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(args)) {
    const value = (args as Record<string, unknown>)[name]
    if (value !== null && value !== undefined) result[name] = value
  }
  return result as Partial<WithoutNulls<T>>
}
