// The fetches of this process: each downloads a source's files in the background and hands them to an import.
import type pg from 'pg'
import type { Log } from '#core/context.ts'
import { conflict } from '#core/errors.ts'
import { machineNow, startInterval, stopTimer } from '#core/process/time-and-chance.ts'
import { type Reason, reason } from '#core/problems.ts'
import type { Db } from '#db/schema.ts'
import type { DownloadLimits } from './download-file.ts'
import { DownloadFailure } from './failure.ts'
import { fetchFiles, type FetchProgress, type ImportedFile, removeAbandoned } from './fetch-files.ts'
import {
  digestsOf,
  importedDigests,
  isImporting,
  lockSource,
  recordEnd,
  recordFiles,
  recordImport,
  recordProgress,
  recordStart,
} from './fetch-store.ts'
import type { SourceNetwork } from './source-client.ts'
import type { PublicSource } from './sources.ts'

export interface SourceFetchesOptions {
  db: Db
  log: Log
  now: () => Date
  /** parent of the folders of all sources */
  folder: string
  network: SourceNetwork
  limits?: DownloadLimits
  pauseMs?: number
}

export interface FetchOutcome {
  /** `unchanged`: the files are those that were imported before */
  result: 'imported' | 'unchanged' | 'failed'
  importId: number | null
  bytes: number
  /** why it failed */
  why: Reason | null
}

export interface FetchRun {
  /** Imports the files, or queues their import; returns its id. */
  importFiles: (files: ImportedFile[]) => Promise<number>
  onProgress?: (progress: FetchProgress) => void
  /** download and import files that have not changed, too */
  again?: boolean
}

const PROGRESS_MS = 1_000

/** Runs fetches in this process, at most one of each source on the whole service. */
export class SourceFetches {
  readonly #options: SourceFetchesOptions
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(options: SourceFetchesOptions) {
    this.#options = options
  }

  /**
   * Starts a fetch. `finished` never rejects.
   * @throws CONFLICT if any process is fetching the source or importing its files
   */
  async begin(source: PublicSource, run: FetchRun): Promise<{ finished: Promise<FetchOutcome> }> {
    const { db, now } = this.#options
    const lock = await lockSource(db, source.name)
    if (!lock) throw conflict('fetch_running')
    try {
      if (await isImporting(db, source.name)) throw conflict('fetch_importing')
      await recordStart(db, source.name, now())
    } catch (error) {
      lock.release(true)
      throw error
    }
    const finished = this.#fetch(source, run, lock)
    this.#running.add(finished)
    void finished.then(() => this.#running.delete(finished))
    return { finished }
  }

  /** Interrupts the fetches; the next ones resume their downloads. */
  async close(): Promise<void> {
    this.#stopping.abort(new DownloadFailure(reason('fetch_interrupted')))
    await Promise.all(this.#running)
  }

  async #fetch(source: PublicSource, run: FetchRun, lock: pg.PoolClient): Promise<FetchOutcome> {
    const { db, log, now } = this.#options
    try {
      const { importId, bytes } = await this.#downloadAndImport(source, run)
      await recordEnd(db, source.name, null, now())
      return { result: importId === null ? 'unchanged' : 'imported', importId, bytes, why: null }
    } catch (thrown) {
      const { signal } = this.#stopping
      const error: unknown = signal.aborted ? signal.reason : thrown
      const isKnown = error instanceof DownloadFailure
      const why = isKnown ? error.why : reason('fetch_stopped')
      if (isKnown) log.warn({ source: source.name, reason: error.message }, 'Failed to fetch a public source')
      else log.error({ err: error, source: source.name }, 'Failed to fetch a public source')
      // If the database is gone, `failBrokenFetches` marks it as failed later.
      await recordEnd(db, source.name, why, now()).catch(() => {})
      return { result: 'failed', importId: null, bytes: 0, why }
    } finally {
      // So that the lock is free once the fetch is over; closing the connection frees it in any case, but later.
      await lock.query('select pg_advisory_unlock_all()').catch(() => {})
      lock.release(true)
    }
  }

  async #downloadAndImport(
    source: PublicSource,
    { importFiles, onProgress, again = false }: FetchRun,
  ): Promise<{ importId: number | null; bytes: number }> {
    const { db, now, folder, network, limits, pauseMs } = this.#options
    const { signal } = this.#stopping
    const before = await importedDigests(db, source.name)
    await removeAbandoned(folder, machineNow())
    const record = progressRecorder(db, source.name)
    const { files, imported } = await fetchFiles(source, {
      folder,
      network,
      now,
      signal,
      again,
      onProgress: (progress) => {
        onProgress?.(progress)
        record.add(progress)
      },
      ...(limits && { limits }),
      ...(pauseMs !== undefined && { pauseMs }),
    }).finally(record.end)
    signal.throwIfAborted()
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    if (before === digestsOf(files) && !again) return { importId: null, bytes }
    await recordFiles(db, source.name, files, now())
    const importId = await importFiles(imported)
    await recordImport(db, source.name, importId)
    return { importId, bytes }
  }
}

/** Stores the latest progress every second, one write at a time. */
function progressRecorder(db: Db, source: string) {
  let latest: FetchProgress | null = null
  let writing: Promise<void> | null = null
  const timer = startInterval(() => {
    if (writing || !latest) return
    // Progress is only shown: a failure to store it does not matter.
    writing = recordProgress(db, source, latest)
      .catch(() => {})
      .then(() => {
        writing = null
      })
    latest = null
  }, PROGRESS_MS)
  const add = (progress: FetchProgress) => {
    latest = { ...progress }
  }
  const end = async () => {
    stopTimer(timer)
    await writing
  }
  return { add, end }
}
