// Compares what this machine finds with what each audience was told, and queues a delivery of every difference, once for all nodes.
import { sql } from 'kysely'
import { databaseTime } from '#db/connection/database-time.ts'
import type { Log } from '#core/context.ts'
import { DAY_MS } from '#core/duration.ts'
import { localTime } from '#core/time.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import type { Db, Tx } from '#db/schema.ts'
import { ALIVE_SECONDS } from '#jobs/heartbeat.ts'
import type { Config } from '#config.ts'
import { emailDueAt } from './quiet-hours.ts'
import { findAll, type Found, NODE } from './found.ts'
import { notificationOf, type StoredNotification } from './notification-types.ts'

/** Key of the lock of PostgreSQL that one telling node holds: a node with older findings would undo what another has just told. */
const TURN = 7_302_115
/** Resolved notifications are kept this long. */
const KEPT_DAYS = 90

export interface TellCtx {
  db: Db
  log: Log
  config: Config
  now: () => Date
}

/** Raises, changes and resolves notifications. */
export async function tellFindings({ db, config, now }: TellCtx): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${TURN})`.execute(tx)
    const at = now()
    const found = await findAll(config, db, at)
    const told = [...(await raise(tx, found, at)), ...(await resolve(tx, found, at))]
    await queueDeliveries(tx, told, config, at)
  })
}

/** One statement decides whether a finding is new, has changed, or is known: only new and changed ones get a new version. */
async function raise(tx: Tx, found: readonly Found[], now: Date): Promise<StoredNotification[]> {
  const rows = found.map(({ accountId, ...one }) => ({ account_id: accountId, ...one }))
  const isNews = sql`(n.resolved_at is not null or n.state <> excluded.state or n.severity <> excluded.severity or excluded.value >= 2 * n.value)`
  const { rows: written } = await sql<StoredNotification & { told: boolean }>`
    insert into notifications as n (account_id, subject, node, kind, severity, params, state, value, since, changed_at)
    select account_id, subject, node, kind, severity, params, state, value, ${now}, ${now}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as f (account_id integer, subject text, node text, kind text, severity text,
      params jsonb, state text, value float8)
    on conflict (account_id, subject, node) do update set kind = excluded.kind, severity = excluded.severity, params = excluded.params,
      state = excluded.state, resolved_at = null,
      value = case when ${isNews} then excluded.value else n.value end,
      version = n.version + (coalesce(${isNews}, false))::int,
      since = case when n.resolved_at is null then n.since else excluded.since end,
      changed_at = case when ${isNews} then excluded.changed_at else n.changed_at end
    where ${isNews} or n.params <> excluded.params
    returning n.*`.execute(tx)
  return written
}

/** Findings that are gone. A machine whose worker has been away for a day is gone with its findings. */
async function resolve(tx: Tx, found: readonly Found[], now: Date): Promise<StoredNotification[]> {
  const keys = found.map(({ accountId, subject, node }) => ({ account_id: accountId, subject, node }))
  const { rows } = await sql<StoredNotification>`
    update notifications n set resolved_at = ${now}, changed_at = ${now}, version = n.version + 1
    where n.resolved_at is null
      and (n.node in ('', ${NODE}) or not exists (select from workers w where w.host = n.node
        and w.last_seen_at > ${databaseTime} - make_interval(secs => ${ALIVE_SECONDS}) - interval '1 day'))
      and not exists (select from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as f (account_id integer, subject text, node text)
        where f.subject = n.subject and f.node = n.node and f.account_id is not distinct from n.account_id)
    returning n.*`.execute(tx)
  return rows
}

/** Queues the versions of operators that are not queued yet. Accounts see theirs in the desk only; resolved ones need no e-mail. */
async function queueDeliveries(tx: Tx, told: readonly StoredNotification[], config: Config, now: Date): Promise<void> {
  const { notify, timeZone } = config
  const rows = told
    .filter(({ account_id: accountId }) => accountId === null)
    .flatMap((row) => {
      const data = { ...notificationOf(row), read: undefined, version: row.version }
      const body = JSON.stringify({ event: 'notification', sent_at: localTime(now, timeZone), data })
      const delivery = { notification_id: row.id, version: row.version, body }
      return [
        ...(notify.webhook ? [{ ...delivery, channel: 'webhook' as const, due_at: now }] : []),
        ...(notify.email && row.resolved_at === null
          ? [{ ...delivery, channel: 'email' as const, due_at: emailDueAt(row.severity, now, notify.email.quietHours, timeZone) }]
          : []),
      ]
    })
  if (rows.length === 0) return
  await tx
    .insertInto('notification_deliveries')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Deletes notifications that were resolved long ago, with their deliveries. */
export async function forgetOldNotifications(db: Db, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_DAYS * DAY_MS)
  await db.kysely.deleteFrom('notifications').where('resolved_at', '<', before).execute()
  await db.kysely.deleteFrom('notification_deliveries').where('finished_at', '<', before).execute()
}
