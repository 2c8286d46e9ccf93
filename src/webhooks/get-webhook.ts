// Returns the account's webhook configuration; null if it has none.
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { visibleTo } from './delivery/secrets.ts'
import { findWebhook } from './webhook-store.ts'
import type { Webhook, WebhookReadCtx } from './webhook-types.ts'

export const getWebhook = verb(
  { name: 'getWebhook', needs: OPERATION_PLAN.getWebhook, secret: true, input: Type.Object({}) },
  async ({ db, viewer, webhooks }: WebhookReadCtx): Promise<Webhook | null> => {
    const accountId = ownAccount(viewer)
    const found = await findWebhook(db.kysely, accountId)
    return found && visibleTo(viewer, { ...found.settings, secret: webhooks.sealing.unseal(found.sealedSecret, accountId) })
  },
)
