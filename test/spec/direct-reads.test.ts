// Reads that are answered before Fastify, beside Fastify's own answers to the same requests: not a header differs.
import { request as ask } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addGate, directGate, viewerOf } from '#accounts/gate.ts'
import { newKey } from '#accounts/key-format.ts'
import { apiKeyring } from '#accounts/keyring.ts'
import { RateLimits } from '#accounts/rate-limits.ts'
import { type CatalogueCtx, shapeFor } from '#catalogue/context.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { registerRoutes, type RouteRules } from '#http/routes.ts'
import { answerNotFound, createServer } from '#http/server.ts'
import { keepCompressed, KeptAnswers } from '#http/kept-answers.ts'
import { catalogueRoutes } from '#rest/catalogue-routes.ts'
import { answerReadsDirectly, directReads } from '#rest/direct-reads.ts'
import { listingReads } from '#rest/listing-routes.ts'
import { DAY_MS, operator, orderId, plus, published } from '../market/kit.ts'
import { importText, silent, startTestNode, type TestNode } from '../support/node.ts'

const category = { type: 'category', market: 'service', ref: 't', name: 'Sét', game: 'pokemon', parent: null, image: null }
const item = (n: number) => ({
  type: 'item', market: 'service', ref: `t:${n}`, name: `Kärd ${n}`, code: `${n}/9`, genre: 'single', game: 'pokemon',
  category: 't', images: [], attributes: [], groups: ['ungraded'], details: {}, foreign_ids: [],
})

let node: TestNode
/** the same routes on two listeners: one answers directly what it can, both count by themselves */
let direct: FastifyInstance
let plain: FastifyInstance
let limited: FastifyInstance
const counts = { direct: new RequestCounts(), plain: new RequestCounts(), limited: new RequestCounts() }

beforeAll(async () => {
  node = await startTestNode()
  const lines = [category, ...Array.from({ length: 9 }, (_, i) => item(i + 1))]
  await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
  for (let i = 1; i <= 6; i += 1) await published(node, i, { title: `Lísting ${i}`, price: 10 * i + 0.05, language: i < 4 ? 'ja' : 'en' })
  direct = await listener(counts.direct, null, true)
  plain = await listener(counts.plain, null, false)
  limited = await listener(counts.limited, new RateLimits({ starter: 3, professional: 3, plus: 3, enterprise: 3 }), true)
})

afterAll(async () => {
  await Promise.all([direct, plain, limited].map((app) => app.close()))
  await node.close()
})

