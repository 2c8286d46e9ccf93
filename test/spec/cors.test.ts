// CORS: pages of other origins can read every response of the public listener, including errors and preflights, and none of the operator's.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, WHY } from '../console/browser.ts'
import { makeCatalogue } from '../market/kit.ts'
import { sendRaw } from '../reliability/authorisation-kit.ts'
import { OPERATOR_TOKEN, startTestNode, type TestNode } from '../support/node.ts'

const SHOP = 'https://shop.example'
const EXPOSED = 'ETag, Preference-Applied, RateLimit, RateLimit-Policy, X-Request-Id, Retry-After'
const preflight = (origin: string, method = 'PATCH') => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization, content-type, idempotency-key',
})
const names = (headers: Headers, start: string) => [...headers.keys()].filter((name) => name.startsWith(start))

let node: TestNode
let listed: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode({ env: { RATE_LIMITS: 'starter=1000,professional=1' } })
  listed = await startTestNode({ databaseUrl: node.databaseUrl, env: { CORS_ORIGINS: `${SHOP}, http://localhost:5173` } })
  item = (await makeCatalogue(node)).items.char!
  await listed.ctx.caughtUp()
})

afterAll(async () => {
  await listed.close()
  await node.close()
})

/** A node without contact to its database for 3 s is not ready. */
const hears = (on: TestNode) => on.ctx.caughtUp()

