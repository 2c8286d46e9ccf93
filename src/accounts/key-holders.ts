// Loads the holders of credentials: API keys, operator tokens, and sessions of the console and the desk.
import { sql } from 'kysely'
import { MINUTE_MS } from '#core/duration.ts'
import { type Plan, PLAN_NAMES, planAllows } from '#core/plans.ts'
import type { Viewer } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { type Reason, reason } from '#core/problems.ts'
import { callerLimits, type CallerLimits, type KeyScope } from './credentials/key-scope.ts'
import { ownerOf, personViewer } from './people/people-store.ts'

/** A stored key and its holder, as the keyring caches it. */
export interface KeyHolder {
  keyId: number
  /** the id that identifies this holder in the change log */
  ownerId: number
  viewer: Viewer
  /** why the key is permanently rejected; null if it is not */
  refusal: Reason | null
  /** epoch milliseconds, Infinity for never */
  expiresAtMs: number
  /** maximum time without use; null for unlimited */
  idleMs: number | null
  /** whether the account of an API key is suspended, so that a valid key is rejected */
  suspended?: boolean
  /** origins and addresses that the key may be used from; null for any */
  limits: CallerLimits | null
  /** epoch milliseconds of the last stored use; -Infinity for none */
  lastUsedAtMs: number
  /** the table of `keyId`, if it is not the keyring's own */
  table?: 'person_tokens' | 'person_sessions'
}

/** The plan that the seller's desk requires. */
export const DESK_PLAN = 'plus' satisfies Plan

/** A session of the seller's desk ends after this time without use. */
const SESSION_IDLE_MS = 2 * 60 * MINUTE_MS

/** Restrictions of a key, joined as `s`. */
export const SCOPE = [
  sql<boolean>`coalesce(s.read_only, false)`.as('read_only'),
  sql<boolean>`coalesce(s.strict, false)`.as('strict'),
  sql<string[]>`coalesce(s.allowed_origins, '{}')`.as('allowed_origins'),
  sql<string[]>`coalesce(s.allowed_addresses, '{}')`.as('allowed_addresses'),
] as const

export async function loadApiKey(db: Db, hash: Buffer): Promise<KeyHolder | null> {
  const row = await db.kysely
    .selectFrom('api_keys as k')
    .innerJoin('accounts as a', 'a.id', 'k.account_id')
    .leftJoin('api_key_scopes as s', 's.key_id', 'k.id')
    .select(['k.id', 'k.account_id', 'k.expires_at', 'k.revoked_at', 'k.last_used_at', 'a.plan', 'a.suspended'])
    .select(SCOPE)
    .where('k.hash', '=', hash)
    .executeTakeFirst()
  return row ? { ...standingOf(row), keyId: row.id, idleMs: null, lastUsedAtMs: msOf(row.last_used_at) } : null
}

/** The same in the database of a sandbox. */
export async function loadTestKey(db: Db, hash: Buffer): Promise<KeyHolder | null> {
  const holder = await loadApiKey(db, hash)
  return holder && { ...holder, viewer: Object.freeze({ ...holder.viewer, test: true }) }
}

interface StoredKey extends KeyScope {
  id: number
  account_id: number
  expires_at: Date | null
  revoked_at: Date | null
  plan: Plan
  suspended: boolean
}

/** The account of an API key, and how long the key is valid. */
function standingOf(key: StoredKey): Omit<KeyHolder, 'keyId' | 'idleMs' | 'lastUsedAtMs'> {
  const { id, account_id: accountId, plan } = key
  const restrictions = {
    ...(key.read_only && { readOnly: true }),
    ...(key.allowed_origins.length > 0 && { inBrowser: true }),
    ...(key.strict && { strict: true }),
  }
  return {
    ownerId: accountId,
    viewer: Object.freeze({ kind: 'account', accountId, keyId: id, plan, ...restrictions }),
    refusal: key.revoked_at ? reason('credential', { credential: 'API key', state: 'revoked' }) : null,
    suspended: key.suspended,
    expiresAtMs: key.expires_at?.getTime() ?? Infinity,
    limits: callerLimits(key),
  }
}

/** A session of the seller's desk acts as the API key that opened it, as long as that key is valid and of the plan; it ends with a suspension. */
export async function loadSellerSession(db: Db, hash: Buffer): Promise<KeyHolder | null> {
  const row = await db.kysely
    .selectFrom('seller_sessions as d')
    .innerJoin('api_keys as k', 'k.id', 'd.key_id')
    .innerJoin('accounts as a', 'a.id', 'k.account_id')
    .leftJoin('api_key_scopes as s', 's.key_id', 'k.id')
    .select(['d.id as session_id', 'd.expires_at as ends_at', 'd.last_used_at'])
    .select(['k.id', 'k.account_id', 'k.expires_at', 'k.revoked_at', 'a.plan', 'a.suspended'])
    .select(SCOPE)
    .where('d.hash', '=', hash)
    .executeTakeFirst()
  if (!row) return null
  const key = standingOf(row)
  const allowed = planAllows(row.plan, DESK_PLAN)
  return {
    ...key,
    keyId: row.session_id,
    refusal: key.refusal ?? (row.suspended ? reason('account_suspended') : allowed ? null : noDesk(row.plan)),
    expiresAtMs: Math.min(key.expiresAtMs, row.ends_at.getTime()),
    idleMs: SESSION_IDLE_MS,
    lastUsedAtMs: row.last_used_at.getTime(),
  }
}

