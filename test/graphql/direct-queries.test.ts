// Queries that are answered before Fastify, beside Fastify's own answers to the same requests: not a header differs.
import { request as ask } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import compress from '@fastify/compress'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKey } from '#accounts/key-format.ts'
import { apiKeyring } from '#accounts/keyring.ts'
import { RateLimits } from '#accounts/rate-limits.ts'
import { change } from '#db/change.ts'
import { RequestCounts } from '#http/request-counts.ts'
import { createServer } from '#http/server.ts'
import { packPrices } from '#prices/payload.ts'
import { addGraphql } from '#graphql/routes.ts'
import type { WebhookRules } from '#webhooks/types.ts'
import { silent, type TestNode } from '../support/node.ts'
import { startSampleNode } from './client.ts'

let node: TestNode
/** the same endpoint on several listeners: one answers directly what it can, all count by themselves */
let direct: FastifyInstance
let plain: FastifyInstance
let limited: FastifyInstance
const counts = { direct: new RequestCounts(), plain: new RequestCounts(), limited: new RequestCounts() }

beforeAll(async () => {
  node = await startSampleNode()
  direct = await listener(counts.direct, null, true)
  plain = await listener(counts.plain, null, false)
  limited = await listener(counts.limited, new RateLimits({ starter: 3, professional: 3, plus: 3, enterprise: 3 }), true)
})

afterAll(async () => {
  await Promise.all([direct, plain, limited].map((app) => app.close()))
  await node.close()
})

async function listener(requests: RequestCounts, limits: RateLimits | null, directly: boolean): Promise<FastifyInstance> {
  const { db, clock } = node
  const app = createServer({ log: silent, trustProxy: false })
  requests.watch(app)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('x-answered-by', 'fastify')
    done()
  })
  await app.register(compress, { threshold: 100, syncThreshold: 64 * 1024, encodings: ['br', 'gzip'] })
  const keys = apiKeyring({ db, log: silent, now: clock.now })
  // Only mutations ask for them.
  const rules = {} as WebhookRules
  const feed = { pull: () => Promise.resolve() }
  const graphql = addGraphql(app, { ...node, demoKey: null, keys, limits, requests, feed, webhooks: rules, log: silent, now: clock.now })
  await app.ready()
  if (directly) graphql.answerDirectly()
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

interface Asked {
  body: string
  path?: string
  method?: string
  headers?: Record<string, string>
}

