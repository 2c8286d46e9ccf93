// Entries of the audit log as returned by verbs, and the context of verbs that read it.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { AuditArchive } from './archive/audit-file.ts'

/** The database and the archive, which together contain the audit log. */
export type AuditCtx = ReadCtx & { auditArchive: AuditArchive }

const State = orNull(Type.Object({}, { additionalProperties: true }))

export const AuditRowSchema = Type.Object(
  {
    id: Type.Integer(),
    at: Type.String({ format: 'date-time', description: 'UTC' }),
    actor: Type.String({ description: '`operator:<name>` or `account:<id>`' }),
    action: Type.String({ description: 'Object and verb, such as `account.create`' }),
    subject_type: Type.String(),
    subject_id: Type.String(),
    before: State,
    after: State,
    request_id: orNull(Type.String()),
  },
  { title: 'AuditRow' },
)
/** `before` and `after` are as they were written. */
export type AuditRow = Static<typeof AuditRowSchema>
