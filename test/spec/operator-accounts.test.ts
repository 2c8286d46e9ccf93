// The operator API for accounts, keys and the audit log, over HTTP only.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { newKey } from '#accounts/credentials/key-format.ts'
import { call } from '#core/verb.ts'
import { CALLER, openNode, send, type TestNode } from '../accounts/node.ts'
import type { Reply } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

const V1 = '/operator/v1'
let database: Awaited<ReturnType<typeof freshDatabase>>
let node: TestNode

beforeAll(async () => {
  database = await freshDatabase()
  node = await openNode(database.url)
})

afterAll(async () => {
  await node.close()
  await database.drop()
})

const get = (path: string) => send(node, 'GET', V1 + path)
const post = (path: string, json: unknown, headers: Record<string, string> = {}) => send(node, 'POST', V1 + path, { json, headers })
const patch = (path: string, json: unknown) => send(node, 'PATCH', V1 + path, { json })
const remove = (path: string) => send(node, 'DELETE', V1 + path)

async function open(name = 'Kart Evi', plan = 'plus', credits = 0): Promise<{ id: number }> {
  const { body } = await post('/accounts', { name, plan, highlight_credits: credits })
  return body.data
}

async function keyFor(accountId: number, more: object = {}): Promise<{ id: number; key: string; expires_at: string | null }> {
  const { body } = await post(`/accounts/${accountId}/keys`, more)
  return body.data
}

function expectRefusal(reply: Reply, status: number, code: string, fields?: string[]): void {
  expect(reply.status).toBe(status)
  expect(reply.body).toMatchObject({ success: false, error: { code, message: expect.any(String) as string } })
  if (fields) expect(reply.body.error!.details!.map((problem) => problem.field).toSorted()).toEqual(fields.toSorted())
}

describe('accounts', () => {
  test('are created, read, changed and listed', async () => {
    const created = await post('/accounts', { name: '  Kart Evi ', plan: 'professional', highlight_credits: 3 })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      success: true,
      message: expect.any(String) as string,
      data: {
        id: expect.any(Number) as number,
        name: 'Kart Evi',
        plan: 'professional',
        highlight_credits: 3,
        suspended: false,
        listing_intake: null,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      },
    })
    const account = created.body.data as { id: number }
    expect((await get(`/accounts/${account.id}`)).body).toEqual({ success: true, data: account })
    const changed = await patch(`/accounts/${account.id}`, { name: 'Ev', plan: 'enterprise', suspended: true })
    expect(changed).toMatchObject({
      status: 200,
      body: { data: { ...account, name: 'Ev', plan: 'enterprise', suspended: true } },
    })
    expect((await get(`/accounts/${account.id}`)).body.data).toEqual(changed.body.data)
  })

  test('are paginated with exact totals', async () => {
    for (let i = 0; i < 3; i++) await open()
    const first = await get('/accounts?per_page=2')
    const { total } = first.body.pagination as { total: number }
    expect(first.body.data).toHaveLength(2)
    expect(first.body.pagination).toMatchObject({
      current_page: 1,
      per_page: 2,
      last_page: Math.ceil(total / 2),
      has_more: true,
    })
    const beyond = await get('/accounts?page=2000000000&per_page=100')
    expect(beyond).toMatchObject({ status: 200, body: { data: [], pagination: { total, has_more: false } } })
    expectRefusal(await get('/accounts?page=0&per_page=101'), 422, 'VALIDATION_ERROR', ['page', 'per_page'])
  })

  test('credits are added and deducted, never below 0', async () => {
    const { id } = await open('Credits', 'plus', 2)
    expect((await post(`/accounts/${id}/credits`, { amount: 5, reason: 'sale' })).body.data).toEqual({
      highlight_credits: 7,
    })
    expect(await post(`/accounts/${id}/credits`, { amount: -7 })).toMatchObject({
      status: 200,
      body: { data: { highlight_credits: 0 } },
    })
    expectRefusal(await post(`/accounts/${id}/credits`, { amount: -1 }), 422, 'VALIDATION_ERROR', ['amount'])
    for (const amount of [0, 0.5, '1', null, 1e15]) {
      expectRefusal(await post(`/accounts/${id}/credits`, { amount }), 422, 'VALIDATION_ERROR', ['amount'])
    }
    expectRefusal(await post('/accounts/2147483647/credits', { amount: 1 }), 404, 'NOT_FOUND')
  })
})

