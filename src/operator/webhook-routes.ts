// Operator API: webhook events, redelivery, and test events.
import { orNull } from '#core/fields.ts'
import { paged, type Route } from '#http/route.ts'
import { getAccountWebhook } from '#webhooks/get-account-webhook.ts'
import { listAccountAttempts } from '#webhooks/list-attempts.ts'
import { listWebhookEvents } from '#webhooks/list-events.ts'
import { redeliverEvent } from '#webhooks/redeliver-event.ts'
import { sendTestEvent } from '#webhooks/send-test-event.ts'
import {
  type AccountWebhook,
  AccountWebhookSchema,
  WebhookAttemptSchema,
  type WebhookCtx,
  type WebhookEvent,
  WebhookEventSchema,
} from '#webhooks/webhook-types.ts'

const tag = 'Webhooks'

export const webhookRoutes: Route<WebhookCtx>[] = [
  {
    method: 'GET',
    path: '/accounts/:account_id/webhook',
    verb: getAccountWebhook,
    summary: "Read an account's webhook, without its secret",
    description: '`data` is null if the account has none.',
    tag,
    answer: (webhook: AccountWebhook | null) => ({ data: webhook }),
    data: orNull(AccountWebhookSchema),
    errors: ['NOT_FOUND'],
  },
  {
    path: '/accounts/:account_id/webhook/attempts',
    ...paged(listAccountAttempts, WebhookAttemptSchema),
    summary: "List delivery attempts of an account's webhook, newest first",
    tag,
    errors: ['NOT_FOUND'],
  },
  {
    path: '/webhook-events',
    ...paged(listWebhookEvents, WebhookEventSchema),
    summary: 'List webhook events, newest first',
    tag,
  },
  {
    method: 'POST',
    path: '/webhook-events/:id/redeliver',
    verb: redeliverEvent,
    summary: 'Deliver an event again',
    description: 'Sends the same bytes with the same `webhook-id`, in up to three attempts.',
    tag,
    answer: (event: WebhookEvent) => ({ data: event, message: 'Event queued for redelivery' }),
    data: WebhookEventSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/accounts/:account_id/webhook/test',
    verb: sendTestEvent,
    summary: "Send an account's webhook a signed test event",
    description: 'The event has sample data, is sent regardless of the enabled event kinds, and is marked in the log.',
    tag,
    answer: (event: WebhookEvent) => ({ data: event, message: 'Test event queued' }),
    data: WebhookEventSchema,
    errors: ['CONFLICT', 'INVALID_JSON', 'NOT_FOUND'],
  },
]
