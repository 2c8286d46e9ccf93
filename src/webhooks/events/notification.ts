// The headers of a notification, except its signatures.

export const NOTIFICATION_HEADERS = {
  'Content-Type': 'application/json',
  'User-Agent': 'Mintmark-Webhooks/1',
  'Accept-Encoding': 'identity',
  Accept: '*/*',
}

/** Marks test events, so that a receiver does not record sample data as a sale; the body has the same form as that of a real event. */
export const TEST_MARK = { 'webhook-test': 'true' }
/** Marks the notifications of a check, whose data are samples, too. */
export const CHECK_MARK = { ...TEST_MARK, 'webhook-check': 'true' }

/** The `webhook-id` of an event, the same in every attempt. */
export function messageId(eventId: number): string {
  return `evt_${eventId}`
}
