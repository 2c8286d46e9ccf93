// Forecast of a write to an own listing: runs the write, inspects the result and rolls it back.
import { certificateWarnings } from '#catalogue/certificates/certificate.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { withMessage } from '#core/problems.ts'
import { executeDryRun } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { dryRunField } from '#db/changes/write-verb.ts'
import { QUEUED, REJECTED, statusAt } from '../records/rules.ts'
import { findVisibilityRow, findVisibilityRows, lockVisibilityRow, lockVisibilityRows, type VisibilityRow } from './visibility-rows.ts'
import { CONTENT, type ListingRow, listingTag } from '../listing-store.ts'
import { marketKurus, priceWarnings } from '../records/market-price.ts'
import { costsOf } from '../records-for-sale.ts'
import { changedSinceApproval, kurusOfRow } from '../listing-content.ts'
import type { Forecast, ForecastCtx, Forecasted, MarketWriteCtx, UsualWait } from '../marketplace-types.ts'
import { usualWait } from './usual-wait.ts'
import { hindrancesOf } from '../records/visibility.ts'

/** The input field of every write that can be forecast. */
export const DryRun = dryRunField('`1` changes nothing; `data` is what the write would return, with `forecast`')

/** Fields, besides the content, that decide whether buyers find a listing. */
const DECIDING: readonly string[] = ['quantity', 'action']

/**
 * Runs a write of one listing, or with `dry_run` only forecasts it: the result is then that of the write with `forecast`, and its
 * `etag` that of the unchanged listing, for the real write.
 * @throws what the write throws
 */
export async function forecasting<Ctx extends ForecastCtx, Input extends { id: number; dry_run?: boolean }, Result extends object>(
  ctx: Ctx,
  { dry_run: dryRun = false, ...input }: Input,
  run: (ctx: Ctx, input: Omit<Input, 'dry_run'>) => Promise<Result>,
): Promise<Result & Forecasted> {
  if (!dryRun) return run(ctx, input)
  const wait = await usualWait(ctx.db, ctx.now())
  return executeDryRun(ctx, async (tx, rehearsal) => {
    const before = await lockVisibilityRow(tx, input.id)
    const result = await run(rehearsal, input)
    const after = await findVisibilityRow(tx, input.id)
    const warnings = after ? warningsOf(ctx, before!, after, await costsOf(tx, ctx, [after])) : []
    return {
      ...result,
      ...('etag' in result && { etag: listingTag(before!) }),
      forecast: { ...forecastOf(before!, after, Object.keys(input), ctx.now()), usual_wait: wait, warnings },
    }
  })
}

/**
 * Forecasts a write of several listings that may reject some of them.
 * @param idsOf the affected listings
 * @returns the result of the write, with `forecast` for each listing that is not rejected
 * @throws what the write throws
 */
export async function forecastingEach<
  Ctx extends MarketWriteCtx,
  Result extends { listings: readonly { id: number; refused: object | null }[]; message: MessageText },
>(ctx: Ctx, idsOf: (tx: Tx) => Promise<number[]>, run: (ctx: Ctx) => Promise<Result>): Promise<Result> {
  const wait = await usualWait(ctx.db, ctx.now())
  return executeDryRun(ctx, async (tx, rehearsal) => {
    const before = await lockVisibilityRows(tx, await idsOf(tx))
    const result = await run(rehearsal)
    const after = await findVisibilityRows(tx, [...before.keys()])
    const listings = result.listings.map((one) => {
      const own = one.refused === null && before.get(one.id)
      return own ? { ...one, forecast: { ...forecastOf(own, after.get(one.id) ?? null, [], ctx.now()), usual_wait: wait, warnings: [] } } : one
    })
    return { ...result, listings }
  })
}

/** New listings with their forecasts, in a dry run that has created them. */
export async function forecastingNew<Listing extends { id: number }>(
  tx: Tx,
  ctx: ForecastCtx,
  wait: UsualWait,
  created: readonly Listing[],
): Promise<(Listing & Forecasted)[]> {
  const rows = await findVisibilityRows(
    tx,
    created.map(({ id }) => id),
  )
  const costs = await costsOf(tx, ctx, [...rows.values()])
  return created.map((listing) => {
    const warnings = warningsOf(ctx, null, rows.get(listing.id)!, costs)
    return { ...listing, forecast: { status: QUEUED, hidden: true, because: [], usual_wait: wait, warnings } }
  })
}

/** What to check about the price that a listing gets, and a new certificate; null before for a new listing. @param costs by listing */
function warningsOf(
  { catalogue, now }: ForecastCtx,
  before: ListingRow | null,
  after: ListingRow,
  costs: ReadonlyMap<number, number>,
): Forecast['warnings'] {
  const market = marketKurus(catalogue, after.item_id, after.label_id, now())
  const isNew = after.certificate !== null && JSON.stringify(after.certificate) !== JSON.stringify(before?.certificate)
  const warnings = [
    ...priceWarnings(before && kurusOfRow(before), kurusOfRow(after), market, costs.get(after.id)),
    ...(isNew ? certificateWarnings(after.certificate!) : []),
  ]
  return warnings.map(withMessage)
}

/** @param after null if the write deletes it */
function forecastOf(before: VisibilityRow, after: VisibilityRow | null, sent: string[], now: Date): Omit<Forecast, 'usual_wait' | 'warnings'> {
  if (!after) return { status: 'deleted', hidden: true, because: [] }
  const status = statusAt(after.status, after.expires_at, now)
  const hidden = hindrancesOf(after, now).length > 0
  const statusBefore = statusAt(before.status, before.expires_at, now)
  const changes = status !== statusBefore || hidden !== hindrancesOf(before, now).length > 0
  const content = sent.filter((field) => (CONTENT as readonly string[]).includes(field))
  if (status === QUEUED && content.length > 0) return { status, hidden, because: content }
  if (!changes) return { status, hidden, because: [] }
  return { status, hidden, because: status === QUEUED ? unapproved(before, now) : sent.filter((field) => DECIDING.includes(field)) }
}

/** Fields of a listing that need an approval after a change, before it is published again. */
function unapproved(row: VisibilityRow, now: Date): string[] {
  const ended = row.expires_at !== null && row.expires_at <= now
  return [
    ...(row.status === REJECTED ? ['rejection_reason'] : []),
    ...(changedSinceApproval(row) ?? []).map(({ field }) => field),
    ...(ended ? ['expires_at'] : []),
  ]
}