describe('keys', () => {
  test('are created, listed without their secrets, rotated and revoked', async () => {
    const { id } = await open()
    const expiresAt = new Date(node.clock.now().getTime() + 86_400_000 * 90).toISOString()
    const created = await post(`/accounts/${id}/keys`, { label: ' shop ', expires_at: expiresAt })
    expect(created.status).toBe(201)
    const key = created.body.data as { id: number; key: string }
    expect(key).toMatchObject({ label: 'shop', expires_at: expiresAt, last4: key.key.slice(-4), revoked_at: null })
    const rotated = await post(`/keys/${key.id}/rotate`, { overlap_hours: 1 })
    expect(rotated.status).toBe(201)
    const fresh = rotated.body.data as { id: number; key: string }
    expect(fresh).toMatchObject({ label: 'shop', expires_at: expiresAt })
    expect(fresh.key).not.toBe(key.key)
    const listed = await get(`/accounts/${id}/keys`)
    expect(listed.body).toMatchObject({ data: [{ id: key.id }, { id: fresh.id }], pagination: { total: 2 } })
    const old = (listed.body.data as { expires_at: string }[])[0]!
    expect(Math.abs(Date.parse(old.expires_at) - node.clock.now().getTime() - 3_600_000)).toBeLessThan(1_200_000)
    expect(JSON.stringify(listed.body)).not.toContain('mintmark_')
    const revoked = await remove(`/keys/${key.id}`)
    expect(revoked).toMatchObject({
      status: 200,
      body: { data: { id: key.id, revoked_at: expect.any(String) as string } },
    })
    expect((await remove(`/keys/${key.id}`)).body).toEqual(revoked.body)
    expectRefusal(await post(`/keys/${key.id}/rotate`, {}), 409, 'CONFLICT')
  })

  test('need no body; a null expiry means none', async () => {
    const { id } = await open()
    const bare = await send(node, 'POST', `${V1}/accounts/${id}/keys`)
    expect(bare).toMatchObject({ status: 201, body: { data: { label: '', expires_at: null } } })
    expect(await keyFor(id, { expires_at: null })).toMatchObject({ expires_at: null })
    expect((await send(node, 'POST', `${V1}/keys/${(bare.body.data as { id: number }).id}/rotate`)).status).toBe(201)
  })

  test('reject an expiry that is past or invalid, and overlaps out of range', async () => {
    const { id } = await open()
    const key = await keyFor(id)
    const texts = ['2020-01-01T00:00:00Z', '2090-01-01', 'tomorrow', '2090-01-01T00:00:00', '2090-12-31T23:59:60Z', '2090-01-01T00:00:00Z[UTC]', 5]
    for (const expires_at of texts) {
      expectRefusal(await post(`/accounts/${id}/keys`, { expires_at }), 422, 'VALIDATION_ERROR', ['expires_at'])
    }
    for (const overlap_hours of [-1, 721, '24', null]) {
      expectRefusal(await post(`/keys/${key.id}/rotate`, { overlap_hours }), 422, 'VALIDATION_ERROR', ['overlap_hours'])
    }
  })
})

