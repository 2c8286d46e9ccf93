// Imports and price posts as batches: who brought what in, how it went, and which rows were refused and why.
import { sql } from 'kysely'
import type { Market } from '#core/markets.ts'
import type { Db, Queryable } from '#db/schema.ts'

/** Refused rows kept with an import; the rest are only counted. */
export const KEPT_ERRORS = 1_000

export interface ImportCounts {
  rowsRead: number
  created: number
  updated: number
  accepted: number
  unchanged: number
  held: number
  rejected: number
}

export interface ImportOpening {
  format: string
  market: Market | null
  fileName: string | null
  author: string
  dryRun: boolean
}

export interface RefusedRow {
  row: number
  message: string
}

export async function openImport(on: Queryable, opening: ImportOpening): Promise<number> {
  const row = await on
    .insertInto('imports')
    .values({
      format: opening.format,
      market: opening.market,
      file_name: opening.fileName,
      author: opening.author,
      dry_run: opening.dryRun,
      status: 'running',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Shows how far an import is, outside its transaction. */
export async function reportProgress(db: Db, id: number, counts: ImportCounts, percent: number): Promise<void> {
  await db.kysely.updateTable('imports').set({ ...columns(counts), percent }).where('id', '=', id).execute()
}

export async function closeImport(
  on: Queryable,
  id: number,
  outcome: { status: 'done' | 'failed'; counts: ImportCounts; errors: RefusedRow[]; message?: string },
): Promise<void> {
  await on
    .updateTable('imports')
    .set({
      ...columns(outcome.counts),
      status: outcome.status,
      percent: outcome.status === 'done' ? 100 : sql<number>`percent`,
      errors: JSON.stringify(outcome.errors.slice(0, KEPT_ERRORS)),
      message: outcome.message ?? null,
      finished_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute()
}

function columns(counts: ImportCounts) {
  const { rowsRead, ...others } = counts
  return { rows_read: rowsRead, ...others }
}

export function noCounts(): ImportCounts {
  return { rowsRead: 0, created: 0, updated: 0, accepted: 0, unchanged: 0, held: 0, rejected: 0 }
}
