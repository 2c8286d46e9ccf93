// Writes the service's own prices of items and labels: computed from its sales, judged, with what it would cost to move them.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { minorToText } from '#core/money.ts'
import { type Note, change } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { noiseOf } from '../evidence/judge.ts'
import { judgeOwnPrice } from '../evidence/own-market.ts'
import { CONFIDENCES, type PriceEvidence, STATES, type Verdict } from '../evidence/evidence-types.ts'
import { conditionsOf } from '../judging/condition-known.ts'
import { logEvidence } from '../judging/judge-prices.ts'
import { type CostToMove, costToMove } from '../own/cost-to-move.ts'
import { momentOf, type OwnPrice, ownPriceOf, WINDOW_DAYS } from '../own/own-price.ts'
import { ownSalesOf, type PriceKey } from '../own/own-sales.ts'
import { Rates } from '../rates/rates.ts'
import { CurrentPrices } from '../records/current.ts'
import { ensureMonth } from '../records/months.ts'
import { packPrices, type PriceChange } from '../records/price-payload.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { resetCurrent } from './reset-current.ts'

export type { PriceKey } from '../own/own-sales.ts'

const LOCK = 7310
/** position of `service` in MARKETS */
const SERVICE = 0
/** the batch of all prices computed by the service (created by a migration) */
const FORMAT = 'service-price'
/** Prices computed again at once because of their age. */
const DUE_PRICES = 1_000
const NO_FIGURES = { avg1: null, avg7: null, avg30: null, low: null, mid: null, high: null }

/** What computing and judging needs besides the sales. */
export type OwnPriceCtx = Pick<PriceWriteCtx, 'rules' | 'now'>

/**
 * Serialises transactions that set the service's prices of an item: of two concurrent ones, neither would see the other's sale. Call it after writing
 * the sales; merges are serialised with sales by the locks of the items.
 */