/** One of each kind of response: by Fastify and by the fast path, compressed and not, successful and failed. */
const requests = (on: TestNode): [what: string, status: number, path: string, init?: RequestInit][] => {
  const key = { authorization: `Bearer ${on.keys.starter}` }
  const json = { ...key, 'content-type': 'application/json' }
  const plain = { 'accept-encoding': 'identity' }
  return [
    ['a list on the fast path', 200, '/api/v1/items', { headers: { ...key, ...plain } }],
    ['the same again', 200, '/api/v1/items', { headers: { ...key, ...plain } }],
    ['an item on the fast path', 200, `/api/v1/items/${item}`, { headers: { ...key, ...plain } }],
    ['a compressed list', 200, '/api/v1/items?per_page=50', { headers: { ...key, 'accept-encoding': 'br' } }],
    ['a compressed list again', 200, '/api/v1/items?per_page=50', { headers: { ...key, 'accept-encoding': 'br' } }],
    ['a kept compressed list', 200, '/api/v1/items?per_page=50', { headers: { ...key, 'accept-encoding': 'br' } }],
    ['a search', 200, '/api/v1/items?search=char', { headers: key }],
    ['a query on the fast path', 200, '/graphql', { method: 'POST', headers: { ...json, ...plain }, body: '{"query":"{ items { nodes { id } } }"}' }],
    ['a query by GET', 200, '/graphql?query={__typename}', { headers: key }],
    ['the reference', 200, '/openapi.json'],
    ['health', 200, '/health/ready'],
    ['invalid JSON', 400, '/graphql', { method: 'POST', headers: json, body: '{' }],
    ['no key', 401, '/api/v1/items'],
    ['no key for GraphQL', 401, '/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }],
    ['too small a plan', 403, '/api/v1/plus/listings', { headers: key }],
    ['an unknown path', 404, '/nothing'],
    ['an unknown path behind the gate', 404, '/api/v1/nothing', { headers: key }],
    ['a wrong method', 405, '/api/v1/items', { method: 'DELETE', headers: key }],
    ['OPTIONS that is not a preflight', 405, '/api/v1/items', { method: 'OPTIONS', headers: key }],
    ['a large body', 413, '/graphql', { method: 'POST', headers: json, body: ' '.repeat(1_100_000) }],
    [
      'a wrong type',
      415,
      '/api/v1/plus/make-highlight',
      { method: 'POST', headers: { authorization: `Bearer ${on.keys.plus}`, 'content-type': 'text/plain' }, body: 'x' },
    ],
    ['a wrong value', 422, '/api/v1/items?page=x', { headers: key }],
    ['what is malformed', 400, '/api/v1/items/%ff', { headers: key }],
  ]
}

describe('responses of every kind', () => {
  test('can be read by pages of any origin unless origins are configured', async () => {
    for (const [what, status, path, init = {}] of requests(node)) {
      await hears(node)
      const { headers, status: answered } = await fetch(node.publicUrl + path, { ...init, headers: { origin: SHOP, ...init.headers } })
      expect({
        what,
        status: answered,
        origin: headers.get('access-control-allow-origin'),
        exposed: headers.get('access-control-expose-headers'),
      }).toEqual({ what, status, origin: '*', exposed: EXPOSED })
      expect(headers.get('access-control-allow-credentials')).toBe(null)
      expect(headers.get('vary') ?? '').not.toContain('Origin')
    }
  })

  test('allow only the requesting origin of a configured list', async () => {
    for (const [origin, allowed] of [
      [SHOP, SHOP],
      ['http://localhost:5173', 'http://localhost:5173'],
      ['https://elsewhere.example', null],
      ['null', null],
      [undefined, null],
    ] as const) {
      for (const [what, status, path, init = {}] of requests(listed)) {
        await hears(listed)
        const { headers, status: answered } = await fetch(listed.publicUrl + path, {
          ...init,
          headers: { ...(origin && { origin }), ...init.headers },
        })
        expect({ what, status: answered, origin: headers.get('access-control-allow-origin') }).toEqual({ what, status, origin: allowed })
        expect([what, headers.get('vary')]).toEqual([what, expect.stringContaining('Origin')])
        if (headers.get('content-encoding')) expect(headers.get('vary')).toMatch(/accept-encoding/i)
      }
    }
  })

  test('include 429, malformed requests and malformed HTTP', async () => {
    const get = () => fetch(`${node.publicUrl}/api/v1/items`, { headers: { origin: SHOP, authorization: `Bearer ${node.keys.professional}` } })
    await get()
    const limited = await get()
    expect([limited.status, limited.headers.get('access-control-allow-origin'), limited.headers.get('retry-after')]).toEqual([
      429,
      '*',
      expect.any(String),
    ])
    const huge = await sendRaw(`${node.publicUrl}/api/v1/items`, 'GET', ['x-large', 'x'.repeat(40_000)])
    expect(huge).toMatchObject({ status: 431, headers: { 'access-control-allow-origin': '*' } })
  })
})

describe('preflights', () => {
  test('need no key, for every method of every path', { tags: 'slow' }, async () => {
    const { paths } = (await (await fetch(`${node.publicUrl}/openapi.json`)).json()) as { paths: Record<string, object> }
    const documented = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ path, method })))
    const others = ['/graphql', '/graphql/v3', '/openapi.json', '/health/live', '/docs/', '/images/1/0/x', '/', '/api/v1/nothing', '/nothing']
    for (const { path, method } of [...documented, ...others.map((path) => ({ path, method: 'post' }))]) {
      const address = node.publicUrl + path.replace(/\{\w+\}/g, '1')
      const response = await fetch(address, { method: 'OPTIONS', headers: preflight(SHOP, method.toUpperCase()) })
      expect([path, method, response.status, await response.text()]).toEqual([path, method, 204, ''])
      expect(Object.fromEntries(names(response.headers, 'access-control-').map((name) => [name, response.headers.get(name)]))).toEqual({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers':
          'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Request-Id, Mcp-Protocol-Version, Mcp-Session-Id',
        'access-control-max-age': '86400',
        'access-control-expose-headers': EXPOSED,
      })
      expect(names(response.headers, 'ratelimit')).toEqual([])
    }
  })

  test('for other origins allow nothing', async () => {
    const refused = await fetch(`${listed.publicUrl}/graphql`, { method: 'OPTIONS', headers: preflight('https://elsewhere.example') })
    expect([refused.status, refused.headers.get('access-control-allow-origin'), refused.headers.get('vary')]).toEqual([204, null, 'Origin'])
    const allowed = await fetch(`${listed.publicUrl}/graphql`, { method: 'OPTIONS', headers: preflight(SHOP) })
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, SHOP])
  })
})

