// Arguments as GraphQL sends them turned into input of verbs: ids are texts, nulls mean not sent, markets have two spellings.
import { MARKETS } from '#core/markets.ts'

/** An ID as a number where it is one; the verb refuses anything else by name. */
export function idOf(id: string | number): string | number {
  return typeof id === 'string' && /^-?\d{1,15}$/.test(id) ? Number(id) : id
}

/** A market's code from its code or its name in the enum `Market`; the verb refuses anything else by name. */
export function marketOf(market: string): string {
  return MARKET_OF_NAME.get(market) ?? market
}

const MARKET_OF_NAME = new Map(MARKETS.map((market) => [market.toUpperCase(), market]))

type Sent<T> = { [K in keyof T]: NonNullable<T[K]> | undefined }

/** Arguments without those that are null: for optional arguments that is the same as not sending them. */
export function sent<T extends object>(args: T): Partial<Sent<T>> {
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(args)) {
    const value = (args as Record<string, unknown>)[name]
    if (value !== null && value !== undefined) result[name] = value
  }
  return result as Partial<Sent<T>>
}
