// Limits sign-in attempts by name and address, known or not. Each attempt is counted before it is checked, so parallel attempts gain nothing.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { DAY_MS, MINUTE_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Db, Queryable } from '#db/schema.ts'

/** Attempts before the next ones are rejected until the window ends. */
const LIMIT = 5
/** The same for a name from all addresses that its person has not signed in from. */
const NAME_LIMIT = 100
const WINDOW_MS = 15 * MINUTE_MS
/** How long an address stays known after its last sign-in. */
const ADDRESS_MS = 90 * DAY_MS

/** Names in the form that sign-ins compare. */
export function nameKey(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase()
}

/** The sender of a sign-in. */
export interface Attempt {
  /** as `nameKey` returns it */
  key: string
  address: string
  /** whether the person has signed in from the address before */
  fromUsualAddress: boolean
}

/**
 * Counts an attempt to sign in, on all nodes. Strangers can exhaust the attempts of their own addresses and those of all unknown
 * addresses together, but not those of an address that the person uses.
 * @throws RATE_LIMITED with `Retry-After`, until 15 minutes after the first attempt
 */
export async function countSignIn(db: Db, attempt: Attempt, now: Date): Promise<void> {
  await countAttempt(db, byAddress(attempt), now)
  if (!attempt.fromUsualAddress) await countAttempt(db, JSON.stringify(['name', attempt.key]), now, NAME_LIMIT)
}

/** Counts a code that came with the right password. False from the sixth on: who knows a password may not guess codes from many addresses. */
export async function countCode(db: Db, attempt: Attempt, now: Date): Promise<boolean> {
  return attempt.fromUsualAddress || (await secondsLocked(db, codesOf(attempt), now, LIMIT)) === null
}

/** Whether a secret that is valid for less than 15 minutes is used for the first time on any node. */
export async function spendOnce(db: Db, secret: string, now: Date): Promise<boolean> {
  return (await secondsLocked(db, JSON.stringify(['once', secret]), now, 1)) === null
}

/** Resets the counts after a successful sign-in, and makes its address known. */
export async function noteSignIn(db: Db, attempt: Omit<Attempt, 'fromUsualAddress'>, personId: number, now: Date): Promise<void> {
  await forgetAttempts(db, byAddress(attempt), codesOf(attempt))
  const { kysely } = db
  await kysely
    .deleteFrom('sign_in_addresses')
    .where('last_used_at', '<=', new Date(now.getTime() - ADDRESS_MS))
    .execute()
  await kysely
    .insertInto('sign_in_addresses')
    .values({ person_id: personId, address: attempt.address, last_used_at: now })
    .onConflict((conflict) => conflict.columns(['person_id', 'address']).doUpdateSet({ last_used_at: now }))
    .execute()
}

export async function isKnownAddress(on: Queryable, personId: number, address: string, now: Date): Promise<boolean> {
  const since = new Date(now.getTime() - ADDRESS_MS)
  const signIns = on.selectFrom('sign_in_addresses').select('person_id').where('person_id', '=', personId).where('address', '=', address)
  return (await signIns.where('last_used_at', '>', since).executeTakeFirst()) !== undefined
}

/** Makes all addresses of a person unknown, when their credentials are reset or they are removed. */
export async function forgetAddresses(on: Queryable, personId: number): Promise<void> {
  await on.deleteFrom('sign_in_addresses').where('person_id', '=', personId).execute()
}

/**
 * Counts an attempt of any kind on all nodes.
 * @throws RATE_LIMITED with `Retry-After` once the limit is exceeded, until 15 minutes after the first
 */
export async function countAttempt(db: Db, key: string, now: Date, limit = LIMIT): Promise<void> {
  const seconds = await secondsLocked(db, key, now, limit)
  if (seconds === null) return
  throw new ServiceError('RATE_LIMITED', reason('name_locked', { seconds }), { headers: { 'retry-after': String(seconds) } })
}

export async function forgetAttempts({ kysely }: Db, ...keys: string[]): Promise<void> {
  await kysely.deleteFrom('sign_in_attempts').where('name_hash', 'in', keys.map(hashOf)).execute()
}

/** Counts an attempt; returns how long further ones are rejected, or null if this one is allowed. */
async function secondsLocked({ kysely }: Db, key: string, now: Date, limit: number): Promise<number | null> {
  await kysely.deleteFrom('sign_in_attempts').where('ends_at', '<=', now).execute()
  const { attempts, ends_at: ends } = await kysely
    .insertInto('sign_in_attempts')
    .values({ name_hash: hashOf(key), attempts: 1, ends_at: new Date(now.getTime() + WINDOW_MS) })
    .onConflict((conflict) => conflict.column('name_hash').doUpdateSet({ attempts: sql`least(sign_in_attempts.attempts, ${limit}) + 1` }))
    .returning(['attempts', 'ends_at'])
    .executeTakeFirstOrThrow()
  return attempts <= limit ? null : Math.max(1, Math.ceil((ends.getTime() - now.getTime()) / 1_000))
}

const byAddress = ({ key, address }: Pick<Attempt, 'key' | 'address'>) => JSON.stringify(['name', key, address])
const codesOf = ({ key }: Pick<Attempt, 'key'>) => JSON.stringify(['codes', key])

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
