// Sends the account's own webhook a signed test event, regardless of the enabled kinds.
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { EVENT_KINDS } from './events/event-body.ts'
import { messageId } from './events/notification.ts'
import { activeWebhook } from './webhook-store.ts'
import { queueTestEvent } from './test-event.ts'
import type { WebhookCtx } from './webhook-types.ts'

export const TestQueuedSchema = Type.Object(
  { id: Type.String({ description: 'The `webhook-id` of the notification' }), event: Type.Enum([...EVENT_KINDS], { description: 'What is sent' }) },
  { title: 'TestQueued', description: 'A queued test event' },
)

export const testWebhook = writeVerb(
  {
    name: 'testWebhook',
    needs: OPERATION_PLAN.testWebhook,
    input: Type.Object({ event: Type.Enum([...EVENT_KINDS], { description: 'What to send' }) }),
  },
  (ctx: WebhookCtx, { event }): Promise<Static<typeof TestQueuedSchema>> => {
    const accountId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      await activeWebhook(tx, accountId, ctx.now())
      const id = await queueTestEvent(tx, accountId, event, { now: ctx.now(), zone: ctx.webhooks.zone })
      note.audit({ action: 'webhook_event.test', subject: 'webhook_event', id, after: { event } })
      return { id: messageId(id), event }
    })
  },
)
