// SQL of accounts, their keys and the operators' tokens.
import { sql } from 'kysely'
import type { Queryable, Tx } from '#db/schema.ts'
import { conflict } from '#core/errors.ts'
import { existing, missing } from '#core/fields.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { KeyScope } from './credentials/key-scope.ts'
import type { Account, ApiKey, OperatorToken } from './credentials/credential-types.ts'
import { SCOPE } from './key-holders.ts'

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

export async function insertConsoleSession(
  tx: Tx,
  values: { hash: Buffer; token_id: number | null; bootstrap_hash: Buffer | null; created_at: Date; expires_at: Date },
): Promise<number> {
  const { id } = await tx.insertInto('console_sessions').values(values).returning('id').executeTakeFirstOrThrow()
  return id
}

/** The account, locked until the transaction ends. @throws NOT_FOUND; CONFLICT if the account was erased */
export async function lockAccount(tx: Tx, id: number): Promise<Account> {
  const row = await accounts(tx).where('id', '=', existing('account', id)).forUpdate().executeTakeFirst()
  if (!row) throw missing('account', id)
  await refuseErased(tx, id)
  return jsonReady(row)
}

/** @throws CONFLICT if the account was erased, or is being erased */
export async function refuseErased(on: Queryable, id: number): Promise<void> {
  const erasure = await on.selectFrom('erasures').select('id').where('account_id', '=', id).executeTakeFirst()
  if (erasure) throw conflict('account_erased', { id: erasure.id })
}

/** @throws NOT_FOUND */
export async function fetchAccount(on: Queryable, id: number): Promise<Account> {
  const row = await accounts(on).where('id', '=', existing('account', id)).executeTakeFirst()
  if (!row) throw missing('account', id)
  return jsonReady(row)
}

export async function insertAccount(tx: Tx, values: Pick<Account, 'name' | 'plan' | 'highlight_credits'>, now: Date): Promise<Account> {
  const stored = { ...values, created_at: now, updated_at: now }
  return jsonReady(await tx.insertInto('accounts').values(stored).returning(ACCOUNT_COLUMNS).executeTakeFirstOrThrow())
}

/** Changes a locked account. */
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

export async function insertCreditEntry(
  tx: Tx,
  entry: { account_id: number; amount: number; balance: number; reason: string; created_at: Date },
): Promise<void> {
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
  values: { account_id: number; label: string; hash: Buffer; last4: string; created_at: Date; expires_at: Date | null },
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

export async function insertToken(tx: Tx, values: { label: string; hash: Buffer; last4: string; created_at: Date }): Promise<OperatorToken> {
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

export function accounts(on: Queryable) {
  return on.selectFrom('accounts').select(ACCOUNT_COLUMNS)
}
