// The mutations of the webhook (interface.md, "GraphQL"; additions.md, "Listings and sellers").
import { checkWebhook } from '#webhooks/check-webhook.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { EVENT_KINDS, type EventKind } from '#webhooks/event-body.ts'
import type { Check } from '#webhooks/probes.ts'
import { replayEvents } from '#webhooks/replay-events.ts'
import { testWebhook } from '#webhooks/test-webhook.ts'
import { SIGNATURE_NOTE, type Webhook } from '#webhooks/types.ts'
import { sent } from './arguments.ts'
import type { Builder } from './builder.ts'
import { callByFields } from './mutating.ts'

export function implementWebhookMutations(builder: Builder): void {
  const input = builder.inputType('WebhookInput', {
    description: 'The webhook as a whole: what is not sent takes its default.',
    fields: (t) => ({
      url: t.string({ required: true, description: 'Where notifications are posted; at most 500 characters.' }),
      onSale: t.boolean({ description: 'Notify of each order line sold; false unless sent.' }),
      onExpire: t.boolean({ description: 'Notify of each publication period that ends; false unless sent.' }),
      isActive: t.boolean({ description: 'false pauses delivery; true unless sent.' }),
    }),
  })
  const webhook = builder.objectRef<Webhook>('Webhook').implement({
    description: 'Where the account is notified of its sales and expiries.',
    fields: (t) => ({
      url: t.exposeString('url', { nullable: false, description: 'Where notifications are posted.' }),
      onSale: t.exposeBoolean('on_sale', { nullable: false, description: 'Whether sales are notified.' }),
      onExpire: t.exposeBoolean('on_expire', { nullable: false, description: 'Whether expiries are notified.' }),
      isActive: t.exposeBoolean('is_active', { nullable: false, description: 'Whether notifications are delivered.' }),
      secret: t.exposeString('secret', {
        nullable: false,
        description: '48 characters; made at the first save, the same for ever.',
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
  addTest(builder)
  addCheck(builder)
  addReplay(builder)
}

function addTest(builder: Builder): void {
  const queued = builder.objectRef<{ id: string; event: EventKind }>('TestQueued').implement({
    description: 'A test event that was queued.',
    fields: (t) => ({
      id: t.exposeString('id', { nullable: false, description: 'The `webhook-id` of the notification.' }),
      event: t.exposeString('event', { nullable: false, description: 'What is sent.' }),
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
    description: 'One notification of a check, and what the answer to it says of the receiver.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false, description: 'What was sent.' }),
      expected: t.exposeString('expected', { nullable: false, description: 'What a correct receiver answers.' }),
      got: t.exposeString('got', { nullable: false, description: 'What the receiver answered, and after how long.' }),
      ok: t.exposeBoolean('ok', { nullable: false, description: 'Whether that is correct.' }),
      howToFix: t.exposeString('how_to_fix', { description: 'What to change; null where it is correct.' }),
    }),
  })
  const result = builder.objectRef<{ checks: Check[] }>('WebhookCheckResult').implement({
    description: 'What a check has found.',
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
    description: 'How many events will be posted again.',
    fields: (t) => ({ queued: t.exposeInt('queued', { nullable: false, description: 'How many events will be posted.' }) }),
  })
  builder.mutationField('replayEvents', (t) =>
    t.field({
      type: result,
      description: 'Posts events of the feed again, each in one attempt; once a minute, at most 10,000.',
      args: {
        after: t.arg.string({ description: 'Events after this cursor; from the first that is kept when not sent.' }),
        until: t.arg.string({ description: 'Events up to this cursor, itself included; up to the newest when not sent.' }),
      },
      resolve: (_root, args, ctx, info) => callByFields(replayEvents, ctx, info, sent(args)),
    }),
  )
}
