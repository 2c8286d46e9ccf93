// Notifications of sales and expiries, written in the very transaction that makes them; its commit wakes the sender.
import type { Tx } from '#db/schema.ts'
import { type EventKind, eventBody, type Expiry, expiryData, type Sale, saleData } from './event-body.ts'
import { insertEvents, type NewEvent, receiversOf } from './store.ts'

/** When events happen, and the IANA zone of the times in their bodies. */
export interface EventTime {
  now: Date
  zone: string
}

/**
 * Queues one `sale` notification per order line for the sellers that want them: `on_sale` and `is_active` are on now.
 * @param sales each with its seller's account
 */
export function emitSales(tx: Tx, time: EventTime, sales: readonly (Sale & { accountId: number })[]): Promise<void> {
  return emit(tx, time, 'sale', sales, saleData)
}

/** Queues one `expire` notification per listing for the sellers that want them: `on_expire`, `is_active` are on now. */
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
  const events: NewEvent[] = []
  for (const change of changes) {
    const { accountId } = change
    if (!wanting.has(accountId)) continue
    events.push({
      account_id: accountId,
      kind,
      body: eventBody(kind, now, zone, dataOf(change, zone)),
      due_at: now,
      created_at: now,
    })
  }
  await insertEvents(tx, events)
}
