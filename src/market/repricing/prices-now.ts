// Applies a repricing rule to its current listings, without writing.
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { Tx } from '#db/schema.ts'
import { marketKurus } from '../records/market-price.ts'
import { kurusOfRow, minOfferKurus } from '../listing-content.ts'
import { type InputsOf, inputsNow } from './facts.ts'
import { type NewPrice, newPrice } from './new-price.ts'
import type { RuleRow, ScopedListing } from './repricing-store.ts'
import { type Terms, termsOf } from './terms.ts'
import type { RepricingCtx } from './repricing-types.ts'

export interface Priced {
  listing: ScopedListing
  price: NewPrice
}

/** The result of a rule for each of its listings now. */
export async function pricesNow(ctx: RepricingCtx, tx: Tx, rule: RuleRow, listings: readonly ScopedListing[], now: Date): Promise<Priced[]> {
  const terms = termsOf(rule.terms)
  const inputs = await inputsNow(tx, ctx.catalogue, terms, listings, rule.account_id, now)
  const priced: Priced[] = []
  await runInSlices(listings.length, (from, to) => {
    for (const listing of listings.slice(from, to)) priced.push({ listing, price: priceBy(ctx, terms, listing, kurusOfRow(listing), inputs) })
  })
  return priced
}

/** @param kurus the current price */
export function priceBy(ctx: RepricingCtx, terms: Terms, listing: ScopedListing, kurus: number, inputs: InputsOf): NewPrice {
  const { commissionPercent } = ctx.market
  const market = marketKurus(ctx.catalogue, listing.item_id, listing.label_id, ctx.now())
  return newPrice(terms, { kurus, minOfferKurus: minOfferKurus(listing), commissionPercent, marketKurus: market, inputs: inputs(listing) })
}
