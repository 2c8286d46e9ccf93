// Delivers notifications to the operator: each by a signed webhook, and all that are due in one e-mail. A few attempts each.
import { sql } from 'kysely'
import type { Log } from '#core/context.ts'
import { HOUR_MS, MINUTE_MS } from '#core/duration.ts'
import type { Db } from '#db/schema.ts'
import type { Network } from '#outbound/dial.ts'
import { NOTIFICATION_HEADERS } from '#webhooks/events/notification.ts'
import { post } from '#webhooks/delivery/post.ts'
import { signatureHeaders } from '#webhooks/delivery/sign.ts'
import type { Config } from '#config.ts'
import type { Mailer } from './mail.ts'

/** Longer than an attempt takes; then its worker is considered dead. */
const LEASE_MS = 2 * MINUTE_MS
/** Deliveries of a run. */
const BATCH = 50
/** Waits after those of webhooks, so that a longer outage is survived, too. */
const LATER_RETRIES_MS = [HOUR_MS, 6 * HOUR_MS]
const MAX_ERROR_LENGTH = 300

type Channel = 'webhook' | 'email'

export interface DeliverCtx {
  db: Db
  log: Log
  config: Config
  now: () => Date
  network: Network
}

interface Delivery {
  id: number
  attempts: number
  body: string
}

/** Sends the due webhooks. */
export async function deliverWebhooks(ctx: DeliverCtx): Promise<void> {
  const { webhook } = ctx.config.notify
  if (webhook === null) return
  const deliveries = await claim(ctx, 'webhook')
  await Promise.all(
    deliveries.map(async (delivery) => {
      const { id, body } = delivery
      const signatures = signatureHeaders({ secrets: { current: webhook.secret, previous: null }, id: `ntf_${id}`, at: ctx.now(), body })
      const { success, statusCode, error } = await post(new URL(webhook.url), { ...NOTIFICATION_HEADERS, ...signatures }, body, ctx.network)
      await settle(ctx, [delivery], success ? null : (error ?? `HTTP status ${statusCode}`))
    }),
  )
}

/** Sends the due e-mails as one. */
export async function deliverEmails(ctx: DeliverCtx, mailer: Mailer): Promise<void> {
  const deliveries = await claim(ctx, 'email')
  if (deliveries.length === 0) return
  const failure = await mailer.send(deliveries.map(({ body }) => body)).then(
    () => null,
    (error: unknown) => String((error as Error).message || error).slice(0, MAX_ERROR_LENGTH),
  )
  await settle(ctx, deliveries, failure)
}

/**
 * Starts attempts: one statement, so that two workers never send the same. What has changed or been resolved before it was sent by
 * e-mail is cancelled instead; the last attempt of a dead worker has failed.
 */
async function claim({ db, now, config }: DeliverCtx, channel: Channel): Promise<Delivery[]> {
  const at = now()
  const maxAttempts = retryDelaysOf(config).length + 1
  const { rows } = await sql<Delivery & { state: string }>`
    with due as (
      select d.id, d.attempts >= ${maxAttempts} as lost, d.channel = 'email' and (n.resolved_at is not null or n.version <> d.version) as outdated
      from notification_deliveries d join notifications n on n.id = d.notification_id
      where d.channel = ${channel} and d.state = 'queued' and d.due_at <= ${at} and (d.lease_until is null or d.lease_until <= ${at})
      order by d.id limit ${BATCH} for update of d skip locked
    )
    update notification_deliveries d
    set state = case when due.outdated then 'cancelled' when due.lost then 'failed' else 'queued' end,
      error = case when due.lost then 'interrupted by a restart' else d.error end,
      finished_at = case when due.outdated or due.lost then ${at}::timestamptz end,
      lease_until = case when due.outdated or due.lost then null else ${new Date(at.getTime() + LEASE_MS)}::timestamptz end,
      attempts = d.attempts + (not due.outdated and not due.lost)::int
    from due where d.id = due.id
    returning d.id, d.attempts, d.body, d.state`.execute(db.kysely)
  return rows.filter(({ state }) => state === 'queued').sort((a, b) => a.id - b.id)
}

async function settle({ db, log, now, config }: DeliverCtx, deliveries: readonly Delivery[], failure: string | null): Promise<void> {
  const at = now()
  const delays = retryDelaysOf(config)
  const ids = deliveries.map(({ id }) => id)
  if (failure === null) {
    await sql`update notification_deliveries set state = 'delivered', finished_at = ${at}, lease_until = null, error = null
      where id = any(${ids}::bigint[])`.execute(db.kysely)
    return
  }
  for (const { id, attempts } of deliveries) {
    const waitMs = delays[attempts - 1]
    if (waitMs === undefined) log.warn({ delivery: id, reason: failure }, 'Failed to deliver a notification; giving up')
    const dueAt = new Date(at.getTime() + (waitMs ?? 0))
    await sql`update notification_deliveries set lease_until = null, error = ${failure}, due_at = ${dueAt},
      state = ${waitMs === undefined ? 'failed' : 'queued'}, finished_at = ${waitMs === undefined ? at : null}::timestamptz
      where id = ${id} and attempts = ${attempts}`.execute(db.kysely)
  }
}

function retryDelaysOf({ webhookRetryDelaysMs }: Config): readonly number[] {
  return [...webhookRetryDelaysMs, ...LATER_RETRIES_MS]
}
