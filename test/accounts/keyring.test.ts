// The keyring: authenticates from memory, and never longer than the key, its account and its plan allow.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { createOperatorToken, revokeOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { newKey } from '#accounts/credentials/key-format.ts'
import { apiKeyring, type Keyring, operatorTokens } from '#accounts/keys/keyring.ts'
import { revokeKey } from '#accounts/keys/revoke-key.ts'
import { rotateKey } from '#accounts/keys/rotate-key.ts'
import type { Plan } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { isUnavailable } from '#db/connection/transaction.ts'
import { freshDatabase } from '../support/postgres.ts'
import { Clock, silent, until } from '../support/node.ts'
import { countLookups } from './lookups.ts'
import { BOOTSTRAP_TOKEN, CALLER, openNode, type TestNode } from './node.ts'
import type { ServiceError } from '#core/errors.ts'
import type { Reason } from '#core/problems.ts'
import { ruleOf } from '../support/reasons.ts'

const HOUR_MS = 3_600_000
const { now } = new Clock()
let database: Awaited<ReturnType<typeof freshDatabase>>
let node: TestNode
let other: TestNode

beforeAll(async () => {
  database = await freshDatabase()
  const clock = new Clock()
  node = await openNode(database.url, clock)
  other = await openNode(database.url, clock)
})

afterAll(async () => {
  await node.close()
  await other.close()
  await database.drop()
})

async function accountWithKey(plan: Plan = 'plus', expiresInMs?: number) {
  const account = await call(createAccount, node.ctx, { name: 'Keyring test', plan })
  const expires = expiresInMs === undefined ? {} : { expires_at: new Date(node.clock.now().getTime() + expiresInMs).toISOString() }
  const key = await call(createKey, node.ctx, { account_id: account.id, label: 'test', ...expires })
  return { account, key, header: `Bearer ${key.key}` }
}

/** The viewer, or the rule of the rejection. */
async function outcome(keyring: Keyring, header: string | undefined): Promise<object | string> {
  try {
    return await keyring.find(header, CALLER)
  } catch (error) {
    const { code } = error as ServiceError
    if (code === 'ACCOUNT_SUSPENDED') return code
    expect(error).toMatchObject({ code: 'UNAUTHENTICATED', status: 401, headers: { 'www-authenticate': 'Bearer' } })
    return ruleOf((error as ServiceError).why as Reason)
  }
}

test('a malformed key is rejected without a database lookup', async () => {
  const gone = openPool<Schema>({ url: 'postgresql://nobody@127.0.0.1:1/none', max: 1, applicationName: 'test' })
  const keys = apiKeyring({ db: gone, log: silent, now })
  const operators = operatorTokens({ db: gone, log: silent, now }, null)
  const key = newKey('api')
  const changed = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
  for (const header of [undefined, '', 'Bearer', 'Bearer ', key, `Basic ${key}`, `Bearer ${changed}`, `Bearer ${newKey('operator')}`]) {
    expect(() => keys.find(header, CALLER)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
  }
  expect(() => operators.find(`Bearer ${key}`, CALLER)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }))
  await expect(keys.find(`Bearer ${key}`, CALLER)).rejects.toSatisfy(isUnavailable)
  await gone.close()
})

test('a key is looked up once and then cached', async () => {
  const { account, key, header } = await accountWithKey('professional')
  await node.feed.pull()
  const lookups = countLookups()
  const first = Array.from({ length: 20 }, () => node.keys.find(header, CALLER))
  const viewer = { kind: 'account', accountId: account.id, keyId: key.id, plan: 'professional' }
  for (const found of first) expect(found).toBeInstanceOf(Promise)
  expect(await Promise.all(first)).toEqual(first.map(() => viewer))
  expect(lookups.end()).toBe(1)
  expect(node.keys.find(header, CALLER)).toEqual(viewer)
  expect(node.keys.find(`bearer  ${key.key}`, CALLER)).toEqual(viewer)
})

test('an unknown key is rejected', async () => {
  expect(await outcome(node.keys, `Bearer ${newKey('api')}`)).toBe('credential API key unknown')
})

test('a key expires on time, even if it is cached', async () => {
  const { header } = await accountWithKey('plus', HOUR_MS)
  expect(await outcome(node.keys, header)).toMatchObject({ plan: 'plus' })
  node.clock.advance(HOUR_MS - 60_000)
  expect(node.keys.find(header, CALLER)).toMatchObject({ plan: 'plus' })
  node.clock.advance(60_001)
  expect(() => node.keys.find(header, CALLER)).toThrow(
    expect.objectContaining({ why: { rule: 'credential', params: { credential: 'API key', state: 'expired' } } }),
  )
  expect(await outcome(other.keys, header)).toBe('credential API key expired')
})

