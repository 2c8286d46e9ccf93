// The trusted market price of an item and grade in lira, and what a person should check about a listing's price.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { minorToNumber } from '#core/money.ts'
import { type Reason, reason } from '#core/problems.ts'

/** A price above the market price times this factor, or below the market price divided by it, is far from the market. */
export const FAR_FACTOR = 2
/** A change by more than this share of the old price is a large change. */
const LARGE_CHANGE = 0.5

export type MarketCatalogue = Pick<Catalogue, 'items' | 'currencies' | 'rates' | 'marketOrder'>

/** In kuruş, from the first market in `MARKET_ORDER` with a trusted price that can be converted; null if there is none. */
export function marketKurus(catalogue: MarketCatalogue, itemId: number, labelId: number, at: Date): number | null {
  for (const position of catalogue.marketOrder) {
    const market = MARKETS[position]!
    const minor = trustedMinor(catalogue, market, itemId, labelId)
    const kurus = minor === null ? null : inKurus(catalogue, market, minor, at)
    if (kurus !== null) return kurus
  }
  return null
}

/** In the market's currency; null without a price, or if it is disputed or stale. */
export function trustedMinor({ items }: Pick<Catalogue, 'items'>, market: Market, itemId: number, labelId: number): number | null {
  const row = items.rowOf(itemId)
  const at = row < 0 ? -1 : items.prices.find(row, MARKETS.indexOf(market), labelId)
  return at < 0 || !items.prices.isTrusted(at) ? null : items.prices.minor[at]!
}

/** Null without an exchange rate. */
export function inKurus({ currencies, rates }: Pick<Catalogue, 'currencies' | 'rates'>, market: Market, minor: number, at: Date): number | null {
  return rates.convert(minor, currencies[market], currencies.service, at.getTime())
}

/**
 * What a person should check before they set this price: a large change, a price far from the market, or one below the cost. Amounts are in kuruş.
 * @param before null for a new listing
 * @param market null for no market price
 * @param cost of a copy of the collection record that the listing sells; undefined without a record or if its cost is unknown
 */
export function priceWarnings(before: number | null, after: number, market: number | null, cost?: number): Reason[] {
  if (after === before) return []
  const warnings: Reason[] = []
  if (before !== null && Math.abs(after - before) > before * LARGE_CHANGE) {
    warnings.push(reason('price_large_change', { old: minorToNumber(before), percent: LARGE_CHANGE * 100 }))
  }
  if (market !== null && after > market * FAR_FACTOR) warnings.push(reason('price_far_above', { price: minorToNumber(market), factor: FAR_FACTOR }))
  if (market !== null && after * FAR_FACTOR < market) warnings.push(reason('price_far_below', { price: minorToNumber(market), factor: FAR_FACTOR }))
  if (cost !== undefined && after < cost) warnings.push(reason('price_below_cost', { cost: minorToNumber(cost) }))
  return warnings
}
