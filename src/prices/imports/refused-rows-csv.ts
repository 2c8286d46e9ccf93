// All rejected rows of an import as CSV, written during the import and limited in size.
import { gunzipSync, gzipSync } from 'node:zlib'
import { csvLine } from '#core/files/csv.ts'
import type { Queryable } from '#db/schema.ts'

/** Number of characters that are compressed as one part. */
const PART = 256 * 1024
/** Maximum compressed bytes of one import. */
const MAX_COMPRESSED_BYTES = 32 * 1024 * 1024

const COLUMNS = ['file', 'line', 'rule', 'reason'] as const

/** A refused row; earlier versions stored only its message. */
interface ListedRow {
  file: string | null
  line: number
  rule?: string | undefined
  reason: string
}

export class RefusedRowsCsv {
  readonly #most: number
  readonly #parts: Buffer[] = []
  #lines = ''
  #packed = 0
  #unlisted = 0

  /** @param most compressed bytes; rows beyond them are only counted */
  constructor(most = MAX_COMPRESSED_BYTES) {
    this.#most = most
  }

  add(row: ListedRow): void {
    if (this.#packed >= this.#most) {
      this.#unlisted += 1
      return
    }
    this.#lines += lineOf(row)
    if (this.#lines.length >= PART) this.#pack()
  }

  /** The lines without the header, compressed with gzip in parts; no rows may be added afterwards. */
  finish(): readonly Buffer[] {
    if (this.#unlisted > 0) this.#lines += csvLine([null, null, null, `${this.#unlisted} more rows were refused`])
    if (this.#lines !== '') this.#pack()
    return this.#parts
  }

  #pack(): void {
    const part = gzipSync(this.#lines)
    this.#parts.push(part)
    this.#packed += part.length
    this.#lines = ''
  }
}

function lineOf(row: ListedRow): string {
  return csvLine(COLUMNS.map((column) => row[column] ?? null))
}

/** Stores the parts of a finished import. */
export async function storeRefusedRows(on: Queryable, importId: number, parts: readonly Buffer[]): Promise<void> {
  for (const [part, csv] of parts.entries()) {
    await on.insertInto('import_refusals').values({ import_id: importId, part, csv }).execute()
  }
}

/**
 * The CSV of an import, one part at a time.
 * @param samples the rows stored with the import itself; earlier versions stored no others
 */
export async function* refusedRowsCsv(on: Queryable, importId: number, samples: readonly ListedRow[]): AsyncIterable<string> {
  yield csvLine(COLUMNS)
  for (let part = 0; ; part += 1) {
    const found = await on.selectFrom('import_refusals').select('csv').where('import_id', '=', importId).where('part', '=', part).executeTakeFirst()
    if (found) yield gunzipSync(found.csv).toString()
    else {
      if (part === 0) yield samples.map(lineOf).join('')
      return
    }
  }
}