describe('errors', () => {
  test('nothing is returned without an operator token', async () => {
    const { id } = await open()
    const { key } = await keyFor(id)
    for (const [i, token] of ['x', newKey('operator'), key].entries()) {
      // An address that sends many wrong tokens is rejected for a while.
      const headers = { 'x-forwarded-for': `192.0.2.${i}` }
      for (const [method, path] of [
        ['GET', '/accounts'],
        ['POST', '/accounts'],
        ['PUT', '/accounts'],
        ['GET', '/nothing'],
        ['GET', ''],
      ]) {
        const reply = await send(node, method!, V1 + path, { token, headers })
        expectRefusal(reply, 401, 'UNAUTHENTICATED')
        expect(reply.headers.get('www-authenticate')).toBe('Bearer')
      }
    }
    expect((await fetch(`${node.baseUrl}${V1}/accounts`)).status).toBe(401)
  })

  test('every invalid field is reported', async () => {
    const { id } = await open()
    const all = await post('/accounts', { name: 5, plan: 'gold', highlight_credits: -1, admin: true })
    expectRefusal(all, 422, 'VALIDATION_ERROR', ['name', 'plan', 'highlight_credits', 'admin'])
    expectRefusal(await post('/accounts', {}), 422, 'VALIDATION_ERROR', ['name', 'plan'])
    for (const name of ['', '   ', 'a\0b', 'a\nb', 'x'.repeat(201), '\ud800', null]) {
      expectRefusal(await post('/accounts', { name, plan: 'plus' }), 422, 'VALIDATION_ERROR', ['name'])
      expectRefusal(await patch(`/accounts/${id}`, { name }), 422, 'VALIDATION_ERROR', ['name'])
    }
    for (const label of ['a\0b', 'x'.repeat(201), '\udc00', null]) {
      expectRefusal(await post(`/accounts/${id}/keys`, { label }), 422, 'VALIDATION_ERROR', ['label'])
    }
    expectRefusal(await patch(`/accounts/${id}`, { suspended: 'yes', plan: null }), 422, 'VALIDATION_ERROR', ['suspended', 'plan'])
    expectRefusal(await patch(`/accounts/${id}`, { highlight_credits: 5 }), 422, 'VALIDATION_ERROR', ['highlight_credits'])
    expectRefusal(await patch(`/accounts/${id}`, { id: 5, plan: 'plus' }), 422, 'VALIDATION_ERROR', ['id'])
    expectRefusal(await patch(`/accounts/${id}`, {}), 422, 'VALIDATION_ERROR', ['body'])
  })

  test('names in any script are stored unchanged', async () => {
    const name = "Şişli Kartçısı 宝可梦 🃏 O'Neil; drop table accounts"
    expect((await post('/accounts', { name, plan: 'plus' })).body.data).toMatchObject({ name })
  })

  test('bodies must be JSON objects of limited size', async () => {
    const raw = (text: string, type = 'application/json') => send(node, 'POST', `${V1}/accounts`, { body: text, headers: { 'content-type': type } })
    for (const text of ['{', '[]', '"x"', '5', 'nul']) expectRefusal(await raw(text), 400, 'INVALID_JSON')
    expectRefusal(await raw('name=x', 'application/x-www-form-urlencoded'), 415, 'UNSUPPORTED_MEDIA_TYPE')
    expectRefusal(await raw(`{"name":"${'x'.repeat(2 ** 20)}"}`), 413, 'PAYLOAD_TOO_LARGE')
  })

  test('unknown ids return 404, however large; invalid ids 422', async () => {
    for (const id of ['0', '-1', '2147483647', '2147483648', '99999999999999999999', '9'.repeat(300)]) {
      expectRefusal(await get(`/accounts/${id}`), 404, 'NOT_FOUND')
      expectRefusal(await patch(`/accounts/${id}`, { plan: 'plus' }), 404, 'NOT_FOUND')
      expectRefusal(await post(`/accounts/${id}/credits`, { amount: 1 }), 404, 'NOT_FOUND')
      expectRefusal(await get(`/accounts/${id}/keys`), 404, 'NOT_FOUND')
      expectRefusal(await post(`/accounts/${id}/keys`, {}), 404, 'NOT_FOUND')
      expectRefusal(await post(`/keys/${id}/rotate`, {}), 404, 'NOT_FOUND')
      expectRefusal(await remove(`/keys/${id}`), 404, 'NOT_FOUND')
    }
    for (const id of ['abc', '1.5', '1e3', '%00']) expectRefusal(await get(`/accounts/${id}`), 422, 'VALIDATION_ERROR', ['id'])
  })

  test('other methods return 405, other paths 404', async () => {
    const reply = await send(node, 'PUT', `${V1}/accounts`)
    expectRefusal(reply, 405, 'METHOD_NOT_ALLOWED')
    expect(reply.headers.get('allow')).toBe('POST, GET, HEAD')
    expectRefusal(await get('/nothing'), 404, 'NOT_FOUND')
    expectRefusal(await send(node, 'GET', '/elsewhere'), 404, 'NOT_FOUND')
  })
})

