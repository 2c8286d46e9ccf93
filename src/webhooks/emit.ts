// Emits events in the transaction that causes them: all for the feed, enabled kinds of notifications also for the webhook.
import type { Tx } from '#db/schema.ts'
import {
  type EventTime,
  eventBody,
  type Expiry,
  expiryData,
  type FeedKind,
  goalData,
  isWebhookKind,
  type MetWatch,
  type OfferChange,
  offerData,
  type ReopenedGoal,
  type Sale,
  saleData,
  watchData,
} from './events/event-body.ts'
import { appendEvents } from './event-positions.ts'
import { receiversOf } from './webhook-store.ts'

/**
 * Writes one `sale` event per order line, and queues it for the webhooks with `on_sale` and `is_active`.
 * @param sales each with its seller's account
 */
export function emitSales(tx: Tx, time: EventTime, sales: readonly (Sale & { accountId: number })[]): Promise<void> {
  return emit(tx, time, 'sale', sales, saleData)
}

/** Writes one `expire` event per listing, and queues it for the webhooks with `on_expire` and `is_active`. */
export function emitExpiries(tx: Tx, time: EventTime, expiries: readonly (Expiry & { accountId: number })[]): Promise<void> {
  return emit(tx, time, 'expire', expiries, expiryData)
}

/** Writes one `offer` event per changed offer. */
export function emitOffers(tx: Tx, time: EventTime, changes: readonly (OfferChange & { accountId: number })[]): Promise<void> {
  return emit(tx, time, 'offer', changes, offerData)
}

/** Writes one `watch` event per watch whose condition is met. */
export function emitWatches(tx: Tx, time: EventTime, met: readonly (MetWatch & { accountId: number })[]): Promise<void> {
  return emit(tx, time, 'watch', met, watchData)
}

/** Writes one `watch` event per watched goal that is complete no longer. */
export function emitReopened(tx: Tx, time: EventTime, reopened: readonly { accountId: number; goal: ReopenedGoal }[]): Promise<void> {
  return emit(tx, time, 'watch', reopened, ({ goal }) => goalData(goal))
}

async function emit<T extends { accountId: number }>(
  tx: Tx,
  { now, zone }: EventTime,
  kind: FeedKind,
  changes: readonly T[],
  dataOf: (change: T, zone: string) => object,
): Promise<void> {
  if (changes.length === 0) return
  const accounts = [...new Set(changes.map(({ accountId }) => accountId))]
  const subscribers = isWebhookKind(kind) ? await receiversOf(tx, kind, accounts) : new Set<number>()
  const events = changes.map((change) => {
    const { accountId } = change
    return { accountId, kind, body: eventBody(kind, now, zone, dataOf(change, zone)), subscribed: subscribers.has(accountId) }
  })
  await appendEvents(tx, events, now)
}
