// Operator API: notices of infringement with their clock and their decisions.
import { paged, type Route } from '#http/route.ts'
import { decideNotice } from '#market/notices/decide-notice.ts'
import { getNotice, listNotices, receiveNotice } from '#market/notices/notices.ts'
import { type Notice, type NoticeCtx, NoticeSchema } from '#market/notices/notice-types.ts'

const tag = 'Notices'

export const noticeRoutes: Route<NoticeCtx>[] = [
  {
    method: 'POST',
    path: '/notices',
    verb: receiveNotice,
    summary: 'Record a notice of infringement',
    description: 'Somebody claims that a listing infringes a right. The notice must be decided within `NOTICE_HOURS`; later it is overdue.',
    tag,
    status: 201,
    answer: (notice: Notice) => ({ data: notice, message: 'Notice recorded' }),
    data: NoticeSchema,
    errors: ['INVALID_JSON'],
  },
  {
    path: '/notices',
    ...paged(listNotices, NoticeSchema),
    summary: 'List notices: open ones first, by due time, then decided ones',
    tag,
  },
  {
    method: 'GET',
    path: '/notices/:id',
    verb: getNotice,
    summary: 'Read a notice',
    tag,
    answer: (notice: Notice) => ({ data: notice }),
    data: NoticeSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/notices/:id/decide',
    verb: decideNotice,
    summary: 'Decide a notice: hide the listing or keep it',
    description: 'Hiding rejects the listing, in the same transaction, unless it is sold, rejected or deleted. A notice is decided once.',
    tag,
    answer: (notice: Notice) => ({ data: notice, message: 'Decision made' }),
    data: NoticeSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
]
