// Compares watches with trusted prices and visible listings, and writes an event for each one whose condition is met.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { minorToText, parseMinor } from '#core/money.ts'
import { OPERATION_PLAN, planAllows, type Plan } from '#core/plans.ts'
import { localDay } from '#core/time.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { MarketSettings } from '#market/marketplace-types.ts'
import { emitWatches } from '#webhooks/emit.ts'
import type { EventTime } from '#webhooks/events/event-body.ts'
import { type Condition, type Match, Matches, reachedWatches, shownMarkets, type Stated } from './best-match.ts'

export interface TellCtx extends WriteCtx {
  market: Pick<MarketSettings, 'timeZone' | 'sourceCurrencies'>
}

/** Items whose reached watches are read at once. */
export const ITEMS_AT_ONCE = 500
/** Watches that are compared in one transaction, and its largest number of events. */
export const WATCHES_AT_ONCE = 2_000

/** A watch, locked until its comparison is committed. */
interface Comparing extends Condition {
  id: number
  told_day: string | null
  told: Stated | null
  due_day: string | null
  /** whether it exists for its owner, who may be told */
  isHeard: boolean
}

/** What a comparison changes in a watch. */
interface Settled {
  watch: Comparing
  stated: Stated | null
  /** set if an event is written */
  match?: Match
  dueDay: string | null
}

/**
 * Tells the owners of the items' watches whose conditions are met, and notes which are met no longer.
 * @param beforeEach runs before each transaction
 */
export async function tellItems(ctx: TellCtx, itemIds: readonly number[], beforeEach: () => Promise<void> = async () => {}): Promise<void> {
  for (let from = 0; from < itemIds.length; from += ITEMS_AT_ONCE) {
    const items = itemIds.slice(from, from + ITEMS_AT_ONCE)
    const { kysely } = ctx.db
    await tellWatches(ctx, await reachedWatches(kysely, items, await shownMarkets(kysely, ctx.market), ctx.now()), beforeEach)
  }
}

/** Compares the watches in transactions of `WATCHES_AT_ONCE`. */
export async function tellWatches(ctx: TellCtx, watchIds: readonly number[], beforeEach: () => Promise<void>): Promise<void> {
  for (let from = 0; from < watchIds.length; from += WATCHES_AT_ONCE) {
    const ids = watchIds.slice(from, from + WATCHES_AT_ONCE)
    await beforeEach()
    await change(ctx, (tx) => compare(ctx, tx, ids))
  }
}

/**
 * The same for watches that are compared although their items have not changed: new ones, and those whose event had to wait for another day.
 * @returns number of watches; if it is `WATCHES_AT_ONCE`, there may be more
 */
export function tellDue(ctx: TellCtx): Promise<number> {
  const today = todayIn(ctx)
  return change(ctx, async (tx) => {
    const { rows } = await sql<{ id: number }>`
      select id from watches where due_day <= ${today}::date and item_id is not null order by due_day limit ${WATCHES_AT_ONCE} for update skip locked`.execute(
      tx,
    )
    await compare(
      ctx,
      tx,
      rows.map(({ id }) => id),
    )
    return rows.length
  })
}

/** Deletes watches that were removed on an earlier day. */
export async function forgetRemoved(ctx: TellCtx): Promise<void> {
  await sql`delete from watches where removed and told_day < ${todayIn(ctx)}::date`.execute(ctx.db.kysely)
}

export function todayIn({ now, market }: TellCtx): string {
  return localDay(now(), market.timeZone)
}

async function compare(ctx: TellCtx, tx: Tx, watchIds: readonly number[]): Promise<void> {
  if (watchIds.length === 0) return
  const now = ctx.now()
  const zone = ctx.market.timeZone
  const today = localDay(now, zone)
  const watches = await lockWatches(tx, watchIds)
  const matches = await Matches.read(tx, watches, await shownMarkets(tx, ctx.market), now)
  const settled = watches.flatMap((watch) => settle(watch, matches.best(watch), today) ?? [])
  if (settled.length === 0) return
  await write(tx, settled, today)
  await emit(
    tx,
    { now, zone },
    settled.flatMap(({ watch, match }) => (match ? { watch, match } : [])),
  )
}

/**
 * Of two nodes that compare the same watch, the second one waits here and finds what was told. Accounts on smaller plans keep their watches. Watches of
 * goals are no part of this.
 */
