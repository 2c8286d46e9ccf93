// Test events with sample data in the format of real ones.
import type { Tx } from '#db/schema.ts'
import { type EventKind, type EventTime, eventBody, expiryData, saleData } from './events/event-body.ts'
import { insertEvents } from './webhook-store.ts'

const SALE = {
  orderId: 1,
  listingId: 1,
  itemName: 'Test item',
  quantity: 1,
  unitPriceKurus: 10_000,
  payoutKurus: 9_000,
}

/** The body of a test event. */
export function testBody(event: EventKind, { now, zone }: EventTime): string {
  const data = event === 'sale' ? saleData({ ...SALE, soldAt: now }, zone) : expiryData({ listingId: 1, title: 'Test listing', expiredAt: now }, zone)
  return eventBody(event, now, zone, data)
}

/** Queues a test event and returns its id. */
export async function queueTestEvent(tx: Tx, accountId: number, event: EventKind, time: EventTime): Promise<number> {
  const { now } = time
  const [id] = await insertEvents(tx, [{ account_id: accountId, kind: event, test: true, body: testBody(event, time), due_at: now, created_at: now }])
  return id!
}
