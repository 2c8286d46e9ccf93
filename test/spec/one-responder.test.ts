// One responder: what is added in one place shows on every path, and what is shared by plan knows nothing of its caller.
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addGate, allow } from '#accounts/gate.ts'
import { apiKeyring, type Keyring } from '#accounts/keyring.ts'
import { Cache } from '#core/cache.ts'
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { call, type HasViewer, type PlanViewer, verb } from '#core/verb.ts'
import { endpointOf } from '#http/endpoint.ts'
import { addFastPath, fastRead } from '#http/fast-path.ts'
import { failuresOf } from '#http/failures.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { responseWeight } from '#http/respond.ts'
import type { Route } from '#http/route.ts'
import { registerRoutes, type RouteRules } from '#http/routes.ts'
import { answerNotFound, createServer } from '#http/server.ts'
import { silent, startTestNode, type TestNode } from '../support/node.ts'

const input = Type.Object({}, { additionalProperties: false })
/** Reads whatever it can of its caller. */
const readCaller = verb({ name: 'readCaller', needs: 'starter', sharedBy: 'plan', input }, ({ viewer }: { viewer: PlanViewer }) => ({ ...viewer }))
const readOwn = verb({ name: 'readOwn', needs: 'starter', input }, ({ viewer }: HasViewer) => ({ ...viewer }))
const fail = verb({ name: 'fail', needs: 'starter', sharedBy: 'plan', input }, (_ctx: { viewer: PlanViewer }) => {
  throw new ServiceError('CONFLICT', reason('invalid'))
})
const bytesOf = (data: object) => ({ tag: '"1"', bytes: () => Buffer.from(JSON.stringify({ success: true, data })) })
const described = { summary: 'Test', tag: 'Test' }
const routes: Route<HasViewer>[] = [
  { method: 'GET', path: '/caller', verb: readCaller, answer: bytesOf, ...described },
  { method: 'GET', path: '/own', verb: readOwn, answer: (data: object) => ({ data }), ...described },
  { method: 'GET', path: '/fail', verb: fail, answer: bytesOf, ...described },
]
/** What is added in one place, here where answers to other origins are. */
const added = ['x-added', 'everywhere']

let node: TestNode
let keys: Keyring
let app: FastifyInstance
let url: string

beforeAll(async () => {
  node = await startTestNode()
  keys = apiKeyring({ db: node.db, log: silent, now: node.clock.now })
  app = createServer({ log: silent, trustProxy: false, cors: () => added })
  const cache = new Cache({ limit: 1e6, weigh: responseWeight })
  const rules: RouteRules<HasViewer> = { ctx: (viewer) => ({ viewer }), failed: failuresOf(silent), security: 'apiKey', cache }
  await app.register(
    async (scope) => {
      addGate(scope, keys, null)
      scope.setNotFoundHandler(answerNotFound)
      registerRoutes(scope, routes, rules)
    },
    { prefix: '/api' },
  )
  await app.ready()
  const fast = routes.filter((route) => route.verb.sharedBy === 'plan').map((route) => fastRead('/api', route.path, endpointOf(route, rules)))
  addFastPath(app, fast, { known: (header) => keys.known(header), allow: (viewer, needs) => allow(viewer, needs, null), requests: new RequestCounts() })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})

afterAll(async () => {
  await app.close()
  await keys.close()
  await node.close()
})

const ask = async (path: string, key: string | null, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${url}${path}`, { method, headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers } })

test('a header added in one place is on the answers of every path', async () => {
  const { plus: key } = node.keys
  // The first request with a key goes through Fastify, which loads it; the second makes, the third caches, the fourth finds.
  const asked: [string, string | null, Record<string, string>?, string?][] = [
    ...Array.from({ length: 4 }, (): [string, string] => ['/api/caller', key]),
    ...Array.from({ length: 3 }, (): [string, string, Record<string, string>] => ['/api/caller', key, { 'accept-encoding': 'br' }]),
    ['/api/caller', key, { 'if-none-match': '"1"' }], ['/api/fail', key], ['/api/own', key], ['/api/caller', null], ['/api/caller', 'wrong'],
    ['/api/nothing', key], ['/api/caller', key, {}, 'DELETE'], ['/api/caller', key, {}, 'HEAD'], ['/%', key], ['/elsewhere', null],
  ]
  const statuses: number[] = []
  for (const [path, credential, headers, method] of asked) {
    const response = await ask(path, credential, headers, method)
    expect([path, method, headers, response.headers.get('x-added')]).toEqual([path, method, headers, 'everywhere'])
    expect(response.headers.get('x-request-id')).toBeTruthy()
    statuses.push(response.status)
  }
  expect(statuses).toEqual([...Array<number>(7).fill(200), 304, 409, 200, 401, 401, 404, 405, 200, 400, 404])
})

test('a verb that is shared by plan sees the plan and nothing else, whoever calls and by whatever way', async () => {
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

test('a field of the caller cannot be declared as shared by plan', () => {
  // @ts-expect-error an account is not known to what is shared by plan
  verb({ name: 'leak', needs: 'starter', sharedBy: 'plan', input }, ({ viewer }: { viewer: PlanViewer }) => viewer.accountId)
  const wanted = (ctx: { viewer: { accountId: number } & PlanViewer }) => ctx.viewer.accountId
  const leak = verb({ name: 'leak', needs: 'starter', sharedBy: 'plan', input }, wanted)
  expect(call(leak, { viewer: { kind: 'account', accountId: 7, keyId: 9, plan: 'plus' } } as never, {})).toBeUndefined()
})
