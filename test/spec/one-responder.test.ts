// The shared responder: an addition in one place applies to every path, and responses shared by plan do not depend on the caller.
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addGate, allow } from '#accounts/keys/gate.ts'
import { apiKeyring, type Keyring } from '#accounts/keys/keyring.ts'
import { RateLimits } from '#accounts/limits/rate-limits.ts'
import { Cache } from '#core/cache.ts'
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { call, type HasViewer, type PlanViewer, verb } from '#core/verb.ts'
import { trustOf } from '#http/client-address.ts'
import { addFastPath, type FastEndpoint, fastRead } from '#http/fast-path.ts'
import { failuresOf } from '#http/failures.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { type Endpoint, responseWeight } from '#http/respond.ts'
import type { Route } from '#http/route.ts'
import { registerRoutes, type RouteRules } from '#http/routes.ts'
import { answerNotFound, createServer } from '#http/server.ts'
import { silent, startTestNode, type TestNode } from '../support/node.ts'

const input = Type.Object({}, { additionalProperties: false })
/** Returns everything that it can read about its caller. */
const readCaller = verb({ name: 'readCaller', needs: 'starter', sharedBy: 'plan', input }, ({ viewer }: { viewer: PlanViewer }) => ({ ...viewer }))
const readOwn = verb({ name: 'readOwn', needs: 'starter', input }, ({ viewer }: HasViewer) => ({ ...viewer }))
const readBroken = verb({ name: 'readBroken', needs: 'starter', sharedBy: 'plan', input }, (_ctx: { viewer: PlanViewer }) => ({}))
const fail = verb({ name: 'fail', needs: 'starter', sharedBy: 'plan', input }, (_ctx: { viewer: PlanViewer }) => {
  throw new ServiceError('CONFLICT', reason('invalid'))
})
/** Whether building the bytes of `/broken` fails. */
let broken = false
const brokenBytes = (): Buffer => {
  if (broken) throw new Error('no bytes')
  return Buffer.from('{"success":true}')
}
/** Responds asynchronously, and fails while its bytes are built. */
const later: Endpoint = {
  operation: { name: 'later', needs: 'starter', writes: false },
  refuse: failuresOf(silent),
  respond: async () => ({ status: 200, headers: [], body: brokenBytes }),
}
/** Fails after the headers have been written, because its body is not a buffer. */
const halfSent: Endpoint = { ...later, respond: () => ({ status: 200, headers: [], body: { length: 5_000 } as Buffer }) }
const bytesOf = (data: object) => ({ tag: '"1"', bytes: () => Buffer.from(JSON.stringify({ success: true, data })) })
const described = { summary: 'Test', tag: 'Test' }
const routes: Route<HasViewer>[] = [
  { method: 'GET', path: '/caller', verb: readCaller, answer: bytesOf, ...described },
  { method: 'GET', path: '/own', verb: readOwn, answer: (data: object) => ({ data }), ...described },
  { method: 'GET', path: '/fail', verb: fail, answer: bytesOf, ...described },
  { method: 'GET', path: '/broken', verb: readBroken, answer: () => ({ tag: '"2"', bytes: brokenBytes }), ...described },
]
/** The addition in one place, here where CORS headers are added. */
const added = ['x-added', 'everywhere']

const LIMITS = { starter: 1_000, professional: 1_000, plus: 1_000, enterprise: 1_000 }

let node: TestNode
let keys: Keyring
const apps: FastifyInstance[] = []
let url: string
/** The same routes with counted requests, which makes them asynchronous. */
let countedUrl: string

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
  keys = apiKeyring({ db: node.db, log: silent, now: node.clock.now })
  url = await listen(null)
  countedUrl = await listen(new RateLimits(LIMITS))
})

afterAll(async () => {
  for (const app of apps) await app.close()
  await keys.close()
  await node.close()
})

async function listen(limits: RateLimits | null): Promise<string> {
  const app = createServer({ log: silent, trustProxy: false, cors: () => added })
  apps.push(app)
  const cache = new Cache({ limit: 1e6, weigh: responseWeight })
  const rules: RouteRules<HasViewer> = { ctx: (viewer) => ({ viewer }), failed: failuresOf(silent), security: 'apiKey', cache }
  const shared: FastEndpoint[] = []
  await app.register(
    async (scope) => {
      addGate(scope, keys, limits)
      scope.setNotFoundHandler(answerNotFound)
      const endpoints = registerRoutes(scope, routes, rules)
      for (const [i, { verb, path }] of routes.entries())
        if (verb.sharedBy === 'plan') shared.push(fastRead('/api', path, endpoints[i]!, trustOf(false)))
    },
    { prefix: '/api' },
  )
  await app.ready()
  const fast = [...shared, fastRead('/api', '/later', later, trustOf(false)), fastRead('/api', '/half-sent', halfSent, trustOf(false))]
  addFastPath(app, fast, {
    cachedCaller: (header) => keys.cached(header),
    allow: (viewer, operation) => allow(viewer, operation, limits, null),
    requests: new RequestCounts(),
  })
  return app.listen({ port: 0, host: '127.0.0.1' })
}

