// SQL of accounts, their keys and the operators' tokens.
import { sql } from 'kysely'
import { MINUTE_MS } from '#core/duration.ts'
import { type Plan, PLAN_NAMES, planAllows } from '#core/plans.ts'
import type { Viewer } from '#core/verb.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { existing, missing } from '#core/fields.ts'
import { type Reason, reason } from '#core/problems.ts'
import { jsonReady } from '#db/json-ready.ts'
import { callerLimits, type CallerLimits, type KeyScope } from './credentials/key-scope.ts'
import { ownerOf, personViewer } from './people/store.ts'
import type { Account, ApiKey, OperatorToken } from './credentials/types.ts'

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

export const ACCOUNT_COLUMNS = [
  'id',
  'name',
  'plan',
  'highlight_credits',
  'suspended',
  sql<Account['listing_intake']>`(select jsonb_build_object('quota', i.quota) from listing_intakes i where i.account_id = accounts.id)`.as(
    'listing_intake',
  ),
  'created_at',
] as const
export const KEY_COLUMNS = ['k.id', 'k.account_id', 'k.label', 'k.last4', 'k.created_at', 'k.last_used_at', 'k.expires_at', 'k.revoked_at'] as const
export const TOKEN_COLUMNS = ['id', 'label', 'last4', 'created_at', 'last_used_at', 'revoked_at'] as const

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

/** A session that was opened with a token ends with it; a session opened with only a password may only set up two-factor sign-in. */
async function loadPersonSession(db: Db, hash: Buffer): Promise<KeyHolder | null> {
  const row = await db.kysely
    .selectFrom('person_sessions as s')
    .innerJoin('people as p', 'p.id', 's.person_id')
    .leftJoin('person_tokens as t', 't.id', 's.token_id')
    .select(['s.id as session_id', 's.token_id', 's.expires_at', 's.last_used_at', 't.revoked_at'])
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
      ...(row.token_id === null && row.totp_secret === null && { unfinished: true }),
    }),
    refusal: row.revoked_at || row.removed_at ? reason('credential', { credential: 'console session', state: 'revoked' }) : null,
    expiresAtMs: row.expires_at.getTime(),
    idleMs: null,
    limits: null,
    lastUsedAtMs: msOf(row.last_used_at),
  }
}

export async function insertConsoleSession(
  tx: Tx,
  values: { hash: Buffer; token_id: number | null; bootstrap_hash: Buffer | null; expires_at: Date },
): Promise<number> {
  const { id } = await tx.insertInto('console_sessions').values(values).returning('id').executeTakeFirstOrThrow()
  return id
}

/** The account, locked until the transaction ends. */
export async function lockAccount(tx: Tx, id: number): Promise<Account> {
  const row = await accounts(tx).where('id', '=', existing('account', id)).forUpdate().executeTakeFirst()
  if (!row) throw missing('account', id)
  return jsonReady(row)
}

/** @throws NOT_FOUND */
export async function fetchAccount(on: Queryable, id: number): Promise<Account> {
  const row = await accounts(on).where('id', '=', existing('account', id)).executeTakeFirst()
  if (!row) throw missing('account', id)
  return jsonReady(row)
}

export async function insertAccount(tx: Tx, values: Pick<Account, 'name' | 'plan' | 'highlight_credits'>): Promise<Account> {
  return jsonReady(await tx.insertInto('accounts').values(values).returning(ACCOUNT_COLUMNS).executeTakeFirstOrThrow())
}

export async function updateAccount(tx: Tx, id: number, values: Partial<Pick<Account, 'name' | 'plan' | 'suspended'>>, now: Date): Promise<Account> {
  const update = tx
    .updateTable('accounts')
    .set({ ...values, updated_at: now })
    .where('id', '=', id)
  return jsonReady(await update.returning(ACCOUNT_COLUMNS).executeTakeFirstOrThrow())
}

/** Opens listing import for an account; null closes it. */
export async function setListingIntake(tx: Tx, accountId: number, intake: Account['listing_intake']): Promise<void> {
  if (intake === null) await tx.deleteFrom('listing_intakes').where('account_id', '=', accountId).execute()
  else {
    const { quota } = intake
    const insert = tx.insertInto('listing_intakes').values({ account_id: accountId, quota })
    await insert.onConflict((conflict) => conflict.column('account_id').doUpdateSet({ quota })).execute()
  }
}

/**
 * Maximum listings that an account may have by import; null if it is closed. The account is locked until the transaction
 * ends, so that a transaction can count its listings and then add some without a race.
 */
