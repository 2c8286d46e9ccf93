// Answers to repeated requests: the result of a write is kept for 24 hours, readable only with the caller's credential.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { ServiceError } from '#core/errors.ts'
import type { Db, Tx } from './schema.ts'

export interface Idempotency {
  /** whose key it is, such as `account:12` or `operator:3` */
  scope: string
  key: string
  /** which of several writes of the request: the response name of a GraphQL mutation, empty for a request of one write */
  part: string
  /** hash over method, path and body: the same key for another request is refused */
  requestHash: Buffer
  /**
   * the caller's own secret, which is stored nowhere: results are encrypted with it, since a result may hold a new key
   * that is shown only once
   */
  credential: string
}

/** Results of a request's writes by their part. */
type Results = Map<string, unknown>

/** What identifies a request for its idempotency key; the order in which fields happen to be written is no difference. */
export function hashRequest(method: string, path: string, body: unknown): Buffer {
  return createHash('sha256').update(`${method} ${path}\n${JSON.stringify(body ?? null, sortedFields)}`).digest()
}

function sortedFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Results of earlier requests with this key by part, empty for the first. The key is locked until the transaction ends.
 * @throws IDEMPOTENCY_CONFLICT when the first still runs, was another request or was sent with another credential
 */
export async function recall(tx: Tx, idempotency: Idempotency): Promise<Results> {
  const { scope, key, requestHash } = idempotency
  const lock = await sql<{ free: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`${scope}\n${key}`}, 0)) as free`.execute(tx)
  if (!lock.rows[0]!.free) {
    throw new ServiceError('IDEMPOTENCY_CONFLICT', 'The first request with this Idempotency-Key is still running')
  }
  const row = await tx
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'result'])
    .where('scope', '=', scope)
    .where('key', '=', key)
    .where('created_at', '>', sql<Date>`now() - interval '24 hours'`)
    .executeTakeFirst()
  if (!row) return new Map()
  if (!row.request_hash.equals(requestHash)) {
    throw new ServiceError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used for another request')
  }
  const text = decrypt(idempotency, row.result)
  if (text === null) {
    throw new ServiceError('IDEMPOTENCY_CONFLICT', 'This Idempotency-Key was used with another credential')
  }
  return new Map(JSON.parse(text) as [string, unknown][])
}

/** Keeps a result beside the earlier ones, in the transaction that made it. */
export async function remember(tx: Tx, idempotency: Idempotency, earlier: Results, result: unknown): Promise<void> {
  const { scope, key, part, requestHash } = idempotency
  const results = JSON.stringify([...earlier, [part, result ?? null]])
  const row = { request_hash: requestHash, result: encrypt(idempotency, results), created_at: sql<Date>`now()` }
  await tx
    .insertInto('idempotency_keys')
    .values({ scope, key, ...row })
    .onConflict((conflict) => conflict.columns(['scope', 'key']).doUpdateSet(row))
    .execute()
}

export async function forgetOldIdempotencyKeys(db: Db): Promise<void> {
  await db.kysely.deleteFrom('idempotency_keys').where('created_at', '<', sql<Date>`now() - interval '24 hours'`).execute()
}

// An older version kept one result under another purpose: neither version opens what the other kept, and both answer 409.
function secretOf({ credential, scope, key }: Idempotency): Buffer {
  return Buffer.from(hkdfSync('sha256', credential, scope, `mintmark results ${key}`, 32))
}

function encrypt(idempotency: Idempotency, text: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', secretOf(idempotency), nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Null when it was encrypted with another credential. */
function decrypt(idempotency: Idempotency, sealed: Buffer): string | null {
  const decipher = createDecipheriv('aes-256-gcm', secretOf(idempotency), sealed.subarray(0, 12))
  decipher.setAuthTag(sealed.subarray(12, 28))
  const start = decipher.update(sealed.subarray(28))
  try {
    return Buffer.concat([start, decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
