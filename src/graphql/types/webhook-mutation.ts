// The mutations of the webhook (interface.md, "GraphQL").
import { checkWebhook } from '#webhooks/check-webhook.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { EVENT_KINDS, type EventKind } from '#webhooks/events/event-body.ts'
import { deleteWebhook } from '#webhooks/delete-webhook.ts'
import type { Check } from '#webhooks/delivery/probes.ts'
import { replayEvents } from '#webhooks/replay-events.ts'
import { type RotatedSecret, rotateWebhookSecret } from '#webhooks/rotate-webhook-secret.ts'
import { testWebhook } from '#webhooks/test-webhook.ts'
import { SIGNATURE_NOTE, type Webhook } from '#webhooks/types.ts'
import { withoutNulls } from '../building/arguments.ts'
import type { Builder } from '../building/builder.ts'
import { callByFields } from './mutating.ts'

export function implementWebhookMutations(builder: Builder): void {
  const input = builder.inputType('WebhookInput', {
    description: 'The complete webhook: omitted fields get their default.',
    fields: (t) => ({
      url: t.string({ required: true, description: 'URL that receives notifications; at most 500 characters.' }),
      onSale: t.boolean({ description: 'Notify about each order line sold; default: false.' }),
      onExpire: t.boolean({ description: 'Notify about each publication period that ends; default: false.' }),
      isActive: t.boolean({ description: 'false pauses delivery; default: true.' }),
    }),
  })
  const webhook = builder.objectRef<Webhook>('Webhook').implement({
    description: 'Webhook that notifies the account about its sales and expiries.',
    fields: (t) => ({
      url: t.exposeString('url', { nullable: false, description: 'URL that receives notifications.' }),
      onSale: t.exposeBoolean('on_sale', { nullable: false, description: 'Whether sales are notified.' }),
      onExpire: t.exposeBoolean('on_expire', { nullable: false, description: 'Whether expiries are notified.' }),
      isActive: t.exposeBoolean('is_active', { nullable: false, description: 'Whether notifications are delivered.' }),
      secret: t.exposeString('secret', {
        description: '48 characters, generated on the first save; null for keys that are read-only or restricted to origins.',
      }),
      note: t.string({ nullable: false, description: 'How to verify the signature.', resolve: () => SIGNATURE_NOTE }),
    }),
  })
  builder.mutationField('configureWebhook', (t) =>
    t.field({
      type: webhook,
      description: 'Creates or replaces your webhook.',
      args: { input: t.arg({ type: input, required: true, description: 'The webhook.' }) },
      resolve: (_root, args, ctx, info) => {
        const sent = Object.entries(args.input).filter(([, value]) => value !== null)
        return callByFields(configureWebhook, ctx, info, Object.fromEntries(sent))
      },
    }),
  )
  addSecretAndDeletion(builder)
  addTest(builder)
  addCheck(builder)
  addReplay(builder)
}

function addSecretAndDeletion(builder: Builder): void {
  const rotated = builder.objectRef<RotatedSecret>('RotatedSecret').implement({
    description: 'The new secret of a webhook.',
    fields: (t) => ({
      secret: t.exposeString('secret', { nullable: false, description: 'The new secret, 48 characters.' }),
      previousValidUntil: t.exposeString('previous_valid_until', {
        nullable: false,
        description: 'Until when notifications are also signed with the previous secret; local time with offset.',
      }),
    }),
  })
  const deleted = builder.objectRef<{ message: string }>('WebhookDeletion').implement({
    description: 'Result of deleting a webhook.',
    fields: (t) => ({
      success: t.boolean({ nullable: false, description: 'Always true: a failed mutation returns null and an error.', resolve: () => true }),
      message: t.exposeString('message', { nullable: false, description: 'Human-readable message.' }),
    }),
  })
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
  const queued = builder.objectRef<{ id: string; event: EventKind }>('TestQueued').implement({
    description: 'A queued test event.',
    fields: (t) => ({
      id: t.exposeString('id', { nullable: false, description: 'The `webhook-id` of the notification.' }),
      event: t.exposeString('event', { nullable: false, description: 'Data sent to the webhook.' }),
    }),
  })
  builder.mutationField('testWebhook', (t) =>
    t.field({
      type: queued,
      description: 'Sends your webhook a signed event with made-up data, marked by the header `webhook-test: true`.',
      args: { event: t.arg.string({ required: true, description: `What to send: ${EVENT_KINDS.map((kind) => `\`${kind}\``).join(' or ')}.` }) },
      resolve: (_root, args, ctx, info) => callByFields(testWebhook, ctx, info, args),
    }),
  )
}

function addCheck(builder: Builder): void {
  const check = builder.objectRef<Check>('WebhookCheck').implement({
    description: "One notification of a check and the receiver's response.",
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false, description: 'Notification that was sent.' }),
      expected: t.exposeString('expected', { nullable: false, description: 'Expected response.' }),
      got: t.exposeString('got', { nullable: false, description: 'Response received, and how long it took.' }),
      ok: t.exposeBoolean('ok', { nullable: false, description: 'Whether the response is correct.' }),
      howToFix: t.exposeString('how_to_fix', { description: 'What to change; null if it is correct.' }),
      fix: t.exposeString('fix', { description: 'Machine-readable name of `howToFix`.' }),
    }),
  })
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
      args: {
        after: t.arg.string({ description: 'Only events after this cursor; default: from the oldest stored event.' }),
        until: t.arg.string({ description: 'Only events up to this cursor, inclusive; default: up to the latest event.' }),
      },
      resolve: (_root, args, ctx, info) => callByFields(replayEvents, ctx, info, withoutNulls(args)),
    }),
  )
}
