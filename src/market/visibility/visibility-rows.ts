// SQL that reads a listing with all data that its visibility depends on.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { COLUMNS, type ListingRow } from '../listing-store.ts'
import type { VisibilityFacts } from '../records/visibility.ts'

export type VisibilityRow = ListingRow & VisibilityFacts

/** A listing with the data for its visibility; null if it does not exist. */
export async function findVisibilityRow(on: Queryable, id: number): Promise<VisibilityRow | null> {
  return (await standings(on, [id]).executeTakeFirst()) ?? null
}

/** The same, locked until the transaction ends. */
export async function lockVisibilityRow(tx: Tx, id: number): Promise<VisibilityRow | null> {
  return (await lockVisibilityRows(tx, [id])).get(id) ?? null
}

/** Listings by id; unknown ids are missing. */
export async function findVisibilityRows(on: Queryable, ids: readonly number[]): Promise<Map<number, VisibilityRow>> {
  return byId(await standings(on, ids).execute())
}

/** The same, locked until the transaction ends, in the order of ids. */
export async function lockVisibilityRows(tx: Tx, ids: readonly number[]): Promise<Map<number, VisibilityRow>> {
  return byId(await standings(tx, ids).orderBy('id').forUpdate().execute())
}

function byId(rows: VisibilityRow[]): Map<number, VisibilityRow> {
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