function noDesk(plan: Plan): Reason {
  return reason('plan', { plan: PLAN_NAMES[DESK_PLAN], has: PLAN_NAMES[plan] })
}

export async function loadOperatorToken(db: Db, hash: Buffer): Promise<KeyHolder | null> {
  const row = await db.kysely
    .selectFrom('operator_tokens')
    .select(['id', 'label', 'last_used_at', 'revoked_at'])
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (!row) return loadPersonToken(db, hash)
  return {
    keyId: row.id,
    ownerId: row.id,
    viewer: operatorViewer(row.id, row.label),
    refusal: row.revoked_at ? reason('credential', { credential: 'operator token', state: 'revoked' }) : null,
    expiresAtMs: Infinity,
    idleMs: null,
    limits: null,
    lastUsedAtMs: msOf(row.last_used_at),
  }
}

async function loadPersonToken(db: Db, hash: Buffer): Promise<KeyHolder | null> {
  const row = await db.kysely
    .selectFrom('person_tokens as t')
    .innerJoin('people as p', 'p.id', 't.person_id')
    .select(['t.id as token_id', 't.last_used_at', 't.revoked_at', 'p.id', 'p.name', 'p.roles', 'p.removed_at'])
    .where('t.hash', '=', hash)
    .executeTakeFirst()
  if (!row) return null
  return {
    keyId: row.token_id,
    table: 'person_tokens',
    ownerId: ownerOf(row.id),
    viewer: personViewer(row, { tokenId: row.token_id }),
    refusal: row.revoked_at || row.removed_at ? reason('credential', { credential: 'operator token', state: 'revoked' }) : null,
    expiresAtMs: Infinity,
    idleMs: null,
    limits: null,
    lastUsedAtMs: msOf(row.last_used_at),
  }
}

/** The holder of the bootstrap token, which comes from the settings; no row has its id. */
export const BOOTSTRAP: Viewer = Object.freeze({ kind: 'operator', name: 'bootstrap' })

export const BOOTSTRAP_ID = 0

/** @param bootstrapHash of the current bootstrap token; null if none is set */
export async function loadConsoleSession(db: Db, hash: Buffer, bootstrapHash: Buffer | null): Promise<KeyHolder | null> {
  const row = await db.kysely
    .selectFrom('console_sessions as s')
    .leftJoin('operator_tokens as t', 't.id', 's.token_id')
    .select(['s.id', 's.token_id', 's.bootstrap_hash', 's.expires_at', 's.last_used_at', 't.label', 't.revoked_at'])
    .where('s.hash', '=', hash)
    .executeTakeFirst()
  if (!row) return loadPersonSession(db, hash)
  const ended = row.token_id === null ? !bootstrapHash?.equals(row.bootstrap_hash!) : row.revoked_at !== null
  return {
    keyId: row.id,
    ownerId: row.token_id ?? BOOTSTRAP_ID,
    viewer: row.token_id === null ? BOOTSTRAP : operatorViewer(row.token_id, row.label!),
    refusal: ended ? reason('credential', { credential: 'operator token', state: 'revoked' }) : null,
    expiresAtMs: row.expires_at.getTime(),
    idleMs: null,
    limits: null,
    lastUsedAtMs: msOf(row.last_used_at),
  }
}

/**
 * A session that was opened with a token ends with it; a session opened with only a password may only set up two-factor sign-in. The
 * identity provider has checked the second factor itself.
 */
async function loadPersonSession(db: Db, hash: Buffer): Promise<KeyHolder | null> {
  const row = await db.kysely
    .selectFrom('person_sessions as s')
    .innerJoin('people as p', 'p.id', 's.person_id')
    .leftJoin('person_tokens as t', 't.id', 's.token_id')
    .select(['s.id as session_id', 's.token_id', 's.by_provider', 's.expires_at', 's.last_used_at', 't.revoked_at'])
    .select(['p.id', 'p.name', 'p.roles', 'p.totp_secret', 'p.removed_at'])
    .where('s.hash', '=', hash)
    .executeTakeFirst()
  if (!row) return null
  const { session_id: sessionId } = row
  return {
    keyId: sessionId,
    table: 'person_sessions',
    ownerId: ownerOf(row.id),
    viewer: personViewer(row, {
      sessionId,
      ...(row.token_id !== null && { tokenId: row.token_id }),
      ...(row.token_id === null && !row.by_provider && row.totp_secret === null && { unfinished: true }),
    }),
    refusal: row.revoked_at || row.removed_at ? reason('credential', { credential: 'console session', state: 'revoked' }) : null,
    expiresAtMs: row.expires_at.getTime(),
    idleMs: null,
    limits: null,
    lastUsedAtMs: msOf(row.last_used_at),
  }
}

function msOf(at: Date | null): number {
  return at?.getTime() ?? -Infinity
}

// Labels may repeat and may be `cli` or `bootstrap`: the id makes the names unique.
function operatorViewer(id: number, label: string): Viewer {
  return Object.freeze({ kind: 'operator', name: `${label}:${id}` })
}
