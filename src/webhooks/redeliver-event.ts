// Operator: delivers an event again, with the same bytes and the same id, in up to three further attempts.
import { conflict } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { isWebhookKind } from './events/event-body.ts'
import { findWebhook, lockEvent, noWebhook, requeueEvent } from './webhook-store.ts'

export const redeliverEvent = verb(
  { name: 'redeliverEvent', needs: 'support', input: Type.Object({ id: id('webhook event') }) },
  (ctx: WriteCtx, { id }) =>
    change(ctx, async (tx, note) => {
      const before = await lockEvent(tx, id)
      if (!isWebhookKind(before.event)) throw conflict('feed_only')
      if (!(await findWebhook(tx, before.account_id))) throw noWebhook(before.account_id)
      if (before.state === 'queued') throw conflict('already', { thing: 'webhook event', state: 'queued' })
      const after = await requeueEvent(tx, before, ctx.now())
      note.audit({ action: 'webhook_event.redeliver', subject: 'webhook_event', id, before, after })
      return after
    }),
)
