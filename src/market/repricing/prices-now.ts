// Applies a repricing rule to its current listings, without writing.
import type { Reason } from '#core/problems.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { Tx } from '#db/schema.ts'
import { marketKurus, priceWarnings } from '../records/market-price.ts'
import { costsOf } from '../records-for-sale.ts'
import { kurusOfRow, minOfferKurus } from '../listing-content.ts'
import { inputsNow } from './facts.ts'
import { type Facts, type NewPrice, newPrice } from './new-price.ts'
import type { RuleRow, ScopedListing } from './repricing-store.ts'
import { type Terms, termsOf } from './terms.ts'
import type { RepricingCtx } from './repricing-types.ts'

export interface Priced {
  listing: ScopedListing
  price: NewPrice
  /** trusted market price; null for none */
  marketKurus: number | null
  /** what to check about the price, as in price jobs */
  warnings: Reason[]
}

/** The result of a rule for each of its listings now. */
export async function pricesNow(ctx: RepricingCtx, tx: Tx, rule: RuleRow, listings: readonly ScopedListing[], now: Date): Promise<Priced[]> {
  const terms = termsOf(rule.terms)
  const inputs = await inputsNow(tx, ctx.catalogue, terms, listings, rule.account_id, now)
  const costs = await costsOf(tx, ctx, listings)
  const priced: Priced[] = []
  await runInSlices(listings.length, (from, to) => {
    for (const listing of listings.slice(from, to)) {
      const kurus = kurusOfRow(listing)
      const market = marketKurus(ctx.catalogue, listing.item_id, listing.label_id, now)
      const price = priceBy(ctx, terms, listing, { kurus, marketKurus: market, inputs: inputs(listing) })
      priced.push({ listing, price, marketKurus: market, warnings: priceWarnings(kurus, price.kurus, market, costs.get(listing.id)) })
    }
  })
  return priced
}

/** The price that the terms set for a listing with these facts. */
export function priceBy(
  { market }: RepricingCtx,
  terms: Terms,
  listing: ScopedListing,
  facts: Pick<Facts, 'kurus' | 'marketKurus' | 'inputs'>,
): NewPrice {
  return newPrice(terms, { ...facts, minOfferKurus: minOfferKurus(listing), commissionPercent: market.commissionPercent })
}
