// Reads a collection file: each row becomes an entry that is matched to the catalogue, or says why it is refused.
import { createHash } from 'node:crypto'
import type { CatalogueNode } from '#catalogue/context.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { invalid } from '#core/errors.ts'
import { FeedError, type FeedSource } from '#core/files/feed.ts'
import { MAX_AMOUNT, MAX_MINOR } from '#core/money.ts'
import { type Problem, problem, type Reason, reason } from '#core/problems.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { BadCell, type FileLine } from '#intake/cells.ts'
import { candidateOf, type Match, matchItems } from '#intake/match-items.ts'
import { type CollectionEntry, csvEntries, type RowReader } from './entries.ts'

export type ImportCtx = WriteCtx & CatalogueNode

/** A row of the file with the item and grade that it matches, or the reason why it matches none. */
export type MatchedRow = { line: number; key: string; entry: CollectionEntry } & (RecordMatch | Unmatched)
export type RefusedRow = { line: number; refused: Reason | Problem | null }
type RecordMatch = { itemId: number; gradeId: number | null }
type Unmatched = Extract<Match, { why: Reason }>

/**
 * Reads and matches the whole file before locking anything, in its order. `refused` is null for a row of no copy that is owned.
 * @param readerOfHeader throws a FeedError for a file that cannot be read
 * @param most maximum rows
 * @throws VALIDATION_ERROR for such a file, and for one that is not a CSV or too long
 */
export async function readFile(
  ctx: ImportCtx,
  bytes: FeedSource['bytes'],
  readerOfHeader: (header: readonly string[]) => RowReader,
  most: number,
): Promise<(MatchedRow | RefusedRow)[]> {
  const rows: (MatchedRow | RefusedRow)[] = []
  let reader: RowReader
  const readHeader = (header: readonly string[]) => (reader = readerOfHeader(header))
  try {
    for await (const lines of csvEntries({ bytes, fileName: null }, readHeader)) {
      if (rows.length + lines.length > most) throw new FeedError(reason('at_most', { part: 'file', units: 'rows', max: most }))
      rows.push(...(await matchLines(ctx, lines, reader!)))
      // Lines without an entry take time, too, so yield after every batch of lines.
      await new Promise((resolve) => setImmediate(resolve))
    }
  } catch (error) {
    if (error instanceof FeedError) throw invalid('file', 'file', { must: error.why })
    throw error
  }
  return rows
}

async function matchLines(ctx: ImportCtx, lines: FileLine<CollectionEntry>[], reader: RowReader): Promise<(MatchedRow | RefusedRow)[]> {
  const read = lines.map((row) => ('fields' in row ? keyed(ctx, row.line, row.fields, reader) : row))
  const matches = (
    await matchItems(
      ctx,
      read.flatMap((row) => ('entry' in row ? [row.entry.item] : [])),
    )
  ).values()
  return read.map((row) => ('entry' in row ? { ...row, ...withGrade(ctx.catalogue, row.entry.label, matches.next().value!) } : row))
}

/** The key is that of the row as stated: another rate of exchange does not make another row of it. */
function keyed(
  ctx: ImportCtx,
  line: number,
  entry: CollectionEntry,
  reader: RowReader,
): { line: number; key: string; entry: CollectionEntry } | RefusedRow {
  try {
    return { line, key: entryKey(entry), entry: inLira(ctx, entry) }
  } catch (error) {
    if (!(error instanceof BadCell) || !('field' in error.why)) throw error
    return { line, refused: { ...error.why, field: reader.columnOf?.(error.why.field) ?? error.why.field } }
  }
}

/** Amounts in lira by the rate of the day of purchase; of today if the row states no day. @throws BadCell */
function inLira({ catalogue: { rates }, now }: ImportCtx, { currency, ...entry }: CollectionEntry): CollectionEntry {
  if (currency === undefined) return entry
  const atMs = entry.purchaseDate === null ? now().getTime() : Date.parse(entry.purchaseDate)
  if (rates.on(currency, atMs) === null) {
    const usable = rates.currencies().filter((code) => code === 'TRY' || rates.on(code, atMs) !== null)
    throw new BadCell(problem('currency', 'currency_rate', { values: usable.toSorted(), value: currency }))
  }
  const converted = (minor: number | null, field: string) => {
    const lira = minor === null ? null : rates.convert(minor, currency, 'TRY', atMs)
    if (lira !== null && lira > MAX_MINOR) throw new BadCell(problem(field, 'number', { max: MAX_AMOUNT }))
    return lira
  }
  return { ...entry, purchaseMinor: converted(entry.purchaseMinor, 'purchase_price'), saleMinor: converted(entry.saleMinor, 'sale_price') }
}

/** The matched item must also have the grade of the row. */
function withGrade(catalogue: Catalogue, label: string | null, match: Match): RecordMatch | Unmatched {
  if ('why' in match) return match
  const { itemId } = match
  if (label === null) return { itemId, gradeId: null }
  const row = catalogue.items.rowOf(itemId)
  const grade = catalogue.labels.ofLabel(label)
  if (row >= 0 && grade && catalogue.items.groupIds(row).includes(grade.parentId!)) return { itemId, gradeId: grade.id }
  return { why: reason('grade_missing', { name: label }), candidates: row < 0 ? [] : [candidateOf(catalogue, row)] }
}

/** The content of a row, independent of its line: identifies the same row in a later file. */
function entryKey(entry: CollectionEntry): string {
  return createHash('sha256').update(JSON.stringify(entry)).digest('base64url')
}
