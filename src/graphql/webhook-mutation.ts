// The mutation of the webhook (interface.md, "GraphQL").
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { SIGNATURE_NOTE, type Webhook } from '#webhooks/types.ts'
import type { Builder } from './builder.ts'
import { callByFields } from './mutating.ts'

export function implementWebhookMutation(builder: Builder): void {
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
}
