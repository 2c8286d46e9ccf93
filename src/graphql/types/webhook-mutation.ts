// The mutations of the webhook (interface.md, "GraphQL").
import { checkWebhook } from '#webhooks/check-webhook.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { deleteWebhook } from '#webhooks/delete-webhook.ts'
import { type Check, CheckSchema } from '#webhooks/delivery/probes.ts'
import { replayEvents } from '#webhooks/replay-events.ts'
import { RotatedSecretSchema, rotateWebhookSecret } from '#webhooks/rotate-webhook-secret.ts'
import { TestQueuedSchema, testWebhook } from '#webhooks/test-webhook.ts'
import { SIGNATURE_NOTE, WebhookSchema } from '#webhooks/webhook-types.ts'
import { withoutNulls } from '../building/arguments.ts'
import type { Builder } from '../building/builder.ts'
import { argumentsFrom, inputFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields } from './mutating.ts'
import { messageType } from './results.ts'

export function implementWebhookMutations(builder: Builder): void {
  const input = inputFrom(builder, configureWebhook.input, {
    name: 'WebhookInput',
    description: 'The complete webhook: omitted fields get their default.',
  })
  const webhook = objectFrom(builder, WebhookSchema)
  builder.objectField(webhook, 'note', (t) =>
    t.string({ nullable: false, description: 'How to verify the signature.', resolve: () => SIGNATURE_NOTE }),
  )
  builder.mutationField('configureWebhook', (t) =>
    t.field({
      type: webhook,
      description: 'Creates or replaces your webhook.',
      args: { input: t.arg({ type: input, required: true, description: 'The webhook.' }) },
      resolve: (_root, args, ctx, info) => callByFields(configureWebhook, ctx, info, withoutNulls(args.input)),
    }),
  )
  addSecretAndDeletion(builder)
  addTest(builder)
  addCheck(builder)
  addReplay(builder)
}

function addSecretAndDeletion(builder: Builder): void {
  const rotated = objectFrom(builder, RotatedSecretSchema)
  const deleted = messageType(builder, 'WebhookDeletion', 'Result of deleting a webhook.')
  builder.mutationFields((t) => ({
    rotateWebhookSecret: t.field({
      type: rotated,
      description: 'Replaces the secret of your webhook; for 24 hours, notifications are signed with the previous secret, too.',
      resolve: (_root, _args, ctx, info) => callByFields(rotateWebhookSecret, ctx, info, {}),
    }),
    deleteWebhook: t.field({
      type: deleted,
      description: 'Deletes your webhook and its secret, and cancels pending deliveries.',
      resolve: (_root, _args, ctx, info) => callByFields(deleteWebhook, ctx, info, {}),
    }),
  }))
}

function addTest(builder: Builder): void {
  const queued = objectFrom(builder, TestQueuedSchema, { types: { id: 'String' } })
  builder.mutationField('testWebhook', (t) =>
    t.field({
      type: queued,
      description: 'Sends your webhook a signed event with made-up data, marked by the header `webhook-test: true`.',
      args: argumentsFrom(t.arg, testWebhook.input),
      resolve: (_root, args, ctx, info) => callByFields(testWebhook, ctx, info, args),
    }),
  )
}

function addCheck(builder: Builder): void {
  const check = objectFrom(builder, CheckSchema)
  const result = builder.objectRef<{ checks: Check[] }>('WebhookCheckResult').implement({
    description: 'Result of a check.',
    fields: (t) => ({
      checks: t.field({ type: [check], nullable: { list: false, items: false }, description: 'In the order sent.', resolve: ({ checks }) => checks }),
    }),
  })
  builder.mutationField('checkWebhook', (t) =>
    t.field({
      type: result,
      description: 'Sends your webhook valid and forged notifications, marked by the header `webhook-check: true`; once a minute.',
      resolve: (_root, _args, ctx, info) => callByFields(checkWebhook, ctx, info, {}),
    }),
  )
}

function addReplay(builder: Builder): void {
  const result = builder.objectRef<{ queued: number }>('ReplayResult').implement({
    description: 'Number of events to post again.',
    fields: (t) => ({ queued: t.exposeInt('queued', { nullable: false, description: 'Number of events to post.' }) }),
  })
  builder.mutationField('replayEvents', (t) =>
    t.field({
      type: result,
      description: 'Posts events from the feed again, with one attempt each; once a minute, at most 10,000 events.',
      args: argumentsFrom(t.arg, replayEvents.input),
      resolve: (_root, args, ctx, info) => callByFields(replayEvents, ctx, info, withoutNulls(args)),
    }),
  )
}
