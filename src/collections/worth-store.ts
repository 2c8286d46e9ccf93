// SQL of the daily worth of collections.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { decimalOfMinor, type ExactWorth, minorOfDecimal } from './worth.ts'

/** Ids of collections with records whose worth on a day is not recorded yet, after a given id. */
export async function idsWithoutWorth(on: Queryable, day: string, afterId: number, limit: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select c.id from collections c
    where c.id > ${afterId} and c.items_count > 0
      and not exists (select from collection_worth_days w where w.collection_id = c.id and w.day = ${day}::date)
    order by c.id limit ${limit}`.execute(on)
  return rows.map(({ id }) => id)
}

/** The worth of a collection at a time, recorded for a day. */
export interface RecordedWorth extends ExactWorth {
  day: string
  at: Date
}

function countsOf({ day, at, without_price, without_trusted_price, without_cost }: RecordedWorth) {
  return { day, at, without_price, without_trusted_price, without_cost }
}

/** Records the worth on some days, except for days that are already recorded; records nothing if the collection was deleted. */
export async function insertWorth(on: Queryable, collectionId: number, days: readonly RecordedWorth[]): Promise<void> {
  const amounts = days.flatMap(({ day, currencies }) =>
    currencies.map(({ currency, value, cost, gain }) => ({
      day,
      currency,
      value: decimalOfMinor(value),
      cost: decimalOfMinor(cost),
      gain: gain === null ? null : decimalOfMinor(gain),
    })),
  )
  await sql`
    with recorded as (
      insert into collection_worth_days (collection_id, day, at, without_price, without_trusted_price, without_cost)
      select c.id, d.day, d.at, d.without_price, d.without_trusted_price, d.without_cost
      from collections c, jsonb_to_recordset(${JSON.stringify(days.map(countsOf))}::jsonb)
        as d(day date, at timestamptz, without_price int4, without_trusted_price int4, without_cost int4)
      where c.id = ${collectionId} for key share of c
      on conflict do nothing returning collection_id, day
    )
    insert into collection_worth_amounts (collection_id, day, currency, value, cost, gain)
    select r.collection_id, r.day, a.currency, a.value, a.cost, a.gain
    from recorded r join jsonb_to_recordset(${JSON.stringify(amounts)}::jsonb)
      as a(day date, currency text, value numeric, cost numeric, gain numeric) using (day)`.execute(on)
}

interface DayRange {
  collectionId: number
  /** days, inclusive */
  from: string | undefined
  to: string | undefined
}

interface DayRow extends Omit<ExactWorth, 'currencies'> {
  day: string
  at: Date
  currencies: { currency: string; value: string; cost: string; gain: string | null }[]
}

/** The latest recorded days, oldest first. */
export async function worthDaysOf(
  on: Queryable,
  { collectionId, from = '-infinity', to = 'infinity' }: DayRange,
  limit: number,
): Promise<RecordedWorth[]> {
  const { rows } = await sql<DayRow>`
    select d.day::text as day, d.at, d.without_price, d.without_trusted_price, d.without_cost,
           coalesce((
             select jsonb_agg(jsonb_build_object('currency', a.currency, 'value', a.value::text, 'cost', a.cost::text, 'gain', a.gain::text))
             from collection_worth_amounts a where a.collection_id = d.collection_id and a.day = d.day
           ), '[]') as currencies
    from collection_worth_days d
    where d.collection_id = ${collectionId} and d.day between ${from}::date and ${to}::date order by d.day desc limit ${limit}`.execute(on)
  return rows.toReversed().map(({ currencies, ...row }) => ({
    ...row,
    currencies: currencies.map(({ currency, value, cost, gain }) => ({
      currency,
      value: minorOfDecimal(value),
      cost: minorOfDecimal(cost),
      gain: gain === null ? null : minorOfDecimal(gain),
    })),
  }))
}