const ask = async (path: string, key: string | null, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${url}${path}`, { method, headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers } })

test('a header added in one place is sent on every path', async () => {
  const { plus: key } = node.keys
  // The first request with a key goes through Fastify, which loads the key; the second builds, the third stores and the fourth reads the cache entry.
  const requests: [string, string | null, Record<string, string>?, string?][] = [
    ...Array.from({ length: 4 }, (): [string, string] => ['/api/caller', key]),
    ...Array.from({ length: 3 }, (): [string, string, Record<string, string>] => ['/api/caller', key, { 'accept-encoding': 'br' }]),
    ['/api/caller', key, { 'if-none-match': '"1"' }],
    ['/api/fail', key],
    ['/api/own', key],
    ['/api/caller', null],
    ['/api/caller', 'wrong'],
    ['/api/nothing', key],
    ['/api/caller', key, {}, 'DELETE'],
    ['/api/caller', key, {}, 'HEAD'],
    ['/%', key],
    ['/elsewhere', null],
  ]
  const statuses: number[] = []
  for (const [path, credential, headers, method] of requests) {
    const response = await ask(path, credential, headers, method)
    expect([path, method, headers, response.headers.get('x-added')]).toEqual([path, method, headers, 'everywhere'])
    expect(response.headers.get('x-request-id')).toBeTruthy()
    statuses.push(response.status)
  }
  expect(statuses).toEqual([...Array<number>(7).fill(200), 304, 409, 200, 401, 401, 404, 405, 200, 400, 404])
})

test('a failure while a body is created or sent gets a response on every path, and no connection hangs', async () => {
  const { plus: key } = node.keys
  // The first request with a key goes through Fastify, which loads the key.
  await ask('/api/own', key)
  for (const origin of [url, countedUrl]) {
    const status = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${origin}/api${path}`, {
        headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'identity', ...headers },
        signal: AbortSignal.timeout(120_000),
      })
      const body = (await response.json()) as { error?: { code: string } }
      expect([path, response.headers.get('x-added'), response.headers.get('x-request-id')]).toEqual([path, 'everywhere', expect.any(String)])
      return [response.status, body.error?.code]
    }
    broken = false
    expect(await status('/broken?cached')).toEqual([200, undefined])
    broken = true
    const failed = [500, 'INTERNAL_ERROR']
    // Built again, built again for the cache, compressed, asynchronous, and through Fastify, which handles other spellings of a path.
    expect(await status('/broken')).toEqual(failed)
    expect(await status('/broken?cached')).toEqual(failed)
    expect(await status('/broken', { 'accept-encoding': 'br' })).toEqual(failed)
    expect(await status('/later')).toEqual(failed)
    expect(await status('/%62roken')).toEqual(failed)
    await expect(status('/half-sent')).rejects.toThrow('fetch failed')
    broken = false
    expect(await status('/broken')).toEqual([200, undefined])
  }
})

test('a verb with a response shared by plan has access to the plan only, for every caller and API', async () => {
  for (const plan of ['starter', 'plus'] as const) {
    for (let time = 0; time < 3; time += 1) {
      const { data } = (await (await ask('/api/caller', node.keys[plan])).json()) as { data: object }
      expect(data).toEqual({ kind: 'plan', plan })
    }
    const own = (await (await ask('/api/own', node.keys[plan])).json()) as { data: object }
    expect(own.data).toMatchObject({ kind: 'account', accountId: node.accounts[plan] })
  }
  expect(call(readCaller, { viewer: { kind: 'account', accountId: 7, keyId: 9, plan: 'plus' } }, {})).toEqual({ kind: 'plan', plan: 'plus' })
})

test('a field that depends on the caller cannot be declared as shared by plan', () => {
  // @ts-expect-error an account is not known to what is shared by plan
  verb({ name: 'leak', needs: 'starter', sharedBy: 'plan', input }, ({ viewer }: { viewer: PlanViewer }) => viewer.accountId)
  const ofOneAccount = (ctx: { viewer: { accountId: number } & PlanViewer }) => ctx.viewer.accountId
  const leak = verb({ name: 'leak', needs: 'starter', sharedBy: 'plan', input }, ofOneAccount)
  expect(call(leak, { viewer: { kind: 'account', accountId: 7, keyId: 9, plan: 'plus' } } as never, {})).toBeUndefined()
})
