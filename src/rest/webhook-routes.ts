// The public webhook endpoints (interface.md, "Webhook (Plus)").
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { getWebhook } from '#webhooks/get-webhook.ts'
import { listWebhookLogs } from '#webhooks/list-webhook-logs.ts'
import { SIGNATURE_NOTE, type Webhook, type WebhookCtx, type WebhookLog, WebhookLogSchema, WebhookSchema } from '#webhooks/types.ts'

const tag = 'Webhook'

export const webhookRoutes: Route<WebhookCtx>[] = [
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
    answer: (webhook: Webhook) => ({ data: webhook, message: 'The webhook is saved' }),
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
]
