// The operator API for accounts, keys and the audit log, over HTTP only.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operatorTokens, type Keyring } from '#accounts/keyring.ts'
import { ChangeFeed } from '#db/change-feed.ts'
import { openPool } from '#db/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { operatorServer } from '#operator/server.ts'
import { freshDatabase } from '../support/postgres.ts'

const TOKEN = 'a bootstrap token for tests'
const log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
let db: Db
let base: string
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  const database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 10, applicationName: 'test' })
  const feed = new ChangeFeed(db, log as never)
  await feed.open()
  const now = () => new Date()
  const operators: Keyring = operatorTokens({ db, log, now }, TOKEN)
  feed.add(operators)
  const app = await operatorServer({ config: { trustProxy: false }, db, log, feed, operators, now })
  base = await app.listen({ port: 0, host: '127.0.0.1' })
  closing.push(() => app.close(), () => feed.close(), () => operators.close(), () => db.close(), () => database.drop())
})
afterAll(async () => {
  for (const close of closing) await close()
})

test('smoke', async () => {
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(base + path, { method, headers: { authorization: `Bearer ${TOKEN}`, ...(body !== undefined && { 'content-type': 'application/json' }) }, body: body === undefined ? undefined : JSON.stringify(body) })
    console.log(method, path, response.status, await response.text())
  }
  await call('POST', '/operator/v1/accounts', { name: '  x ', plan: 'plus', highlight_credits: 3 })
  await call('GET', '/operator/v1/accounts')
  await call('GET', '/operator/v1/accounts/1')
  await call('GET', '/operator/v1/accounts/99999999999')
  await call('GET', '/operator/v1/accounts/-0')
  await call('GET', '/operator/v1/accounts/abc')
  await call('PATCH', '/operator/v1/accounts/1', { plan: 'starter' })
  await call('PATCH', '/operator/v1/accounts/1', {})
  await call('POST', '/operator/v1/accounts/1/credits', { amount: -4 })
  await call('POST', '/operator/v1/accounts/1/credits', { amount: 0 })
  await call('POST', '/operator/v1/accounts/1/keys', { label: 'x', expires_at: '2027-01-01T00:00:00Z' })
  await call('POST', '/operator/v1/accounts/1/keys')
  await call('POST', '/operator/v1/keys/1/rotate', {})
  await call('GET', '/operator/v1/accounts/1/keys')
  await call('DELETE', '/operator/v1/keys/1')
  await call('DELETE', '/operator/v1/keys/1')
  await call('POST', '/operator/v1/keys/1/rotate', {})
  await call('PUT', '/operator/v1/keys/1', {})
  await call('GET', '/operator/v1/nope')
  await call('GET', '/operator/v1/audit?subject_type=key')
  await call('GET', '/operator/v1/audit?actor=%00')
  await call('GET', '/operator/v1/audit?from=x')
  await call('POST', '/operator/v1/accounts', { name: 'a\0b', plan: 'x', foo: 1 })
  await call('GET', '/operator/openapi.json')
  const r = await fetch(base + '/operator/v1/nope'); console.log(r.status, await r.text())
  const r2 = await fetch(base + '/operator/v1'); console.log(r2.status, await r2.text())
  expect(1).toBe(1)
})
