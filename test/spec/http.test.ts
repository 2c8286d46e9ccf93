// Rules of every public endpoint: the order of checks, every kind of invalid key, and bad input of every kind.
import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { newKey } from '#accounts/credentials/key-format.ts'
import { revokeKey } from '#accounts/keys/revoke-key.ts'
import { call } from '#core/verb.ts'
import { createServer } from '#http/server.ts'
import { anyCharacter } from '../support/any-character.ts'
import { type Reply, send, silent, startTestNode, type TestNode } from '../support/node.ts'
import { importOneItem } from '../support/one-item.ts'
import { resolved } from '../support/openapi.ts'
import { rulesIn } from '../support/reasons.ts'
import { runs } from '../support/runs.ts'

let node: TestNode
let itemId: number

beforeAll(async () => {
  node = await startTestNode({ env: { TRUST_PROXY: 'loopback' }, listeners: 'public' })
  itemId = await importOneItem(node)
})

afterAll(() => node.close())

function get<T = unknown>(path: string, key: string | null = node.keys.professional, headers: Record<string, string> = {}) {
  return send<T>(`${node.publicUrl}${path}`, key, { headers })
}

/** The error envelope, with nothing else in it and no internals of the program. */
function expectError({ status, headers, body }: Reply, expectedStatus: number, code: string): void {
  expect([status, body.error?.code]).toEqual([expectedStatus, code])
  expect(Object.keys(body).sort()).toEqual(['error', 'success'])
  expect(body.success).toBe(false)
  expect(Object.keys(body.error!).sort()).toEqual(body.error!.details ? ['code', 'details', 'message'] : ['code', 'message', 'params', 'rule'])
  expect(body.error!.message).toMatch(/\S/)
  expect(JSON.stringify(body)).not.toMatch(/ at .*\.[jt]s|node_modules|select |Error:/)
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(headers.get('x-request-id')).toBeTruthy()
}

describe('keys', () => {
  const SUSPENDED = { code: 'ACCOUNT_SUSPENDED', rule: 'account_suspended' }
  let addresses = 0

  async function refused(authorization: string | null): Promise<string> {
    // An address that sends many wrong keys is rejected for a while.
    addresses += 1
    const headers: Record<string, string> = { 'x-forwarded-for': `192.0.2.${addresses}`, ...(authorization !== null && { authorization }) }
    for (const path of ['/api/v1/items', `/api/v1/items/${itemId}`, '/api/v1/items/search?q=only', '/api/v1/nowhere']) {
      const reply = await get(path, null, headers)
      expectError(reply, 401, 'UNAUTHENTICATED')
      expect(reply.headers.get('www-authenticate')).toBe('Bearer')
    }
    return rulesIn((await get('/api/v1/items', null, headers)).body.error)
  }

  test('a missing header, or another scheme', async () => {
    expect(await refused(null)).toBe('authorization API key missing')
    const { starter } = node.keys
    for (const header of ['', 'Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', starter, `Token ${starter}`, `Bearer${starter}`]) {
      expect(await refused(header)).toBe('authorization API key malformed')
    }
  })

  test('an invalid prefix, length, alphabet or checksum', async () => {
    const { starter } = node.keys
    const wrongEnd = starter.slice(0, -1) + (starter.endsWith('0') ? '1' : '0')
    const broken = [`other_${starter.slice(9)}`, newKey('operator'), starter.slice(0, -1), `${starter}0`, wrongEnd, `${starter} x`]
    for (const key of [...broken, 'null', 'undefined', `mintmark_${'é'.repeat(10)}`, 'x'.repeat(8_000), "' or 1=1 --"]) {
      expect(await refused(`Bearer ${Buffer.from(key).toString('latin1')}`)).toBe('credential API key malformed')
    }
  })

  test('well-formed keys that are unknown, revoked or expired; those of a suspended account get 403', async () => {
    expect(await refused(`Bearer ${newKey('api')}`)).toBe('credential API key unknown')
    const account = await call(createAccount, node.ctx, { name: 'Broken', plan: 'starter' })
    const expires_at = new Date(node.clock.now().getTime() + 60_000).toISOString()
    const revoked = await call(createKey, node.ctx, { account_id: account.id })
    const expiring = await call(createKey, node.ctx, { account_id: account.id, expires_at })
    const other = await call(createKey, node.ctx, { account_id: account.id })
    for (const { key } of [revoked, expiring, other]) expect((await get('/api/v1/items', key)).status).toBe(200)
    await call(revokeKey, node.ctx, { id: revoked.id })
    expect(await refused(`Bearer ${revoked.key}`)).toBe('credential API key revoked')
    node.clock.advance(61_000)
    expect(await refused(`Bearer ${expiring.key}`)).toBe('credential API key expired')
    await call(changeAccount, node.ctx, { id: account.id, suspended: true })
    // Reads and writes alike, before the plan; a repeated 403 is not a failed authentication.
    for (let i = 0; i < 40; i += 1) expect(await get('/api/v1/items', other.key)).toMatchObject({ status: 403, body: { error: SUSPENDED } })
    const webhook = await send(`${node.publicUrl}/api/v1/plus/webhook`, other.key, { method: 'PUT', json: {} })
    expect(webhook).toMatchObject({ status: 403, body: { error: SUSPENDED } })
    for (const path of ['/graphql', '/graphql/v3']) {
      const { status, body } = await send(node.publicUrl + path, other.key, { json: { query: '{ markets { code } }' } })
      expect([status, body]).toMatchObject([403, { errors: [{ extensions: { code: 'ACCOUNT_SUSPENDED', status: 403, rule: 'account_suspended' } }] }])
    }
    await call(changeAccount, node.ctx, { id: account.id, suspended: false })
    expect((await get('/api/v1/items', other.key)).status).toBe(200)
  })

  test('the scheme is case-insensitive and may be followed by several spaces', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer  ']) {
      const headers = { authorization: `${scheme} ${node.keys.starter}` }
      expect((await get('/api/v1/items', null, headers)).status).toBe(200)
    }
  })
})