test('a rotated key stays valid for the overlap, together with the new one', async () => {
  const { key, header } = await accountWithKey()
  const fresh = await call(rotateKey, node.ctx, { id: key.id, overlap_hours: 2 })
  const freshHeader = `Bearer ${fresh.key}`
  expect(fresh).toMatchObject({ label: 'test', expires_at: null })
  expect(await outcome(node.keys, header)).toMatchObject({ keyId: key.id })
  expect(await outcome(node.keys, freshHeader)).toMatchObject({ keyId: fresh.id })
  node.clock.advance(2 * HOUR_MS + 1000)
  expect(await outcome(node.keys, header)).toBe('credential API key expired')
  expect(await outcome(node.keys, freshHeader)).toMatchObject({ keyId: fresh.id })
  await expect(call(rotateKey, node.ctx, { id: key.id })).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('rotation never extends a key, and keeps its expiry', async () => {
  const { key } = await accountWithKey('plus', HOUR_MS)
  const fresh = await call(rotateKey, node.ctx, { id: key.id })
  expect(fresh.expires_at).toBe(key.expires_at)
  const row = await node.db.kysely.selectFrom('api_keys').select('expires_at').where('id', '=', key.id).executeTakeFirstOrThrow()
  expect(row.expires_at?.toISOString()).toBe(key.expires_at)
  const { key: second, header } = await accountWithKey()
  await call(rotateKey, node.ctx, { id: second.id, overlap_hours: 0 })
  expect(await outcome(node.keys, header)).toBe('credential API key expired')
})

test('changes apply at once on the writing node, and within a second on the others', async () => {
  const { account, key, header } = await accountWithKey('starter')
  const state = async (on: TestNode) => {
    const found = await outcome(on.keys, header)
    return typeof found === 'object' && 'plan' in found ? found.plan : found
  }
  expect([await state(node), await state(other)]).toEqual(['starter', 'starter'])
  const steps: [change: () => Promise<unknown>, expected: string][] = [
    [() => call(changeAccount, node.ctx, { id: account.id, plan: 'enterprise' }), 'enterprise'],
    [() => call(changeAccount, node.ctx, { id: account.id, suspended: true }), 'ACCOUNT_SUSPENDED'],
    [() => call(changeAccount, node.ctx, { id: account.id, suspended: false }), 'enterprise'],
    [() => call(revokeKey, node.ctx, { id: key.id }), 'credential API key revoked'],
  ]
  for (const [change, expected] of steps) {
    await change()
    expect(await state(node)).toBe(expected)
    await until('the other node follows', async () => (await state(other)) === expected)
  }
})

test('a value read during a change is not cached', async () => {
  const { account, header } = await accountWithKey()
  const reading = node.keys.find(header, CALLER)
  await node.keys.apply([{ seq: 1, kind: 'accounts', ids: [account.id], payload: null }])
  await reading
  const again = node.keys.find(header, CALLER)
  expect(again).toBeInstanceOf(Promise)
  await again
  expect(node.keys.find(header, CALLER)).not.toBeInstanceOf(Promise)
  await node.keys.apply([{ seq: 2, kind: 'accounts', ids: [account.id + 1000], payload: null }])
  await node.keys.apply([{ seq: 3, kind: 'operators', ids: [account.id], payload: null }])
  expect(node.keys.find(header, CALLER)).not.toBeInstanceOf(Promise)
  await node.keys.reload()
  expect(node.keys.find(header, CALLER)).toBeInstanceOf(Promise)
})

test('times of last use are stored in batches, and the latest one wins', async () => {
  const { key, header } = await accountWithKey()
  const lastUse = async () =>
    (await node.db.kysely.selectFrom('api_keys').select('last_used_at').where('id', '=', key.id).executeTakeFirstOrThrow()).last_used_at
  await node.keys.find(header, CALLER)
  expect(await lastUse()).toBeNull()
  const earliest = node.clock.now().getTime() - 60_000
  await node.keys.flush()
  const used = await lastUse()
  expect(used!.getTime()).toBeGreaterThan(earliest)
  const late = apiKeyring({ db: node.db, log: silent, now: () => new Date(earliest) })
  await late.find(header, CALLER)
  await late.close()
  expect(await lastUse()).toEqual(used)
})

test('operator tokens are stored tokens and the bootstrap token, never API keys', async () => {
  const { token, id } = await call(createOperatorToken, node.ctx, { label: 'bootstrap' })
  const { header } = await accountWithKey()
  expect(await outcome(node.operators, `Bearer ${token}`)).toEqual({ kind: 'operator', name: `bootstrap:${id}` })
  expect(await outcome(other.operators, `Bearer ${token}`)).toEqual({ kind: 'operator', name: `bootstrap:${id}` })
  expect(node.operators.find(`Bearer ${BOOTSTRAP_TOKEN}`, CALLER)).toEqual({ kind: 'operator', name: 'bootstrap' })
  expect(() => node.operators.find(`Bearer ${BOOTSTRAP_TOKEN}.`, CALLER)).toThrow(
    expect.objectContaining({ why: { rule: 'credential', params: { credential: 'operator token', state: 'malformed' } } }),
  )
  expect(() => node.operators.find(header, CALLER)).toThrow(
    expect.objectContaining({ why: { rule: 'credential', params: { credential: 'operator token', state: 'malformed' } } }),
  )
  expect(() => node.keys.find(`Bearer ${token}`, CALLER)).toThrow(
    expect.objectContaining({ why: { rule: 'credential', params: { credential: 'API key', state: 'malformed' } } }),
  )
  await call(revokeOperatorToken, node.ctx, { id })
  expect(await outcome(node.operators, `Bearer ${token}`)).toBe('credential operator token revoked')
  await until('the other node follows', async () => (await outcome(other.operators, `Bearer ${token}`)) === 'credential operator token revoked')
  const again = await call(revokeOperatorToken, node.ctx, { id })
  expect(await call(revokeOperatorToken, node.ctx, { id })).toEqual(again)
})
