// Operator: sends an account's webhook a signed test event, regardless of the enabled kinds.
import { conflict } from '#core/errors.ts'
import { existing, id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { EVENT_KINDS } from './events/event-body.ts'
import { fetchAccountWebhook, lockEvent, noWebhook } from './webhook-store.ts'
import { queueTestEvent } from './test-event.ts'
import type { WebhookCtx, WebhookEvent } from './webhook-types.ts'

export const sendTestEvent = verb(
  {
    name: 'sendTestEvent',
    needs: 'support',
    input: Type.Object({ account_id: id('account'), event: Type.Enum([...EVENT_KINDS]) }),
  },
  (ctx: WebhookCtx, { account_id: accountId, event }): Promise<WebhookEvent> =>
    change(ctx, async (tx, note) => {
      const found = await fetchAccountWebhook(tx, existing('account', accountId))
      if (!found) throw missing('account', accountId)
      if (!found.webhook) throw noWebhook(accountId)
      if (found.suspended) throw conflict('account_suspended')
      if (!found.webhook.is_active) throw conflict('webhook_paused')
      const id = await queueTestEvent(tx, accountId, event, { now: ctx.now(), zone: ctx.webhooks.zone })
      const queued = await lockEvent(tx, id)
      note.audit({ action: 'webhook_event.test', subject: 'webhook_event', id: queued.id, after: queued })
      return queued
    }),
)