describe('idempotency', () => {
  const rows = async (name: string) => (await node.db.kysely.selectFrom('accounts').select('id').where('name', '=', name).execute()).length

  test('the same key and body return the first response again, and create one account', async () => {
    const body = { name: 'Once', plan: 'plus' }
    const first = await post('/accounts', body, { 'idempotency-key': 'once-1' })
    const second = await post('/accounts', body, { 'idempotency-key': 'once-1' })
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(await rows('Once')).toBe(1)
    expectRefusal(await post('/accounts', { ...body, plan: 'starter' }, { 'idempotency-key': 'once-1' }), 409, 'IDEMPOTENCY_CONFLICT')
    expect(await rows('Once')).toBe(1)
  })

  test('concurrent requests create one account', async () => {
    const body = { name: 'At once', plan: 'plus' }
    const replies = await Promise.all(Array.from({ length: 8 }, () => post('/accounts', body, { 'idempotency-key': 'once-2' })))
    const answers = replies.filter((reply) => reply.status === 201)
    expect(answers.length).toBeGreaterThan(0)
    for (const answer of answers) expect(answer.body).toEqual(answers[0]!.body)
    for (const reply of replies) if (reply.status !== 201) expectRefusal(reply, 409, 'IDEMPOTENCY_CONFLICT')
    expect(await rows('At once')).toBe(1)
  })

  test('a created key is returned again, and is stored nowhere in plain text', async () => {
    const { id } = await open()
    const first = await post(`/accounts/${id}/keys`, { label: 'x' }, { 'idempotency-key': 'key-1' })
    const second = await post(`/accounts/${id}/keys`, { label: 'x' }, { 'idempotency-key': 'key-1' })
    expect(second.body).toEqual(first.body)
    const { key } = first.body.data as { key: string }
    expect(await node.keys.find(`Bearer ${key}`, CALLER)).toMatchObject({ accountId: id })
    const { rows: stored } = await node.db.pool.query<{ result: Buffer }>('select result from idempotency_keys')
    for (const { result } of stored) expect(result.includes('mintmark_')).toBe(false)
  })

  test('a failure is not stored, and keys belong to their token', async () => {
    const { id } = await open()
    const key = { 'idempotency-key': 'credits-1' }
    expectRefusal(await post(`/accounts/${id}/credits`, { amount: -1 }, key), 422, 'VALIDATION_ERROR')
    expect((await post(`/accounts/${id}/credits`, { amount: 1 }, key)).status).toBe(200)
    expect((await post(`/accounts/${id}/credits`, { amount: 1 }, key)).body.data).toEqual({ highlight_credits: 1 })
  })

  test('the same key with another token of the operator is a conflict, never the other response', async () => {
    const { id } = await open()
    const scope = 'operator:bootstrap'
    await post(`/accounts/${id}/keys`, {}, { 'idempotency-key': 'token-1' })
    const { token, id: tokenId } = await call(createOperatorToken, node.ctx, { label: 'other' })
    const headers = { 'idempotency-key': 'token-1' }
    expect((await send(node, 'POST', `${V1}/accounts/${id}/keys`, { json: {}, headers, token })).status).toBe(201)
    // As after a change of the bootstrap token: the same operator with another credential.
    const keys = node.db.kysely.updateTable('idempotency_keys').set({ scope }).where('scope', '=', `operator:other:${tokenId}`)
    await node.db.kysely.deleteFrom('idempotency_keys').where('scope', '=', scope).where('key', '=', 'token-1').execute()
    await keys.execute()
    expectRefusal(await post(`/accounts/${id}/keys`, {}, headers), 409, 'IDEMPOTENCY_CONFLICT')
  })

  test('an invalid header is rejected', async () => {
    for (const key of ['', 'a b', 'caf\xe9', 'x'.repeat(256)]) {
      const reply = await post('/accounts', { name: 'Never', plan: 'plus' }, { 'idempotency-key': key })
      expectRefusal(reply, 422, 'VALIDATION_ERROR', ['Idempotency-Key'])
    }
    expect(await rows('Never')).toBe(0)
    expect((await post('/accounts', { name: 'Longest', plan: 'plus' }, { 'idempotency-key': '~'.repeat(255) })).status).toBe(201)
  })
})

