// Replaces the secret of the account's webhook; the previous one stays valid for a day, so that receivers can switch.
import { conflict, ServiceError } from '#core/errors.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { localTime } from '#core/time.ts'
import { maySeeSecrets, ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { newSecret, OVERLAP_MS } from './delivery/secrets.ts'
import { previousValidUntil, rotateSecret } from './webhook-store.ts'
import type { WebhookCtx } from './webhook-types.ts'

export const RotatedSecretSchema = Type.Object(
  {
    secret: Type.String({ description: 'The new secret, 48 characters' }),
    previous_valid_until: Type.String({ format: 'date-time', description: 'Until when notifications are also signed with the previous secret' }),
  },
  { title: 'RotatedSecret', description: 'The new secret of a webhook' },
)
export type RotatedSecret = Static<typeof RotatedSecretSchema>

export const rotateWebhookSecret = writeVerb(
  {
    name: 'rotateWebhookSecret',
    needs: OPERATION_PLAN.rotateWebhookSecret,
    secret: true,
    // A secret that is never used would only mislead.
    rehearsable: false,
    input: Type.Object({}),
  },
  async ({ webhooks: { sealing, zone }, ...ctx }: WebhookCtx): Promise<RotatedSecret> => {
    const accountId = ownAccount(ctx.viewer)
    // Otherwise the previous secret could expire before anyone has seen the new one.
    if (!maySeeSecrets(ctx.viewer)) throw new ServiceError('FORBIDDEN', reason('full_key_only'))
    return change(ctx, async (tx, note) => {
      const now = ctx.now()
      const secret = newSecret()
      const validUntil = new Date(now.getTime() + OVERLAP_MS)
      if (!(await rotateSecret(tx, accountId, sealing.seal(secret, accountId), { now, validUntil }))) {
        const until = await previousValidUntil(tx, accountId)
        throw until ? conflict('secret_rotated', { until: localTime(until, zone) }) : conflict('webhook_missing')
      }
      const rotated = { secret, previous_valid_until: localTime(validUntil, zone) }
      note.audit({
        action: 'webhook.rotate-secret',
        subject: 'webhook',
        id: accountId,
        after: { previous_valid_until: rotated.previous_valid_until },
      })
      return rotated
    })
  },
)
