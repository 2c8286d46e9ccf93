// Restricted API keys: read-only, expiry, origins and addresses, over REST and GraphQL, on every node; and the usage of keys.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { KeyUsage, type KeyUsageRow, USAGE_DAYS } from '#accounts/keys/usage.ts'
import type { Me } from '#accounts/keys/read-me.ts'
import type { ApiKey, NewApiKey } from '#accounts/credentials/credential-types.ts'
import { call } from '#core/verb.ts'
import { catalogueRoutes } from '#rest/catalogue-routes.ts'
import { collectionRoutes } from '#rest/collection-routes.ts'
import { listingRoutes } from '#rest/listing-routes.ts'
import { meRoutes } from '#rest/me-route.ts'
import { priceRoutes } from '#rest/price-routes.ts'
import { webhookRoutes } from '#rest/webhook-routes.ts'
import { DAY_MS, makeCatalogue, operator, published } from '../market/kit.ts'
import { msPastMidnight, OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
let other: TestNode
let items: Record<string, number>

beforeAll(async () => {
  node = await startTestNode({ env: { TRUST_PROXY: 'loopback' } })
  other = await startTestNode({ databaseUrl: node.databaseUrl, env: { TRUST_PROXY: 'loopback' } })
  ;({ items } = await makeCatalogue(node))
})

afterAll(async () => {
  await other.close()
  await node.close()
})

async function keyWith(body: object = {}): Promise<NewApiKey> {
  const { status, body: answer } = await operator<NewApiKey>(node, 'POST', `/accounts/${node.accounts.plus}/keys`, body)
  expect([status, answer.error]).toEqual([201, undefined])
  return answer.data
}

const change = (id: number, body: object) => operator<ApiKey>(node, 'PATCH', `/keys/${id}`, body)

function api<T = unknown>(key: string, method: string, path: string, json?: unknown, headers: Record<string, string> = {}, on = node) {
  return send<T>(`${on.publicUrl}/api/v1${path}`, key, { method, headers, ...(json !== undefined && { json }) })
}

const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code]

