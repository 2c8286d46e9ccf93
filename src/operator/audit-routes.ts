// Operator API: the audit log.
import { listAudit } from '#audit/list-audit.ts'
import { type AuditCtx, AuditRowSchema } from '#audit/audit-types.ts'
import { paged, type Route } from '#http/route.ts'

export const auditRoutes: Route<AuditCtx>[] = [
  {
    path: '/audit',
    ...paged(listAudit, AuditRowSchema),
    summary: 'List audit log entries, newest first',
    tag: 'Audit',
  },
]