async function listener(requests: RequestCounts, limits: RateLimits | null, directly: boolean): Promise<FastifyInstance> {
  const { db, catalogue, listings, clock } = node
  const keys = apiKeyring({ db, log: silent, now: clock.now })
  const routes = catalogueRoutes(catalogue)
  const searches = listingReads(listings)
  const rules: RouteRules<CatalogueCtx> = { ctx: (request) => ({ viewer: viewerOf(request), catalogue }), security: 'apiKey' }
  const app = createServer({ log: silent, trustProxy: false })
  requests.watch(app)
  await app.register(compress, { threshold: 100, syncThreshold: 64 * 1024, encodings: ['br', 'gzip'] })
  await app.register(
    async (scope) => {
      addGate(scope, keys, limits)
      keepCompressed(scope)
      scope.addHook('onRequest', (_request, reply, done) => {
        reply.header('x-answered-by', 'fastify')
        done()
      })
      scope.setNotFoundHandler(answerNotFound)
      registerRoutes(scope, routes, rules)
      registerRoutes(scope, searches, { ctx: (request) => ({ viewer: viewerOf(request), listings }), security: 'apiKey' })
    },
    { prefix: '/api/v1' },
  )
  await app.ready()
  const common = { prefix: '/api/v1', kindOf: shapeFor }
  const keptFor = (versionOf: () => number) => new KeptAnswers(1024 * 1024, versionOf)
  const reads = [
    ...directReads({ ...common, routes, ctx: (viewer) => ({ viewer, catalogue }), kept: keptFor(() => catalogue.version) }),
    ...directReads({ ...common, routes: searches, ctx: (viewer) => ({ viewer, listings }), kept: keptFor(() => listings.version) }),
  ]
  if (directly) answerReadsDirectly(app, directGate(keys, limits), requests, reads)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

interface Asked {
  path: string
  method?: string
  headers?: Record<string, string>
}

/** Asks with no header but those given: what other clients add is not plain. */
async function answerOf(app: FastifyInstance, { path, method = 'GET', headers = {} }: Asked, key: string | null) {
  const { port } = app.addresses()[0] as AddressInfo
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  return new Promise<{ directly: boolean; status: number; headers: object; body: string; limit: unknown }>((resolve, reject) => {
    const sent = ask({ port, path, method, headers: { ...authorization, ...headers } }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const { date, 'x-answered-by': by, 'x-request-id': id, ratelimit: limit, ...rest } = response.headers
      const given = headers['x-request-id'] === id ? id : typeof id
      resolve({
        directly: by === undefined, status: response.statusCode!, headers: { ...rest, dated: date !== undefined, given },
        body: Buffer.concat(chunks).toString('latin1'), limit,
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

const PLAIN: string[] = [
  '/api/v1/items', '/api/v1/items?', '/api/v1/items?page=2&per_page=4', '/api/v1/items?game=pokemon&sort_by=code&sort_order=desc',
  '/api/v1/items?search=k%C3%A4rd+3', '/api/v1/items?unknown=1&search=', '/api/v1/items?page=99', '/api/v1/items?game=none',
  '/api/v1/items/search?q=K%C3%A4rd', '/api/v1/items/search?q=kard%20&per_page=3&page=2', '/api/v1/items/search?q=nothing',
  '/api/v1/items/1', '/api/v1/items/9?x=1', '/api/v1/items/0001', '/api/v1/items?per_page=3&x=#y',
]
const FLAGS = 'with_item=1&with_pc=1&with_average=1&with_last_sales=1'
const SEARCHES: string[] = [
  '/api/v1/plus/listings', `/api/v1/plus/listings?${FLAGS}`, '/api/v1/plus/listings?per_page=2&page=2&sort_by=price_high&with_pc=1',
  '/api/v1/plus/listings?language[]=ja&game%5B%5D=pokemon&min_price=10.05&with_average=1', '/api/v1/plus/listings?search=l%C3%ADsting+kard&with_item=true',
  '/api/v1/plus/listings?search=nothing', '/api/v1/plus/listings?page=9', '/api/v1/plus/listings?unknown=1',
]
const OTHERS: Asked[] = [
  ...[
    '/api/v1/items/', '/api/v1/items//1', '/api/v1//items', '/api/v1/items/10000', '/api/v1/items/99999999999', '/api/v1/items/x',
    '/api/v1/items/+1', '/api/v1/items/%31', '/api/v1/items/1/', '/api/v1/items/1.0', '/api/v1/items?page=0', '/api/v1/items?page=1&page=2',
    '/api/v1/items/search', '/api/v1/items/search?q=a', '/api/v1/items/search/', '/API/v1/items', '/api/v1/items#', '/api/v1', '/',
  ].map((path) => ({ path })),
  { path: '/api/v1/items', method: 'HEAD' },
  { path: '/api/v1/items/1', method: 'DELETE' },
  { path: '/api/v1/items', method: 'OPTIONS' },
  { path: '/api/v1/items', headers: { 'if-none-match': '*' } },
  { path: '/api/v1/items/1', headers: { 'if-none-match': '"x", W/"y"' } },
  { path: '/api/v1/items/1', headers: { 'accept-encoding': 'identity' } },
  { path: '/api/v1/items?market=' },
  { path: '/api/v1/items?page=1#?per_page=1' },
]

test('plain reads are answered directly, byte for byte as Fastify does', async () => {
  for (const plan of ['starter', 'professional'] as const) {
    const key = node.keys[plan]
    await answerOf(direct, { path: '/api/v1/items' }, key)
    for (const path of PLAIN) {
      const given: Record<string, string>[] = [{}, { 'x-request-id': 'my-own.1' }, { 'x-request-id': 'no id' }, { connection: 'close' }]
      for (const headers of given) {
        const { directly, ...answer } = await answerOf(direct, { path, headers }, key)
        expect([path, directly, answer.status]).toEqual([path, true, 200])
        expect({ directly: false, ...answer }).toEqual(await answerOf(plain, { path, headers }, key))
      }
    }
  }
})

test('so are searches of listings, the first time and again', async () => {
  const given: Record<string, string>[] = [{}, {}, {}, { 'x-request-id': 'my-own.1' }]
  for (const plan of ['plus', 'enterprise'] as const) {
    await answerOf(direct, { path: '/api/v1/items' }, node.keys[plan])
    for (const path of SEARCHES) {
      for (const headers of given) {
        const { directly, ...answer } = await answerOf(direct, { path, headers }, node.keys[plan])
        expect([path, directly, answer.status]).toEqual([path, true, 200])
        expect({ directly: false, ...answer }).toEqual(await answerOf(plain, { path, headers }, node.keys[plan]))
      }
    }
  }
  const [path] = SEARCHES
  const refused: [Asked, string | null, number][] = [
    [{ path: path! }, node.keys.professional, 403], [{ path: path! }, null, 401], [{ path: `${path}?page=0` }, node.keys.plus, 422],
    [{ path: `${path}?min_price=2&max_price=1` }, node.keys.plus, 422], [{ path: path!, headers: { 'if-none-match': '*' } }, node.keys.plus, 304],
    [{ path: path!, method: 'POST' }, node.keys.plus, 405], [{ path: `${path}/1` }, node.keys.plus, 404],
  ]
  for (const [asked, key, status] of refused) {
    const answer = await answerOf(direct, asked, key)
    expect([asked, answer.status]).toEqual([asked, status])
    expect(answer).toEqual(await answerOf(plain, asked, key))
  }
})

test('a search shows every change at once, and what ends at the second it ends', async () => {
  const { id } = await published(node, 7, { title: 'Chänging', price: 77 }, new Date(node.clock.now().getTime() + DAY_MS))
  const path = `/api/v1/plus/listings?search=ch%C3%A4nging&${FLAGS}`
  const ask = async () => {
    const answers = []
    for (let time = 0; time < 3; time += 1) answers.push(await answerOf(direct, { path }, node.keys.plus))
    for (const answer of answers) expect({ ...answer, directly: false }).toEqual(await answerOf(plain, { path }, node.keys.plus))
    const { etag } = answers[0]!.headers as Record<string, string>
    return { etag, body: answers[0]!.body }
  }
  const price = (text: string) => `item_ref,market,label,price,updated_at\nt:7,source_a,Near Mint,${text},2026-01-02T03:04:05Z\n`
  const status = (action: string) => plus(node, 'POST', `/listings/${id}/status?action=${action}`)
  const changes = [
    () => plus(node, 'PATCH', `/listings/${id}/price`, { price: 78.5 }),
    () => importText(node, 'mintmark-ndjson', JSON.stringify({ ...item(7), name: 'Kärd seven' })),
    () => importText(node, 'mintmark-prices-csv', price('39.25')),
    async () => {
      const sold = await published(node, 7, { title: 'Sold', price: 5, quantity: 1 })
      await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: sold.id, quantity: 1 }] })
    },
    () => status('pause'),
    () => status('publish'),
    () => node.clock.advance(DAY_MS),
  ]
  const seen = [await ask()]
  for (const change of changes) {
    await change()
    seen.push(await ask())
  }
  const [, , , , sold, paused, shown, over] = seen
  expect(shown).toEqual(sold)
  expect(over).toEqual(paused)
  expect(over!.body).toContain('"data":[]')
  expect(new Set(seen.map(({ body }) => body)).size).toBe(seen.length - 2)
  expect(new Set(seen.map(({ etag }) => etag)).size).toBe(seen.length - 2)
})

test('everything else is left to Fastify', async () => {
  for (const asked of OTHERS) {
    const answer = await answerOf(direct, asked, node.keys.professional)
    expect(answer).toEqual(await answerOf(plain, asked, node.keys.professional))
    if (asked.path.startsWith('/api/v1')) expect([asked, answer.directly]).toEqual([asked, false])
  }
  for (const key of [null, 'nonsense', newKey('api')]) {
    for (const path of PLAIN) {
      const answer = await answerOf(direct, { path }, key)
      expect(answer).toMatchObject({ status: 401 })
      expect(answer).toEqual(await answerOf(plain, { path }, key))
    }
  }
})

test('compressed answers are kept when asked for again, per plan and per encodings asked', async () => {
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
  for (const path of ['/api/v1/items?per_page=8', '/api/v1/items/search?q=k%C3%A4rd', '/api/v1/items/2']) {
    const bodies: string[] = []
    for (const [asked, encoding] of [['gzip', 'gzip'], ['gzip, deflate, br', 'br'], ['br;q=0.1, gzip', 'gzip']] as const) {
      for (const plan of ['starter', 'professional'] as const) {
        const headers = { 'accept-encoding': asked }
        const answers = []
        for (let time = 0; time < 3; time += 1) answers.push(await answerOf(direct, { path, headers }, node.keys[plan]))
        expect(answers.map(({ directly }) => directly)).toEqual([false, false, true])
        for (const answer of answers) expect({ ...answer, directly: false }).toEqual(await answerOf(plain, { path, headers }, node.keys[plan]))
        expect(answers[2]!.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' })
        const unpacked = unpack[encoding](Buffer.from(answers[2]!.body, 'latin1')).toString('latin1')
        expect(unpacked).toBe((await answerOf(plain, { path }, node.keys[plan])).body)
        bodies.push(unpacked)
      }
    }
    expect(new Set(bodies).size).toBe(2)
  }
})

test('every change that shows takes kept answers away', async () => {
  const path = '/api/v1/items?per_page=7'
  const ask = async (headers = {}) => (await answerOf(direct, { path, headers }, node.keys.professional)).body
  const both = async () => {
    const packed = { 'accept-encoding': 'gzip' }
    const bodies = [await ask(), await ask(), await ask(), await ask(packed), await ask(packed), await ask(packed)]
    const texts = bodies.map((body, i) => (i < 3 ? body : gunzipSync(Buffer.from(body, 'latin1')).toString('latin1')))
    expect(new Set(texts).size).toBe(1)
    return texts[0]!
  }
  const seen = [await both()]
  const items = (line: object) => importText(node, 'mintmark-ndjson', JSON.stringify(line))
  const price = (text: string) => importText(node, 'mintmark-prices-csv', `item_ref,market,label,price,updated_at\nt:1,service,Near Mint,${text}\n`)
  const changes = [
    () => items({ ...item(2), name: 'Kärd two' }),
    () => items({ ...category, name: 'Sét 2' }),
    () => price('12.50,2026-01-02T03:04:05Z'),
    () => price('13.00,2026-01-03T03:04:05Z'),
    () => items(item(77)),
  ]
  for (const change of changes) {
    await change()
    seen.push(await both())
  }
  expect(new Set(seen).size).toBe(6)
})

test('a client that reads late gets what it asked for, whatever is answered meanwhile', async () => {
  const { port } = direct.addresses()[0] as AddressInfo
  const key = node.keys.professional
  const paths = Array.from({ length: 3_000 }, (_, i) => `/api/v1/items?per_page=${1 + (i % 8)}&page=${1 + (i % 3)}&sort_by=id`)
  const wanted = new Map<string, string>()
  for (const path of new Set(paths)) wanted.set(path, (await answerOf(direct, { path }, key)).body)
  const socket = connect(port, '127.0.0.1').pause()
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`).join(''))
  for (let i = 0; i < 200; i += 1) await answerOf(direct, { path: `/api/v1/items?per_page=${1 + (i % 9)}&sort_order=desc` }, key)
  let received = ''
  const bodies: string[] = []
  for await (const chunk of socket) {
    received += (chunk as Buffer).toString('latin1')
    for (;;) {
      const head = received.indexOf('\r\n\r\n') + 4
      const length = Number(/content-length: (\d+)/.exec(received.slice(0, head))?.[1])
      if (head < 4 || !(received.length >= head + length)) break
      bodies.push(received.slice(head, head + length))
      received = received.slice(head + length)
    }
    if (bodies.length === paths.length) break
  }
  expect(bodies).toEqual(paths.map((path) => wanted.get(path)))
})

test('kept answers stay within their budget, and none outlives its version', () => {
  let version = 1
  const kept = new KeptAnswers(100_000, () => version)
  const answer = () => ({ headers: [], body: Buffer.alloc(1_000) })
  for (let i = 0; i < 1_000; i += 1) for (let time = 0; time < 2; time += 1) kept.offer(`key ${i}`, version, true, answer)
  const held = () => Array.from({ length: 1_000 }, (_, i) => kept.get(`key ${i}`, version)).filter((known) => known !== null).length
  expect(held()).toBeGreaterThan(20)
  expect(held()).toBeLessThan(100)
  expect(kept.get('key 999', version)).toEqual(answer())
  version = 2
  expect(kept.get('key 999', version)).toBeNull()
  for (let time = 0; time < 3; time += 1) kept.offer('old', 1, true, answer)
  expect(kept.get('old', version)).toBeNull()
})

test('a changed item shows at once', async () => {
  const path = '/api/v1/items?search=k%C3%A4rd+5'
  const before = await answerOf(direct, { path }, node.keys.professional)
  await importText(node, 'mintmark-ndjson', JSON.stringify({ ...item(5), code: '5/new' }))
  const after = await answerOf(direct, { path }, node.keys.professional)
  expect([before.body.includes('5/new'), after.body.includes('5/new'), after.directly]).toEqual([false, true, true])
})

test('requests count once towards the limit, whoever answers', async () => {
  const asked: Asked[] = [
    { path: '/api/v1/items/1' }, { path: '/api/v1/items/10000' }, { path: '/api/v1/items' }, { path: '/api/v1/items' },
    { path: '/api/v1/items', headers: { 'accept-encoding': 'identity' } },
  ]
  const answers = []
  for (const one of asked) answers.push(await answerOf(limited, one, node.keys.plus))
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 429, 429])
  expect(answers.map(({ limit }) => /r=(\d+)/.exec(limit as string)?.[1])).toEqual(['2', '1', '0', '0', '0'])
})

test('both ways are counted alike', async () => {
  const all = (requests: RequestCounts) => requests.all().map(({ method, route, status, count }) => `${method} ${route} ${status} ${count}`)
  const [before] = [counts.direct.all().find(({ route, status }) => route === '/api/v1/items/:id' && status === 200)!.count]
  await answerOf(direct, { path: '/api/v1/items/1' }, node.keys.professional)
  await answerOf(direct, { path: '/api/v1/items/1', headers: { 'accept-encoding': 'identity' } }, node.keys.professional)
  expect(all(counts.direct).find((line) => line.startsWith('GET /api/v1/items/:id 200'))).toMatch(new RegExp(` ${before + 2}$`))
  expect(new Set(counts.direct.all().map(({ route }) => route))).toEqual(new Set(counts.plain.all().map(({ route }) => route)))
})
