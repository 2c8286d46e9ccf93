// Simulates a repricing rule for now and previous days; required before a rule can be enabled.
import { DAY_MS } from '#core/duration.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { minorToNumber, payoutKurus } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import { withMessage } from '#core/problems.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { kurusOfRow } from '../listing-content.ts'
import { marketKurus } from '../records/market-price.ts'
import { inputsAgo } from './facts.ts'
import { type Priced, priceBy, pricesNow } from './prices-now.ts'
import { listingsOfRule, lockRule, type RuleRow, rulesOf, saveRule, type ScopedListing } from './repricing-store.ts'
import { termsOf } from './terms.ts'
import type { RepricedListing, RepricingCtx, SimulatedDay, Simulation } from './repricing-types.ts'

const MAX_DAYS = 90
const DEFAULT_DAYS = 30
/** Maximum listings in a response. */
const MAX_SHOWN = 1_000
/** Maximum listings in a simulation of past days: each day of each listing is a lookup in the history. */
const MAX_PAST_LISTINGS = 200

export const simulateRepricingRule = writeVerb(
  {
    name: 'simulateRepricingRule',
    needs: OPERATION_PLAN.simulateRepricingRule,
    input: Type.Object({
      id: id('repricing rule'),
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DAYS, default: DEFAULT_DAYS, description: 'Number of days back' })),
    }),
  },
  (ctx: RepricingCtx, { id, days = DEFAULT_DAYS }): Promise<Simulation> =>
    change(ctx, async (tx, note) => {
      const now = ctx.now()
      const rule = await lockRule(tx, ownAccount(ctx.viewer), id)
      const listings = await listingsOfRule(tx, rule, await rulesOf(tx, rule.account_id), now)
      const priced = await pricesNow(ctx, tx, rule, listings, now)
      const past = await daysBefore(ctx, tx, rule, listings.slice(0, MAX_PAST_LISTINGS), days, now)
      await saveRule(tx, { ...rule, simulated_at: now }, now)
      const changed = priced.filter(({ listing, price }) => price.kurus !== kurusOfRow(listing)).length
      note.audit({ action: 'repricing_rule.simulate', subject: 'repricing_rule', id, after: { listings_total: listings.length, changed } })
      const shown = priced.slice(0, MAX_SHOWN).map((one) => repriced(one, ctx.market.commissionPercent))
      return { rule_id: rule.id, listings_total: listings.length, changed, listings: shown, days: past }
    }),
)

function repriced({ listing, price: { kurus, limit, follows, why }, warnings }: Priced, commissionPercent: number): RepricedListing {
  return {
    listing_id: listing.id,
    price: minorToNumber(kurusOfRow(listing)),
    new_price: minorToNumber(kurus),
    payout: minorToNumber(payoutKurus(kurus, 1, commissionPercent)),
    limit,
    follows: follows && { listing_id: follows.listingId!, price: minorToNumber(follows.kurus) },
    reason: withMessage(why),
    warnings: warnings.map(withMessage),
  }
}

/** Simulates day by day from the current prices: each day starts with the prices of the day before. */
async function daysBefore(
  ctx: RepricingCtx,
  tx: Tx,
  rule: RuleRow,
  listings: readonly ScopedListing[],
  days: number,
  now: Date,
): Promise<SimulatedDay[]> {
  const moments = Array.from({ length: days }, (_, i) => new Date(now.getTime() - (days - i) * DAY_MS))
  const terms = termsOf(rule.terms)
  const inputs = await inputsAgo(tx, ctx.catalogue, terms, listings, rule.account_id, moments)
  if (!inputs) return []
  const prices = new Map(listings.map((listing) => [listing.id, kurusOfRow(listing)]))
  const markets = new Map(listings.map(({ id, item_id: itemId, label_id: labelId }) => [id, marketKurus(ctx.catalogue, itemId, labelId, ctx.now())]))
  const simulated: SimulatedDay[] = []
  for (const [moment, at] of moments.entries()) {
    const day = { day: at.toISOString().slice(0, 10), known: 0, raised: 0, lowered: 0, at_floor: 0 }
    await runInSlices(listings.length, (from, to) => {
      for (const listing of listings.slice(from, to)) {
        const ofMoment = inputs(listing, moment)
        const before = prices.get(listing.id)!
        const { kurus, limit } = priceBy(ctx, terms, listing, { kurus: before, marketKurus: markets.get(listing.id)!, inputs: ofMoment })
        prices.set(listing.id, kurus)
        if (!('rule' in ofMoment) && ofMoment.length >= Math.max(1, terms.minComparables)) day.known += 1
        if (kurus > before) day.raised += 1
        if (kurus < before) day.lowered += 1
        if (limit === 'floor') day.at_floor += 1
      }
    })
    simulated.push({ ...day, average_price: average([...prices.values()]) })
  }
  return simulated
}

function average(prices: readonly number[]): number | null {
  if (prices.length === 0) return null
  return minorToNumber(Math.round(prices.reduce((sum, kurus) => sum + kurus, 0) / prices.length))
}
