// The fast path compared with Fastify: two nodes on one database, one of which serves everything through Fastify and caches
// nothing. No byte and no header may differ, for any request, however often it is repeated.
import { request as ask } from 'node:http'
import { connect } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKey } from '#accounts/credentials/key-format.ts'
import { DAY_MS, operator, orderId, plus, published } from '../market/kit.ts'
import { randomNumbers } from '#core/random.ts'
import { importText, startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'

const category = { type: 'category', market: 'service', ref: 't', name: 'Sét', game: 'pokemon', parent: null, image: null }
const item = (n: number) => ({
  type: 'item',
  market: 'service',
  ref: `t:${n}`,
  name: `Kärd ${n}`,
  code: `${n}/9`,
  genre: 'single',
  game: 'pokemon',
  category: 't',
  images: [],
  attributes: [],
  groups: ['ungraded'],
  details: {},
  foreign_ids: [],
})

let fast: TestNode
let plain: TestNode

beforeAll(async () => {
  fast = await startTestNode()
  const lines = [category, ...Array.from({ length: 9 }, (_, i) => item(i + 1))]
  await importText(fast, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
  for (let i = 1; i <= 6; i += 1) await published(fast, i, { title: `Lísting ${i}`, price: 10 * i + 0.05, language: i < 4 ? 'ja' : 'en' })
  plain = await startTestNode({ databaseUrl: fast.databaseUrl, env: { MINTMARK_WITHOUT: 'fast-path,response-cache,query-cache' } })
})

afterAll(async () => {
  await plain.close()
  await fast.close()
})

const ENCODED: Record<string, string>[] = [{}, { 'accept-encoding': 'br' }]

interface Asked {
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string
}

const portOf = ({ publicUrl }: TestNode) => Number(new URL(publicUrl!).port)
const POST = { method: 'POST', path: '/graphql' }

/** Sends only the given headers and those that a body needs. */
function answerOf(node: TestNode, { path, method = 'GET', headers = {}, body }: Asked, key: string | null) {
  const port = portOf(node)
  const authorization: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  const length: Record<string, string> =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  return new Promise<{ status: number; headers: object; body: string }>((resolve, reject) => {
    const sent = ask({ port, path, method, headers: { ...authorization, ...length, ...headers } }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const { date, 'x-request-id': id, ...rest } = response.headers
      const requestId = headers['x-request-id'] === id ? id : typeof id
      resolve({
        status: response.statusCode!,
        headers: { ...rest, dated: date !== undefined, requestId },
        body: Buffer.concat(chunks).toString('latin1').replaceAll(`:${port}`, ':port'),
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** Three times: for a new request, a response created again, and one from the cache. */
async function expectSame(request: Asked, key: string | null): Promise<void> {
  await plain.ctx.caughtUp()
  const expected = await answerOf(plain, request, key)
  for (let time = 1; time <= 3; time += 1) expect(await answerOf(fast, request, key), `${JSON.stringify(request)}, time ${time}`).toEqual(expected)
}

const READS: string[] = [
  '/api/v1/items',
  '/api/v1/items?',
  '/api/v1/items?page=2&per_page=4',
  '/api/v1/items?game=pokemon&sort_by=code&sort_order=desc',
  '/api/v1/items?search=k%C3%A4rd+3',
  '/api/v1/items?unknown=1&search=',
  '/api/v1/items?page=99',
  '/api/v1/items?game=none',
  '/api/v1/items/search?q=K%C3%A4rd',
  '/api/v1/items/search?q=kard%20&per_page=3&page=2',
  '/api/v1/items/search?q=nothing',
  '/api/v1/items/suggest?q=k%C3%A4',
  '/api/v1/items/suggest',
  '/api/v1/items/1',
  '/api/v1/items/9?x=1',
  '/api/v1/items/0001',
  '/api/v1/items?per_page=3&x=#y',
]
const FLAGS = 'with_item=1&with_pc=1&with_average=1&with_last_sales=1'
const SEARCHES: string[] = [
  '/api/v1/plus/listings',
  `/api/v1/plus/listings?${FLAGS}`,
  '/api/v1/plus/listings?per_page=2&page=2&sort_by=price_high&with_pc=1',
  '/api/v1/plus/listings?language[]=ja&game%5B%5D=pokemon&min_price=10.05&with_average=1',
  '/api/v1/plus/listings?search=l%C3%ADsting+kard&with_item=true',
  '/api/v1/plus/listings?search=nothing',
  '/api/v1/plus/listings?page=9',
  '/api/v1/plus/listings?unknown=1',
]
const OTHER_READS: Asked[] = [
  ...[
    '/api/v1/items/',
    '/api/v1/items//1',
    '/api/v1//items',
    '/api/v1/items/10000',
    '/api/v1/items/99999999999',
    '/api/v1/items/x',
    '/api/v1/items/+1',
    '/api/v1/items/%31',
    '/api/v1/items/1/',
    '/api/v1/items/1.0',
    '/api/v1/items?page=0',
    '/api/v1/items?page=1&page=2',
    '/api/v1/items/search',
    '/api/v1/items/search?q=a',
    '/api/v1/items/search/',
    '/API/v1/items',
    '/api/v1/items#',
    '/api/v1',
    '/',
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

const json = (query: string, more: object = {}) => JSON.stringify({ query, ...more })
const PAGE = 'query ($n: Int) { items(first: $n) { nodes { id name slug category { name parent { name } } prices { market price } } } }'
const QUERIES: string[] = [
  json('{ items { nodes { id name } pageInfo { hasNextPage endCursor } } }'),
  json(PAGE, { variables: { n: 5 } }),
  json(PAGE, { variables: null }),
  json('query A { __typename } query B { categories(first: 2) { nodes { name children { id } } } }', { operationName: 'B' }),
  json('{ item(id: 99999) { id } category(id: 1) { name } }'),
  json('{ __schema { queryType { name } } }'),
  json('{ items(search: "pokémon 🎴", first: 1) { nodes { name } } }'),
]
const OTHER_QUERIES: Asked[] = [
  json('{ items(first: 0) { nodes { id } } }'),
  json('{ item(id: "x") { id } }'),
  json('{ nothing }'),
  json('{'),
  json(''),
  '',
  '[]',
  'x',
  '{"query":"{ __typename }","query":"{ __typename }"}',
  json('mutation { deleteListing(id: 1) { id } }'),
  json('query A { __typename } query B { __typename }'),
  json(PAGE, { variables: { n: 'many' } }),
  json('{ __typename }'.padEnd(140_000)),
]
  .map((body): Asked => ({ ...POST, body }))
  .concat(
    { ...POST, body: QUERIES[0]!, method: 'PUT' },
    { method: 'GET', path: '/graphql?query=%7B__typename%7D' },
    { ...POST, body: QUERIES[0]!, path: '/graphql?x=1' },
    { ...POST, body: QUERIES[0]!, path: '/graphql/' },
    { ...POST, body: QUERIES[0]!, headers: { accept: 'text/html' } },
    { ...POST, body: QUERIES[0]!, headers: { accept: 'image/png' } },
    { ...POST, body: QUERIES[0]!, headers: { 'content-type': 'text/plain' } },
    { ...POST, body: QUERIES[0]!, headers: { 'content-type': 'application/json; charset=latin1' } },
    { ...POST, body: QUERIES[0]!, headers: { 'accept-encoding': 'identity' } },
  )

test('item reads are the same, by plan, encoding and condition', async () => {
  const headerSets: Record<string, string>[] = [
    {},
    { 'x-request-id': 'my-own.1' },
    { 'x-request-id': 'no id' },
    { connection: 'close' },
    { 'accept-encoding': 'gzip' },
    { 'accept-encoding': 'gzip, deflate, br' },
    { 'accept-encoding': 'br;q=0.1, gzip' },
    { 'if-none-match': '*' },
  ]
  for (const plan of ['starter', 'professional'] as const) {
    for (const path of READS) for (const headers of headerSets) await expectSame({ path, headers }, fast.keys[plan])
  }
  const [starter, full] = await Promise.all(
    (['starter', 'professional'] as const).map((plan) => answerOf(fast, { path: '/api/v1/items/1' }, fast.keys[plan])),
  )
  expect(starter!.body).not.toBe(full!.body)
})

test('listing searches are the same', async () => {
  for (const plan of ['plus', 'enterprise', 'professional'] as const) {
    for (const path of SEARCHES) for (const headers of ENCODED) await expectSame({ path, headers }, fast.keys[plan])
  }
  for (const path of ['?page=0', '?min_price=2&max_price=1', '/1'].map((end) => `/api/v1/plus/listings${end}`))
    await expectSame({ path }, fast.keys.plus)
})

test('all other requests are the same, including rejected ones', async () => {
  for (const request of [...OTHER_READS, ...OTHER_QUERIES]) await expectSame(request, fast.keys.professional)
  for (const key of [null, 'nonsense', newKey('api')]) {
    // Failed authentications are limited, too.
    for (const path of READS.slice(0, 3)) await expectSame({ path }, key)
    await expectSame({ ...POST, body: QUERIES[0]! }, key)
  }
})

test('GraphQL queries are the same', { tags: 'slow' }, async () => {
  const headerSets: Record<string, string>[] = [
    {},
    { 'x-request-id': 'my-own.1' },
    { accept: 'application/graphql-response+json' },
    { 'content-type': 'application/json; charset=utf-8' },
    { connection: 'close' },
    { 'accept-encoding': 'gzip' },
    { 'accept-encoding': 'gzip, br' },
  ]
  for (const plan of ['starter', 'professional', 'enterprise'] as const) {
    for (const body of QUERIES)
      for (const path of ['/graphql', '/graphql/v3'])
        for (const headers of headerSets) {
          await expectSame({ method: 'POST', path, body, headers }, fast.keys[plan])
        }
  }
})

test('a search reflects every change at once, including periods that end', async () => {
  const { id } = await published(fast, 7, { title: 'Chänging', price: 77 }, new Date(fast.clock.now().getTime() + DAY_MS))
  const path = `/api/v1/plus/listings?search=ch%C3%A4nging&${FLAGS}`
  const ask = async () => {
    const answers = []
    for (let time = 0; time < 3; time += 1) answers.push(await answerOf(fast, { path }, fast.keys.plus))
    await plain.ctx.caughtUp()
    for (const answer of answers) expect(answer).toEqual(await answerOf(plain, { path }, fast.keys.plus))
    const { etag } = answers[0]!.headers as Record<string, string>
    return { etag, body: answers[0]!.body }
  }
  const price = (text: string) => `item_ref,market,label,price,updated_at\nt:7,source_a,Near Mint,${text},2026-01-02T03:04:05Z\n`
  const status = (action: string) => plus(fast, 'POST', `/listings/${id}/status?action=${action}`)
  const changes = [
    () => plus(fast, 'PATCH', `/listings/${id}/price`, { price: 78.5 }),
    () => importText(fast, 'mintmark-ndjson', JSON.stringify({ ...item(7), name: 'Kärd seven' })),
    () => importText(fast, 'mintmark-prices-csv', price('39.25')),
    async () => {
      const sold = await published(fast, 7, { title: 'Sold', price: 5, quantity: 1 })
      await operator(fast, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: sold.id, quantity: 1 }] })
    },
    () => status('pause'),
    () => status('publish'),
    () => {
      fast.clock.advance(DAY_MS)
      plain.clock.advance(DAY_MS)
    },
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

test('every visible change drops cached responses', async () => {
  const path = '/api/v1/items?per_page=7'
  const ask = async (headers = {}) => (await answerOf(fast, { path, headers }, fast.keys.professional)).body
  const both = async () => {
    const packed = { 'accept-encoding': 'gzip' }
    const bodies = [await ask(), await ask(), await ask(), await ask(packed), await ask(packed), await ask(packed)]
    const texts = bodies.map((body, i) => (i < 3 ? body : gunzipSync(Buffer.from(body, 'latin1')).toString('latin1')))
    expect(new Set(texts).size).toBe(1)
    return texts[0]!
  }
  const seen = [await both()]
  const items = (line: object) => importText(fast, 'mintmark-ndjson', JSON.stringify(line))
  const price = (text: string) => importText(fast, 'mintmark-prices-csv', `item_ref,market,label,price,updated_at\nt:1,service,Near Mint,${text}\n`)
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

test('cached responses are the same while prices of some items change, and of which items markets have prices', async () => {
  const lists = [
    '',
    'sort_by=price',
    'sort_by=updated_at&sort_order=desc',
    'market=source_a',
    'market=source_c&sort_by=price',
    'query=price%3E20',
    'with_stats=1',
  ]
  const reads = [
    ...lists.flatMap((query) => ['per_page=2', 'per_page=2&page=3'].map((page) => ({ path: `/api/v1/items?${page}&${query}` }))),
    { path: '/api/v1/items/search?q=k%C3%A4rd&per_page=3' },
    { path: '/api/v1/items/search?q=k%C3%A4rd&market=source_a' },
    { path: '/api/v1/markets' },
    { path: `/api/v1/plus/listings?${FLAGS}&per_page=2` },
    { path: '/api/v1/plus/listings?sort_by=pc_multiplier_desc&min_pc=1&with_explain=1' },
    { path: '/api/v1/plus/listings?search=l%C3%ADsting&sort_by=price_low&with_pc=1' },
    ...[
      '{ items(first: 2) { nodes { name prices { price state } category { itemsCount } } } item(id: 5) { prices { price } } }',
      '{ items(market: "source_a", sortBy: "price", first: 3) { nodes { id } pageInfo { endCursor } } }',
      '{ markets { code currency } }',
    ].map((query) => ({ ...POST, body: json(query) })),
  ]
  const random = randomNumbers(37)
  const below = (n: number) => Math.floor(random() * n)
  for (let round = 0; round < runs(40); round += 1) {
    for (const { clock } of [fast, plain]) clock.advance(60_000)
    const price = 10 + below(20) / 10
    const row = {
      item_id: 1 + below(9),
      market: ['source_a', 'source_c'][below(2)],
      label: 'Near Mint',
      price,
      updated_at: fast.clock.now().toISOString(),
    }
    await operator(fast, 'POST', '/prices', [row])
    for (const request of reads) await expectSame(request, fast.keys.plus)
  }
})

test('a client that reads late gets its response, whatever other responses are sent meanwhile', async () => {
  const port = portOf(fast)
  const key = fast.keys.professional
  const paths = Array.from({ length: 3_000 }, (_, i) => `/api/v1/items?per_page=${1 + (i % 8)}&page=${1 + (i % 3)}&sort_by=id`)
  const expected = new Map<string, string>()
  for (const path of new Set(paths)) expected.set(path, (await answerOf(fast, { path }, key)).body)
  const socket = connect(port, '127.0.0.1').pause()
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`).join(''))
  for (let i = 0; i < 200; i += 1) await answerOf(fast, { path: `/api/v1/items?per_page=${1 + (i % 9)}&sort_order=desc` }, key)
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
  expect(bodies).toEqual(paths.map((path) => expected.get(path)))
})

test('a body in pieces, one after the other on one connection, gets a complete response', async () => {
  const body = QUERIES[6]!
  const bytes = Buffer.from(body)
  const head = `POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${fast.keys.plus}\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`
  const expected = (await answerOf(plain, { ...POST, body }, fast.keys.plus)).body
  const socket = connect(portOf(fast), '127.0.0.1')
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
  // The responses to two pipelined requests come in their order.
  socket.write(Buffer.concat([Buffer.from(head), bytes, Buffer.from(head), bytes]))
  await answers(6)
  expect(received.split('HTTP/1.1 200').length - 1).toBe(6)
  socket.destroy()
})

test('responses stay the same after other responses and imports', async () => {
  const read = async () => {
    const bodies: string[] = []
    for (const path of [...READS, ...SEARCHES]) {
      for (const headers of ENCODED) bodies.push((await answerOf(fast, { path, headers }, fast.keys.plus)).body)
    }
    for (const body of QUERIES) bodies.push((await answerOf(fast, { ...POST, body }, fast.keys.plus)).body)
    return bodies
  }
  const expected = await read()
  await importText(fast, 'mintmark-ndjson', JSON.stringify(item(1)))
  for (let time = 1; time <= 4; time += 1) expect(await read()).toEqual(expected)
})

test('requests count once towards the limit, on either path', async () => {
  const env = { RATE_LIMITS: 'starter=3,professional=3,plus=3,enterprise=3' }
  const [first, second] = [await startTestNode({ env }), await startTestNode({ env: { ...env, MINTMARK_WITHOUT: 'fast-path' } })]
  try {
    const requests: Asked[] = [
      { path: '/api/v1/items/1' },
      { path: '/api/v1/items/10000' },
      { path: '/api/v1/items' },
      { path: '/api/v1/items' },
      { ...POST, body: QUERIES[0]! },
    ]
    for (const node of [first, second]) {
      const answers = []
      for (const one of requests) answers.push(await answerOf(node, one, node.keys.plus))
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 200, 429, 429])
      const left = answers.map(({ headers }) => /r=(\d+)/.exec((headers as Record<string, string>).ratelimit!)?.[1])
      expect(left).toEqual(['2', '1', '0', '0', '0'])
    }
  } finally {
    await first.close()
    await second.close()
  }
})
