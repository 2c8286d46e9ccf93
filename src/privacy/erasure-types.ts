// Requests for erasure as operators see them.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { AuditArchive } from '#audit/archive/audit-file.ts'

export const ERASURE_STATES = namedValues('ErasureState', ['running', 'done'])
export const ERASED_KINDS = namedValues('ErasedKind', ['account', 'buyer'])

export const ErasureSchema = Type.Object(
  {
    id: Type.Integer(),
    kind: Type.Enum(ERASED_KINDS, { description: 'Whose data: of an account, or of a buyer by the reference of the shop' }),
    account_id: orNull(Type.Integer()),
    pseudonym: Type.String({ description: 'What is shown in place of the name or the reference' }),
    reason: Type.String(),
    requested_by: Type.String(),
    state: Type.Enum(ERASURE_STATES),
    what: Type.Record(Type.String(), Type.Integer(), { description: 'Rows removed or overwritten, by table' }),
    requested_at: Type.String({ format: 'date-time', description: 'UTC' }),
    finished_at: orNull(Type.String({ format: 'date-time' })),
    storage_at: orNull(
      Type.String({
        format: 'date-time',
        description: 'When the embedded database was rewritten without old row versions; null with another database',
      }),
    ),
  },
  { title: 'Erasure' },
)
export type Erasure = Static<typeof ErasureSchema>

const AnyRow = Type.Object({}, { additionalProperties: true })

/** An export; it is sent row by row. */
export const PersonalDataSchema = Type.Object(
  {
    of: Type.Object({ account_id: Type.Optional(Type.Integer()), buyer_reference: Type.Optional(Type.String()) }, { description: 'The person' }),
    as_of: Type.String({ format: 'date-time', description: 'UTC' }),
    tables: Type.Record(Type.String(), Type.Array(AnyRow), { description: 'Rows by table, as they are stored, without hashes and secrets' }),
    audit: Type.Array(AnyRow, { description: 'Entries of the audit log about the person, oldest first' }),
  },
  { title: 'PersonalData' },
)

/** Exports read archived months of the audit log, too. */
export type PrivacyCtx = WriteCtx & { auditArchive: AuditArchive }
