// SQL of webhook configurations, their events and the log of attempts.
import { sql } from 'kysely'
import type { Insertable } from 'kysely'
import type { Queryable, Schema, Tx } from '#db/schema.ts'
import type { EventKind } from './event-body.ts'

/** Notified with the account's id by whatever commits something to send. */
export const WAKE_CHANNEL = 'mintmark_webhooks'

export type NewEvent = Insertable<Schema['webhook_events']>

/** Those of the accounts that want notifications of this kind now. */
export async function receiversOf(on: Queryable, kind: EventKind, accountIds: number[]): Promise<Set<number>> {
  const rows = await on
    .selectFrom('webhooks')
    .select('account_id')
    .where('account_id', 'in', accountIds)
    .where('is_active', '=', true)
    .where(kind === 'sale' ? 'on_sale' : 'on_expire', '=', true)
    .execute()
  return new Set(rows.map((row) => row.account_id))
}

/** Queues events; the commit wakes the senders of all nodes. */
export async function insertEvents(tx: Tx, events: NewEvent[]): Promise<number[]> {
  if (events.length === 0) return []
  const rows = await tx.insertInto('webhook_events').values(events).returning('id').execute()
  for (const accountId of new Set(events.map((event) => event.account_id))) await wake(tx, accountId)
  return rows.map((row) => row.id)
}

export async function wake(tx: Tx, accountId: number): Promise<void> {
  await sql`select pg_notify(${WAKE_CHANNEL}, ${String(accountId)})`.execute(tx)
}