async function lockWatches(tx: Tx, ids: readonly number[]): Promise<Comparing[]> {
  interface Row extends Omit<Comparing, 'amountMinor' | 'told' | 'isHeard'> {
    amount: string
    told_price: string | null
    told_market: number | null
    told_listing_id: number | null
    removed: boolean
    suspended: boolean
    plan: Plan
  }
  const { rows } = await sql<Row>`
    select w.id, w.account_id, w.kind, w.item_id, w.label_id, w.language, w.currency, w.amount, w.told_day::text as told_day, w.told_price, w.told_market,
           w.told_listing_id, w.due_day::text as due_day, w.removed, o.suspended, o.plan
    from watches w join accounts o on o.id = w.account_id
    where w.id = any(${`{${ids.join()}}`}::int4[]) and w.item_id is not null order by w.id for update of w`.execute(tx)
  return rows.map(({ amount, told_price: price, told_market: market, told_listing_id: listingId, removed, suspended, plan, ...watch }) => ({
    ...watch,
    amountMinor: parseMinor(amount)!,
    told: price === null ? null : { minor: parseMinor(price)!, market, listingId },
    isHeard: !removed && !suspended && planAllows(plan, OPERATION_PLAN.listWatches),
  }))
}

/** Tells a watch if something else meets it than was told last, on the next day if it was told today. @returns null if nothing changes */
function settle(watch: Comparing, best: Match | null, today: string): Settled | null {
  const { told, told_day: toldDay, due_day: dueDay, isHeard } = watch
  const isDue = dueDay !== null && dueDay <= today
  const laterDay = isDue ? null : dueDay
  // Even if nobody is told: the same price is news once it meets the condition again.
  if (!best && told) return { watch, stated: null, dueDay: laterDay }
  const isSame = best?.minor === told?.minor && best?.market === told?.market && best?.listingId === told?.listingId
  if (best && isHeard && !isSame) {
    if (toldDay === null || toldDay < today) return { watch, stated: best, match: best, dueDay: null }
    if (laterDay === null) return { watch, stated: told, dueDay: dayAfter(toldDay) }
  }
  return isDue ? { watch, stated: told, dueDay: null } : null
}

function dayAfter(day: string): string {
  return Temporal.PlainDate.from(day).add({ days: 1 }).toString()
}

async function write(tx: Tx, settled: readonly Settled[], today: string): Promise<void> {
  const rows = settled.map(({ watch, stated, match, dueDay }) => ({
    id: watch.id,
    told_day: match ? today : watch.told_day,
    told_price: stated && minorToText(stated.minor),
    told_market: stated?.market ?? null,
    told_listing_id: stated?.listingId ?? null,
    due_day: dueDay,
  }))
  await sql`
    update watches w set told_day = s.told_day, told_price = s.told_price, told_market = s.told_market, told_listing_id = s.told_listing_id, due_day = s.due_day
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as s (id int4, told_day date, told_price numeric, told_market int2, told_listing_id int4, due_day date)
    where w.id = s.id`.execute(tx)
}

async function emit(tx: Tx, time: EventTime, told: readonly { watch: Comparing; match: Match }[]): Promise<void> {
  if (told.length === 0) return
  const named = async (table: 'items' | 'groups', ids: Iterable<number>) => {
    const rows = await tx
      .selectFrom(table)
      .select(['id', 'name'])
      .where('id', '=', sql<number>`any(${`{${[...new Set(ids)].join()}}`}::int4[])`)
      .execute()
    return new Map(rows.map(({ id, name }) => [id, name]))
  }
  const items = await named(
    'items',
    told.map(({ watch }) => watch.item_id),
  )
  const labels = await named(
    'groups',
    told.map(({ match }) => match.labelId),
  )
  const met = told
    .toSorted((a, b) => a.watch.account_id - b.watch.account_id || a.watch.id - b.watch.id)
    .map(({ watch, match }) => ({
      accountId: watch.account_id,
      watchId: watch.id,
      kind: watch.kind,
      itemId: watch.item_id,
      itemName: items.get(watch.item_id)!,
      label: labels.get(match.labelId)!,
      amountMinor: watch.amountMinor,
      priceMinor: match.minor,
      currency: watch.currency,
      market: match.market === null ? null : MARKETS[match.market]!,
      listingId: match.listingId,
    }))
  await emitWatches(tx, time, met)
}
