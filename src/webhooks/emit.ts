// Emits sale and expiry events in the transaction that causes them: all for the feed, enabled kinds also for the webhook.
import type { Tx } from '#db/schema.ts'
import { type EventKind, type EventTime, eventBody, type Expiry, expiryData, type Sale, saleData } from './events/event-body.ts'
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

async function emit<T extends { accountId: number }>(
  tx: Tx,
  { now, zone }: EventTime,
  kind: EventKind,
  changes: readonly T[],
  dataOf: (change: T, zone: string) => object,
): Promise<void> {
  if (changes.length === 0) return
  const subscribers = await receiversOf(tx, kind, [...new Set(changes.map(({ accountId }) => accountId))])
  const events = changes.map((change) => {
    const { accountId } = change
    return { accountId, kind, body: eventBody(kind, now, zone, dataOf(change, zone)), subscribed: subscribers.has(accountId) }
  })
  await appendEvents(tx, events, now)
}
