// Inputs of repricing targets: current listings and prices, or the history for past days.
import { DAY_MS } from '#core/duration.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { type Reason, reason } from '#core/problems.ts'
import type { Queryable } from '#db/schema.ts'
import { pricesAgo } from '#prices/history/prices-ago.ts'
import { inKurus, type MarketCatalogue, trustedMinor } from '../records/market-price.ts'
import { comparablePrices, type Input } from '../records/comparables.ts'
import { keyOf, offersFor, type PastSale, SALES_DAYS, salesFor, type ScopedListing } from './repricing-store.ts'
import type { Terms } from './terms.ts'

/** Returns the prices that a listing's target is computed from, or the reason why it has no target. */
type InputsOf = (listing: ScopedListing) => readonly Input[] | Reason

/** Current inputs of listings. */
export async function inputsNow(
  on: Queryable,
  catalogue: MarketCatalogue,
  { target }: Terms,
  listings: readonly ScopedListing[],
  sellerId: number,
  now: Date,
): Promise<InputsOf> {
  switch (target.kind) {
    case 'market':
      return ({ item_id: itemId, label_id: labelId }) => {
        const minor = trustedMinor(catalogue, target.market, itemId, labelId)
        if (minor === null) return reason('price_untrusted', { market: target.market })
        return inLira(catalogue, target.market, minor, now)
      }
    case 'cheapest': {
      const offers = await offersFor(on, listings, now)
      return (listing) => comparablePrices(offers.get(keyOf(listing)) ?? [], sellerId)
    }
    case 'median_sales': {
      const sales = await salesFor(on, listings, sellerId, now, now)
      return (listing) => salesBy(sales.get(keyOf(listing)) ?? [], now)
    }
  }
}

/** Inputs of the listings at each of the given times; null for a target without history (current listings are not recorded). */
export async function inputsAgo(
  on: Queryable,
  catalogue: MarketCatalogue,
  { target }: Terms,
  listings: readonly ScopedListing[],
  sellerId: number,
  moments: readonly Date[],
): Promise<((listing: ScopedListing, moment: number) => readonly Input[] | Reason) | null> {
  switch (target.kind) {
    case 'cheapest':
      return null
    case 'market': {
      const keys = [...new Map(listings.map((one) => [keyOf(one), one])).values()]
      const market = MARKETS.indexOf(target.market)
      const minors = await pricesAgo(
        on,
        keys.map(({ item_id: itemId, label_id: labelId }) => ({ itemId, market, labelId })),
        moments,
      )
      const byKey = new Map(keys.map((key, i) => [keyOf(key), minors[i]!]))
      return (listing, moment) => {
        const minor = byKey.get(keyOf(listing))?.[moment] ?? null
        return minor === null ? [] : inLira(catalogue, target.market, minor, moments[moment]!)
      }
    }
    case 'median_sales': {
      const sales = await salesFor(on, listings, sellerId, moments[0]!, moments.at(-1)!)
      return (listing, moment) => salesBy(sales.get(keyOf(listing)) ?? [], moments[moment]!)
    }
  }
}

function salesBy(sales: readonly PastSale[], at: Date): Input[] {
  const since = at.getTime() - SALES_DAYS * DAY_MS
  // The last sale of each pair of seller and buyer, so that one pair cannot set the median.
  const lastOf = new Map<string, PastSale>()
  for (const sale of sales) {
    if (sale.atMs > since && sale.atMs <= at.getTime() && sale.atMs >= (lastOf.get(sale.pair)?.atMs ?? 0)) lastOf.set(sale.pair, sale)
  }
  return Array.from(lastOf.values(), ({ kurus }) => ({ kurus }))
}

function inLira(catalogue: MarketCatalogue, market: Market, minor: number, at: Date): readonly Input[] | Reason {
  const kurus = inKurus(catalogue, market, minor, at)
  return kurus === null ? reason('price_no_rate', { currency: catalogue.currencies[market] }) : [{ kurus }]
}
