// SQL of imports as operators see them.
import { existing, missing, orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { namedValues } from '#core/named-values.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Queryable } from '#db/schema.ts'
import { HeldPriceSchema, heldReport } from '../writing/held.ts'
import { reasonsOf, type RefusedRow } from './refusals.ts'

export const IMPORT_STATUSES = namedValues('ImportStatus', ['queued', 'running', 'done', 'failed'])

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const ImportSummarySchema = Type.Object(
  {
    id: Type.Integer(),
    format: Type.String(),
    market: orNull(Type.Enum([...MARKETS])),
    file_name: orNull(Type.String()),
    author: Type.String({ description: '`operator:<name>`' }),
    dry_run: Type.Boolean(),
    status: Type.Enum([...IMPORT_STATUSES]),
    percent: Type.Integer(),
    rows_read: Type.Integer(),
    created: Type.Integer({ description: 'Categories and items; for price files, the first prices of an item and label' }),
    updated: Type.Integer({ description: 'Categories and items; for price files, the other accepted prices' }),
    accepted: Type.Integer({ description: 'New and changed prices' }),
    unchanged: Type.Integer({ description: 'Categories, items and prices' }),
    held: Type.Integer({ description: 'Held prices' }),
    rejected: Type.Integer({ description: 'Rows' }),
    message: orNull(Type.String({ description: 'Why the import failed' })),
    rule: orNull(Type.String({ description: 'Machine-readable reason; null if it did not fail' })),
    params: orNull(Type.Record(Type.String(), Type.Unknown())),
    reverts_import_id: orNull(Type.Integer({ description: 'Batch reverted by this one' })),
    reverted_by_import_id: orNull(Type.Integer({ description: 'Batch that reverted this one' })),
    started_at: Time,
    finished_at: orNull(Time),
  },
  { title: 'Import' },
)
export type ImportSummary = Static<typeof ImportSummarySchema>

const RefusedRowSchema = Type.Object({
  file: orNull(Type.String({ description: 'File name' })),
  line: Type.Integer(),
  reason: Type.String(),
  field: Type.Optional(Type.String()),
  ...ReasonFields,
})

export const ImportDetailSchema = Type.Object(
  {
    ...ImportSummarySchema.properties,
    errors: Type.Array(RefusedRowSchema, { description: 'The first 1,000 rejected rows' }),
    reasons: Type.Array(
      Type.Object({
        reason: Type.String({ description: '`…` stands for values that differ between rows', examples: ['no item has the ref …'] }),
        field: Type.Optional(Type.String()),
        ...ReasonFields,
        count: Type.Integer({ description: 'Number of rows rejected for this reason' }),
        samples: Type.Array(RefusedRowSchema, { description: 'The first three rows' }),
      }),
      { description: 'Reasons for rejected rows, most frequent first; counts all rejected rows' },
    ),
    held_by_rule: Type.Record(Type.String(), Type.Integer(), { description: 'Held prices by the rule that held them' }),
    worst_held: Type.Array(HeldPriceSchema, { description: 'The ten held prices with the largest deviation' }),
  },
  { title: 'ImportDetail' },
)
export type ImportDetail = Static<typeof ImportDetailSchema>

/** Columns of a summary. */
export const SUMMARY_COLUMNS = [
  'id',
  'format',
  'market',
  'file_name',
  'author',
  'dry_run',
  'status',
  'percent',
  'rows_read',
  'created',
  'updated',
  'accepted',
  'unchanged',
  'held',
  'rejected',
  'message',
  'rule',
  'params',
  'reverts_import_id',
  'reverted_by_import_id',
  'started_at',
  'finished_at',
] as const

/** @throws NOT_FOUND */
export async function fetchImport(on: Queryable, id: number): Promise<ImportDetail> {
  const row = await on
    .selectFrom('imports')
    .select([...SUMMARY_COLUMNS, 'errors', 'reasons'])
    .where('id', '=', existing('import', id))
    .executeTakeFirst()
  if (!row) throw missing('import', id)
  const { errors, reasons, ...summary } = jsonReady(row)
  const { byRule, worst } = await heldReport(on, id)
  const toResponse = ({ row: line, message: reason, file, ...why }: RefusedRow) => ({ file: file ?? summary.file_name, line, reason, ...why })
  return {
    ...summary,
    errors: errors.map(toResponse),
    // Imports from before reasons were counted have only their first thousand rows.
    reasons: (reasons ?? reasonsOf(errors)).map(({ samples, ...reason }) => ({ ...reason, samples: samples.map(toResponse) })),
    held_by_rule: byRule,
    worst_held: worst,
  }
}
