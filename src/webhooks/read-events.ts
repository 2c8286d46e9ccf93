// Reads the account's events in commit order, whatever its webhook has received; waits for the next one if there is none.
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { cursorAt, eventCursor, positionOf } from './events/event-cursor.ts'
import { isOutside } from './event-feed.ts'
import { messageId } from './events/notification.ts'
import type { AccountEvent, AccountEvents, FeedCtx } from './webhook-types.ts'

const MAX_WAIT_SECONDS = 30
const LIMIT = { default: 100, max: 1_000 }

export const readEvents = verb(
  {
    name: 'readEvents',
    needs: OPERATION_PLAN.readEvents,
    input: Type.Object({
      after: eventCursor('Only events after this cursor; default: all stored events'),
      wait: Type.Optional(
        Type.Integer({ minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0, description: 'Seconds to wait for the next event if there is none yet' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT.max, default: LIMIT.default, description: 'Maximum number of events' })),
    }),
  },
  async ({ viewer, events, onDisconnect }: FeedCtx, { after: cursor, wait = 0, limit = LIMIT.default }): Promise<AccountEvents> => {
    const accountId = ownAccount(viewer)
    const after = positionOf('after', cursor, accountId)
    const part = await events.read({ accountId, after, limit }, { ms: wait * 1_000, onDisconnect })
    if (isOutside(after, part)) throw new ServiceError('CURSOR_EXPIRED', reason('events_forgotten'))
    const read = part.events.map(({ position, eventId, body, delivered }) => ({
      id: messageId(eventId),
      cursor: cursorAt(accountId, position),
      // JSON.stringify has written the body, so serialising it again yields the same bytes.
      ...(JSON.parse(body) as Pick<AccountEvent, 'event' | 'sent_at' | 'data'>),
      delivered,
    }))
    return { events: read as AccountEvent[], next: read.at(-1)?.cursor ?? cursor ?? cursorAt(accountId, part.forgotten) }
  },
)
