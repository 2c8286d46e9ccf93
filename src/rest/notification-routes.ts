// Notifications of the account, shown in the desk.
import type { WriteCtx } from '#db/changes/change.ts'
import { paged, type Route } from '#http/route.ts'
import { type Marked, MarkedSchema, listOwnNotifications, markOwnNotificationsRead } from '#notifications/read-notifications.ts'
import { NotificationSchema } from '#notifications/notification-types.ts'

const tag = 'Account'

export const notificationRoutes: Route<WriteCtx & { market: { timeZone: string } }>[] = [
  {
    path: '/plus/notifications',
    ...paged(listOwnNotifications, NotificationSchema),
    summary: 'List your notifications, latest change first',
    description:
      'A webhook whose last event was not delivered, and keys that expire within 7 days. Each is told once: it becomes unread again only when it changes ' +
      'or returns. Resolved ones are kept for 90 days.',
    tag,
  },
  {
    method: 'POST',
    path: '/plus/notifications/read',
    verb: markOwnNotificationsRead,
    summary: 'Mark your open notifications as read',
    description: 'For all keys and users of your account.',
    tag,
    answer: (marked: Marked) => ({ data: marked }),
    data: MarkedSchema,
    errors: ['INVALID_JSON'],
  },
]
