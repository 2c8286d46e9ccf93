// Replays events from the feed, with one attempt each and no effect on the health of the receiver.
import { invalid, ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { eventCursor, positionOf } from './events/event-cursor.ts'
import { isOutside } from './event-feed.ts'
import { feedBounds } from './event-positions.ts'
import { queueReplay } from './delivery/queue.ts'
import { activeWebhook } from './webhook-store.ts'
import { takeTurn } from './delivery/turns.ts'
import type { WebhookCtx } from './webhook-types.ts'

const MAX_EVENTS = 10_000

export const replayEvents = writeVerb(
  {
    name: 'replayEvents',
    needs: OPERATION_PLAN.replayEvents,
    input: Type.Object(
      {
        after: eventCursor('Only events after this cursor; default: from the oldest stored event'),
        until: eventCursor('Only events up to this cursor, inclusive; default: up to the latest event'),
      },
      { additionalProperties: false, minProperties: 1 },
    ),
  },
  (ctx: WebhookCtx, input): Promise<{ queued: number }> => {
    const accountId = ownAccount(ctx.viewer)
    const after = positionOf('after', input.after, accountId)
    const until = positionOf('until', input.until, accountId)
    if (after !== null && until !== null && after >= until) throw invalid('after', 'before', { field: 'until' })
    return change(ctx, async (tx, note) => {
      const now = ctx.now()
      await activeWebhook(tx, accountId, now)
      const bounds = await feedBounds(tx, accountId)
      if (isOutside(after, bounds) || isOutside(until, bounds)) throw new ServiceError('CURSOR_EXPIRED', reason('events_forgotten'))
      const range = { after: Math.max(after ?? 0, bounds.forgotten), until: until ?? bounds.last }
      const count = range.until - range.after
      if (count > MAX_EVENTS) throw invalid('after', 'replay_size', { max: MAX_EVENTS, count, field: 'until' })
      await takeTurn(tx, accountId, 'replay', now)
      const queued = await queueReplay(tx, accountId, range, now)
      note.audit({ action: 'webhook_event.replay', subject: 'webhook', id: accountId, after: { ...input, queued } })
      return { queued }
    })
  },
)
