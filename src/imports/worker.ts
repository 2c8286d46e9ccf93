// A thread that runs uploaded imports, one after another, so that parsing and writing never delay the node's responses.
import { createReadStream } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { machineMs } from '#core/process/time-and-chance.ts'
import type { Market } from '#core/markets.ts'
import type { Viewer } from '#core/verb.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import type { PriceMapping } from '#prices/records/mappings.ts'
import { startImport } from '#prices/imports/imports.ts'
import type { PriceRules } from '#prices/evidence/hold.ts'
import { importFormat } from './registry.ts'
import { runImport } from './run.ts'

export interface ImportJobFile {
  path: string
  /** `.gz` at its end means gzip */
  name: string
  size: number
}

/** What a thread is sent. It responds when the import has ended, and ends itself if the import fails because of an internal error. */
export interface ImportJob {
  importId: number
  databaseUrl: string
  format: string
  files: ImportJobFile[]
  /** whether the files stay when the import has ended */
  keepFiles: boolean
  market: Market | null
  mapping: PriceMapping | null
  dryRun: boolean
  acceptDrift: boolean
  rules: PriceRules
  viewer: Viewer
  requestId: string | null
  /** difference between the node's clock and the machine's */
  clockOffsetMs: number
}

parentPort!.on('message', async (job: ImportJob) => {
  await run(job)
  parentPort!.postMessage(null)
})

async function run(job: ImportJob): Promise<void> {
  const db = openPool<Schema>({ url: job.databaseUrl, max: 3, applicationName: 'mintmark import' })
  try {
    const now = () => new Date(machineMs() + job.clockOffsetMs)
    await startImport(db.kysely, job.importId, now())
    const ctx = {
      db,
      viewer: job.viewer,
      rules: job.rules,
      now,
      requestId: job.requestId,
      idempotency: null,
      // Does not wait: nodes apply changes when they are notified, and a request for a finished import waits until its node has applied them.
      caughtUp: async () => {},
    }
    await runImport(ctx, job.importId, {
      format: importFormat(job.format),
      files: job.files.map(({ path, name, size }) => ({ name, size, open: () => createReadStream(path, { highWaterMark: 256 * 1024 }) })),
      market: job.market,
      mapping: job.mapping,
      dryRun: job.dryRun,
      acceptDrift: job.acceptDrift,
    })
  } finally {
    await db.close()
  }
}
