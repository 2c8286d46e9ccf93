// SQL of webhook configurations, events and the log of attempts; the SQL of the queue is in queue.ts.
import { type Insertable, sql } from 'kysely'
import { conflict, notFound, type ServiceError } from '#core/errors.ts'
import { existing, missing } from '#core/fields.ts'
import { announce } from '#db/connection/announce.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Queryable, Schema, Tx } from '#db/schema.ts'
import type { EventKind, FeedKind } from './events/event-body.ts'
import { ATTEMPTS, WAKE_CHANNEL } from './delivery/queue.ts'
import type { ProbeResult } from './delivery/probes.ts'
import type { SealedSecrets } from './delivery/secrets.ts'
import type { AccountWebhook, Webhook, WebhookEvent, WebhookLog } from './webhook-types.ts'

type Settings = Omit<Webhook, 'secret'>
export type NewEvent = Insertable<Schema['webhook_events']>

const SETTINGS = ['url', 'on_sale', 'on_expire', 'is_active'] as const
export const EVENT_COLUMNS = ['id', 'account_id', 'kind', 'test', 'state', 'attempts', 'due_at', 'created_at', 'body'] as const

export function noWebhook(accountId: number): ServiceError {
  return notFound('no_webhook', { id: accountId })
}

export async function findWebhook(on: Queryable, accountId: number): Promise<{ settings: Settings; sealedSecret: Buffer } | null> {
  const row = await on
    .selectFrom('webhooks')
    .select([...SETTINGS, 'sealed_secret'])
    .where('account_id', '=', existing('account', accountId))
    .executeTakeFirst()
  if (!row) return null
  const { sealed_secret: sealedSecret, ...settings } = row
  return { settings, sealedSecret }
}

/** The settings that a save replaces; null for none. Saves of one account take turns, also first ones, so that each is audited with what it replaces. */
export async function lockSettings(tx: Tx, accountId: number): Promise<Settings | null> {
  await tx.selectFrom('accounts').select('id').where('id', '=', accountId).forNoKeyUpdate().execute()
  return (await tx.selectFrom('webhooks').select(SETTINGS).where('account_id', '=', accountId).forUpdate().executeTakeFirst()) ?? null
}

/**
 * The account's webhook, for sending something to it; its settings cannot change until the transaction ends.
 * @throws CONFLICT if the account has no webhook or it is paused
 */
export async function activeWebhook(tx: Tx, accountId: number, now: Date): Promise<SealedSecrets & { url: string }> {
  const row = await tx
    .selectFrom('webhooks')
    .select(['url', 'is_active', 'sealed_secret', 'previous_sealed_secret', 'previous_valid_until'])
    .where('account_id', '=', accountId)
    .forShare()
    .executeTakeFirst()
  if (!row) throw conflict('webhook_missing')
  if (!row.is_active) throw conflict('webhook_paused')
  const overlaps = row.previous_valid_until !== null && row.previous_valid_until > now
  return { accountId, url: row.url, sealedSecret: row.sealed_secret, previousSealedSecret: overlaps ? row.previous_sealed_secret : null }
}

/** The webhook of an account as operators see it, `webhook: null` if it has none; null if the account does not exist. */
export async function fetchAccountWebhook(on: Queryable, accountId: number): Promise<{ webhook: AccountWebhook | null; suspended: boolean } | null> {
  const row = await on
    .selectFrom('accounts as a')
    .leftJoin('webhooks as w', 'w.account_id', 'a.id')
    .select(['w.url', 'w.on_sale', 'w.on_expire', 'w.is_active', 'w.failing', 'w.created_at', 'w.updated_at', 'a.suspended'])
    .where('a.id', '=', accountId)
    .executeTakeFirst()
  if (!row) return null
  const { suspended, ...webhook } = row
  return { webhook: webhook.url === null ? null : (jsonReady(webhook) as AccountWebhook), suspended }
}

/** Saves the settings and returns the sealed secret. The secret of the first save is kept, even if several first saves run concurrently. */
export async function saveWebhook(tx: Tx, accountId: number, settings: Settings, sealedSecret: Buffer, now: Date): Promise<Buffer> {
  const row = await tx
    .insertInto('webhooks')
    .values({ account_id: accountId, ...settings, sealed_secret: sealedSecret, created_at: now, updated_at: now })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ ...settings, failing: false, updated_at: now }))
    .returning('sealed_secret')
    .executeTakeFirstOrThrow()
  return row.sealed_secret
}

