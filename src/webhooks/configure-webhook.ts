// Creates or replaces the account's webhook; its secret is generated on the first save and not changed by later ones.
import { invalidFields } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { MAX_URL_LENGTH } from '#outbound/target-guard.ts'
import { newSecret, visibleTo } from './delivery/secrets.ts'
import { lockSettings, saveWebhook } from './webhook-store.ts'
import type { Webhook, WebhookCtx } from './webhook-types.ts'

const flag = (fallback: boolean, description: string) => Type.Optional(Type.Boolean({ default: fallback, description }))

export const configureWebhook = writeVerb(
  {
    name: 'configureWebhook',
    needs: OPERATION_PLAN.configureWebhook,
    secret: true,
    input: Type.Object({
      url: Type.String({
        description: `HTTPS URL that receives notifications, at most ${MAX_URL_LENGTH} characters`,
        allowed: reason('url'),
      }),
      on_sale: flag(false, 'Notify about each order line sold'),
      on_expire: flag(false, 'Notify about each publication period that ends'),
      is_active: flag(true, 'false pauses delivery'),
    }),
  },
  async ({ webhooks: { guard, sealing }, ...ctx }: WebhookCtx, { url, on_sale = false, on_expire = false, is_active = true }): Promise<Webhook> => {
    const problem = guard.problemOf(url)
    if (problem) throw invalidFields([{ field: 'url', ...problem }])
    const accountId = ownAccount(ctx.viewer)
    const settings = { url, on_sale, on_expire, is_active }
    const webhook = await change(ctx, async (tx, note): Promise<Webhook> => {
      const before = await lockSettings(tx, accountId)
      const saved = await saveWebhook(tx, accountId, settings, sealing.seal(newSecret(), accountId), ctx.now())
      note.audit({
        action: 'webhook.configure',
        subject: 'webhook',
        id: accountId,
        before,
        after: settings,
      })
      return { ...settings, secret: sealing.unseal(saved, accountId) }
    })
    return visibleTo(ctx.viewer, webhook)
  },
)
