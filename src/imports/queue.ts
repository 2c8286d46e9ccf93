// Queue of uploaded imports on this node: two run at a time in their own threads, and interrupted ones are marked as failed.
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import type { Log } from '#core/context.ts'
import type { Db } from '#db/schema.ts'
import { type Reason, reason } from '#core/problems.ts'
import { failImports, IMPORT_LOCK } from '#prices/imports/imports.ts'
import { type RunningImport, runInThread } from './thread.ts'
import { removeUpload, storeUpload, type Upload } from './upload.ts'
import type { ImportJob } from './worker.ts'

const AT_ONCE = 2
/** Maximum heap of an import's thread. Formats read files in pieces and need far less. */
const HEAP_MB = 192

export interface ImportQueueOptions {
  db: Db
  log: Log
  now: () => Date
  /** directory of uploads; null: a directory of this process among the machine's temporary files */
  dataDir: string | null
  /** maximum heap of an import's thread in MB; default: 192 */
  heapMb?: number
}

/** Runs uploaded imports of this node in worker threads, two at a time; the others wait in order. */
export class ImportQueue {
  readonly #db: Db
  readonly #log: Log
  readonly #now: () => Date
  readonly #folder: string
  readonly #heapMb: number
  readonly #waiting: ImportJob[] = []
  readonly #running = new Map<number, RunningImport>()
  /** connection that holds the locks of this node's imports until the process ends */
  #guard: pg.PoolClient | null = null
  /** queue of statements on the guard, which run one after another */
  #guarded: Promise<void> = Promise.resolve()
  #closed = false

  constructor({ db, log, now, dataDir, heapMb = HEAP_MB }: ImportQueueOptions) {
    this.#db = db
    this.#log = log
    this.#now = now
    this.#heapMb = heapMb
    this.#folder = dataDir ? join(dataDir, 'uploads') : join(tmpdir(), `mintmark-uploads-${process.pid}`)
  }

  /** Removes files that an earlier process left. */
  start(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  store(body: AsyncIterable<Uint8Array>): Promise<Upload> {
    return storeUpload(this.#folder, body)
  }

  discard({ path }: Upload): void {
    removeUpload(path)
  }

  /** Accepts an import that is `queued` in the database. */
  async add(job: Omit<ImportJob, 'databaseUrl'>): Promise<void> {
    await this.#hold(job.importId)
    this.#waiting.push({ ...job, databaseUrl: this.#db.url })
    this.#next()
  }

  /** Stops the threads; running imports are rolled back and marked as failed. */
  async close(): Promise<void> {
    this.#closed = true
    const stopped = [...this.#running.keys(), ...this.#waiting.map((job) => job.importId)]
    await Promise.all([...this.#running.values()].map((running) => running.stop()))
    try {
      if (stopped.length > 0) await failImports(this.#db, stopped, reason('import_interrupted'), this.#now())
    } catch (error) {
      this.#log.warn({ err: error, imports: stopped }, 'Failed to mark interrupted imports')
    }
    await this.#guarded
    this.#guard?.release(true)
    this.#guard = null
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #next(): void {
    if (this.#closed || this.#running.size >= AT_ONCE) return
    const job = this.#waiting.shift()
    if (!job) return
    const running = runInThread(job, this.#heapMb)
    this.#running.set(job.importId, running)
    const failed = (error: unknown) => {
      this.#log.error({ err: error, import: job.importId }, 'Import failed')
      const isTooLarge = (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
      const why = isTooLarge ? reason('import_memory', { max: this.#heapMb }) : reason('import_stopped')
      if (!this.#closed) void this.#fail(job.importId, why)
    }
    void running.ended.catch(failed).then(() => {
      this.#running.delete(job.importId)
      if (this.#closed) return
      if (!job.keepFiles) for (const { path } of job.files) removeUpload(path)
      void this.#release(job.importId)
      this.#next()
    })
  }

  /** Marks an import as failed whose thread did not report a result; its transaction ended with its connection. */
  async #fail(importId: number, why: Reason): Promise<void> {
    try {
      await failImports(this.#db, [importId], why, this.#now())
    } catch (error) {
      // The import stays marked as running; `failBrokenImports` marks it as failed later.
      this.#log.warn({ err: error, import: importId }, 'Failed to mark an interrupted import')
    }
  }

  #hold(importId: number): Promise<void> {
    return this.#onGuard(async () => {
      this.#guard ??= await this.#openGuard()
      await this.#guard.query(`select pg_advisory_lock_shared(${IMPORT_LOCK}, ${importId})`)
    })
  }

  #release(importId: number): Promise<void> {
    // Errors are ignored, because a lost connection no longer holds the lock.
    return this.#onGuard(async () => {
      await this.#guard?.query(`select pg_advisory_unlock_shared(${IMPORT_LOCK}, ${importId})`).catch(() => {})
    })
  }

  #onGuard(work: () => Promise<void>): Promise<void> {
    const done = this.#guarded.then(work)
    this.#guarded = done.catch(() => {})
    return done
  }

  async #openGuard(): Promise<pg.PoolClient> {
    const client = await this.#db.connect()
    client.on('error', () => {
      if (this.#guard !== client) return
      this.#guard = null
      client.release(true)
    })
    return client
  }
}
