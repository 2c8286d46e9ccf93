// The public webhook endpoints (interface.md, "Webhook (Plus)").
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'
import { checkWebhook } from '#webhooks/check-webhook.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { EVENT_KINDS } from '#webhooks/event-body.ts'
import { getWebhook } from '#webhooks/get-webhook.ts'
import { listWebhookLogs } from '#webhooks/list-webhook-logs.ts'
import { CheckSchema, type Check } from '#webhooks/probes.ts'
import { readEvents } from '#webhooks/read-events.ts'
import { replayEvents } from '#webhooks/replay-events.ts'
import { testWebhook } from '#webhooks/test-webhook.ts'
import {
  type AccountEvents,
  AccountEventSchema,
  type FeedCtx,
  SIGNATURE_NOTE,
  type Webhook,
  type WebhookCtx,
  type WebhookLog,
  WebhookLogSchema,
  WebhookSchema,
} from '#webhooks/types.ts'

const tag = 'Webhook'

const TestQueuedSchema = Type.Object(
  { id: Type.String({ description: 'The `webhook-id` of the notification' }), event: Type.Enum([...EVENT_KINDS]) },
  { title: 'TestQueued' },
)
type TestQueued = Static<typeof TestQueuedSchema>

export const webhookRoutes: Route<WebhookCtx & FeedCtx>[] = [
  {
    method: 'GET',
    path: '/plus/webhook',
    verb: getWebhook,
    summary: 'Read your webhook',
    description: '`data` is null when none is defined; `note` says how to verify the signature.',
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
    description: 'What is not sent takes its default. The secret is made at the first save and never changes.',
    tag,
    answer: (webhook: Webhook) => ({ data: webhook, message: 'Webhook saved' }),
    data: WebhookSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'GET',
    path: '/plus/webhook/logs',
    verb: listWebhookLogs,
    summary: 'Attempts to deliver, newest first',
    tag,
    answer: ({ rows, pagination }: Page<WebhookLog>) => ({ data: rows, pagination }),
    data: Type.Array(WebhookLogSchema),
    paged: true,
  },
  {
    method: 'POST',
    path: '/plus/webhook/test',
    verb: testWebhook,
    summary: 'Send your webhook a signed test event',
    description:
      'Its data are made up; it is sent whichever kinds are switched on, carries the header `webhook-test: true` and is marked in the log. It does not stand in the feed.',
    tag,
    answer: (queued: TestQueued) => ({ data: queued, message: 'Test event queued' }),
    data: TestQueuedSchema,
    errors: ['CONFLICT', 'INVALID_JSON'],
  },
  {
    method: 'POST',
    path: '/plus/webhook/check',
    verb: checkWebhook,
    summary: 'Check how your receiver verifies notifications',
    description:
      'Sends valid, altered, unsigned, old and repeated notifications of a made-up sale, with the headers `webhook-check: true` and `webhook-test: true`, and tells what was expected, what came and what to change. Once a minute; it takes up to 40 seconds. Whether a receiver processes a repeated notification once cannot be seen in its answers.',
    tag,
    answer: (checked: { checks: Check[] }) => ({ data: checked }),
    data: Type.Object({ checks: Type.Array(CheckSchema) }),
    errors: ['CONFLICT'],
  },
  {
    method: 'GET',
    path: '/plus/events',
    verb: readEvents,
    summary: 'Read your sales and expiries in the order of their commits',
    description:
      'The same `event`, `sent_at` and `data` as in the notification, also of events that your webhook did not get; kept for 90 days. Send `next` as `after` of the next request. With `wait` the answer comes as soon as there is an event, and is empty after so many seconds without one.',
    tag,
    answer: ({ events, next }: AccountEvents) => ({ data: events, extra: { next } }),
    data: Type.Array(AccountEventSchema),
    extra: { next: Type.String({ description: 'Cursor for the next request, also where `data` is empty' }) },
    errors: ['CURSOR_EXPIRED'],
  },
  {
    method: 'POST',
    path: '/plus/events/replay',
    verb: replayEvents,
    summary: 'Post events of the feed again',
    description:
      'One attempt for each event whose kind is switched on, with its id and body, after everything else that waits; attempts are marked in the log and do not count for the health of your receiver. Events that wait for an attempt anyway are left out. At most 10,000 at a time, once a minute.',
    tag,
    answer: (replayed: { queued: number }) => ({ data: replayed, message: 'Replay queued' }),
    data: Type.Object({ queued: Type.Integer({ description: 'How many events will be posted' }) }, { title: 'Replay' }),
    errors: ['CONFLICT', 'CURSOR_EXPIRED', 'INVALID_JSON'],
  },
]
