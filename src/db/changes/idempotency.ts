// Results for repeated requests: the result of a write is stored for 24 hours, encrypted with the caller's credential.
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { sql } from 'kysely'
import { secretBytes } from '#core/process/secret-bytes.ts'
import { DAY_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Db, Tx } from '../schema.ts'

export interface Idempotency {
  /** owner of the key, such as `account:12` or `operator:3` */
  scope: string
  key: string
  /** which of several writes of the request: the response name of a GraphQL mutation, empty for a request of one write */
  part: string
  /** hash of method, path and body: the same key with another request is rejected */
  requestHash: Buffer
  /**
   * the caller's own secret, which is not stored: results are encrypted with it, because a result may contain a new key
   * that is shown only once
   */
  credential: string
}

/** Results that are older are forgotten. */
const keptSince = (now: Date) => new Date(now.getTime() - DAY_MS)

/** Results of a request's writes by their part. */
export type Results = Map<string, unknown>

/** Identifies a request for its idempotency key; the order of fields does not matter. */
export function hashRequest(method: string, path: string, body: unknown): Buffer {
  return createHash('sha256')
    .update(`${method} ${path}\n${JSON.stringify(body ?? null, sortedFields)}`)
    .digest()
}

function sortedFields(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Results of earlier requests with these keys by part; empty for the first, null without a key; an error if the first
 * request still runs, was a different one or used another credential. The keys are locked until the transaction
 * ends.
 */
export async function findResults(tx: Tx, requests: (Idempotency | null)[], now: Date): Promise<(Results | ServiceError | null)[]> {
  const byName = new Map(requests.flatMap((request) => (request ? [[nameOf(request), request] as const] : [])))
  if (byName.size === 0) return requests.map(() => null)
  const names = [...byName.keys()]
  // A separate statement: the next one must see the commit of the last holder of a lock.
  const locks = await sql<{ name: string; free: boolean }>`
    select name, pg_try_advisory_xact_lock(hashtextextended(name, 0)) as free from unnest(${names}::text[]) as requested(name)`.execute(tx)
  const free = new Set(locks.rows.filter((lock) => lock.free).map(({ name }) => name))
  const { rows } = await sql<{ scope: string; key: string; request_hash: Buffer; result: Buffer }>`
    select scope, key, request_hash, result from idempotency_keys
    join unnest(${[...byName.values()].map(({ scope }) => scope)}::text[], ${[...byName.values()].map(({ key }) => key)}::text[])
      as requested(scope, key) using (scope, key)
    where created_at > ${keptSince(now)}`.execute(tx)
  const stored = new Map(rows.map((row) => [nameOf(row), row]))
  return requests.map((request) => {
    if (!request) return null
    const name = nameOf(request)
    // Of several requests with one key in a batch, the first runs.
    if (!free.delete(name)) return refused('idempotency_running')
    const row = stored.get(name)
    if (!row) return new Map()
    if (!row.request_hash.equals(request.requestHash)) return refused('idempotency_request')
    const text = decrypt(request, row.result)
    if (text === null) return refused('idempotency_credential')
    return new Map(JSON.parse(text) as [string, unknown][])
  })
}

const nameOf = ({ scope, key }: Pick<Idempotency, 'scope' | 'key'>) => `${scope}\n${key}`
const refused = (rule: 'idempotency_running' | 'idempotency_request' | 'idempotency_credential') =>
  new ServiceError('IDEMPOTENCY_CONFLICT', reason(rule))

/** Stores results in addition to earlier ones, in the transaction that produced them. */
export async function storeResults(tx: Tx, results: { request: Idempotency; earlier: Results; result: unknown }[], now: Date): Promise<void> {
  if (results.length === 0) return
  const rows = results.map(({ request, earlier, result }) => ({
    scope: request.scope,
    key: request.key,
    request_hash: request.requestHash,
    result: encrypt(request, JSON.stringify([...earlier, [request.part, result ?? null]])),
    created_at: now,
  }))
  await tx
    .insertInto('idempotency_keys')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['scope', 'key']).doUpdateSet((eb) => ({
        request_hash: eb.ref('excluded.request_hash'),
        result: eb.ref('excluded.result'),
        created_at: eb.ref('excluded.created_at'),
      })),
    )
    .execute()
}

/** Deletes the keys that are older than 24 hours. */
export async function forgetOldIdempotencyKeys(db: Db, now: Date): Promise<void> {
  await db.kysely.deleteFrom('idempotency_keys').where('created_at', '<', keptSince(now)).execute()
}

// An older version stored one result under another purpose: neither version can decrypt the other's, and both respond with 409.
function secretOf({ credential, scope, key }: Idempotency): Buffer {
  return Buffer.from(hkdfSync('sha256', credential, scope, `mintmark results ${key}`, 32))
}

function encrypt(idempotency: Idempotency, text: string): Buffer {
  const nonce = secretBytes(12)
  const cipher = createCipheriv('aes-256-gcm', secretOf(idempotency), nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Null if it was encrypted with another credential. */
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
