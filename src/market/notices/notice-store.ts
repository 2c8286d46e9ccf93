// SQL of notices of infringement.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { conflict } from '#core/errors.ts'
import { existing, missing } from '#core/fields.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import type { Notice } from './notice-types.ts'

const COLUMNS = [
  'n.id',
  'n.listing_id as listing',
  'l.title',
  'l.status as listing_status',
  'n.seller_id',
  'n.who',
  'n.right',
  'n.evidence',
  'n.state',
  'n.received_at',
  'n.due_at',
  'n.note',
  'n.decided_at',
  'n.decided_by',
] as const

/** Notices with the current title of their listing. */
export function notices(on: Queryable, now: Date) {
  const overdue = sql<boolean>`(n.state = 'received' and n.due_at < ${now})`.as('overdue')
  return on.selectFrom('notices as n').leftJoin('listings as l', 'l.id', 'n.listing_id').select(COLUMNS).select(overdue)
}

/** @throws NOT_FOUND */
export async function fetchNotice(on: Queryable, id: number, now: Date): Promise<Notice> {
  const row = await notices(on, now).where('n.id', '=', existing('notice', id)).executeTakeFirst()
  if (!row) throw missing('notice', id)
  return jsonReady(row) as Notice
}

/** Decides a notice once. @throws CONFLICT if it is decided already */
export async function setDecision(
  tx: Tx,
  id: number,
  values: { state: 'hidden' | 'kept'; note: string; decided_at: Date; decided_by: string },
): Promise<void> {
  const decided = await tx.updateTable('notices').set(values).where('id', '=', id).where('state', '=', 'received').returning('id').executeTakeFirst()
  if (!decided) throw conflict('notice_decided', { id })
}

/** Deletes notices that were decided more than `keepDays` days ago. */
export async function forgetOldNotices({ kysely }: Db, keepDays: number, now: Date): Promise<void> {
  await kysely
    .deleteFrom('notices')
    .where('decided_at', '<', new Date(now.getTime() - keepDays * DAY_MS))
    .execute()
}
