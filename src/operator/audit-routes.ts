// Operator API: who changed what and when.
import { listAudit } from '#accounts/list-audit.ts'
import { type AuditRow, AuditRowSchema } from '#accounts/types.ts'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Route } from '#http/route.ts'

export const auditRoutes: Route<WriteCtx>[] = [
  {
    method: 'GET',
    path: '/audit',
    verb: listAudit,
    summary: 'List audit log entries, newest first',
    tag: 'Audit',
    answer: ({ rows, pagination }: Page<AuditRow>) => ({ data: rows, pagination }),
    data: Type.Array(AuditRowSchema),
    paged: true,
  },
]