describe('the audit log', () => {
  test('records who did what, with the states before and after', async () => {
    const reply = await send(node, 'POST', `${V1}/accounts`, {
      json: { name: 'Audited', plan: 'starter' },
      headers: { 'x-request-id': 'audit-test-1' },
    })
    const { id } = reply.body.data as { id: number }
    expect(reply.headers.get('x-request-id')).toBe('audit-test-1')
    await patch(`/accounts/${id}`, { plan: 'plus' })
    await post(`/accounts/${id}/credits`, { amount: 4, reason: 'gift' })
    const { body } = await get(`/audit?subject_type=account&subject_id=${id}`)
    expect(body).toMatchObject({
      pagination: { total: 3 },
      data: [
        {
          action: 'account.add-credits',
          before: { highlight_credits: 0 },
          after: { highlight_credits: 4, amount: 4, reason: 'gift' },
        },
        { action: 'account.change', before: { plan: 'starter' }, after: { plan: 'plus' } },
        {
          action: 'account.create',
          actor: 'operator:bootstrap',
          before: null,
          after: { name: 'Audited' },
          request_id: 'audit-test-1',
        },
      ],
    })
  })

  test('is filtered by actor, action and time, newest first', async () => {
    await open()
    const all = (await get('/audit?per_page=100')).body.data as { id: number; at: string; action: string }[]
    expect(all.map((row) => row.id)).toEqual(all.map((row) => row.id).toSorted((a, b) => b - a))
    const creations = (await get('/audit?action=account.create&actor=operator:bootstrap')).body.data as {
      action: string
    }[]
    expect(new Set(creations.map((row) => row.action))).toEqual(new Set(['account.create']))
    expect(await get('/audit?actor=operator:nobody')).toMatchObject({
      status: 200,
      body: { data: [], pagination: { total: 0, last_page: 1 } },
    })
    const { at } = all[0]!
    const since = (await get(`/audit?from=${at}`)).body.data as { at: string }[]
    const earlier = (await get(`/audit?to=${at}`)).body.data as { at: string }[]
    expect(since.every((row) => row.at >= at) && since.length > 0).toBe(true)
    expect(earlier.every((row) => row.at < at)).toBe(true)
    expectRefusal(await get('/audit?from=yesterday&to=2026-13-01'), 422, 'VALIDATION_ERROR', ['from', 'to'])
    expectRefusal(await get('/audit?actor=%00&subject_id=%00'), 422, 'VALIDATION_ERROR', ['actor', 'subject_id'])
  })

  test('a revocation is recorded once, and no row contains a key or hash', async () => {
    const { id } = await open()
    const key = await keyFor(id)
    await remove(`/keys/${key.id}`)
    await remove(`/keys/${key.id}`)
    const { body } = await get(`/audit?subject_type=key&subject_id=${key.id}`)
    expect((body.data as { action: string }[]).map((row) => row.action)).toEqual(['key.revoke', 'key.create'])
    const { rows } = await node.db.pool.query<{ line: string }>('select audit_log::text as line from audit_log')
    const hashes = await node.db.pool.query<{ hash: string }>(`select encode(hash, 'hex') as hash from api_keys`)
    const text = rows.map((row) => row.line).join('\n')
    expect(text).not.toMatch(/mintmark_|mintop_/)
    for (const { hash } of hashes.rows) expect(text).not.toContain(hash)
  })
})

test('the document is OpenAPI 3.1, public, and contains the routes but not their 405s', async () => {
  const response = await fetch(`${node.baseUrl}/operator/openapi.json`)
  expect(response.status).toBe(200)
  const document = (await response.json()) as {
    openapi: string
    info: { title: string }
    paths: Record<string, object>
  }
  expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Mintmark operator API' } })
  const routes = Object.entries(document.paths).map(([path, methods]) => `${path} ${Object.keys(methods).toSorted().join(' ')}`)
  expect(routes).toEqual(
    expect.arrayContaining([
      '/operator/v1/accounts get post',
      '/operator/v1/accounts/{id} get patch',
      '/operator/v1/accounts/{id}/credits get post',
      '/operator/v1/accounts/{account_id}/keys get post',
      '/operator/v1/keys/{id}/rotate post',
      '/operator/v1/keys/{id} delete patch',
      '/operator/v1/audit get',
    ]),
  )
  expect(routes.some((route) => route.startsWith('/operator/openapi.json'))).toBe(false)
})
