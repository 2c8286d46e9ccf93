// Deletes the account's webhook with its secret; pending deliveries are cancelled, and the feed keeps all events.
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { cancelPending } from './delivery/queue.ts'
import { removeWebhook } from './webhook-store.ts'
import type { WebhookCtx } from './webhook-types.ts'

export const deleteWebhook = writeVerb(
  { name: 'deleteWebhook', needs: OPERATION_PLAN.deleteWebhook, input: Type.Object({}) },
  (ctx: WebhookCtx): Promise<{ message: MessageText }> => {
    const accountId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      const before = await removeWebhook(tx, accountId)
      if (!before) return { message: 'No webhook was set' }
      await cancelPending(tx, accountId)
      note.audit({ action: 'webhook.delete', subject: 'webhook', id: accountId, before })
      return { message: 'Webhook deleted' }
    })
  },
)