async function graphql(key: string, query: string): Promise<{ status: number; code?: string; data?: Record<string, unknown> }> {
  const response = await fetch(`${node.publicUrl}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const body = (await response.json()) as { data?: Record<string, unknown>; errors?: { extensions: { code: string } }[] }
  return { status: response.status, ...(body.errors && { code: body.errors[0]!.extensions.code }), ...(body.data && { data: body.data }) }
}

describe('read-only keys', () => {
  test('every write is rejected before its body is read, and every read works', async () => {
    const { key } = await keyWith({ read_only: true })
    const { id } = await published(node, items.char!)
    const routes = [
      ...catalogueRoutes(node.catalogue),
      ...priceRoutes,
      ...meRoutes,
      ...listingRoutes(node.listings),
      ...collectionRoutes,
      ...webhookRoutes,
    ]
    const writes = routes.filter(({ verb }) => verb.writes)
    expect(writes.length).toBeGreaterThan(8)
    for (const { method, path, verb } of routes) {
      const address = path.replace(/:\w+/g, String(id))
      const body = method === 'GET' || method === 'DELETE' ? undefined : '{'
      const answer = await send(`${node.publicUrl}/api/v1${address}`, key, { method, ...(body !== undefined && { body }) })
      if (verb.writes) expect([path, ...codeOf(answer)]).toEqual([path, 403, 'READ_ONLY_KEY'])
      else expect([path, answer.body.error?.code]).not.toEqual([path, 'READ_ONLY_KEY'])
    }
    const mutation = `mutation { updateListingPrice(listingId: ${id}, price: 5) { id } }`
    expect(await graphql(key, mutation)).toMatchObject({ status: 403, code: 'READ_ONLY_KEY' })
    expect(await graphql(key, `{ listing(id: ${id}) { price } }`)).toEqual({ status: 200, data: { listing: { price: 100 } } })
  })

  test('a verb that does not declare that it writes is rejected at the write itself', async () => {
    const { id: keyId } = await keyWith({ read_only: true })
    const viewer = { kind: 'account' as const, accountId: node.accounts.plus, keyId, plan: 'plus' as const, readOnly: true }
    await expect(call({ ...createKey, needs: 'plus', writes: false }, { ...node.ctx, viewer }, { account_id: 1 })).rejects.toMatchObject({
      code: 'READ_ONLY_KEY',
    })
  })

  test('a missing plan is reported first', async () => {
    const body = { read_only: true }
    const { key } = (await operator<NewApiKey>(node, 'POST', `/accounts/${node.accounts.starter}/keys`, body)).body.data
    expect(codeOf(await api(key, 'PUT', '/plus/webhook', {}))).toEqual([403, 'PLAN_UPGRADE_REQUIRED'])
  })
})

describe('restrictions of a key', () => {
  test('origins', async () => {
    const { key } = await keyWith({ allowed_origins: ['https://shop.example', 'http://localhost:5173', 'https://shop.example'] })
    const from = (origin?: string) => api(key, 'GET', '/items', undefined, origin === undefined ? {} : { origin })
    expect(codeOf(await from('https://shop.example'))).toEqual([200, undefined])
    expect(codeOf(await from('http://localhost:5173'))).toEqual([200, undefined])
    const elsewhere = await from('https://elsewhere.example')
    expect(codeOf(elsewhere)).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
    expect(elsewhere.body.error).toMatchObject({ rule: 'origin_not_allowed', params: { value: 'https://elsewhere.example' } })
    // The page can read the reason.
    expect(elsewhere.headers.get('access-control-allow-origin')).toBe('*')
    expect(codeOf(await from())).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
    expect(codeOf(await from('null'))).toEqual([403, 'ORIGIN_NOT_ALLOWED'])
    const me = await api<Me>(key, 'GET', '/me', undefined, { origin: 'https://shop.example' })
    expect(me.body.data.key.allowed_origins).toEqual(['https://shop.example', 'http://localhost:5173'])
  })

  test('addresses and ranges', async () => {
    const { key } = await keyWith({ allowed_addresses: ['203.0.113.7', '10.1.0.0/16', '2001:db8::/32', '::ffff:192.0.2.0/120'] })
    const from = async (address: string) => codeOf(await api(key, 'GET', '/items', undefined, { 'x-forwarded-for': address }))
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '10.1.255.255', '2001:db8:ffff::1', '192.0.2.200'])
      expect([address, await from(address)]).toEqual([address, [200, undefined]])
    for (const address of ['203.0.113.8', '10.2.0.1', '2001:db9::1', '127.0.0.1', 'unknown', '::7'])
      expect([address, await from(address)]).toEqual([address, [403, 'ADDRESS_NOT_ALLOWED']])
  })

  test('a rejected origin or address does not count towards the limits or the usage of the key', async () => {
    const { id, key } = await keyWith({ allowed_addresses: ['203.0.113.7'] })
    expect(codeOf(await api(key, 'GET', '/items'))).toEqual([403, 'ADDRESS_NOT_ALLOWED'])
    const { data } = (await operator<ApiKey[]>(node, 'GET', `/accounts/${node.accounts.plus}/keys?per_page=100`)).body
    expect(data.find((row) => row.id === id)).toMatchObject({ last_used_at: null })
  })

  test('restrictions can be changed and removed, and every node follows', async () => {
    const { id, key } = await keyWith()
    const states = () =>
      Promise.all([node, other].map(async (on) => codeOf(await api(key, 'PUT', '/plus/webhook', { url: 'https://example.com/hook' }, {}, on))))
    expect(await states()).toEqual([
      [200, undefined],
      [200, undefined],
    ])
    const steps: [body: object, expected: [number, string | undefined]][] = [
      [{ read_only: true }, [403, 'READ_ONLY_KEY']],
      [{ allowed_origins: ['https://shop.example'] }, [403, 'ORIGIN_NOT_ALLOWED']],
      [{ allowed_origins: [], allowed_addresses: ['203.0.113.7'] }, [403, 'ADDRESS_NOT_ALLOWED']],
      [{ allowed_addresses: [] }, [403, 'READ_ONLY_KEY']],
      [{ read_only: false, label: ' shop ' }, [200, undefined]],
    ]
    for (const [body, expected] of steps) {
      expect((await change(id, body)).status).toBe(200)
      expect((await states())[0]).toEqual(expected)
      await until('the other node follows', async () => JSON.stringify((await states())[1]) === JSON.stringify(expected))
    }
    const changed = await change(id, { expires_at: null })
    expect(changed.body.data).toMatchObject({ label: 'shop', read_only: false, allowed_origins: [], allowed_addresses: [], expires_at: null })
  })
})

test('rotation keeps the restrictions', async () => {
  const limits = { read_only: true, allowed_origins: ['https://shop.example'], allowed_addresses: ['127.0.0.0/8'] }
  const { id } = await keyWith({ label: 'shop', ...limits })
  const fresh = await operator<NewApiKey>(node, 'POST', `/keys/${id}/rotate`, {})
  expect(fresh.body.data).toMatchObject({ label: 'shop', ...limits })
  const origin = { origin: 'https://shop.example' }
  expect(codeOf(await api(fresh.body.data.key, 'PUT', '/plus/webhook', {}, origin))).toEqual([403, 'READ_ONLY_KEY'])
  expect(codeOf(await api(fresh.body.data.key, 'GET', '/items', undefined, origin))).toEqual([200, undefined])
})

test('an expired key is rejected like an unknown one, and cannot be changed', async () => {
  const { id, key } = await keyWith()
  const expires = new Date(node.clock.now().getTime() + 60_000).toISOString()
  expect((await change(id, { expires_at: expires })).body.data.expires_at).toBe(expires)
  expect((await api<Me>(key, 'GET', '/me')).body.data.key.expires_at).toBe(expires)
  node.clock.advance(60_000)
  const refused = await api(key, 'GET', '/me')
  expect([...codeOf(refused), refused.headers.get('www-authenticate')]).toEqual([401, 'UNAUTHENTICATED', 'Bearer'])
  expect(codeOf(await change(id, { expires_at: null }))).toEqual([409, 'CONFLICT'])
  const { id: revoked } = await keyWith()
  await operator(node, 'DELETE', `/keys/${revoked}`)
  expect(codeOf(await change(revoked, { read_only: true }))).toEqual([409, 'CONFLICT'])
})

test.each([
  [{ allowed_addresses: ['10.0.0.0/33'] }, 'allowed_addresses.0'],
  [{ allowed_addresses: ['203.0.113.7', '10.1'] }, 'allowed_addresses.1'],
  [{ allowed_addresses: ['10.0.0.0/8/8'] }, 'allowed_addresses.0'],
  [{ allowed_addresses: ['fe80::1%eth0'] }, 'allowed_addresses.0'],
  [{ allowed_addresses: ['shop.example'] }, 'allowed_addresses.0'],
  [{ allowed_addresses: [''] }, 'allowed_addresses.0'],
  [{ allowed_addresses: [7] }, 'allowed_addresses.0'],
  [{ allowed_addresses: '10.0.0.0/8' }, 'allowed_addresses'],
  [{ allowed_addresses: Array.from({ length: 51 }, () => '10.0.0.1') }, 'allowed_addresses'],
  [{ allowed_origins: ['https://shop.example/'] }, 'allowed_origins.0'],
  [{ allowed_origins: ['https://shop.example', 'HTTPS://Shop.example'] }, 'allowed_origins.1'],
  [{ allowed_origins: ['https://shop.example:443'] }, 'allowed_origins.0'],
  [{ allowed_origins: ['shop.example'] }, 'allowed_origins.0'],
  [{ allowed_origins: ['*'] }, 'allowed_origins.0'],
  [{ allowed_origins: null }, 'allowed_origins'],
  [{ read_only: 'yes' }, 'read_only'],
  [{ expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
  [{ expires_at: 'tomorrow' }, 'expires_at'],
  [{ surely_unknown: 1 }, 'surely_unknown'],
])('%j reports %s', async (body, field) => {
  const { id } = await keyWith()
  for (const answer of [await operator(node, 'POST', `/accounts/${node.accounts.plus}/keys`, body), await change(id, body)]) {
    expect([answer.status, answer.body.error?.code, answer.body.error?.details?.map((problem) => problem.field)]).toEqual([
      422,
      'VALIDATION_ERROR',
      [field],
    ])
  }
})

test('an empty change and unknown keys are rejected', async () => {
  const { id } = await keyWith()
  expect(codeOf(await change(id, {}))).toEqual([422, 'VALIDATION_ERROR'])
  expect(codeOf(await change(2_000_000_000, { read_only: true }))).toEqual([404, 'NOT_FOUND'])
  expect(codeOf(await operator(node, 'GET', '/accounts/2000000000/usage'))).toEqual([404, 'NOT_FOUND'])
})

test('a change of a key is audited without its secret', async () => {
  const { id } = await keyWith()
  await change(id, { read_only: true })
  const { data } = (await operator<{ action: string; before: object; after: object }[]>(node, 'GET', `/audit?subject_type=key&subject_id=${id}`)).body
  expect(data[0]).toMatchObject({ action: 'key.change', before: { read_only: false }, after: { read_only: true } })
})

describe('usage', () => {
  let toOneDay: number
  beforeAll(() => {
    // By the clock that is behind.
    toOneDay = msPastMidnight(other.clock.now())
    for (const { clock } of [node, other]) clock.advance(toOneDay)
  })

  const usageOf = async (accountId: number, keyId: number, on = node) =>
    (await operator<KeyUsageRow[]>(on, 'GET', `/accounts/${accountId}/usage?key_id=${keyId}&per_page=100`)).body.data

  test('requests are counted by key, operation and day, including those that fail later, but not rejected ones', async () => {
    const { id, key } = await keyWith({ label: 'counted' })
    const day = node.clock.now().toISOString().slice(0, 10)
    for (let i = 0; i < 3; i += 1) await api(key, 'GET', '/items')
    await api(key, 'GET', '/items/search?q=x')
    await api(key, 'GET', '/nothing')
    await api(key, 'POST', '/plus/listings/1/status?action=nonsense')
    await graphql(key, '{ items { nodes { id } } }')
    await graphql(key, '{ items { nodes { id } } }')
    const counted = [
      { day, operation: 'graphql', requests: 2 },
      { day, operation: 'listItems', requests: 3 },
      { day, operation: 'readMe', requests: 1 },
      { day, operation: 'searchItems', requests: 1 },
      { day, operation: 'setListingStatus', requests: 1 },
    ]
    expect((await api<Me>(key, 'GET', '/me')).body.data).toMatchObject({
      account: { id: node.accounts.plus, name: 'Test plus', plan: 'plus' },
      key: { label: 'counted', last4: key.slice(-4), read_only: false, expires_at: null },
      limits: { requests_per_minute: null },
      usage: counted,
      highlight_credits: 1,
    })
    const { data } = await graphql(
      key,
      '{ me { account { plan } key { label readOnly } limits { requestsPerMinute } usage { operation requests } highlightCredits } }',
    )
    expect(data!.me).toEqual({
      account: { plan: 'plus' },
      key: { label: 'counted', readOnly: false },
      limits: { requestsPerMinute: null },
      usage: counted.map(({ operation, requests }) => ({ operation, requests: operation === 'graphql' ? 3 : requests })),
      highlightCredits: 1,
    })
    const metrics = await (await fetch(`${node.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
    expect(metrics).toContain(`mintmark_api_key_requests_total{key_id="${id}",operation="listItems"} 3`)
  })

  test('counts are complete while they are being stored', async () => {
    const { id } = await keyWith()
    const usage = new KeyUsage({ db: node.db, now: node.clock.now })
    usage.count(id, 'listItems')
    const writer = await node.db.pool.connect()
    await writer.query('begin; lock table api_key_usage in exclusive mode')
    const stored = usage.flush()
    const told = usage.countsOf(id)
    expect(usage.totals().get(id)).toEqual(new Map([['listItems', 1]]))
    // The lock does not block reads.
    expect(await usageOf(node.accounts.plus, id)).toEqual([])
    await writer.query('commit')
    writer.release()
    await stored
    expect(await told).toMatchObject([{ operation: 'listItems', requests: 1 }])
    expect(usage.totals().get(id)).toEqual(new Map([['listItems', 1]]))
  })

  test('days are separate, kept for 30 days, and summed over nodes', async () => {
    const { id, key } = await keyWith()
    await api(key, 'GET', '/items')
    await api(key, 'GET', '/items', undefined, {}, other)
    const days = [node.clock.now().toISOString().slice(0, 10), new Date(node.clock.now().getTime() + DAY_MS).toISOString().slice(0, 10)]
    node.clock.advance(DAY_MS)
    await api(key, 'GET', '/items')
    // Nodes store their counts every ten seconds, and when they stop, as here.
    const third = await startTestNode({ databaseUrl: node.databaseUrl })
    third.clock.advance(toOneDay)
    await api(key, 'GET', '/items', undefined, {}, third)
    await third.close()
    for (const one of [node, other]) await one.runTask('api-key-uses')
    await until('all counts are stored', async () => (await usageOf(node.accounts.plus, id)).reduce((sum, row) => sum + row.requests, 0) === 4)
    expect(await usageOf(node.accounts.plus, id)).toEqual([
      { key_id: id, day: days[1], operation: 'listItems', requests: 1 },
      { key_id: id, day: days[0], operation: 'listItems', requests: 3 },
    ])
    node.clock.advance((USAGE_DAYS - 1) * DAY_MS)
    expect(await usageOf(node.accounts.plus, id)).toMatchObject([{ day: days[1] }])
  })
})
