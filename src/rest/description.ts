// Introductory texts of the REST reference: overview, groups and webhooks.
import { ExpireEventSchema, SaleEventSchema } from '#webhooks/events/event-body.ts'

/** @param url under which clients reach the service */
export const apiDescription = (url: string): string => `
Prices of trading cards and sealed products from several sources, by condition and grade. [Guides](/docs/guides) explain how to use them.

**Authentication.** Every request carries \`Authorization: Bearer <API_KEY>\`.

**Envelope.** Responses are \`{"success": true, "data": ...}\`; lists add \`pagination\`. Errors are
\`{"success": false, "error": {"code", "message"}}\`; a validation error adds \`details\`, one \`{field, message}\` for
each wrong field. Checks come in this order: 401, 403, 429, then the body and the parameters. Every operation answers 403
\`ACCOUNT_SUSPENDED\` while the account is suspended.

**Plans.** Starter returns reduced items; Professional and above return all fields. Requests per minute are limited by plan;
see the headers \`RateLimit\`, \`RateLimit-Policy\` and, on 429, \`Retry-After\`.

**Caching.** Catalogue and listing search responses have an \`ETag\`; send it back as \`If-None-Match\` to
get 304 when nothing changed.

**Sandboxes.** \`POST /sandbox\` creates a marketplace of your own with a test key (\`mintmark_test_...\`) and a clock that you move. With a test key, all
responses and notifications have \`"livemode": false\`. An operation for the other kind of key answers 401 \`KEY_MODE_MISMATCH\`.

**GraphQL.** The same at [/graphql](/graphql), with the same key:

\`\`\`sh
curl '${url}/graphql' -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' \\
  -d '{"query": "{ items(search: \\"charizard\\", first: 2) { nodes { name code prices { market label price currency } } pageInfo { hasNextPage endCursor } } }"}'
\`\`\`

\`\`\`graphql
mutation {
  updateListingPrice(listingId: 3001, price: 1190) { success message id price status }
}
\`\`\`

An error of GraphQL has the code of REST: \`{"errors": [{"message", "path", "extensions": {"code": "PLUS_LISTING_ERROR", "status": 422}}]}\`.

Every answer has an \`X-Request-Id\`; name it when you report a problem.
`

const VERIFICATION = `
Verify each notification over the raw bytes, before you parse them, and answer 2xx within 5 seconds:

\`\`\`ts
import { createHmac, timingSafeEqual } from 'node:crypto'

export function isGenuine(raw: Buffer, signature: string, secret: string): boolean {
  const expected = Buffer.from(createHmac('sha256', secret).update(raw).digest('hex'))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
\`\`\`

\`\`\`python
import hashlib, hmac

def is_genuine(raw: bytes, signature: str, secret: str) -> bool:
    expected = hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)
\`\`\`

\`signature\` is the header \`X-Service-Signature\`, \`secret\` what \`GET /plus/webhook\` gives. The same notification may arrive again under
the same \`webhook-id\`. A test event or check has the header \`webhook-test: true\`: answer it, but book nothing.
`

export const TAGS = [
  { name: 'Catalogue', description: 'Items and their prices; all plans' },
  { name: 'Account', description: 'Your account, key and limits; all plans' },
  { name: 'Listings', description: 'Search the marketplace and manage your own listings; Plus and Enterprise' },
  { name: 'Collections', description: 'Your collections and what they are worth; Plus and Enterprise' },
  { name: 'Watches', description: 'Prices and offers that you want to hear of, and your want list; Plus and Enterprise' },
  { name: 'Webhook', description: `Signed notifications of your sales and expiries; Plus and Enterprise.\n${VERIFICATION}` },
  { name: 'Sandbox', description: 'A marketplace of your own with a clock that you move, to test an integration; Plus and Enterprise' },
] as const

const notification = (operationId: string, summary: string, schema: object, example: object) => ({
  post: {
    operationId,
    summary,
    security: [],
    tags: ['Webhook'],
    requestBody: { content: { 'application/json': { schema, example } } },
    responses: { '2XX': { description: 'Notification received. Any other status is a failure; it is retried after 30 seconds and 5 minutes' } },
  },
})

/** What the service posts to a webhook. */
export const NOTIFICATIONS = {
  sale: notification('receiveSale', 'Order line sold', SaleEventSchema, {
    event: 'sale',
    sent_at: '2026-11-21T11:40:59+03:00',
    data: {
      order_id: 900001,
      listing_id: 3001,
      item_name: 'Charizard',
      quantity: 1,
      unit_price: 1250.5,
      seller_payout: 1125.45,
      sold_at: '2026-11-21T11:40:59+03:00',
    },
  }),
  expire: notification('receiveExpiry', 'Publication period of a listing ended', ExpireEventSchema, {
    event: 'expire',
    sent_at: '2026-12-21T11:41:00+03:00',
    data: { listing_id: 3001, title: 'Charizard, Base Set, near mint', expired_at: '2026-12-21T11:40:59+03:00' },
  }),
}