describe('order of checks', () => {
  test('401 first, then 429, then 404, 405 and 422', async () => {
    const limited = await startTestNode({ databaseUrl: node.databaseUrl, env: { RATE_LIMITS: 'starter=4' }, listeners: 'public' })
    try {
      const ask = (path: string, key: string | null, method = 'GET') => send(`${limited.publicUrl}${path}`, key, { method })
      const bad = '/api/v1/items?per_page=0'
      for (const path of [bad, '/api/v1/nowhere', '/api/v1/items/abc']) {
        for (let i = 0; i < 5; i += 1) expect((await ask(path, null)).status).toBe(401)
      }
      const { starter } = limited.keys
      expect((await ask(bad, starter)).status).toBe(422)
      expect((await ask('/api/v1/nowhere', starter)).status).toBe(404)
      expect((await ask('/api/v1/items', starter, 'DELETE')).status).toBe(405)
      const fourth = await ask('/api/v1/items', starter)
      expect([fourth.status, fourth.headers.get('ratelimit-policy')]).toEqual([200, '"default";q=4;w=60'])
      expect(fourth.headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/)
      for (const path of [bad, '/api/v1/nowhere', '/api/v1/items/abc', '/api/v1/items']) {
        const reply = await ask(path, starter)
        expectError(reply, 429, 'RATE_LIMITED')
        expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(reply.headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/)
      }
      expect((await ask('/api/v1/items', null)).status).toBe(401)
    } finally {
      await limited.close()
    }
  })
})

