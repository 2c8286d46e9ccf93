// Ranks prices under review by item and cause, so that a page of them is read instead of computed.
import { type RawBuilder, sql } from 'kysely'
import { type Market, MARKETS } from '#core/markets.ts'
import type { Db, Queryable } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { FLAGS, STATES } from '../evidence/evidence-types.ts'
import { Rates } from '../rates/rates.ts'
import { CAUSE_FLAGS, type ReviewState } from './review-schemas.ts'

export type Currencies = Readonly<Record<Market, string>>

/** States stored in `price_reviews`, because they need a decision. A stale price needs none: it stops being stale once its source states it again. */
export const RANKED: readonly ReviewState[] = ['held', 'disputed']

/** The most important flag of all prices of the item and label in one state; null if only a check was missing. */
export const causeOf = sql`(case ${sql.join(
  CAUSE_FLAGS.map((flag) => sql`when flags_of_label & ${sql.lit(1 << FLAGS.indexOf(flag))} <> 0 then ${sql.lit(flag)}`),
  sql` `,
)} end)`

/**
 * The prices under review of some items, as SQL: `state, cause, item_id, market, label_id, price, updated_at, import_id, held_id, times_off`. Their
 * causes depend on all prices of the item and label.
 * @param ofItems condition on `q.item_id`
 */
export function inQuestion(states: readonly ReviewState[], ofItems: RawBuilder<unknown>): RawBuilder<unknown> {
  const published = STATES.flatMap((name, number) => ((states as readonly string[]).includes(name) ? [number] : []))
  return sql`
    select 'held' as state, q.rule as cause, q.item_id, q.market, q.label_id, q.price, q.updated_at, q.import_id, q.id as held_id, q.times_off
    from held_prices q where q.decision is null and ${sql.lit(states.includes('held'))} and ${ofItems}
    union all
    select (${sql.lit(`{${STATES.join(',')}}`)}::text[])[state + 1], ${causeOf}, item_id, market, label_id, price, updated_at, import_id, null, own_times_off
    from (
      select *, bit_or(flags) over (partition by item_id, label_id, state) as flags_of_label,
        greatest(price / nullif(avg_30, 0), avg_30 / price)::real as own_times_off
      from prices q where state > 0 and state = any(${published}::int2[]) and ${ofItems}
    ) p`
}

/** Lira for one unit of each market's currency, at the latest rates; null without one. */
export type Lira = readonly (number | null)[]

export async function liraOf(on: Queryable, currencies: Currencies, now: Date): Promise<Lira> {
  const rates = await Rates.load(on)
  return MARKETS.map((market) => {
    const rate = rates.microLira(currencies[market], now.getTime())
    return rate === null ? null : rate / 1_000_000
  })
}

/** The groups of the prices under review of some items, as SQL with the columns of `price_reviews`. */
export function groupsOf(states: readonly ReviewState[], ofItems: RawBuilder<unknown>, lira: Lira): RawBuilder<unknown> {
  const inLira = (price: string, market: string) => sql`(${sql.ref(price)} * (${lira}::float8[])[${sql.ref(market)} + 1])::float8`
  return sql`
    with requested as materialized (${inQuestion(states, ofItems)}),
    spread as (
      select a.item_id, a.state, a.cause, (max(p.value) / nullif(min(p.value), 0))::float8 as times_off, max(p.value) as value
      from (select distinct item_id, state, cause, label_id from requested where state <> 'held') a
      join lateral (
        select ${inLira('p.price', 'p.market')} as value from prices p where p.item_id = a.item_id and p.label_id = a.label_id
      ) p on true
      group by a.item_id, a.state, a.cause, a.label_id
    )
    select item_id, state, cause, max(times_off)::float8 as times_off, max(value) as value,
      array_agg(market) filter (where market is not null) as markets, array_agg(label_id) filter (where market is not null) as label_ids,
      array_agg(import_id) filter (where market is not null) as import_ids
    from (
      select item_id, state, cause, times_off::float8, ${inLira('price', 'market')} as value, market, label_id, import_id from requested
      union all select item_id, state, cause, times_off, value, null, null, null from spread
    ) q group by item_id, state, cause`
}

const LOCK = 7313

/** Items ranked per transaction. */
const ITEMS = 5_000

/**
 * Updates `price_reviews` with all committed changes of prices under review. Ranks are as of the latest change of a price under review, of rates, or
 * of judging all prices: other prices of the label may have changed since.
 */
export async function rankReviews(db: Db, currencies: Currencies, now: Date): Promise<void> {
  const { rows } = await sql<{ pending: boolean }>`select exists (select from price_review_changes) as pending`.execute(db.kysely)
  if (!rows[0]!.pending) return
  await inTransaction(db, async (tx) => {
    // A separate statement, so that the statements after it see what the previous holder of the lock committed.
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)}, 0)`.execute(tx)
    const changed = await sql<{ item_id: number }>`
      with changed as (delete from price_review_changes returning item_id) select distinct item_id from changed`.execute(tx)
    const lira = await liraOf(tx, currencies, now)
    for (let from = 0; from < changed.rows.length; from += ITEMS) {
      const ids = `{${changed.rows
        .slice(from, from + ITEMS)
        .map((row) => row.item_id)
        .join(',')}}`
      await sql`delete from price_reviews where item_id = any(${ids}::int4[])`.execute(tx)
      await sql`
        insert into price_reviews (item_id, state, cause, times_off, value, markets, label_ids, import_ids)
        ${groupsOf(RANKED, sql`q.item_id = any(${ids}::int4[])`, lira)}`.execute(tx)
    }
  })
}
