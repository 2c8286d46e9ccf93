// Loads the operator's file of certificates: each row is checked on its own, and all valid ones are written in one statement.
import { sql } from 'kysely'
import { certificateWarnings, certNumber, gradeText, grader, keyOf, normalCert, qualifierText } from '#catalogue/certificates/certificate.ts'
import type { CatalogueNode } from '#catalogue/context.ts'
import { shortText } from '#catalogue/records/fields.ts'
import { unescapeCell } from '#core/files/csv.ts'
import { FeedError, type FeedSource } from '#core/files/feed.ts'
import { invalid } from '#core/errors.ts'
import { bodyReader, ReasonFields, type Static, Type } from '#core/input.ts'
import { orNull } from '#core/fields.ts'
import { type Problem, problem, reason, withMessage } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { liveItemIds } from '#db/live-item.ts'
import type { Tx } from '#db/schema.ts'
import { cellsByName, checkRows, columnsByName, type CsvReader, numbersIn, partsOfCsv, rowsOfCsvBody } from '#intake/csv-body.ts'
import { gradeIdOf } from '../references.ts'

export const MAX_CERTIFICATES = 10_000

const REQUIRED = ['grader', 'cert', 'grade', 'item_id']
export const CERTIFICATE_FILE_COLUMNS = [...REQUIRED, 'label', 'qualifier']

const CertificateRow = Type.Object(
  {
    grader: grader(),
    cert: certNumber(),
    grade: gradeText(),
    item_id: Type.Integer({ description: 'Id of the item' }),
    label: Type.Optional(shortText('Label of its prices, such as `PSA 10`')),
    qualifier: Type.Optional(qualifierText()),
  },
  { additionalProperties: false },
)
type CertificateRow = Static<typeof CertificateRow>

const Why = Type.Object({ message: Type.String(), ...ReasonFields })

export const CertificatesReportSchema = Type.Object(
  {
    created: Type.Integer({ description: 'Certificates that were not known' }),
    updated: Type.Integer({ description: 'Certificates that were known; the row replaces what was' }),
    refused: Type.Integer({ description: 'Rows with errors' }),
    rows: Type.Array(
      Type.Object({
        line: Type.Integer({ description: 'Line number in the file; for JSON, the position of the row, from 1' }),
        outcome: Type.Enum(['created', 'updated', 'refused']),
        grader: orNull(Type.String()),
        cert: orNull(Type.String({ description: 'As it is stored' })),
        warnings: Type.Array(Why, { description: 'What looks unusual about number and grade; the row is loaded all the same' }),
        refused: orNull(Type.Array(Type.Object({ field: Type.String(), message: Type.String(), ...ReasonFields }))),
      }),
    ),
  },
  { title: 'CertificatesReport' },
)
export type CertificatesReport = Static<typeof CertificatesReportSchema>

/** The rows of a CSV; an empty cell counts as not sent. @throws VALIDATION_ERROR if the file cannot be parsed */
export async function certificatesOfCsv(body: Buffer): Promise<{ rows: unknown[] }> {
  return { rows: await rowsOfCsvBody(body, MAX_CERTIFICATES, readerOf) }
}

/** The rows of a CSV of any length, in parts for `importCertificates`; otherwise as `certificatesOfCsv`. */
export function certificatesInParts(file: FeedSource): AsyncIterable<unknown[]> {
  return partsOfCsv(file, MAX_CERTIFICATES, readerOf)
}

function readerOf(header: readonly string[]): CsvReader {
  const columns = columnsByName(header, CERTIFICATE_FILE_COLUMNS)
  const missing = REQUIRED.filter((name) => !columns.has(name))
  if (missing.length > 0) throw new FeedError(reason('header', { columns: missing, values: header }))
  return {
    columns: [...columns.values()],
    read: (line) => {
      const cells = cellsByName(line, columns)
      const texts = CERTIFICATE_FILE_COLUMNS.flatMap((name) => {
        const text = unescapeCell(cells[name] ?? '').trim()
        return text === '' ? [] : [[name, name === 'grader' ? text.toUpperCase() : text]]
      })
      return { ...Object.fromEntries(texts), ...numbersIn(cells, ['item_id']) }
    },
  }
}

