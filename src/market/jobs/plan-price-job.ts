// Plans new prices and stock for many of the caller's listings: the effect of each row, or why it is rejected. Changes no listing.
import type { CatalogueNode } from '#catalogue/context.ts'
import { HOUR_MS } from '#core/duration.ts'
import { notFound, ServiceError } from '#core/errors.ts'
import { MAX_INTEGER } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { minorToText, payoutKurus } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import { change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { ignoredColumnsOf } from '#intake/csv-body.ts'
import { costsOf } from '../records-for-sale.ts'
import { withNewStock } from '../listings/change-stock.ts'
import { marketKurus, priceWarnings } from '../records/market-price.ts'
import { PUBLISHED, statusAt } from '../records/rules.ts'
import { checkCaller, type ListedStock, stockToPlan, type StockRow } from '../listing-store.ts'
import { kurusOfRow, kurusText } from '../listing-content.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { type JobRow, MAX_ROWS, readRows } from './read-rows.ts'
import { JOB_POLICIES, type JobPolicy } from './states.ts'
import { accountOf, insertJob, jobRow, jobSummary, type NewJobRow } from './store.ts'
import type { PriceJob, PriceJobRow } from './types.ts'

const PLAN_LASTS_MS = 24 * HOUR_MS

/** The marketplace, and the market prices that new prices are compared with. */
export type PlanCtx = MarketCtx & CatalogueNode

export const planPriceJob = writeVerb(
  {
    name: 'planPriceJob',
    needs: OPERATION_PLAN.planPriceJob,
    input: Type.Object({
      // Each row is validated on its own: invalid rows are rejected, the others are planned.
      rows: Type.Array(Type.Unknown(), {
        minItems: 1,
        maxItems: MAX_ROWS,
        allowed: reason('list', { min: 1, max: MAX_ROWS }),
        description: 'Objects with `listing_id` or `sku`, and `price` (in TL), `quantity` or both',
        examples: [[{ listing_id: 3001, price: 1190 }]],
      }),
      policy: Type.Optional(
        Type.Enum([...JOB_POLICIES], {
          description: '`all` (default): applied only if no row is refused. `good_rows`: refused rows are skipped',
        }),
      ),
    }),
  },
  async (ctx: PlanCtx, { rows: given, policy = 'all' }): Promise<PriceJob> => {
    const ignored_columns = ignoredColumnsOf(given)
    const rows = await readRows(given)
    return change(ctx, (tx, note) => planJob(ctx, tx, note, rows, { policy, ignored_columns }))
  },
)

/** Checks rows against the caller's current listings, and stores the plan. */
async function planJob(
  ctx: PlanCtx,
  tx: Tx,
  note: Note,
  wanted: readonly JobRow[],
  job: { policy: JobPolicy; ignored_columns: string[] },
): Promise<PriceJob> {
  const accountId = accountOf(ctx.viewer)
  const listings = await stockToPlan(tx, {
    ids: wanted.flatMap(({ listingId }) => (listingId !== null && listingId >= 1 && listingId <= MAX_INTEGER ? [listingId] : [])),
    sellerId: accountId,
    skus: wanted.flatMap(({ sku }) => sku ?? []),
  })
  const byId = new Map<number, ListedStock>()
  const bySku = new Map<string, ListedStock>()
  await runInSlices(listings.length, (from, to) => {
    for (const row of listings.slice(from, to)) {
      byId.set(row.id, row)
      if (row.seller_id === accountId && row.sku !== null) bySku.set(row.sku, row)
    }
  })
  const found: (ListedStock | undefined)[] = []
  const named = new NamedListings()
  await runInSlices(wanted.length, (from, to) => {
    for (const { listingId, sku } of wanted.slice(from, to)) {
      const listing = listingId !== null ? byId.get(listingId) : sku === null ? undefined : bySku.get(sku)
      if (listing) named.add(listing.id, found.length)
      found.push(listing)
    }
  })
  const ranks = new Ranks(ctx, accountId)
  const costs = await costsOf(
    tx,
    ctx,
    listings.filter((row) => row.seller_id === accountId),
  )
  const rows: NewJobRow[] = []
  await runInSlices(wanted.length, (from, to) => {
    for (let i = from; i < to; i += 1) rows.push(planRow(ctx, wanted[i]!, found[i], named.otherRow(i), { ranks, costs }))
  })
  const now = ctx.now()
  const counts = { rows_total: rows.length, rows_refused: rows.filter(({ refused }) => refused !== null).length }
  const times = { created_at: now, expires_at: new Date(now.getTime() + PLAN_LASTS_MS) }
  const planned = await insertJob(tx, { account_id: accountId, ...job, ...counts, ...times }, rows)
  note.audit({ action: 'price_job.plan', subject: 'price_job', id: planned.id, after: { policy: job.policy, ...counts } })
  const shown: PriceJobRow[] = []
  await runInSlices(rows.length, (from, to) => {
    for (const row of rows.slice(from, to)) shown.push(jobRow(row))
  })
  return { ...jobSummary(ctx, planned), rows: shown }
}

/** Rows by the listing they name; two rows for the same listing contradict each other. */
class NamedListings {
  readonly #first = new Map<number, number>()
  readonly #others = new Map<number, number>()

  /** @param i index of the row, from 0 */
  add(listingId: number, i: number): void {
    const first = this.#first.get(listingId)
    if (first === undefined) {
      this.#first.set(listingId, i)
      return
    }
    this.#others.set(i, first + 1)
    if (!this.#others.has(first)) this.#others.set(first, i + 1)
  }

  /** Position, from 1, of another row that names the same listing; null for none. */
  otherRow(i: number): number | null {
    return this.#others.get(i) ?? null
  }
}

function planRow(
  ctx: PlanCtx,
  wanted: JobRow,
  listing: ListedStock | undefined,
  again: number | null,
  { ranks, costs }: { ranks: Ranks; costs: ReadonlyMap<number, number> },
): NewJobRow {
  const { position, listingId, sku, change } = wanted
  const unplanned: NewJobRow = {
    position,
    listing_id: listingId !== null && listingId <= MAX_INTEGER ? listingId : null,
    sku,
    old_price: null,
    new_price: kurusText(change.kurus ?? null),
    old_quantity: null,
    new_quantity: change.quantity ?? null,
    payout: null,
    rank: null,
    refused: null,
  }
  const refuse = (problems: readonly Problem[]): NewJobRow => ({ ...unplanned, refused: [...problems] })
  const named = sku === null ? 'listing_id' : 'sku'
  if (wanted.refused) return refuse(wanted.refused)
  if (again !== null) return refuse([problem(named, 'job_row_again', { row: again })])
  try {
    if (!listing) throw notFound('not_found', { thing: 'listing', id: listingId ?? sku! })
    checkCaller({ viewer: ctx.viewer, precondition: null }, listing)
    const before = { ...listing, status: statusAt(listing.status, listing.expires_at, ctx.now()) }
    const after = withNewStock(before, change, null)
    const kurus = kurusOfRow(after)
    const market = marketKurus(ctx.catalogue, listing.item_id, listing.label_id, ctx.now())
    return {
      ...unplanned,
      listing_id: listing.id,
      old_price: before.price,
      old_quantity: before.quantity,
      payout: minorToText(payoutKurus(kurus, 1, ctx.market.commissionPercent)),
      rank: after.status === PUBLISHED && after.quantity > 0 ? ranks.of(listing, kurus) : null,
      market_price: kurusText(market),
      warnings: priceWarnings(kurusOfRow(before), kurus, market, costs.get(listing.id)),
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { why } = error
    return { ...refuse('rule' in why ? [{ field: named, ...why }] : why), ...(isOwn(ctx, listing) && { listing_id: listing.id }) }
  }
}

function isOwn({ viewer }: MarketCtx, listing: StockRow | undefined): listing is StockRow {
  return listing?.seller_id === accountOf(viewer)
}

/** Price ranks among other sellers' published listings; the prices of an item and grade are looked up once. */
class Ranks {
  readonly #ctx: MarketCtx
  readonly #sellerId: number
  readonly #prices = new Map<string, Int32Array>()

  constructor(ctx: MarketCtx, sellerId: number) {
    this.#ctx = ctx
    this.#sellerId = sellerId
  }

  /** 1 if no other listing is cheaper. */
  of({ item_id: itemId, label_id: labelId }: ListedStock, kurus: number): number {
    const key = `${itemId} ${labelId}`
    let prices = this.#prices.get(key)
    if (!prices) this.#prices.set(key, (prices = this.#ctx.listings.pricesOfOthers(itemId, labelId, this.#sellerId)))
    let [low, high] = [0, prices.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (prices[middle]! < kurus) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}
