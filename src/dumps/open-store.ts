// Opens the configured dump store: a bucket or a folder.
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import type { Log } from '#core/context.ts'
import { textOf } from '#core/problems.ts'
import { DumpBucket } from './dump-bucket.ts'
import { DumpFolder } from './dump-folder.ts'
import type { DumpStore } from './dump-store.ts'

/** Opens the store without contacting it. */
export function openDumpStore({ dumpsDir, dumpsS3 }: { dumpsDir: string; dumpsS3: BucketSettings | null }): DumpStore {
  return dumpsS3 ? new DumpBucket(dumpsS3, dumpsDir) : new DumpFolder(dumpsDir)
}

/**
 * Checks the store before the node serves. An unreachable store may recover; one that rejects its settings will not.
 * @throws Error with one sentence if the store rejects its settings
 */
export async function checkDumpStore(store: DumpStore, log: Log): Promise<void> {
  const problem = await store.problem()
  if (!problem) return
  const message = textOf(problem.why)
  if (problem.refused) throw new Error(`The dump store rejects its settings (${message}); check DUMPS_S3_URL, its keys and DUMPS_S3_REGION`)
  log.warn({ place: store.place, problem: message }, 'Dump store unreachable; starting without it')
}
