// SQL of a listing with everything that its visibility depends on.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { COLUMNS, type ListingRow } from './store.ts'
import type { Standing } from './visibility.ts'

export type StandingRow = ListingRow & Standing

/** A listing with what else its visibility depends on, null where there is none. */
export async function findStanding(on: Queryable, id: number): Promise<StandingRow | null> {
  return (await standings(on, id).executeTakeFirst()) ?? null
}

/** The same, locked until the transaction ends. */
export async function lockStanding(tx: Tx, id: number): Promise<StandingRow | null> {
  return (await standings(tx, id).forUpdate().executeTakeFirst()) ?? null
}

function standings(on: Queryable, id: number) {
  const suspended = sql<boolean>`(select suspended from accounts where accounts.id = listings.seller_id)`
  const vacation = (end: 'starts_at' | 'ends_at') => sql<Date | null>`(select ${sql.ref(end)} from vacations where account_id = listings.seller_id)`
  return on
    .selectFrom('listings')
    .select(COLUMNS)
    .select([suspended.as('seller_suspended'), vacation('starts_at').as('vacation_from'), vacation('ends_at').as('vacation_to')])
    .where('id', '=', idForSql(id))
}