const readRow = bodyReader(CertificateRow)

export const importCertificates = verb(
  {
    name: 'importCertificates',
    needs: 'market',
    input: Type.Object({
      rows: Type.Array(Type.Unknown(), {
        minItems: 1,
        maxItems: MAX_CERTIFICATES,
        allowed: reason('list', { min: 1, max: MAX_CERTIFICATES }),
        description: 'Objects with the columns of the CSV as fields',
        examples: [[{ grader: 'PSA', cert: '12345678', grade: '10', item_id: 4 }]],
      }),
    }),
  },
  async (ctx: WriteCtx & CatalogueNode, { rows: given }): Promise<CertificatesReport> => {
    const checked = await checkRows(given, (fields) => {
      const row = readRow(fields)
      if (row.label !== undefined && gradeIdOf(ctx.catalogue, row.label) === null) throw invalid('label', 'label', { value: row.label })
      return { ...row, cert: normalCert(row.cert) }
    })
    return change(ctx, async (tx, note) => {
      const items = await liveItemIds(
        tx,
        checked.flatMap((row) => ('value' in row ? [row.value.item_id] : [])),
      )
      const lines = new Map<string, number>()
      const valid: CertificateRow[] = []
      const rows = checked.flatMap((row): CertificatesReport['rows'] => {
        const { line } = row
        if (!('value' in row)) return row.refused ? [refusedRow(line, null, row.refused)] : []
        const { value } = row
        const earlier = lines.get(keyOf(value))
        if (earlier !== undefined) return [refusedRow(line, value, [problem('cert', 'certificate_again', { line: earlier })])]
        if (!items.has(value.item_id)) return [refusedRow(line, value, [problem('item_id', 'unknown_id', { thing: 'item', id: value.item_id })])]
        lines.set(keyOf(value), line)
        valid.push({ ...value, item_id: items.get(value.item_id)! })
        const warnings = certificateWarnings(value).map(withMessage)
        return [{ line, outcome: 'created', grader: value.grader, cert: value.cert, warnings, refused: null }]
      })
      const created = await upsert(tx, valid, ctx.now())
      for (const row of rows) if (row.outcome === 'created' && !created.has(keyOf({ grader: row.grader!, cert: row.cert! }))) row.outcome = 'updated'
      const counts = { created: created.size, updated: valid.length - created.size, refused: rows.length - valid.length }
      note.audit({ action: 'certificates.import', subject: 'certificates', id: counts.created + counts.updated, after: counts })
      return { ...counts, rows }
    })
  },
)

function refusedRow(line: number, row: CertificateRow | null, problems: readonly Problem[]): CertificatesReport['rows'][number] {
  const refused = problems.map(({ field, ...why }) => ({ field, ...withMessage(why) }))
  return { line, outcome: 'refused', grader: row?.grader ?? null, cert: row?.cert ?? null, warnings: [], refused }
}

/** Writes certificates. @returns the keys of those that are new */
async function upsert(tx: Tx, rows: readonly CertificateRow[], now: Date): Promise<Set<string>> {
  if (rows.length === 0) return new Set()
  const written = await sql<{ grader: string; cert: string; is_new: boolean }>`
    insert into certificates (cert, grader, grade, item_id, label, qualifier, updated_at)
    select r.*, ${now}::timestamptz from unnest(${rows.map((row) => row.cert)}::text[], ${rows.map((row) => row.grader)}::text[],
      ${rows.map((row) => row.grade)}::text[], ${rows.map((row) => row.item_id)}::int4[], ${rows.map((row) => row.label ?? null)}::text[],
      ${rows.map((row) => row.qualifier ?? null)}::text[]) as r
    order by 1, 2
    on conflict (cert, grader) do update set grade = excluded.grade, item_id = excluded.item_id, label = excluded.label,
      qualifier = excluded.qualifier, updated_at = excluded.updated_at
    returning grader, cert, xmax = 0 as is_new`.execute(tx)
  return new Set(written.rows.filter((row) => row.is_new).map(keyOf))
}
