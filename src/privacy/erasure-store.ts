// SQL of requests for erasure: the record of who asked, when, and what was done.
import { type Selectable, type SqlBool, sql } from 'kysely'
import { secretBytes } from '#core/process/secret-bytes.ts'
import { existing, missing } from '#core/fields.ts'
import { deletePersonKey } from '#db/personal/person-keys.ts'
import type { PersonRef } from '#db/personal/rows-of-person.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Queryable, Schema, Tx } from '#db/schema.ts'
import type { Erasure } from './erasure-types.ts'

type ErasureRow = Selectable<Schema['erasures']>

const COLUMNS = [
  'id',
  'kind',
  'account_id',
  'pseudonym',
  'reason',
  'requested_by',
  'state',
  'counts as what',
  'requested_at',
  'finished_at',
  'storage_at',
] as const

export function erasures(on: Queryable) {
  return on.selectFrom('erasures').select(COLUMNS)
}

export async function fetchErasure(on: Queryable, id: number): Promise<Erasure> {
  const row = await erasures(on).where('id', '=', existing('erasure', id)).executeTakeFirst()
  if (!row) throw missing('erasure', id)
  return jsonReady(row) as Erasure
}

/** @returns the new request, or the one that exists for this person; of concurrent requests, one is new */
export async function insertErasure(
  tx: Tx,
  person: PersonRef,
  { reason, by, now }: { reason: string; by: string; now: Date },
): Promise<{ erasure: Erasure; isNew: boolean }> {
  const isAccount = person.kind === 'account'
  const inserted = await tx
    .insertInto('erasures')
    .values({
      kind: person.kind,
      account_id: isAccount ? person.id : null,
      buyer_reference: isAccount ? null : person.reference,
      pseudonym: isAccount ? `Erased account ${person.id}` : `erased-${secretBytes(6).toString('hex')}`,
      reason,
      requested_by: by,
      requested_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  const id = inserted?.id ?? (await existingErasure(tx, person))
  return { erasure: await fetchErasure(tx, id), isNew: inserted !== undefined }
}

async function existingErasure(tx: Tx, person: PersonRef): Promise<number> {
  const of = tx.selectFrom('erasures').select('id')
  const mine = person.kind === 'account' ? of.where('account_id', '=', person.id) : of.where('buyer_reference', '=', person.reference)
  return (await mine.executeTakeFirstOrThrow()).id
}

/** References of buyers that the shop recorded for an account, unless they are erased. */
export async function referencesOfAccount(tx: Tx, accountId: number): Promise<string[]> {
  const { rows } = await sql<{ reference: string }>`
    select reference from order_buyers where account_id = ${accountId} and reference is not null
    union select buyer_reference from offers where buyer_account_id = ${accountId}`.execute(tx)
  return rows.map(({ reference }) => reference)
}

/** Number of offers that wait for an answer, by or to the person. */
export async function countOpenOffers(tx: Tx, person: PersonRef): Promise<number> {
  const of =
    person.kind === 'account'
      ? sql<SqlBool>`(seller_id = ${person.id} or buyer_account_id = ${person.id})`
      : sql<SqlBool>`buyer_reference = ${person.reference}`
  const open = tx.selectFrom('offers').select(sql<number>`count(*)::int4`.as('count')).where('status', 'in', ['open', 'countered']).where(of)
  return (await open.executeTakeFirstOrThrow()).count
}

/** A later pass removes what requests wrote that were under way when the erasure began, such as the upload of a file. */
const SWEEPS_AFTER = ['1 hour', '25 hours']

/** Requests that are not done, or whose next later pass is due; oldest first. */
export async function dueErasures(on: Queryable, now: Date): Promise<number[]> {
  const late = SWEEPS_AFTER.map(
    (after) => sql<SqlBool>`(swept_at < finished_at + ${sql.lit(after)}::interval and ${now} >= finished_at + ${sql.lit(after)}::interval)`,
  )
  const { rows } = await sql<{ id: number }>`
    select id from erasures where state = 'running' or (kind = 'account' and (${sql.join(late, sql` or `)})) order by id limit 100`.execute(on)
  return rows.map(({ id }) => id)
}

export interface RunningErasure {
  id: number
  person: PersonRef
  pseudonym: string
  isDone: boolean
  /** listings removed so far */
  listings: number
}

/** The request, locked until the transaction ends; null if another node has it, or if it has no more to do. */
export async function lockErasure(tx: Tx, id: number): Promise<RunningErasure | null> {
  const row: ErasureRow | undefined = await tx.selectFrom('erasures').selectAll().where('id', '=', id).forUpdate().skipLocked().executeTakeFirst()
  if (!row) return null
  const facts = { id, pseudonym: row.pseudonym, isDone: row.state === 'done', listings: row.counts.listings ?? 0 }
  if (row.account_id !== null) return { ...facts, person: { kind: 'account', id: row.account_id } }
  return row.buyer_reference === null ? null : { ...facts, person: { kind: 'buyer', reference: row.buyer_reference } }
}

/** Adds to the record how many rows of a table were removed or overwritten. */
export async function countErased(tx: Tx, id: number, table: string, rows: number): Promise<void> {
  await sql`
    update erasures set counts = counts || jsonb_build_object(${table}::text, coalesce((counts ->> ${table})::int8, 0) + ${rows}::int8)
    where id = ${id}`.execute(tx)
}

/** Whether every transaction that was running when the request was made has ended. */
export async function isAlone(on: Queryable, id: number): Promise<boolean> {
  const { rows } = await sql<{ alone: boolean }>`
    select pg_snapshot_xmin(pg_current_snapshot()) > started_xact as alone from erasures where id = ${id}`.execute(on)
  return rows[0]!.alone
}

/** Deletes the key of the person, after which archives and backups are unreadable for them, and records the end of a pass. */
export async function finishPass(tx: Tx, { id, person }: RunningErasure, now: Date): Promise<void> {
  await deletePersonKey(tx, person)
  await sql`
    update erasures set state = 'done', buyer_reference = null, finished_at = coalesce(finished_at, ${now}), swept_at = ${now}, storage_at = null
    where id = ${id}`.execute(tx)
}