export async function lockIntakeQuota(tx: Tx, accountId: number): Promise<number | null> {
  await tx.selectFrom('accounts').select('id').where('id', '=', accountId).forNoKeyUpdate().execute()
  return findIntakeQuota(tx, accountId)
}

/** The same without the lock. */
export async function findIntakeQuota(on: Queryable, accountId: number): Promise<number | null> {
  const row = await on.selectFrom('listing_intakes').select('quota').where('account_id', '=', accountId).executeTakeFirst()
  return row?.quota ?? null
}

export async function insertCreditEntry(tx: Tx, entry: { account_id: number; amount: number; balance: number; reason: string }): Promise<void> {
  await tx.insertInto('credit_entries').values(entry).execute()
}

/** The key, locked until the transaction ends. */
export async function lockKey(tx: Tx, id: number): Promise<ApiKey> {
  const row = await apiKeys(tx).select(KEY_COLUMNS).select(SCOPE).where('k.id', '=', existing('key', id)).forUpdate('k').executeTakeFirst()
  if (!row) throw missing('key', id)
  return jsonReady(row)
}

export async function fetchKey(on: Queryable, id: number): Promise<ApiKey> {
  const row = await apiKeys(on).select(KEY_COLUMNS).select(SCOPE).where('k.id', '=', existing('key', id)).executeTakeFirst()
  if (!row) throw missing('key', id)
  return jsonReady(row)
}

export async function insertKey(
  tx: Tx,
  values: { account_id: number; label: string; hash: Buffer; last4: string; expires_at: Date | null },
  scope: KeyScope,
): Promise<ApiKey> {
  const { id } = await tx.insertInto('api_keys').values(values).returning('id').executeTakeFirstOrThrow()
  await setScope(tx, id, scope)
  return fetchKey(tx, id)
}

/** @param scope restrictions to change; the others stay */
export async function updateKey(
  tx: Tx,
  id: number,
  values: { label?: string; expires_at?: Date | null; revoked_at?: Date },
  scope: Partial<KeyScope> = {},
): Promise<ApiKey> {
  if (Object.keys(values).length > 0) await tx.updateTable('api_keys').set(values).where('id', '=', id).execute()
  if (Object.keys(scope).length > 0) await setScope(tx, id, scope)
  return fetchKey(tx, id)
}

async function setScope(tx: Tx, keyId: number, { read_only, strict, allowed_origins, allowed_addresses }: Partial<KeyScope>): Promise<void> {
  const isLimited = read_only || strict || allowed_origins?.length || allowed_addresses?.length
  const values = { read_only, strict, allowed_origins, allowed_addresses }
  if (isLimited) {
    await tx
      .insertInto('api_key_scopes')
      .values({ key_id: keyId, ...values })
      .onConflict((conflict) => conflict.column('key_id').doUpdateSet(values))
      .execute()
  } else await tx.updateTable('api_key_scopes').set(values).where('key_id', '=', keyId).execute()
}

export async function insertToken(tx: Tx, values: { label: string; hash: Buffer; last4: string }): Promise<OperatorToken> {
  return jsonReady(await tx.insertInto('operator_tokens').values(values).returning(TOKEN_COLUMNS).executeTakeFirstOrThrow())
}

/** The token, locked until the transaction ends. */
export async function lockToken(tx: Tx, id: number): Promise<OperatorToken> {
  const tokens = tx.selectFrom('operator_tokens').select(TOKEN_COLUMNS)
  const row = await tokens.where('id', '=', existing('operator token', id)).forUpdate().executeTakeFirst()
  if (!row) throw missing('operator token', id)
  return jsonReady(row)
}

export async function markTokenRevoked(tx: Tx, id: number, at: Date): Promise<OperatorToken> {
  const update = tx.updateTable('operator_tokens').set({ revoked_at: at }).where('id', '=', id)
  return jsonReady(await update.returning(TOKEN_COLUMNS).executeTakeFirstOrThrow())
}

/** API keys with their restrictions. */
export function apiKeys(on: Queryable) {
  return on.selectFrom('api_keys as k').leftJoin('api_key_scopes as s', 's.key_id', 'k.id')
}

function msOf(at: Date | null): number {
  return at?.getTime() ?? -Infinity
}

function accounts(on: Queryable) {
  return on.selectFrom('accounts').select(ACCOUNT_COLUMNS)
}

// Labels may repeat and may be `cli` or `bootstrap`: the id makes the names unique.
function operatorViewer(id: number, label: string): Viewer {
  return Object.freeze({ kind: 'operator', name: `${label}:${id}` })
}
