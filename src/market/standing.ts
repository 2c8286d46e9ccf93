// SQL of a listing with all data that its visibility depends on.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { COLUMNS, type ListingRow } from './store.ts'
import type { Standing } from './visibility.ts'

export type StandingRow = ListingRow & Standing

/** A listing with the data for its visibility; null if there is none. */
export async function findStanding(on: Queryable, id: number): Promise<StandingRow | null> {
  return (await standings(on, [id]).executeTakeFirst()) ?? null
}

/** The same, locked until the transaction ends. */
export async function lockStanding(tx: Tx, id: number): Promise<StandingRow | null> {
  return (await lockStandings(tx, [id])).get(id) ?? null
}

/** Listings by id, without unknown ones. */
export async function findStandings(on: Queryable, ids: readonly number[]): Promise<Map<number, StandingRow>> {
  return byId(await standings(on, ids).execute())
}

/** The same, locked until the transaction ends, in the order of ids. */
export async function lockStandings(tx: Tx, ids: readonly number[]): Promise<Map<number, StandingRow>> {
  return byId(await standings(tx, ids).orderBy('id').forUpdate().execute())
}

function byId(rows: StandingRow[]): Map<number, StandingRow> {
  return new Map(rows.map((row) => [row.id, row]))
}

function standings(on: Queryable, ids: readonly number[]) {
  const suspended = sql<boolean>`(select suspended from accounts where accounts.id = listings.seller_id)`
  const vacation = (end: 'starts_at' | 'ends_at') => sql<Date | null>`(select ${sql.ref(end)} from vacations where account_id = listings.seller_id)`
  return on
    .selectFrom('listings')
    .select(COLUMNS)
    .select([suspended.as('seller_suspended'), vacation('starts_at').as('vacation_from'), vacation('ends_at').as('vacation_to')])
    .where('id', '=', sql<number>`any(${ids.map(idForSql)}::int4[])`)
}