describe('routes', () => {
  // A node without contact to its database for 3 s is not ready.
  const hears = () => node.ctx.caughtUp()

  test('unknown paths return 404 in the envelope', async () => {
    for (const path of ['/api/v1', '/api/v1/', '/api/v1/item', '/api/v1/items/1/2/3', '/api/v2/items', '/nowhere', '/.env']) {
      expectError(await get(path), 404, 'NOT_FOUND')
    }
    expectError(await get(`/api/v1/${'x'.repeat(3_000)}`), 404, 'NOT_FOUND')
  })

  test('other methods return 405 with Allow', async () => {
    for (const path of ['/api/v1/items', `/api/v1/items/${itemId}`, '/api/v1/items/search?q=only', '/health/live']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const reply = await send(`${node.publicUrl}${path}`, node.keys.starter, { method })
        expectError(reply, 405, 'METHOD_NOT_ALLOWED')
        expect(reply.headers.get('allow')).toBe('GET, HEAD')
      }
    }
  })

  test('HEAD returns no body, also for errors', async () => {
    for (const [path, status] of [
      ['/api/v1/items', 200],
      ['/api/v1/items?page=0', 422],
      ['/api/v1/items/0', 404],
      ['/health/ready', 200],
    ]) {
      await hears()
      const head = await fetch(`${node.publicUrl}${path}`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${node.keys.starter}` },
      })
      expect([path, head.status, await head.text()]).toEqual([path, status, ''])
    }
  })

  test('health needs no key', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      await hears()
      expect((await get(path, null)).status).toBe(200)
    }
  })
})

describe('parameters', () => {
  const NUMBERS = ['', '%20', 'abc', '1.5', '1e9', '0x10', 'NaN', 'Infinity', 'null', '%00', '1%00', '%ff', '%D9%A1', '--1', '1,2', '[]', '{}']
  const CHOICES = ['', 'x', '%00', '%ff', '1', 'null', '[]', '%F0%9F%92%8E']

  test.each([
    ['page', [...NUMBERS, '0', '-1', '9'.repeat(25), '9'.repeat(1_000)], 'integer 1'],
    ['per_page', [...NUMBERS, '0', '-1', '101', '1e2', '9'.repeat(25)], 'integer 1 100'],
    ['category_id', NUMBERS, 'integer'],
    ['market', [...CHOICES, 'SERVICE', 'source_d'], 'one_of service,source_a,source_b,source_c'],
    ['genre', [...CHOICES, 'Single', 'cards'], 'one_of single,card,sealed,bundle'],
    ['sort_by', [...CHOICES, 'NAME', 'constructor', '__proto__'], 'one_of name,code,id,price,updated_at'],
    ['sort_order', [...CHOICES, 'ASC', 'descending'], 'one_of asc,desc'],
    ['search', ['x'.repeat(201)], 'text 200'],
    ['game', ['x'.repeat(101)], 'text 100'],
  ])('%s with an invalid value is rejected with what is allowed', async (name, values, allowed) => {
    for (const value of values) {
      const reply = await get(`/api/v1/items?${name}=${value}`)
      expectError(reply, 422, 'VALIDATION_ERROR')
      expect(rulesIn(reply.body.error)).toBe(`${name} ${allowed}`)
      expect(reply.body.error!.message).toBe(`${name} ${reply.body.error!.details![0]!.message}`)
    }
    for (const twice of [`${name}=1&${name}=2`, `${name}[]=1&${name}[]=2`, `${name}[0]=1&${name}%5B1%5D=2`]) {
      const reply = await get(`/api/v1/items?${twice}`)
      expectError(reply, 422, 'VALIDATION_ERROR')
      expect(rulesIn(reply.body.error)).toBe(`${name} only_once`)
    }
  })

  test('all invalid parameters are reported at once', async () => {
    const reply = await get('/api/v1/items?page=0&per_page=0&market=x&sort_by=x&genre=single')
    expectError(reply, 422, 'VALIDATION_ERROR')
    expect(reply.body.error!.details!.map((problem) => problem.field).sort()).toEqual(['market', 'page', 'per_page', 'sort_by'])
  })

  test('unknown parameters are ignored, including objects', async () => {
    const plain = (await get('/api/v1/items')).body
    for (const query of [
      'x=1',
      'page[a]=0',
      'page[a][b]=0',
      'per_page.x=0',
      '__proto__=1',
      'constructor[prototype]=1',
      '=',
      '&&&',
      '?',
      '%',
      '%zz=1',
    ]) {
      const { status, body } = await get(`/api/v1/items?${query}`)
      expect([query, status, { ...body, warnings: undefined }]).toEqual([query, 200, { ...plain, warnings: undefined }])
    }
    expect((await get('/api/v1/items?page[]=1&per_page[0]=20')).body).toEqual(plain)
  })

  test('any text can be searched for', async () => {
    for (const name of ['search', 'game']) {
      const reply = await get(`/api/v1/items?${name}=%00`)
      expectError(reply, 422, 'VALIDATION_ERROR')
      expect(rulesIn(reply.body.error)).toBe(`${name} storable`)
    }
    for (const text of [
      '%ff',
      '%ff%fe%fd',
      '%ED%A0%80',
      '%E2%80%AE',
      "'",
      '"',
      '%25',
      '%5C',
      '%F0%9F%92%8E',
      '..%2F..',
      '<script>',
      '$%7Bx%7D',
      '{}',
      '[]',
    ]) {
      for (const name of ['search', 'game']) {
        const { status, body } = await get<unknown[]>(`/api/v1/items?${name}=${text}`)
        expect([text, status, body.success, body.data]).toEqual([text, 200, true, []])
      }
    }
  })

  test('ids that are not integers return 422, unknown ids 404 or an empty page', async () => {
    for (const id of ['abc', '1.5', '1e3', '%00', '1%00', '%20', '1;2', 'NaN', '%E2%80%8B1', `${'9'.repeat(450)}`]) {
      const reply = await get(`/api/v1/items/${id}`)
      expectError(reply, 422, 'VALIDATION_ERROR')
      expect(rulesIn(reply.body.error)).toBe('id integer')
    }
    for (const id of ['-1', '0', '2147483648', '9223372036854775808', '18446744073709551616', '9'.repeat(100)]) {
      expectError(await get(`/api/v1/items/${id}`), 404, 'ITEM_NOT_FOUND')
      expect((await get(`/api/v1/items?category_id=${id}`)).body).toMatchObject({ data: [], pagination: { total: 0 } })
    }
  })

  test('a path with invalid encoding returns 400', async () => {
    for (const path of ['%ff', '%', '%zz', '%E0%80', '1%']) expectError(await get(`/api/v1/items/${path}`), 400, 'BAD_REQUEST')
  })

  test('any query string returns 200 or 422, in the envelope', async () => {
    const names = fc.constantFrom(
      'page',
      'per_page',
      'search',
      'q',
      'category_id',
      'game',
      'market',
      'genre',
      'sort_by',
      'sort_order',
      'page[]',
      'q[a]',
      'x',
    )
    const values = fc.oneof(
      fc.integer().map(String),
      fc.double().map(String),
      fc.constantFrom('', 'name', 'asc', 'service', 'pokemon', 'single', 'only', '%00', '%ff', '%', '%%', '1e9', '[]', '\u202e'),
      fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed())),
      fc.string({ maxLength: 20 }).map((text) => text.replace(/[#\s]/g, '')),
    )
    const query = fc.array(fc.tuple(names, values), { maxLength: 8 }).map((pairs) => pairs.map((pair) => pair.join('=')).join('&'))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('/items', '/items/search'), query, async (path, text) => {
        const reply = await get<unknown[]>(`/api/v1${path}?${text}`)
        if (reply.status !== 200) return expectError(reply, 422, 'VALIDATION_ERROR')
        expect(Object.keys(reply.body).filter((name) => name !== 'suggestions' && name !== 'warnings')).toEqual(['success', 'data', 'pagination'])
        const { current_page, per_page, total, last_page, has_more } = reply.body.pagination!
        expect(last_page).toBe(Math.max(1, Math.ceil(total / per_page)))
        expect(has_more).toBe(current_page < last_page)
        expect(reply.body.data.length).toBe(Math.max(0, Math.min(per_page, total - (current_page - 1) * per_page)))
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('on the wire', () => {
  /** Sends bytes unchanged and reads to the end of the connection. */
  function wire(bytes: string): Promise<string> {
    const { hostname, port } = new URL(node.publicUrl!)
    return new Promise((resolve) => {
      let answer = ''
      const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
      socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
      // A server that closes a connection with unread bytes resets it after its response: `close` is emitted in any case.
      socket.on('error', () => {}).on('close', () => resolve(answer))
    })
  }

  function expectRefused(answer: string, status: number): void {
    expect(answer.split('\r\n', 1)[0]).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as object
    expect(body).toEqual({
      success: false,
      error: { code: 'BAD_REQUEST', message: expect.any(String) as string, rule: expect.any(String) as string, params: expect.any(Object) as object },
    })
    expect(answer).toMatch(/x-request-id: \S+/i)
  }

  const HOST = 'Host: localhost\r\n'

  test.each([
    ['no HTTP at all', 'HELLO\r\n\r\n'],
    ['an unknown method', `BREW /api/v1/items HTTP/1.1\r\n${HOST}\r\n`],
    ['an unknown version', `GET /api/v1/items HTTP/9.9\r\n${HOST}\r\n`],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a header without a colon', `GET /api/v1/items HTTP/1.1\r\n${HOST}nonsense\r\n\r\n`],
    ['NUL in a header', `GET /api/v1/items HTTP/1.1\r\n${HOST}X-A: a\0b\r\n\r\n`],
    ['two lengths', `GET /api/v1/items HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nx`],
    ['length and chunks', `POST /api/v1/items HTTP/1.1\r\n${HOST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a negative length', `POST /api/v1/items HTTP/1.1\r\n${HOST}Content-Length: -1\r\n\r\n`],
    ['a space in the path', `GET /api/v1/items?search=a b HTTP/1.1\r\n${HOST}\r\n`],
  ])('%s returns 400 in the envelope', async (_what, bytes) => {
    expectRefused(await wire(bytes), 400)
  })

  test.each([
    ['two Host headers', 'Host: localhost\r\nHost: elsewhere\r\n', /host name/],
    ['the same Host twice', 'Host: localhost\r\nHost: localhost\r\n', /host name/],
    ['no Host', '', /host name/],
    ['a Host that is not a host name', 'Host: a/b\r\n', /host name/],
  ])('%s returns 400 in the envelope', async (_what, hosts, rule) => {
    const auth = `Authorization: Bearer ${node.keys.professional}\r\nConnection: close\r\n\r\n`
    for (const path of ['/api/v1/items', `/api/v1/items/${itemId}`, '/api/v1/nowhere', '/health/live', '/docs']) {
      const answer = await wire(`GET ${path} HTTP/1.1\r\n${hosts}${auth}`)
      expectRefused(answer, 400)
      expect(answer).toMatch(rule)
    }
    expect(await wire(`GET /graphql?query={__typename} HTTP/1.1\r\n${hosts}${auth}`)).toMatch(/^HTTP\/1\.1 400 .*"errors":.*BAD_REQUEST/s)
  })

  test('headers or a URL of more than 32 KB return 431', async () => {
    expectRefused(await wire(`GET /api/v1/items HTTP/1.1\r\n${HOST}X-Long: ${'x'.repeat(40_000)}\r\n\r\n`), 431)
    expectRefused(await wire(`GET /api/v1/items?search=${'x'.repeat(40_000)} HTTP/1.1\r\n${HOST}\r\n`), 431)
    expectError(await get(`/api/v1/items?search=${'x'.repeat(20_000)}`), 422, 'VALIDATION_ERROR')
    expect((await get(`/api/v1/items?${'x=1&'.repeat(5_000)}`)).status).toBe(200)
  })

  test('unusual but valid requests get a response, never a 5xx', async () => {
    const key = `Authorization: Bearer ${node.keys.starter}\r\nConnection: close\r\n`
    const answers: [bytes: string, status: number[]][] = [
      [`GET /api/v1/items HTTP/1.0\r\n${key}\r\n`, [200]],
      [`GET /api/v1/items HTTP/1.1\r\n${key}\r\n`, [400]],
      [`GET ${node.publicUrl}/api/v1/items HTTP/1.1\r\n${HOST}${key}\r\n`, [200, 400, 404]],
      [`OPTIONS * HTTP/1.1\r\n${HOST}${key}\r\n`, [400, 404, 405]],
      [`TRACE /api/v1/items HTTP/1.1\r\n${HOST}${key}\r\n`, [404, 405]],
      [`PROPFIND /api/v1/items HTTP/1.1\r\n${HOST}${key}\r\n`, [404, 405]],
      [`GET /api/v1/items HTTP/1.1\r\n${HOST}${key}Content-Length: 5\r\n\r\nhello`, [200]],
      [`GET //api/v1/items HTTP/1.1\r\n${HOST}${key}\r\n`, [200, 404]],
      [`GET /api/v1/items#x HTTP/1.1\r\n${HOST}${key}\r\n`, [200, 400, 404]],
      [`GET /api/v1/items?search=\xff\xfe HTTP/1.1\r\n${HOST}${key}\r\n`, [200, 400]],
      [`GET /api/v1/../../etc/passwd HTTP/1.1\r\n${HOST}${key}\r\n`, [404]],
      [`GET /docs/guides/files/..%2f..%2fpackage.json HTTP/1.1\r\n${HOST}${key}\r\n`, [400, 403, 404]],
      [`POST /api/v1/items HTTP/1.1\r\n${HOST}${key}Expect: nonsense\r\nContent-Length: 0\r\n\r\n`, [405, 417]],
    ]
    for (const [bytes, statuses] of answers) {
      const status = Number((await wire(bytes)).split(' ', 2)[1])
      expect([bytes.split('\r\n', 1)[0], statuses.includes(status) ? 'as expected' : status]).toEqual([expect.anything(), 'as expected'])
    }
  })

  test('a client that does not read is disconnected, and one that waits for its response is not', { tags: 'slow' }, async () => {
    const app = createServer({ log: silent, trustProxy: false })
    app.server.timeout = 1_000
    app.get('/large', (_request, reply) => reply.send(Buffer.alloc(50_000_000)))
    let answer = () => {}
    app.get('/slow', async () => {
      await new Promise<void>((resolve) => (answer = resolve))
      return { success: true }
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const slow = fetch(`${url}/slow`)
    await new Promise((resolve) => app.server.once('request', resolve))
    const closed = new Promise((resolve) => app.server.once('connection', (socket) => socket.once('close', resolve)))
    const client = connect(Number(new URL(url).port), '127.0.0.1', () => client.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n'))
    client.on('error', () => {})
    await closed
    answer()
    expect((await slow).status).toBe(200)
    client.destroy()
    await app.close()
  })

  test.each([
    ['of headers', 'GET / HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ['of a body', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{'],
  ])('slow clients %s are disconnected with an error', async (_what, bytes) => {
    const app = createServer({ log: silent, trustProxy: false })
    Object.assign(app.server, { headersTimeout: 500, requestTimeout: 700, connectionsCheckingInterval: 50 })
    app.post('/', async () => ({ success: true }))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const client = connect(Number(new URL(url).port), '127.0.0.1')
    await once(client, 'connect')
    client.write(bytes)
    const dripping = setInterval(() => client.write(' '), 50)
    let received = ''
    client.on('error', () => {})
    client.setEncoding('utf8').on('data', (text: string) => (received += text))
    await once(client, 'close')
    clearInterval(dripping)
    expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*"success":false/s)
    await app.close()
  })

  test('clients slightly faster than the limit are not disconnected', () => {
    const { server } = createServer({ log: silent, trustProxy: false })
    expect(server.headersTimeout).toBe(10_000)
    expect(server.requestTimeout).toBe(30_000)
    expect(server.timeout).toBe(17_000)
    expect(server.keepAliveTimeout).toBe(72_000)
  })
})

describe('reference', () => {
  interface Operation {
    operationId: string
    summary: string
    tags: string[]
    security: Record<string, string[]>[]
    parameters?: { name: string; in: string; required: boolean; description?: string; schema: object }[]
    responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>
  }
  interface Document {
    openapi: string
    info: { title: string; version: string; description: string }
    paths: Record<string, Record<string, Operation>>
    components: { securitySchemes: Record<string, object>; schemas?: Record<string, object> }
  }

  async function reference(): Promise<Document> {
    return resolved((await (await fetch(`${node.publicUrl}/openapi.json`)).json()) as Document)
  }

  /** Every nested schema of a value that has examples. */
  function* withExamples(value: unknown): Generator<object & { examples: unknown[] }> {
    if (typeof value !== 'object' || value === null) return
    if ('examples' in value && Array.isArray(value.examples)) yield value as { examples: unknown[] }
    for (const inner of Object.values(value)) yield* withExamples(inner)
  }

  test('is OpenAPI 3.1 with a full entry for every operation', async () => {
    const { openapi, info, paths, components } = await reference()
    expect(openapi).toMatch(/^3\.1\.\d+$/)
    for (const text of [info.title, info.version, info.description]) expect(text).toMatch(/\S/)
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/v1/items', '/api/v1/items/search', '/api/v1/items/{id}']))
    const operations = Object.entries(paths).flatMap(([path, methods]) => Object.values(methods).map((operation) => ({ path, ...operation })))
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    for (const { path, summary, tags, security, parameters = [], responses } of operations) {
      expect([path, summary, tags[0]]).toEqual([path, expect.stringMatching(/\S/), expect.stringMatching(/\S/)])
      for (const scheme of security.flatMap(Object.keys)) expect(components.securitySchemes).toHaveProperty(scheme)
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
      for (const parameter of inPath) expect(parameter.required).toBe(true)
      for (const { name, description, schema } of parameters) {
        if (tags.includes('Catalogue')) expect([path, name, description]).toEqual([path, name, expect.stringMatching(/\S/)])
        expect(() => Compile(schema)).not.toThrow()
      }
      expect([path, Object.keys(responses)]).toEqual([path, expect.arrayContaining(security.length === 0 ? ['429'] : ['401', '429'])])
      expect(security.length === 0).toBe(path === '/api/v1/shared/{token}')
      for (const { description } of Object.values(responses)) expect(description).toMatch(/\S/)
    }
    expect(JSON.stringify(paths)).not.toContain('"nullable"')
  })

  test('has examples that match its schemas', async () => {
    const schemas = [...withExamples(await reference())]
    expect(schemas.length).toBeGreaterThan(5)
    for (const schema of schemas) for (const example of schema.examples) expect([example, Compile(schema).Check(example)]).toEqual([example, true])
  })

  test('documents the response for every plan and every error', async () => {
    const { paths } = await reference()
    const check = (path: string, { status, body }: Reply) => {
      const schema = paths[path]!.get!.responses[status]!.content!['application/json']!.schema
      expect([path, status, [...Compile(schema).Errors(body)]]).toEqual([path, status, []])
    }
    for (const key of Object.values(node.keys)) {
      check('/api/v1/items', await get('/api/v1/items', key))
      check('/api/v1/items/search', await get('/api/v1/items/search?q=only', key))
      check('/api/v1/items/{id}', await get(`/api/v1/items/${itemId}`, key))
    }
    check('/api/v1/items', await get('/api/v1/items?page=0'))
    check('/api/v1/items', await get('/api/v1/items', null))
    check('/api/v1/items/search', await get('/api/v1/items/search'))
    check('/api/v1/items/{id}', await get('/api/v1/items/0'))
    check('/api/v1/items/{id}', await get('/api/v1/items/x'))
  })

  test('is shown on a page without external resources', async () => {
    const page = await fetch(`${node.publicUrl}/docs`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const policy = page.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/https?:|\*|[a-z]\.[a-z]|upgrade-insecure-requests/)
    const html = await page.text()
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!)
    expect(assets.length).toBeGreaterThan(3)
    for (const asset of assets) {
      const loaded = await fetch(new URL(asset, page.url), { headers: { accept: 'text/html,*/*' } })
      expect([asset, loaded.status, (await loaded.bytes()).length > 0]).toEqual([asset, 200, true])
    }
  })
})
