// The largest size of a sandbox's data: its rows are the caller's to write.
import { sql } from 'kysely'
import { ServiceError } from '#core/errors.ts'
import { monotonicMs } from '#core/process/time-and-chance.ts'
import { reason } from '#core/problems.ts'
import type { World } from './world.ts'

/** Of the whole database; a new one has about 18. */
export const MAX_MB = 120
const CHECK_EVERY_MS = 5_000

const checked = new WeakMap<World, { atMs: number; isLarge: boolean }>()

/** Whether a sandbox has grown too large, measured at most every few seconds. */
export async function isTooLarge(world: World): Promise<boolean> {
  const last = checked.get(world)
  if (last && monotonicMs() - last.atMs < CHECK_EVERY_MS) return last.isLarge
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database())::float8 as bytes`.execute(world.db.kysely)
  const isLarge = rows[0]!.bytes > MAX_MB * 1024 * 1024
  checked.set(world, { atMs: monotonicMs(), isLarge })
  return isLarge
}

/** @throws SANDBOX_BUSY if it has grown too large for further writes; it may still be read, and reset */
export async function refuseLarge(world: World): Promise<void> {
  if (await isTooLarge(world)) throw new ServiceError('SANDBOX_BUSY', reason('sandbox_size', { size: MAX_MB }))
}