/** Replaces the secret, unless the one before it is still valid: of two concurrent rotations, one succeeds. */
export async function rotateSecret(
  tx: Tx,
  accountId: number,
  sealed: Buffer,
  { now, validUntil }: { now: Date; validUntil: Date },
): Promise<boolean> {
  const { rows } = await sql`
    update webhooks set previous_sealed_secret = sealed_secret, previous_valid_until = ${validUntil}, sealed_secret = ${sealed}, updated_at = ${now}
    where account_id = ${accountId} and (previous_valid_until is null or previous_valid_until <= ${now})
    returning account_id`.execute(tx)
  return rows.length > 0
}

/** When the secret before the last rotation ends; null if there was none. */
export async function previousValidUntil(on: Queryable, accountId: number): Promise<Date | null> {
  const row = await on.selectFrom('webhooks').select('previous_valid_until').where('account_id', '=', accountId).executeTakeFirst()
  return row?.previous_valid_until ?? null
}

/** Deletes the webhook and returns its settings; null if the account has none. */
export async function removeWebhook(tx: Tx, accountId: number): Promise<Settings | null> {
  return (await tx.deleteFrom('webhooks').where('account_id', '=', accountId).returning(SETTINGS).executeTakeFirst()) ?? null
}

/** Those of the accounts whose webhooks currently receive notifications of this kind. */
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

/** Queues events and returns their ids; the commit wakes the senders of all nodes. */
export async function insertEvents(tx: Tx, events: NewEvent[]): Promise<number[]> {
  if (events.length === 0) return []
  const rows = await tx.insertInto('webhook_events').values(events).returning('id').execute()
  for (const accountId of new Set(events.map((event) => event.account_id))) announce(tx, WAKE_CHANNEL, String(accountId))
  return rows.map((row) => row.id)
}

/** Writes the event whose notifications a check sends, and returns its id; the queue does not send it. */
export async function insertCheck(tx: Tx, accountId: number, body: string, now: Date): Promise<number> {
  const event: NewEvent = { account_id: accountId, kind: 'sale', test: true, state: 'cancelled', body, due_at: now, created_at: now }
  const { id } = await tx.insertInto('webhook_events').values(event).returning('id').executeTakeFirstOrThrow()
  return id
}

/** Logs the attempts of a check. The event is delivered if the first notification was accepted; it never fails, because no sale depends on it. */
export async function recordCheck(
  tx: Tx,
  { eventId, accountId }: { eventId: number; accountId: number },
  probed: readonly ProbeResult[],
): Promise<void> {
  const attempts = probed.flatMap(({ outcome, startedAt, finishedAt }, i) => {
    if (!outcome) return []
    const { statusCode, success, error, excerpt } = outcome
    const of = { event_id: eventId, account_id: accountId, kind: 'sale', test: true, mark: 'check', attempt: i + 1 } as const
    return { ...of, status_code: statusCode, success, error, response_excerpt: excerpt, started_at: startedAt, finished_at: finishedAt }
  })
  await tx.insertInto('webhook_attempts').values(attempts).execute()
  await tx
    .updateTable('webhook_events')
    .set({ state: attempts[0]!.success ? 'delivered' : 'cancelled', attempts: attempts.length, last_attempt: attempts.length })
    .where('id', '=', eventId)
    .execute()
}

/** The event, locked until the transaction ends. */
export async function lockEvent(tx: Tx, id: number): Promise<WebhookEvent & { attempts: number }> {
  const row = await tx
    .selectFrom('webhook_events')
    .select(EVENT_COLUMNS)
    .where('id', '=', existing('webhook event', id))
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw missing('webhook event', id)
  return eventOf(row)
}

/** Puts an event back into the queue for a further round of attempts. */
export async function requeueEvent(tx: Tx, event: WebhookEvent, now: Date): Promise<WebhookEvent> {
  const row = await tx
    .updateTable('webhook_events')
    .set({ state: 'queued', due_at: now, last_attempt: event.attempts + ATTEMPTS, replay: false })
    .where('id', '=', event.id)
    .returning(EVENT_COLUMNS)
    .executeTakeFirstOrThrow()
  announce(tx, WAKE_CHANNEL, String(event.account_id))
  return eventOf(row)
}

/** Why an attempt was made; null for a regular delivery. */
export function markOf(test: boolean, mark: Schema['webhook_attempts']['mark']): WebhookLog['mark'] {
  return mark ?? (test ? 'test' : null)
}

type EventRow = { id: number; kind: FeedKind; due_at: Date; created_at: Date; body: string } & Omit<
  WebhookEvent,
  'event' | 'due_at' | 'created_at' | 'body'
>

/** An event as operators see it. */
export function eventOf({ kind, due_at, body, ...row }: EventRow): WebhookEvent {
  const due = row.state === 'queued' ? due_at.toISOString() : null
  return { ...jsonReady(row), event: kind, due_at: due, body: JSON.parse(body) as object }
}