test("the operator's listener allows no pages of other origins", { tags: 'slow' }, async () => {
  const authorization = `Bearer ${OPERATOR_TOKEN}`
  for (const path of ['/operator/v1/stats', '/operator/openapi.json', '/nothing']) {
    const answer = await fetch(node.operatorUrl + path, { headers: { origin: SHOP, authorization } })
    const preflighted = await fetch(node.operatorUrl + path, { method: 'OPTIONS', headers: preflight(SHOP) })
    expect([path, names(answer.headers, 'access-control-'), names(preflighted.headers, 'access-control-'), preflighted.status >= 400]).toEqual([
      path,
      [],
      [],
      true,
    ])
  }
})

describe.skipIf(NO_BROWSER)(`a page in Chromium${WHY}`, () => {
  let server: Server
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    server = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end('<!doctype html><title>Shop</title>'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await launch()
    page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  })

  afterAll(async () => {
    server.close()
  })

  /** The parts of a response that a script of the page can see. */
  const ask = (url: string, init: { method?: string; headers?: Record<string, string>; body?: string }) =>
    page.evaluate(
      async ([address, how]) => {
        try {
          const response = await fetch(address, how)
          const text = await response.text()
          const body = (text === '' ? null : JSON.parse(text)) as Record<string, unknown> | null
          return { status: response.status, headers: Object.fromEntries(response.headers), body }
        } catch (error) {
          return { failed: String(error) }
        }
      },
      [url, init] as const,
    )

  test('reads items, their entity tag and the remaining limit', async () => {
    const headers = { authorization: `Bearer ${node.keys.starter}` }
    const answer = await ask(`${node.publicUrl}/api/v1/items/${item}`, { headers })
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { id: item } },
      headers: {
        etag: expect.any(String) as string,
        ratelimit: expect.any(String) as string,
        'ratelimit-policy': expect.any(String) as string,
        'x-request-id': expect.any(String) as string,
      },
    })
    const conditional = (tag: string) => ask(`${node.publicUrl}/api/v1/items/${item}`, { headers: { ...headers, 'if-none-match': tag } })
    expect(await conditional('"other"')).toMatchObject({ status: 200 })
    expect(await conditional(answer.headers!.etag!)).toMatchObject({ status: 304, body: null })
  })

  test('queries GraphQL', async () => {
    const headers = { authorization: `Bearer ${node.keys.starter}`, 'content-type': 'application/json' }
    const answer = await ask(`${node.publicUrl}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: `{ item(id: ${item}) { name } }` }),
    })
    expect(answer).toMatchObject({ status: 200, body: { data: { item: { name: 'Charizard' } } } })
  })

  test('writes, and reads the error', async () => {
    const headers = {
      authorization: `Bearer ${node.keys.plus}`,
      'content-type': 'application/json',
      'idempotency-key': 'from-a-page',
      'if-match': '"x"',
    }
    const answer = await ask(`${node.publicUrl}/api/v1/plus/listings/999/price`, { method: 'PATCH', headers, body: '{"price": 5}' })
    expect(answer).toMatchObject({ status: 422, body: { success: false, error: { code: 'PLUS_LISTING_ERROR' } } })
  })

  test('reads every error and its Retry-After', async () => {
    const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
    const list = `${node.publicUrl}/api/v1/items`
    expect(await ask(list, {})).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHENTICATED' } } })
    const small = await ask(`${node.publicUrl}/api/v1/plus/listings`, as(node.keys.starter))
    expect(small).toMatchObject({ status: 403, body: { error: { code: 'PLAN_UPGRADE_REQUIRED' } } })
    const unknown = await ask(`${list}/999999`, as(node.keys.starter))
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: 'ITEM_NOT_FOUND' } } })
    await ask(list, as(node.keys.professional))
    const limited = await ask(list, as(node.keys.professional))
    expect(limited).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) as string, ratelimit: expect.any(String) as string },
      body: { error: { code: 'RATE_LIMITED' } },
    })
  })

  test('reads nothing if its origin is not allowed, and nothing of the operator API', async () => {
    const headers = { authorization: `Bearer ${listed.keys.starter}` }
    expect(await ask(`${listed.publicUrl}/api/v1/items`, { headers })).toEqual({ failed: expect.stringContaining('Failed to fetch') as string })
    expect(await ask(`${node.operatorUrl}/operator/v1/stats`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).toEqual({
      failed: expect.stringContaining('Failed to fetch') as string,
    })
  })
})