/** Asks with no header but those given and what a body needs. */
async function answerOf(app: FastifyInstance, { path = '/graphql', method = 'POST', headers = {}, body }: Asked, key: string | null) {
  const { port } = app.addresses()[0] as AddressInfo
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  const all = { ...authorization, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers }
  return new Promise<{ directly: boolean; status: number; headers: object; body: string; limit: unknown }>((resolve, reject) => {
    const sent = ask({ port, path, method, headers: all }, async (response) => {
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
    sent.end(method === 'GET' ? undefined : body)
  })
}

const json = (query: string, more: object = {}) => JSON.stringify({ query, ...more })
const PAGE = 'query ($n: Int) { items(first: $n) { nodes { id name slug category { name parent { name } } prices { market price } } } }'
const PLAIN: string[] = [
  json('{ items { nodes { id name } pageInfo { hasNextPage endCursor } } }'),
  json(PAGE, { variables: { n: 5 } }),
  json(PAGE, { variables: null }),
  json('query A { __typename } query B { categories(first: 2) { nodes { name children { id } } } }', { operationName: 'B' }),
  json('{ item(id: 99999) { id } category(id: 1) { name } }'),
  json('{ __schema { queryType { name } } }'),
  json('{ items(search: "pokémon 🎴", first: 1) { nodes { name } } }'),
]
const OTHERS: Asked[] = [
  json('{ items(first: 0) { nodes { id } } }'), json('{ item(id: "x") { id } }'), json('{ nothing }'), json('{'), json(''), '', '[]', 'x',
  '{"query":"{ __typename }","query":"{ __typename }"}', json('mutation { deleteListing(id: 1) { id } }'), json('query A { __typename } query B { __typename }'),
  json(PAGE, { variables: { n: 'many' } }), json('{ __typename }'.padEnd(140_000)),
].map((body): Asked => ({ body })).concat(
  { body: PLAIN[0]!, method: 'PUT' }, { body: '', method: 'GET', path: '/graphql?query=%7B__typename%7D' }, { body: PLAIN[0]!, path: '/graphql?x=1' },
  { body: PLAIN[0]!, path: '/graphql/' }, { body: PLAIN[0]!, headers: { accept: 'text/html' } }, { body: PLAIN[0]!, headers: { accept: 'image/png' } },
  { body: PLAIN[0]!, headers: { 'content-type': 'text/plain' } }, { body: PLAIN[0]!, headers: { 'content-type': 'application/json; charset=latin1' } },
  { body: PLAIN[0]!, headers: { 'accept-encoding': 'identity' } },
)

test('plain queries are answered directly, byte for byte as Fastify does, the first time and again', async () => {
  for (const plan of ['starter', 'professional', 'enterprise'] as const) {
    const key = node.keys[plan]
    await answerOf(direct, { body: '{}' }, key)
    for (const body of PLAIN) {
      for (const path of ['/graphql', '/graphql/v3']) {
        const given: Record<string, string>[] = [
          {}, { 'x-request-id': 'my-own.1' }, { accept: 'application/graphql-response+json' }, { 'content-type': 'application/json; charset=utf-8' },
          { connection: 'close' },
        ]
        for (const headers of given) {
          const { directly, ...answer } = await answerOf(direct, { path, body, headers }, key)
          expect([body, directly, answer.status]).toEqual([body, true, 200])
          expect({ directly: false, ...answer }).toEqual(await answerOf(plain, { path, body, headers }, key))
        }
      }
    }
  }
})

test('everything else is left to Fastify, with the body whole', async () => {
  for (const asked of OTHERS) {
    const answer = await answerOf(direct, asked, node.keys.professional)
    expect([asked, answer]).toEqual([asked, { ...(await answerOf(plain, asked, node.keys.professional)), directly: answer.directly }])
  }
  for (const key of [null, 'nonsense', newKey('api')]) {
    const answer = await answerOf(direct, { body: PLAIN[0]! }, key)
    expect(answer).toMatchObject({ status: 401, directly: false })
    expect(answer).toEqual(await answerOf(plain, { body: PLAIN[0]! }, key))
  }
})

test('a body in pieces, one after the other on one connection, is answered whole', async () => {
  const body = PLAIN[6]!
  const bytes = Buffer.from(body)
  const head = `POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${node.keys.plus}\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`
  const expected = (await answerOf(plain, { body }, node.keys.plus)).body
  const socket = connect((direct.addresses()[0] as AddressInfo).port, '127.0.0.1')
  socket.setNoDelay()
  let received = ''
  let got: () => void = () => {}
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1')
    got()
  })
  const answers = async (count: number) => {
    while (received.split(expected).length - 1 < count) await new Promise<void>((resolve) => (got = resolve))
  }
  for (const [i, cut] of [0, 1, bytes.length - 1, bytes.length].entries()) {
    socket.write(head)
    await new Promise((resolve) => setImmediate(resolve))
    socket.write(bytes.subarray(0, cut))
    await new Promise((resolve) => setImmediate(resolve))
    socket.write(bytes.subarray(cut))
    await answers(i + 1)
  }
  // Two requests at once are answered in their order.
  socket.write(Buffer.concat([Buffer.from(head), bytes, Buffer.from(head), bytes]))
  await answers(6)
  expect(received.split('HTTP/1.1 200').length - 1).toBe(6)
  socket.destroy()
})

test('compressed answers are kept when asked for again, per plan and per encodings asked', async () => {
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync }
  const body = PLAIN[1]!
  const bodies: string[] = []
  for (const [asked, encoding] of [['gzip', 'gzip'], ['gzip, deflate, br', 'br']] as const) {
    for (const plan of ['starter', 'professional'] as const) {
      const headers = { 'accept-encoding': asked }
      const answers = []
      for (let time = 0; time < 3; time += 1) answers.push(await answerOf(direct, { body, headers }, node.keys[plan]))
      expect(answers.map(({ directly }) => directly)).toEqual([false, false, true])
      for (const answer of answers) expect({ ...answer, directly: false }).toEqual(await answerOf(plain, { body, headers }, node.keys[plan]))
      expect(answers[2]!.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' })
      const unpacked = unpack[encoding](Buffer.from(answers[2]!.body, 'latin1')).toString('latin1')
      expect(unpacked).toBe((await answerOf(plain, { body }, node.keys[plan])).body)
      bodies.push(unpacked)
    }
  }
  expect(new Set(bodies).size).toBe(2)
})

