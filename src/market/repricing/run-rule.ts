// One run of a repricing rule in the caller's transaction: changed prices become a price job that is applied immediately.
import { HOUR_MS } from '#core/duration.ts'
import { minorToText, payoutKurus } from '#core/money.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { changeListings, intentToApply } from '../jobs/change-listings.ts'
import { finishJob, insertJob, type StoredJobRow, type NewJobRow } from '../jobs/store.ts'
import type { StockRow } from '../listing-store.ts'
import { kurusOfRow, kurusText } from '../listing-content.ts'
import { type Priced, pricesNow } from './prices-now.ts'
import { listingsOfRule, type RuleRow, rulesOf, saveRule } from './repricing-store.ts'
import type { RepricingCtx, RepricingRun } from './repricing-types.ts'

/** A run applies its job immediately, so this expiry is never reached. */
const PLAN_LASTS_MS = HOUR_MS

/** @param rule locked, with simulated terms */
export async function runRule(ctx: RepricingCtx, tx: Tx, note: Note, rule: RuleRow): Promise<RepricingRun> {
  const now = ctx.now()
  const listings = await listingsOfRule(tx, rule, await rulesOf(tx, rule.account_id), now)
  const priced = await pricesNow(ctx, tx, rule, listings, now)
  const changing = priced.filter(({ listing, price }) => price.kurus !== kurusOfRow(listing))
  await saveRule(tx, { ...rule, last_run_at: now }, now)
  const run = { rule_id: rule.id, listings_total: listings.length }
  if (changing.length === 0) return { ...run, changed: 0, failed: 0, job_id: null }
  const rows = changing.map((one, i) => rowOf(one, i + 1, ctx.market.commissionPercent))
  const counts = { rows_total: rows.length, rows_refused: 0 }
  const times = { created_at: now, expires_at: new Date(now.getTime() + PLAN_LASTS_MS) }
  const job = await insertJob(tx, { account_id: rule.account_id, policy: 'good_rows', rule_id: rule.id, ...counts, ...times }, rows)
  const by = { kind: 'repricing_rule', id: rule.id, at: now.toISOString() } as const
  const step = {
    job,
    outcome: 'changed',
    isDue: () => true,
    intentOf: (row: StoredJobRow, listing: StockRow | undefined) => intentToApply(row, listing, by),
  } as const
  await changeListings(ctx, tx, note, step, () => {})
  const { changed, kept, failed } = await finishJob(tx, job.id, { state: 'applied', applied_at: now })
  note.audit({ action: 'repricing_rule.run', subject: 'repricing_rule', id: rule.id, after: { job_id: job.id, changed, failed: kept + failed } })
  return { ...run, changed, failed: kept + failed, job_id: job.id }
}

function rowOf({ listing, price: { kurus, why }, marketKurus: market, warnings }: Priced, position: number, commissionPercent: number): NewJobRow {
  return {
    position,
    listing_id: listing.id,
    sku: null,
    old_price: listing.price,
    new_price: minorToText(kurus),
    old_quantity: null,
    new_quantity: null,
    payout: minorToText(payoutKurus(kurus, 1, commissionPercent)),
    rank: null,
    refused: null,
    reason: why,
    market_price: kurusText(market),
    warnings,
  }
}
