// The public webhook endpoints (interface.md, "Webhook (Plus)").
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { paged, type Route } from '#http/route.ts'
import { checkWebhook } from '#webhooks/check-webhook.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { deleteWebhook } from '#webhooks/delete-webhook.ts'
import { getWebhook } from '#webhooks/get-webhook.ts'
import { listWebhookLogs } from '#webhooks/list-attempts.ts'
import { CheckSchema, type Check } from '#webhooks/delivery/probes.ts'
import { readEvents } from '#webhooks/read-events.ts'
import { replayEvents } from '#webhooks/replay-events.ts'
import { type RotatedSecret, RotatedSecretSchema, rotateWebhookSecret } from '#webhooks/rotate-webhook-secret.ts'
import { TestQueuedSchema, testWebhook } from '#webhooks/test-webhook.ts'
import {
  type AccountEvents,
  AccountEventSchema,
  type FeedCtx,
  SIGNATURE_NOTE,
  type Webhook,
  type WebhookCtx,
  WebhookLogSchema,
  WebhookSchema,
} from '#webhooks/webhook-types.ts'

const tag = 'Webhook'

export const webhookRoutes: Route<WebhookCtx & FeedCtx>[] = [
  {
    method: 'GET',
    path: '/plus/webhook',
    verb: getWebhook,
    summary: 'Read your webhook',
    description: '`data` is null if none is set; `note` explains how to verify the signature.',
    tag,
    answer: (webhook: Webhook | null) => ({ data: webhook, extra: { note: SIGNATURE_NOTE } }),
    data: orNull(WebhookSchema),
    extra: { note: Type.String({ description: 'How to verify the signature' }) },
  },
  {
    method: 'PUT',
    path: '/plus/webhook',
    verb: configureWebhook,
    summary: 'Create or replace your webhook',
    description: 'Omitted fields get their default. The secret is generated on the first save; later ones do not change it.',
    tag,
    answer: (webhook: Webhook) => ({ data: webhook, message: 'Webhook saved' }),
    data: WebhookSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'DELETE',
    path: '/plus/webhook',
    verb: deleteWebhook,
    summary: 'Delete your webhook',
    description:
      'Deletes its secret and cancels pending deliveries. Your events stay in the feed. A webhook saved later gets a new secret. Without a webhook, nothing changes.',
    tag,
    status: 204,
    answer: () => ({ data: undefined }),
  },
  {
    method: 'POST',
    path: '/plus/webhook/rotate-secret',
    verb: rotateWebhookSecret,
    summary: 'Replace the secret of your webhook',
    description:
      'For 24 hours, notifications are signed with the previous secret, too: `webhook-signature` has the signatures with both, `X-Service-Signature` uses the previous one in the first and third attempt and the new one in the second. Until then, another rotation is rejected with `CONFLICT`. Keys that are read-only or restricted to origins cannot rotate.',
    tag,
    answer: (rotated: RotatedSecret) => ({ data: rotated, message: 'Secret rotated' }),
    data: RotatedSecretSchema,
    errors: ['CONFLICT', 'FORBIDDEN', 'INVALID_JSON'],
  },
  {
    path: '/plus/webhook/logs',
    ...paged(listWebhookLogs, WebhookLogSchema),
    summary: 'List delivery attempts, newest first',
    tag,
  },
  {
    method: 'POST',
    path: '/plus/webhook/test',
    verb: testWebhook,
    summary: 'Send your webhook a signed test event',
    description:
      'The event has sample data, is sent regardless of the enabled event kinds, has the header `webhook-test: true` and is marked in the log. It is not part of the feed.',
    tag,
    answer: (queued: Static<typeof TestQueuedSchema>) => ({ data: queued, message: 'Test event queued' }),
    data: TestQueuedSchema,
    errors: ['CONFLICT', 'INVALID_JSON'],
  },
  {
    method: 'POST',
    path: '/plus/webhook/check',
    verb: checkWebhook,
    summary: 'Check how your receiver verifies notifications',
    description:
      'Sends valid, altered, unsigned, old and repeated notifications of a sample sale, with the headers `webhook-check: true` and `webhook-test: true`, and reports the expected and actual response and what to change. Allowed once a minute; takes up to 40 seconds. The check cannot see whether a receiver processes a repeated notification only once.',
    tag,
    answer: (checked: { checks: Check[] }) => ({ data: checked }),
    data: Type.Object({ checks: Type.Array(CheckSchema) }),
    errors: ['CONFLICT'],
  },
  {
    method: 'GET',
    path: '/plus/events',
    verb: readEvents,
    summary: 'Read your sales, expiries and changes of offers in commit order',
    description:
      'The same `event`, `sent_at` and `data` as in the notification, including events not delivered to your webhook; kept for 90 days. Send `next` as `after` with the next request. With `wait`, the response is sent as soon as there is an event, or is empty after that many seconds.',
    tag,
    answer: ({ events, next }: AccountEvents) => ({ data: events, extra: { next } }),
    data: Type.Array(AccountEventSchema),
    extra: { next: Type.String({ description: 'Cursor for the next request, also if `data` is empty' }) },
    errors: ['CURSOR_EXPIRED'],
  },
  {
    method: 'POST',
    path: '/plus/events/replay',
    verb: replayEvents,
    summary: 'Replay events from the feed',
    description:
      'Makes one attempt for each event whose kind is enabled, with its original id and body, after all other pending events. Attempts are marked in the log and do not affect the health of your receiver. Events that already have a pending attempt are skipped. At most 10,000 events, once a minute.',
    tag,
    answer: (replayed: { queued: number }) => ({ data: replayed, message: 'Replay queued' }),
    data: Type.Object({ queued: Type.Integer({ description: 'Number of events to post' }) }, { title: 'Replay' }),
    errors: ['CONFLICT', 'CURSOR_EXPIRED', 'INVALID_JSON'],
  },
]
