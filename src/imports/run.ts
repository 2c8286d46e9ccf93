// Runs one import from its first byte to its report: a format parses the files and an importer writes the rows, in one transaction.
import { sql } from 'kysely'
import { monotonicMs } from '#core/process/time-and-chance.ts'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { FeedError, gunzip } from '#core/files/feed.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { type Reason, reason } from '#core/problems.ts'
import { announceAfter } from '#db/connection/announce.ts'
import { noteCollector } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceMapping } from '#prices/records/mappings.ts'
import { closeImport, type ImportCounts, type ImportOutcome, IMPORT_LOCK, noCounts, reportProgress } from '#prices/imports/imports.ts'
import { type RefusalReason, type RefusedRow, Refusals } from '#prices/imports/refusals.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { lockMarkets } from '#prices/writing/lock-markets.ts'
import { CatalogueImporter } from './catalogue-importer.ts'
import type { ImportFile } from './files.ts'
import type { ImportRun } from './importer.ts'
import { PriceImporter } from './price-importer.ts'
import { type ImportFormat, inReadingOrder } from './registry.ts'

export interface ImportRequest {
  format: ImportFormat
  files: ImportFile[]
  /** null: the format's default */
  market: Market | null
  /** for formats that need a mapping */
  mapping?: PriceMapping | null
  dryRun: boolean
  /** for price lists: whether prices that are off as a whole are imported nevertheless */
  acceptDrift: boolean
}

export interface ImportRunCtx extends PriceWriteCtx {
  /** called from time to time while the import runs */
  onProgress?: (counts: ImportCounts, percent: number) => void
}

export interface ImportReport {
  id: number
  status: 'done' | 'failed'
  counts: ImportCounts
  /** the first thousand rejected rows */
  errors: RefusedRow[]
  /** reasons of rejected rows, most frequent first */
  reasons: RefusalReason[]
  /** why it failed */
  why: Reason | null
}

const PROGRESS_MS = 500

class DryRun extends Error {}

/** Runs an import whose batch is open. Invalid input results in a `failed` report; internal errors are recorded and thrown. */
export async function runImport(ctx: ImportRunCtx, id: number, request: ImportRequest): Promise<ImportReport> {
  const counts = noCounts()
  const refusals = new Refusals()
  const errors = refusals.rows
  try {
    await writeAll(ctx, id, request, counts, refusals)
  } catch (error) {
    const why = error instanceof FeedError ? error.why : reason('import_stopped')
    const untouched = { ...noCounts(), rowsRead: counts.rowsRead, rejected: counts.rejected }
    await closeAlone(ctx, id, { status: 'failed', counts: untouched, refusals, why })
    if (error instanceof FeedError) return { id, status: 'failed', counts: untouched, errors, reasons: refusals.reasons, why }
    throw error
  }
  await ctx.caughtUp()
  return { id, status: 'done', counts, errors, reasons: refusals.reasons, why: null }
}

async function writeAll(ctx: ImportRunCtx, id: number, request: ImportRequest, counts: ImportCounts, refusals: Refusals): Promise<void> {
  const total = request.files.reduce((sum, file) => (file.size === null ? Number.NaN : sum + file.size), 0)
  let bytesRead = 0
  let reportedAt = monotonicMs()
  let fileName: string | null = null
  const market = request.market ?? request.mapping?.market ?? request.format.defaultMarket
  const importAll = async (tx: Tx): Promise<void> => {
    await sql`select pg_advisory_xact_lock_shared(${sql.lit(IMPORT_LOCK)}, ${id}::int4)`.execute(tx)
    const { noteOf, write } = noteCollector(tx, ctx.now)
    const note = noteOf(ctx)
    const run: ImportRun = {
      tx,
      ctx,
      importId: id,
      note,
      counts,
      market,
      acceptDrift: request.acceptDrift,
      mapping: request.mapping ?? null,
      refuse: (row, why) => {
        counts.rejected += 1
        refusals.add({ row, file: fileName }, why)
      },
      yieldToEventLoop: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        if (monotonicMs() - reportedAt < PROGRESS_MS) return
        reportedAt = monotonicMs()
        const percent = total > 0 ? Math.min(99, Math.floor((100 * bytesRead) / total)) : 0
        ctx.onProgress?.({ ...counts }, percent)
        await reportProgress(ctx.db, id, counts, percent)
      },
    }
    if (request.format.kind === 'catalogue') await lockIdentity(tx)
    if (market) await lockMarkets(tx, [MARKETS.indexOf(market)])
    const importer =
      request.format.kind === 'catalogue' ? await CatalogueImporter.open(run, request.format) : await PriceImporter.open(run, request.format)
    for (const file of await inReadingOrder(request.format, request.files)) {
      fileName = file.name
      const counted = countBytes(file.open(), (size) => {
        bytesRead += size
      })
      const bytes = file.name?.endsWith('.gz') ? gunzip(counted) : counted
      await importer.read({ bytes, fileName: file.name })
    }
    await importer.finish()
    if (counts.rowsRead === 0) throw new FeedError(reason('file_empty'))
    note.audit({
      action: `import.${request.format.name}`,
      subject: 'import',
      id,
      after: { ...counts, ...(request.mapping && { mapping: request.mapping }) },
    })
    if (request.dryRun) throw new DryRun()
    await write()
    await closeImport(tx, id, { status: 'done', counts, refusals }, ctx.now())
  }
  // Never retried, because the input may be a stream. Writes to one market are serialised, so conflicts do not occur.
  await announceAfter(ctx.db.kysely, importAll, (run) => ctx.db.kysely.transaction().execute(run)).catch(async (error: unknown) => {
    if (!(error instanceof DryRun)) throw error
    await closeAlone(ctx, id, { status: 'done', counts, refusals })
  })
}

/** Closes an import after its own transaction has ended; its end and its rejected rows become visible at the same time. */
function closeAlone({ db, now }: ImportRunCtx, id: number, outcome: ImportOutcome): Promise<void> {
  return db.kysely.transaction().execute((tx) => closeImport(tx, id, outcome, now()))
}

async function* countBytes(bytes: AsyncIterable<Uint8Array>, count: (size: number) => void): AsyncIterable<Uint8Array> {
  for await (const chunk of bytes) {
    count(chunk.length)
    yield chunk
  }
}
