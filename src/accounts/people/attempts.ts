// Limits sign-in attempts by name, known or not. Each attempt is counted before it is checked, so parallel attempts gain nothing.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { MINUTE_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Db } from '#db/schema.ts'

/** Attempts for a name before it is locked until the window ends. */
const LIMIT = 5
const WINDOW_MS = 15 * MINUTE_MS

/** Names in the form that sign-ins compare. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase()
}

/**
 * Counts an attempt on all nodes.
 * @throws RATE_LIMITED with `Retry-After` from the sixth on, until 15 minutes after the first
 */
export async function countAttempt({ kysely }: Db, key: string, now: Date): Promise<void> {
  await kysely.deleteFrom('sign_in_attempts').where('ends_at', '<=', now).execute()
  const { attempts, ends_at: ends } = await kysely
    .insertInto('sign_in_attempts')
    .values({ name_hash: hashOf(key), attempts: 1, ends_at: new Date(now.getTime() + WINDOW_MS) })
    .onConflict((conflict) => conflict.column('name_hash').doUpdateSet({ attempts: sql`least(sign_in_attempts.attempts, ${LIMIT}) + 1` }))
    .returning(['attempts', 'ends_at'])
    .executeTakeFirstOrThrow()
  if (attempts <= LIMIT) return
  const seconds = Math.max(1, Math.ceil((ends.getTime() - now.getTime()) / 1_000))
  throw new ServiceError('RATE_LIMITED', reason('name_locked', { seconds }), { headers: { 'retry-after': String(seconds) } })
}

/** Resets the count after a successful sign-in. */
export async function forgetAttempts({ kysely }: Db, key: string): Promise<void> {
  await kysely.deleteFrom('sign_in_attempts').where('name_hash', '=', hashOf(key)).execute()
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