export async function lockServicePrices(tx: Tx, itemIds: readonly number[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${sql.lit(LOCK)}, id)
    from (select distinct id from unnest(${itemIds}::int4[]) as sold(id) order by id) sorted`.execute(tx)
}

/**
 * Recomputes the service's prices after sales were added, cancelled or removed, in the same transaction and in key order, so that writers never
 * deadlock. If a price changes, the history gets a point. If no sale of the last 90 days is left, the price is the one at the time of the last sale;
 * without any sale that counts, it is removed with its points, and a previously imported price becomes current again.
 * @param keys items with the label of the sales: their grade, or Near Mint without one
 * @returns the changed prices
 */
export async function refreshServicePrices(ctx: OwnPriceCtx, tx: Tx, note: Note, keys: readonly PriceKey[]): Promise<PriceChange[]> {
  const sorted = sortedKeys(keys)
  if (sorted.length === 0) return []
  const computed = await computedPrices(ctx, tx, sorted)
  const left = new Set(computed.map(({ itemId, labelId }) => `${itemId} ${labelId}`))
  const changed = await setPrices(ctx, tx, note, computed)
  await forgetPrices(
    tx,
    note,
    sorted.filter(({ itemId, labelId }) => !left.has(`${itemId} ${labelId}`)),
  )
  return changed
}

/** The prices for the keys that have any. */
async function computedPrices(ctx: OwnPriceCtx, on: Queryable, keys: readonly PriceKey[]): Promise<ComputedPrice[]> {
  const sales = await ownSalesOf(on, keys)
  const nowMs = ctx.now().getTime()
  const shippingMinor = shippingMinorOf(ctx)
  return keys.flatMap((key, n) => {
    const atMs = momentOf(sales[n]!, nowMs)
    const { price } = ownPriceOf(sales[n]!, atMs)
    if (!price) return []
    // Sales that are too old count until the next one.
    const counting = atMs === nowMs ? price : { ...price, pairs: [], olderPairs: [] }
    return [{ ...key, price, cost: costToMove(counting, shippingMinor) }]
  })
}

/** Recomputes prices some of whose sales have become too old, and those that were computed by an earlier release. */
export async function refreshDueServicePrices(ctx: PriceWriteCtx): Promise<void> {
  for (let due = DUE_PRICES; due === DUE_PRICES; ) {
    due = await change(ctx, async (tx, note) => {
      const { rows } = await sql<{ item_id: number; label_id: number; is_computed: boolean }>`
        select item_id, label_id, true as is_computed from own_prices where changes_at <= ${ctx.now()} and not is_last
        union all
        select p.item_id, p.label_id, false from prices p
        where p.market = ${sql.lit(SERVICE)} and p.import_id = (select id from imports where format = ${FORMAT} limit 1)
          and not exists (select from own_prices o where (o.item_id, o.label_id) = (p.item_id, p.label_id))
        limit ${sql.lit(DUE_PRICES)}`.execute(tx)
      if (rows.length === 0) return 0
      const itemIds = [...new Set(rows.map((row) => row.item_id))]
      await lockServicePrices(tx, itemIds)
      const keys = rows.map((row): PriceKey => ({ itemId: row.item_id, labelId: row.label_id }))
      const sales = await ownSalesOf(tx, keys)
      const nowMs = ctx.now().getTime()
      // Without a sale that counts now, the last price stays and becomes stale.
      const isLast = rows.map((row, n) => row.is_computed && momentOf(sales[n]!, nowMs) < nowMs)
      await keepLastPrices(
        ctx,
        tx,
        keys.filter((_key, n) => isLast[n]),
      )
      await refreshServicePrices(
        ctx,
        tx,
        note,
        keys.filter((_key, n) => !isLast[n]),
      )
      note.changed('sales', itemIds)
      return rows.length
    })
  }
}

const shippingMinorOf = ({ rules }: OwnPriceCtx) => Math.round(rules.shippingFloor * 100)

/** The next sale decides such a price alone. */
async function keepLastPrices(ctx: OwnPriceCtx, tx: Tx, keys: readonly PriceKey[]): Promise<void> {
  const cost = minorToText(shippingMinorOf(ctx))
  await sql`
    update own_prices o
    set is_last = true, cost = least(cost, ${cost}::numeric), cost_buyers = least(cost_buyers, 1), cost_sellers = least(cost_sellers, 1)
    from ${keyTable(keys)} where (o.item_id, o.label_id) = (k.item_id, k.label_id)`.execute(tx)
}

function sortedKeys(keys: readonly PriceKey[]): PriceKey[] {
  return [...new Map(keys.map((key) => [`${key.itemId} ${key.labelId}`, key])).values()].sort((a, b) => a.itemId - b.itemId || a.labelId - b.labelId)
}

function keyTable(keys: readonly PriceKey[]) {
  return sql`unnest(${keys.map((key) => key.itemId)}::int4[], ${keys.map((key) => key.labelId)}::int4[]) with ordinality as k(item_id, label_id, n)`
}

interface ComputedPrice extends PriceKey {
  price: OwnPrice
  cost: CostToMove
}

/** Deletes prices computed from sales, and their points. */
async function forgetPrices(tx: Tx, note: Note, keys: readonly PriceKey[]): Promise<void> {
  if (keys.length === 0) return
  await sql`delete from own_prices o using ${keyTable(keys)} where o.item_id = k.item_id and o.label_id = k.label_id`.execute(tx)
  const batch = sql`(select id from imports where format = ${FORMAT} limit 1)`
  await sql`
    delete from price_points p using ${keyTable(keys)}
    where p.item_id = k.item_id and p.market = ${sql.lit(SERVICE)} and p.label_id = k.label_id and p.import_id = ${batch}`.execute(tx)
  await resetCurrent(
    tx,
    note,
    sql`select p.item_id, p.market, p.label_id, l.price, l.updated_at, l.import_id
      from ${keyTable(keys)} join prices p on p.item_id = k.item_id and p.market = ${sql.lit(SERVICE)} and p.label_id = k.label_id
      left join lateral (
        select price, updated_at, import_id from price_points q
        where q.item_id = p.item_id and q.market = p.market and q.label_id = p.label_id order by updated_at desc limit 1
      ) l on true
      where p.import_id = ${batch}`,
  )
}

/** Verdicts on computed prices, by position: compared with the trusted prices of other markets. */
async function verdictsOf({ rules, now }: OwnPriceCtx, on: Queryable, computed: readonly ComputedPrice[]): Promise<Verdict[]> {
  const nowMs = now().getTime()
  const currents = await CurrentPrices.read(
    on,
    computed.map(({ itemId }) => itemId),
  )
  const othersOf = ({ itemId, labelId }: PriceKey): number[] => {
    const others: number[] = []
    for (let at = currents.first(itemId); at >= 0; at = currents.next(at)) {
      if (currents.labelId(at) === labelId && currents.market(at) !== SERVICE) others.push(at)
    }
    return others
  }
  const others = computed.map(othersOf)
  const isKnown = await conditionsOf(
    on,
    others.flat().map((at) => currents.importId[at]!),
  )
  const witnessOf = (at: number): PriceEvidence => {
    const conditionKnown = isKnown(currents.importId[at]!, currents.market(at), currents.labelId(at))
    return currents.evidence(at, { sharedId: false, conditionKnown })
  }
  const witnesses = others.map((ats) => ats.map(witnessOf).filter(({ state }) => state === 'trusted'))
  // By the rates of the moment: the price and its newest sale are of today.
  const rates = witnesses.some(({ length }) => length > 0) ? await Rates.loadAt(on, nowMs) : new Rates()
  const currency = (market: number) => rules.currencies[MARKETS[market]!]
  const conditions = {
    nowMs,
    thresholds: rules,
    convert: (minor: number, from: number, to: number) => rates.convert(minor, currency(from), currency(to), nowMs),
    noiseMinor: noiseOf(rules.noise, (minor, from, market) => rates.convert(minor, from, currency(market), nowMs)),
  }
  return computed.map(({ price }, n) => judgeOwnPrice(evidenceOfOwn(price), witnesses[n]!, conditions))
}

function evidenceOfOwn({ minor, pairs, isProven, newestMs: soldAtMs }: OwnPrice): PriceEvidence {
  const stored = {
    state: 'unproven',
    identical: false,
    frozen: false,
    jumped: false,
    averageJumped: false,
    sharedId: false,
    conditionKnown: true,
  } as const
  return {
    ...NO_FIGURES,
    ...stored,
    market: SERVICE,
    minor,
    samples: pairs.length,
    updatedAtMs: soldAtMs,
    confirmedAtMs: soldAtMs,
    fewPeople: !isProven,
  }
}

async function setPrices(ctx: OwnPriceCtx, tx: Tx, note: Note, computed: readonly ComputedPrice[]): Promise<PriceChange[]> {
  if (computed.length === 0) return []
  const now = ctx.now()
  await ensureMonth(tx, now.getTime())
  const verdicts = await verdictsOf(ctx, tx, computed)
  await saveDetails(tx, computed, now)
  // Dated no earlier than the previous price, which may come from a sale with a later time that was recorded first: the latest point must be the
  // current price.
  const { rows: set } = await sql<{ n: number; at_ms: number; is_new: boolean }>`
    with batch as (select id from imports where format = ${FORMAT} limit 1), given as (
      select g.*, p.price as before
      from unnest(${computed.map(({ itemId }) => itemId)}::int4[], ${computed.map(({ labelId }) => labelId)}::int4[],
        ${computed.map(({ price }) => minorToText(price.minor))}::numeric[], ${computed.map(({ price }) => price.pairs.length)}::int4[],
        ${computed.map(({ price }) => new Date(price.newestMs).toISOString())}::timestamptz[],
        ${verdicts.map(({ state }) => STATES.indexOf(state))}::int2[], ${verdicts.map(({ confidence }) => CONFIDENCES.indexOf(confidence))}::int2[],
        ${verdicts.map(({ flags }) => flags)}::int4[])
        with ordinality as g(item_id, label_id, price, samples, confirmed_at, state, confidence, flags, n)
      left join prices p on p.item_id = g.item_id and p.market = ${sql.lit(SERVICE)} and p.label_id = g.label_id
    ), written as (
      insert into prices (item_id, market, label_id, price, updated_at, import_id, samples, confirmed_at, state, confidence, flags)
      select item_id, ${sql.lit(SERVICE)}, label_id, price, ${now}, batch.id, samples, confirmed_at, state, confidence, flags from batch, given order by n
      on conflict (item_id, market, label_id) do update
        set price = excluded.price, samples = excluded.samples, confirmed_at = excluded.confirmed_at,
          state = excluded.state, confidence = excluded.confidence, flags = excluded.flags,
          import_id = case when prices.price = excluded.price then prices.import_id else excluded.import_id end,
          updated_at = case when prices.price = excluded.price then prices.updated_at
            else greatest(excluded.updated_at, prices.updated_at + interval '1 millisecond') end
        where (prices.price, prices.samples, prices.confirmed_at, prices.state, prices.confidence, prices.flags)
          is distinct from (excluded.price, excluded.samples, excluded.confirmed_at, excluded.state, excluded.confidence, excluded.flags)
      returning item_id, market, label_id, price, updated_at, import_id
    ), pointed as (
      insert into price_points (item_id, market, label_id, price, updated_at, import_id)
      select w.item_id, w.market, w.label_id, w.price, w.updated_at, w.import_id
      from written w join given g using (item_id, label_id) where g.before is distinct from w.price
      on conflict (item_id, market, label_id, updated_at) do update
        set price = excluded.price, import_id = excluded.import_id
    )
    select g.n::int4 as n, (extract(epoch from w.updated_at) * 1000)::float8 as at_ms, g.before is distinct from w.price as is_new
    from written w join given g using (item_id, label_id)`.execute(tx)
  const changed = set
    .filter((row) => row.is_new)
    .map(({ n, at_ms: updatedAtMs }): PriceChange => {
      const { itemId, labelId, price } = computed[n - 1]!
      return { itemId, labelId, market: SERVICE, minor: price.minor, updatedAtMs }
    })
  if (changed.length > 0) await note.changedPrices(packPrices(changed))
  await logEvidence(
    note,
    set.map(({ n, at_ms: updatedAtMs }) => {
      const { itemId, labelId, price } = computed[n - 1]!
      const { state, confidence, flags } = verdicts[n - 1]!
      const confirmedAtMs = price.newestMs
      return {
        itemId,
        market: SERVICE,
        labelId,
        state,
        confidence,
        flags,
        confirmedAtMs: confirmedAtMs > updatedAtMs ? confirmedAtMs : null,
        ...NO_FIGURES,
      }
    }),
  )
  return changed
}

/** Stores who is behind the prices, and when they have to be computed again. */
async function saveDetails(tx: Tx, computed: readonly ComputedPrice[], now: Date): Promise<void> {
  const changesAt = computed.map(({ price }) => new Date(price.oldestMs + WINDOW_DAYS * DAY_MS))
  await sql`
    insert into own_prices (item_id, label_id, buyers, sellers, cost, cost_buyers, cost_sellers, changes_at, is_last)
    select item_id, label_id, buyers, sellers, cost, cost_buyers, cost_sellers, changes_at, is_last
    from unnest(${computed.map(({ itemId }) => itemId)}::int4[], ${computed.map(({ labelId }) => labelId)}::int4[],
      ${computed.map(({ price }) => price.buyers)}::int2[], ${computed.map(({ price }) => price.sellers)}::int2[],
      ${computed.map(({ cost }) => minorToText(cost.minor))}::numeric[], ${computed.map(({ cost }) => cost.buyers)}::int2[],
      ${computed.map(({ cost }) => cost.sellers)}::int2[], ${changesAt.map((at) => at.toISOString())}::timestamptz[],
      ${computed.map(({ price }) => price.newestMs <= now.getTime() - WINDOW_DAYS * DAY_MS)}::bool[])
      as g(item_id, label_id, buyers, sellers, cost, cost_buyers, cost_sellers, changes_at, is_last)
    on conflict (item_id, label_id) do update set buyers = excluded.buyers, sellers = excluded.sellers, cost = excluded.cost,
      cost_buyers = excluded.cost_buyers, cost_sellers = excluded.cost_sellers, changes_at = excluded.changes_at,
      is_last = excluded.is_last`.execute(tx)
}

/** Stores again who is behind the current own prices of items whose sales a reverted merge has moved back. */
export async function refreshOwnPriceDetails(ctx: OwnPriceCtx, tx: Tx, itemIds: readonly number[]): Promise<void> {
  await sql`delete from own_prices where item_id = any(${itemIds}::int4[])`.execute(tx)
  const { rows } = await sql<{ item_id: number; label_id: number }>`
    select item_id, label_id from prices
    where item_id = any(${itemIds}::int4[]) and market = ${sql.lit(SERVICE)} and import_id = (select id from imports where format = ${FORMAT} limit 1)
    order by item_id, label_id`.execute(tx)
  const keys = rows.map((row): PriceKey => ({ itemId: row.item_id, labelId: row.label_id }))
  await saveDetails(tx, await computedPrices(ctx, tx, keys), ctx.now())
}
