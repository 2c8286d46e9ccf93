// Emits sale and expiry events in the transaction that causes them: all for the feed, enabled kinds also for the webhook.
import type { Tx } from '#db/schema.ts'
import { type EventKind, type EventTime, eventBody, type Expiry, expiryData, type Sale, saleData } from './event-body.ts'
import { appendEvents } from './event-positions.ts'
import { receiversOf } from './store.ts'

/**
 * Writes one `sale` event per order line. It is queued for the webhooks that want it: `on_sale` and `is_active` are on now.
 * @param sales each with its seller's account
 */
export function emitSales(tx: Tx, time: EventTime, sales: readonly (Sale & { accountId: number })[]): Promise<void> {
  return emit(tx, time, 'sale', sales, saleData)
}

/** Writes one `expire` event per listing. It is queued for the webhooks that want it: `on_expire` and `is_active` are on now. */
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
  const wanting = await receiversOf(tx, kind, [...new Set(changes.map(({ accountId }) => accountId))])
  const events = changes.map((change) => {
    const { accountId } = change
    return { accountId, kind, body: eventBody(kind, now, zone, dataOf(change, zone)), wanted: wanting.has(accountId) }
  })
  await appendEvents(tx, events, now)
}
