// Checks the account's webhook with valid and forged notifications, and reports the receiver's responses.
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change, earlierResult } from '#db/changes/change.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { messageId } from './events/notification.ts'
import { type Check, judge, sendProbes } from './delivery/probes.ts'
import { secretsOf } from './delivery/secrets.ts'
import { activeWebhook, insertCheck, recordCheck } from './webhook-store.ts'
import { postedBody } from './events/event-body.ts'
import { testBody } from './test-event.ts'
import { takeTurn } from './delivery/turns.ts'
import type { WebhookCtx } from './webhook-types.ts'

export const checkWebhook = writeVerb(
  { name: 'checkWebhook', needs: OPERATION_PLAN.checkWebhook, rehearsable: false, input: Type.Object({}) },
  async (ctx: WebhookCtx): Promise<{ checks: Check[] }> => {
    const { db, now, webhooks } = ctx
    const accountId = ownAccount(ctx.viewer)
    const earlier = await earlierResult<{ checks: Check[] }>(ctx)
    if (earlier) return earlier
    const body = postedBody(testBody('sale', { now: now(), zone: webhooks.zone }), webhooks.livemode)
    // No transaction is open while waiting for the receiver's responses.
    const { eventId, webhook } = await inTransaction(db, async (tx) => {
      const webhook = await activeWebhook(tx, accountId, now())
      await takeTurn(tx, accountId, 'check', now())
      const eventId = await insertCheck(tx, accountId, body, now())
      return { eventId, webhook }
    })
    const secrets = secretsOf(webhook, webhooks.sealing)
    const probed = await sendProbes({ url: new URL(webhook.url), secrets, id: messageId(eventId), body }, now, webhooks)
    return change(ctx, async (tx, note) => {
      await recordCheck(tx, { eventId, accountId }, probed)
      const checks = probed.map(judge)
      const wrong = checks.filter(({ ok }) => !ok).map(({ name }) => name)
      note.audit({ action: 'webhook.check', subject: 'webhook', id: accountId, after: { wrong } })
      return { checks }
    })
  },
)
