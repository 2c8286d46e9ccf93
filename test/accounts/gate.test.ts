// The order of checks on a listener: 401 before 403 before 429 before everything about body and path.
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { addGate } from '#accounts/keys/gate.ts'
import { newKey } from '#accounts/credentials/key-format.ts'
import { RateLimits } from '#accounts/limits/rate-limits.ts'
import { Type } from '#core/input.ts'
import type { Plan } from '#core/plans.ts'
import { call, type HasViewer, verb } from '#core/verb.ts'
import { failuresOf } from '#http/failures.ts'
import type { Route } from '#http/route.ts'
import { registerRoutes } from '#http/routes.ts'
import { answerNotFound, createServer } from '#http/server.ts'
import { freshDatabase } from '../support/postgres.ts'
import { silent } from '../support/node.ts'
import { openNode, type TestNode } from './node.ts'

const input = Type.Object({ id: Type.Integer(), price: Type.Integer() }, { additionalProperties: false })
const priceThing = verb({ name: 'setPrice', needs: 'plus', input }, (ctx: HasViewer, { price }) => ({ viewer: ctx.viewer, price }))
const readThing = verb({ name: 'read', needs: 'starter', input: Type.Object({}, { additionalProperties: false }) }, (ctx: HasViewer) => ctx.viewer)
const answer = (data: unknown) => ({ data })
const routes: Route<HasViewer>[] = [
  { method: 'GET', path: '/things', verb: readThing, summary: 'Read', tag: 'Things', answer },
  { method: 'PATCH', path: '/things/:id', verb: priceThing, summary: 'Price', tag: 'Things', answer },
]
let database: Awaited<ReturnType<typeof freshDatabase>>
let node: TestNode
let app: FastifyInstance
let baseUrl: string

beforeAll(async () => {
  database = await freshDatabase()
  node = await openNode(database.url)
  app = createServer({ log: silent, trustProxy: false })
  await app.register(
    async (api) => {
      addGate(api, node.keys, new RateLimits({ starter: 3, professional: 4, plus: 4, enterprise: 100 }))
      api.setNotFoundHandler(answerNotFound)
      registerRoutes(api, routes, { ctx: (viewer) => ({ viewer }), failed: failuresOf(silent), security: 'apiKey' })
    },
    { prefix: '/api/v1' },
  )
  baseUrl = await app.listen({ port: 0, host: '127.0.0.1' })
})

afterAll(async () => {
  await app.close()
  await node.close()
  await database.drop()
})

async function keyOf(plan: Plan): Promise<string> {
  const account = await call(createAccount, node.ctx, { name: 'Gate test', plan })
  return (await call(createKey, node.ctx, { account_id: account.id })).key
}

async function request(method: string, path: string, key: string | null, body?: string, type = 'application/json') {
  const response = await fetch(baseUrl + path, {
    method,
    headers: { ...(key && { authorization: `Bearer ${key}` }), ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body }),
  })
  const text = await response.text()
  const json = (text === '' ? {} : JSON.parse(text)) as { error?: { code: string }; data?: { plan: string } }
  return { status: response.status, code: json.error?.code, data: json.data, headers: response.headers }
}

test('without a valid key, every path below the prefix returns 401, including unknown ones', async () => {
  const cases: [method: string, path: string][] = [
    ['GET', '/api/v1/things'],
    ['HEAD', '/api/v1/things'],
    ['DELETE', '/api/v1/things'],
    ['GET', '/api/v1/nothing'],
    ['GET', '/api/v1'],
    ['GET', '/api/v1/'],
    ['OPTIONS', '/api/v1/things'],
  ]
  for (const [method, path] of cases) {
    for (const key of [null, 'nonsense', newKey('api')]) {
      const { status, headers } = await request(method, path, key)
      expect([method, path, status]).toEqual([method, path, 401])
      expect(headers.get('www-authenticate')).toBe('Bearer')
      expect(headers.get('ratelimit')).toBeNull()
      expect(headers.get('x-request-id')).toBeTruthy()
    }
  }
  expect(await request('PATCH', '/api/v1/things/1', null, '{"price":', 'application/json')).toMatchObject({
    status: 401,
  })
  expect(await request('GET', '/elsewhere', null)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
})

test('every response behind the gate has rate limit headers', async () => {
  const key = await keyOf('enterprise')
  const first = await request('GET', '/api/v1/things', key)
  expect(first).toMatchObject({ status: 200, data: { kind: 'account', plan: 'enterprise' } })
  expect(first.headers.get('ratelimit-policy')).toBe('"default";q=100;w=60')
  expect(first.headers.get('ratelimit')).toMatch(/^"default";r=99;t=(60|59)$/)
  const unknown = await request('GET', '/api/v1/nothing', key)
  expect(unknown).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  expect(unknown.headers.get('ratelimit')).toMatch(/^"default";r=98;/)
  const method = await request('DELETE', '/api/v1/things', key)
  expect(method).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' })
  expect(method.headers.get('allow')).toBe('GET, HEAD')
  expect((await request('HEAD', '/api/v1/things', key)).headers.get('ratelimit')).toMatch(/^"default";r=96;/)
})

test('the plan is checked before the rate limit and the body', async () => {
  const key = await keyOf('starter')
  for (let i = 0; i < 5; i++) {
    expect(await request('PATCH', '/api/v1/things/x', key, '{')).toMatchObject({
      status: 403,
      code: 'PLAN_UPGRADE_REQUIRED',
    })
  }
  const allowed = await request('GET', '/api/v1/things', key)
  expect(allowed.headers.get('ratelimit')).toMatch(/^"default";r=2;/)
  await request('GET', '/api/v1/things', key)
  await request('GET', '/api/v1/things', key)
  const refused = await request('GET', '/api/v1/things', key)
  expect(refused).toMatchObject({ status: 429, code: 'RATE_LIMITED' })
  const seconds = Number(refused.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
  expect(refused.headers.get('ratelimit')).toBe(`"default";r=0;t=${seconds}`)
  expect(refused.headers.get('ratelimit-policy')).toBe('"default";q=3;w=60')
  expect(await request('PATCH', '/api/v1/things/x', key, '{')).toMatchObject({ status: 403 })
  expect(await request('GET', '/api/v1/nothing', key)).toMatchObject({ status: 429 })
})

test('the rate limit is checked before the body, and the body before its fields', async () => {
  const key = await keyOf('plus')
  expect(await request('PATCH', '/api/v1/things/x', key, '{')).toMatchObject({ status: 400, code: 'INVALID_JSON' })
  expect(await request('PATCH', '/api/v1/things/x', key, 'a=1', 'text/plain')).toMatchObject({ status: 415 })
  expect(await request('PATCH', '/api/v1/things/x', key, '{}')).toMatchObject({ status: 422, code: 'VALIDATION_ERROR' })
  expect(await request('PATCH', '/api/v1/things/1', key, '{"price":5}')).toMatchObject({ status: 200 })
  expect(await request('PATCH', '/api/v1/things/x', key, '{')).toMatchObject({ status: 429, code: 'RATE_LIMITED' })
})
