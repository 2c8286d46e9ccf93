// Operator API: the audit log.
import { listAudit } from '#audit/list-audit.ts'
import { type AuditCtx, type AuditRow, AuditRowSchema } from '#audit/types.ts'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'

export const auditRoutes: Route<AuditCtx>[] = [
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