test('every change that shows takes kept answers away, prices of every market among them', async () => {
  const body = json('{ item(id: 7) { name category { name parent { name } } groups { name } prices { market label price } } }')
  const both = async () => {
    const texts: string[] = []
    for (let time = 0; time < 3; time += 1) {
      texts.push((await answerOf(direct, { body }, node.keys.plus)).body)
      const packed = await answerOf(direct, { body, headers: { 'accept-encoding': 'gzip' } }, node.keys.plus)
      const bytes = Buffer.from(packed.body, 'latin1')
      // What is very short is not compressed.
      texts.push(('content-encoding' in packed.headers ? gunzipSync(bytes) : bytes).toString('latin1'))
    }
    expect(new Set(texts).size).toBe(1)
    return texts[0]!
  }
  const seen = [await both()]
  const write = (kind: 'items' | 'categories' | 'groups', statement: ReturnType<typeof sql<{ id: number }>>) =>
    change(node.ctx, async (tx, note) => note.changed(kind, (await statement.execute(tx)).rows.map(({ id }) => id)))
  const reprice = (market: number) =>
    change(node.ctx, async (tx, note) => {
      const { rows } = await sql<{ label: number; minor: number }>`update prices set price = price + 1
        where item_id = 7 and market = ${market} returning label_id as label, (price * 100)::int as minor`.execute(tx)
      expect(rows.length).toBeGreaterThan(0)
      await note.changedPrices(packPrices(rows.map(({ label, minor }) => ({ itemId: 7, market, labelId: label, minor, updatedAtMs: Date.now() }))))
    })
  const { rows: markets } = await sql<{ market: number }>`select distinct market from prices where item_id = 7`.execute(node.db.kysely)
  expect(markets.length).toBeGreaterThan(1)
  const changes = [
    () => write('items', sql`update items set name = name || ' II' where id = 7 returning id`),
    () => write('categories', sql`update categories set name = name || ' II' where id = (select category_id from items where id = 7) returning id`),
    () => write('groups', sql`update groups set name = name || ' II' where parent_id is null returning id`),
    ...markets.map(({ market }) => () => reprice(market)),
    () => write('items', sql`delete from items where id = 7 returning id`),
  ]
  for (const change of changes) {
    await change()
    seen.push(await both())
  }
  expect(new Set(seen).size).toBe(seen.length)
})

test('requests count once towards the limit, whoever answers', async () => {
  const asked = [json('{ __typename }'), json('{ nothing }'), json('{ __typename }'), json('{ __typename }'), json('{ nothing }')]
  const answers = []
  for (const body of asked) answers.push(await answerOf(limited, { body }, node.keys.plus))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429])
  expect(answers.map(({ limit }) => /r=(\d+)/.exec(limit as string)?.[1])).toEqual(['2', '1', '0', '0', '0'])
  expect(JSON.parse(answers[3]!.body)).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED', status: 429 } }] })
})

test('a request without a body is answered also where requests are counted first', async () => {
  const key = newKey('api')
  for (const asked of [{ body: '' }, { body: '', headers: { 'content-type': 'text/plain' } }]) {
    expect(await answerOf(limited, asked, key)).toMatchObject({ status: 401 })
    expect((await answerOf(limited, asked, node.keys.enterprise)).status).toBeGreaterThanOrEqual(400)
  }
})

test('both ways are counted alike', async () => {
  const count = (requests: RequestCounts) => requests.all().find(({ method, route, status }) => `${method} ${route} ${status}` === 'POST /graphql 200')?.count ?? 0
  const [before, plainBefore] = [count(counts.direct), count(counts.plain)]
  const given: Record<string, string>[] = [{}, { 'accept-encoding': 'identity' }]
  for (const headers of given) {
    await answerOf(direct, { body: PLAIN[0]!, headers }, node.keys.professional)
    await answerOf(plain, { body: PLAIN[0]!, headers }, node.keys.professional)
  }
  expect([count(counts.direct) - before, count(counts.plain) - plainBefore]).toEqual([2, 2])
})
