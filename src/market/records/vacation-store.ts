// SQL of vacations, and of the periods and highlights they postpone.
import { sql } from 'kysely'
import type { Queryable, Tx } from '#db/schema.ts'
import { type Vacation, withVacation } from './vacation.ts'

/** The current or future vacation; null for none. */
export async function findVacation(on: Queryable, sellerId: number, now: Date): Promise<Vacation | null> {
  return (await findVacations(on, [sellerId], now)).get(sellerId) ?? null
}

/** The same for several sellers, or for all if null; sellers without a vacation are missing. */
export async function findVacations(on: Queryable, sellerIds: number[] | null, now: Date): Promise<Map<number, Vacation>> {
  const running = on.selectFrom('vacations').select(['account_id', 'starts_at', 'ends_at']).where('ends_at', '>', now)
  const rows = await (sellerIds === null ? running : running.where('account_id', '=', sql<number>`any(${sellerIds}::int4[])`)).execute()
  return new Map(rows.map((row) => [row.account_id, { from: row.starts_at, to: row.ends_at }]))
}

/**
 * The seller's vacation, locked until the transaction ends. Listings are always locked before their seller.
 * @param mode `set` for a transaction that changes the vacation, `read` for one that depends on it
 */
export async function lockVacation(tx: Tx, sellerId: number, mode: 'read' | 'set', now: Date): Promise<Vacation | null> {
  const account = tx.selectFrom('accounts').select('id').where('id', '=', sellerId)
  await (mode === 'set' ? account.forNoKeyUpdate() : account.forShare()).execute()
  // A separate statement, so that it sees what the last holder of the lock has committed.
  return findVacation(tx, sellerId, now)
}

/** End of a new period of a seller's listing; `end` is when it would end without a vacation. */
export async function endAfterVacation(tx: Tx, sellerId: number, end: Date, now: Date): Promise<Date> {
  return withVacation(end, await lockVacation(tx, sellerId, 'read', now), now)
}

/** When the next vacation begins or ends after a time; null if none does. */
export async function nextVacationChange(on: Queryable, after: Date): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`
    select min(at) as at from vacations cross join lateral (values (starts_at), (ends_at)) v (at) where at > ${after}`.execute(on)
  return rows[0]!.at
}

export async function saveVacation(tx: Tx, accountId: number, { from, to }: Vacation): Promise<void> {
  await tx
    .insertInto('vacations')
    .values({ account_id: accountId, starts_at: from, ends_at: to })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet((eb) => ({ starts_at: eb.ref('excluded.starts_at'), ends_at: eb.ref('excluded.ends_at') })),
    )
    .execute()
}

export async function deleteVacation(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('vacations').where('account_id', '=', accountId).execute()
}

/** Locks a seller's listings with a running period or highlight, in the order of ids. */
export function lockRunning(tx: Tx, sellerId: number, now: Date) {
  return tx
    .selectFrom('listings')
    .select(['id', 'expires_at', 'highlighted_until'])
    .where('seller_id', '=', sellerId)
    .where((eb) => eb.or([eb('expires_at', '>', now), eb('highlighted_until', '>', now)]))
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** Moves the future ends of a seller's periods and highlights. @returns ids of the changed listings */
export async function shiftPeriodEnds(tx: Tx, sellerId: number, move: (end: Date) => Date, now: Date): Promise<number[]> {
  const moved = (end: Date | null) => (end !== null && end > now ? move(end) : end)
  const changed = (await lockRunning(tx, sellerId, now)).flatMap(({ id, expires_at, highlighted_until }) => {
    const [expires, highlighted] = [moved(expires_at), moved(highlighted_until)]
    const same = expires?.getTime() === expires_at?.getTime() && highlighted?.getTime() === highlighted_until?.getTime()
    return same ? [] : [{ id, expires, highlighted }]
  })
  const texts = (ends: (Date | null)[]) => ends.map((end) => end?.toISOString() ?? null)
  await sql`
    update listings l set expires_at = m.expires, highlighted_until = m.highlighted, version = version + 1, updated_at = ${now}
    from unnest(${changed.map(({ id }) => id)}::int4[], ${texts(changed.map(({ expires }) => expires))}::timestamptz[],
      ${texts(changed.map(({ highlighted }) => highlighted))}::timestamptz[]) as m(id, expires, highlighted)
    where l.id = m.id`.execute(tx)
  return changed.map(({ id }) => id)
}
