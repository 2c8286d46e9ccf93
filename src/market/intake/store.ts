// SQL of listing imports: existing listings of an account, and parked rows.
import { sql } from 'kysely'
import { findIntakeQuota, lockIntakeQuota } from '#accounts/account-store.ts'
import { ServiceError } from '#core/errors.ts'
import { idForSql, missing } from '#core/fields.ts'
import { reason } from '#core/problems.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { type NewParked, parkedTables } from '#intake/parked.ts'
import { SOLD_OUT } from '../records/rules.ts'
import type { IntakeEntry } from './read-rows.ts'

/** @throws FORBIDDEN if the operator has not opened the intake for the account */
export async function requireIntake(on: Queryable, accountId: number): Promise<void> {
  if ((await findIntakeQuota(on, accountId)) === null) throw closed()
}

/** The quota, locked: other imports of the account wait until the transaction ends. @throws FORBIDDEN as `requireIntake` does */
export async function lockIntake(tx: Tx, accountId: number): Promise<number> {
  const quota = await lockIntakeQuota(tx, accountId)
  if (quota === null) throw closed()
  return quota
}

function closed(): ServiceError {
  return new ServiceError('FORBIDDEN', reason('intake_closed'))
}

/** Used part of the quota: unsold listings and parked rows. */
export async function countPlaces(tx: Tx, accountId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from listings where seller_id = ${accountId} and status <> ${SOLD_OUT})::int4
      + (select count(*) from parked_listings where account_id = ${accountId})::int4 as count`.execute(tx)
  return rows[0]!.count
}

/** Units in the listings of records, whatever their status. */
export async function listedCopies(tx: Tx, recordIds: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await sql<{ record_id: number; copies: number }>`
    select record_id, sum(quantity)::int4 as copies from listings where record_id = any(${recordIds}::int4[]) group by record_id`.execute(tx)
  return new Map(rows.map(({ record_id: id, copies }) => [id, copies]))
}

/** Which of the SKUs belong to a listing of the account. */
export async function listedSkus(tx: Tx, accountId: number, skus: string[]): Promise<Set<string>> {
  const listings = tx.selectFrom('listings').select('sku').where('seller_id', '=', accountId)
  const rows = await listings.where('sku', '=', sql<string>`any(${skus}::text[])`).execute()
  return new Set(rows.map(({ sku }) => sku!))
}

/** Which of the ids are unsold listings of the account. */
export async function unsoldListings(tx: Tx, accountId: number, ids: number[]): Promise<Set<number>> {
  const own = tx.selectFrom('listings').select('id').where('seller_id', '=', accountId).where('status', '<>', SOLD_OUT)
  const rows = await own.where('id', '=', sql<number>`any(${ids}::int4[])`).execute()
  return new Set(rows.map((row) => row.id))
}

/** Which of the keys belong to a parked row of the account. */
export async function parkedKeys(tx: Tx, accountId: number, keys: string[]): Promise<Set<string>> {
  const parked = tx.selectFrom('parked_listings').select('key').where('account_id', '=', accountId)
  const rows = await parked.where('key', '=', sql<string>`any(${keys}::text[])`).execute()
  return new Set(rows.map(({ key }) => key))
}

/** Parks rows, replacing earlier ones with the same key. @returns their ids by key */
export async function park(
  tx: Tx,
  { accountId, importId }: { accountId: number; importId: number },
  rows: readonly NewParked<IntakeEntry>[],
  now: Date,
): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  for (const given of parkedTables(rows)) {
    const { rows: parked } = await sql<{ id: number; key: string }>`
      insert into parked_listings (account_id, import_id, key, line, entry, rule, params, candidates, parked_at)
      select ${accountId}, ${importId}, key, line, entry, rule, params, candidates, ${now}
      from ${given} order by line
      on conflict (account_id, key) do update set line = excluded.line, entry = excluded.entry, rule = excluded.rule,
        params = excluded.params, candidates = excluded.candidates, parked_at = excluded.parked_at, import_id = excluded.import_id
      returning id, key`.execute(tx)
    for (const { id, key } of parked) ids.set(key, id)
  }
  return ids
}

export async function dropParkedKeys(tx: Tx, accountId: number, keys: string[]): Promise<void> {
  await sql`delete from parked_listings where account_id = ${accountId} and key = any(${keys}::text[])`.execute(tx)
}

/** Deletes a parked row of the account and returns its content. @throws NOT_FOUND, also for rows of other accounts */
export async function takeParked(tx: Tx, accountId: number, id: number): Promise<IntakeEntry> {
  const own = tx.deleteFrom('parked_listings').where('id', '=', idForSql(id)).where('account_id', '=', accountId)
  const row = await own.returning('entry').executeTakeFirst()
  if (!row) throw missing('parked row', id)
  return row.entry as IntakeEntry
}
