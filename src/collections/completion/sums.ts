// Exact sums by currency, which are never added to each other.
import { currencyOrder, numberOf } from '../worth.ts'

export class CurrencySums {
  readonly #minor = new Map<string, bigint>()

  add(currency: string, minor: bigint): void {
    this.#minor.set(currency, (this.#minor.get(currency) ?? 0n) + minor)
  }

  /** The sums as responses show them. @param own the currency that comes first */
  shown(own: string): { currency: string; amount: number }[] {
    return Array.from(this.#minor, ([currency, minor]) => ({ currency, amount: numberOf(minor) })).sort(currencyOrder(own))
  }
}
