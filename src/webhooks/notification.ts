// The headers of a notification, beside its signatures.

export const NOTIFICATION_HEADERS = {
  'Content-Type': 'application/json',
  'User-Agent': 'Mintmark-Webhooks/1',
  'Accept-Encoding': 'identity',
  Accept: '*/*',
}

/** So that a receiver does not record made-up data as a sale; the body is the same as that of a real event. */
export const TEST_MARK = { 'webhook-test': 'true' }
/** On the notifications of a check, whose data are made up, too. */
export const CHECK_MARK = { ...TEST_MARK, 'webhook-check': 'true' }

/** The `webhook-id` of an event, the same on every attempt. */
export function messageId(eventId: number): string {
  return `evt_${eventId}`
}
