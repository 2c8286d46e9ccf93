// Operator API: notifications of operators.
import type { WriteCtx } from '#db/changes/change.ts'
import { paged, type Route } from '#http/route.ts'
import { type Marked, MarkedSchema, listNotifications, markNotificationsRead } from '#notifications/read-notifications.ts'
import { NotificationSchema } from '#notifications/notification-types.ts'

export const notificationRoutes: Route<WriteCtx>[] = [
  {
    path: '/notifications',
    ...paged(listNotifications, NotificationSchema),
    summary: 'List notifications, latest change first',
    description:
      'Findings of `GET /health` that need attention. Each is told once: it becomes unread again, and is sent again by webhook and e-mail, only when it ' +
      'changes or returns. Resolved ones are kept for 90 days.',
    tag: 'Notifications',
  },
  {
    method: 'POST',
    path: '/notifications/read',
    verb: markNotificationsRead,
    summary: 'Mark open notifications as read for the caller',
    description: 'Each person has their own marks; the callers of a shared token share them.',
    tag: 'Notifications',
    answer: (marked: Marked) => ({ data: marked }),
    data: MarkedSchema,
    errors: ['INVALID_JSON'],
  },
]
