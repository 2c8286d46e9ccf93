// The TypeScript client against the running service: paging, retries, idempotency, webhook verification.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Mintmark, MintmarkError, verifyWebhook, type WebhookHeaders } from '../../client/src/index.ts'
import { importFiles, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let client: Mintmark

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
  const files = ['pokemon', 'onepiece'].map((name) => ({ name, text: readFileSync(`sample/${name}.ndjson`) }))
  await importFiles(node, 'mintmark-ndjson', files)
  client = new Mintmark({ apiKey: node.keys.plus, baseUrl: node.publicUrl! })
})

afterAll(() => node.close())

test('reads, searches and walks through all pages', async () => {
  const { data } = await client.get('/api/v1/items/search', { params: { query: { q: 'charizard 4/102' } } })
  expect(data[0]?.name).toBe('Charizard')
  const item = await client.get('/api/v1/items/{id}', { params: { path: { id: data[0]!.id } } })
  expect(item.data.code).toBe('4/102')
  const query = { game: 'onepiece' }
  const names: string[] = []
  for await (const each of client.all('/api/v1/items', { params: { query } })) names.push(each.name)
  const { pagination } = await client.get('/api/v1/items', { params: { query } })
  expect(names).toHaveLength(pagination.total)
  expect(names.length).toBeGreaterThan(100)
})

test('sends lists in the format that the service reads', async () => {
  const lists = { 'game[]': ['pokemon', 'onepiece'], 'grade_filters[]': [1, 2] }
  expect(await client.get('/api/v1/plus/listings', { params: { query: lists } })).toMatchObject({ success: true })
  const refused = client.get('/api/v1/plus/listings', { params: { query: { 'grade_filters[]': ['x' as never] } } })
  await expect(refused).rejects.toMatchObject({ details: [{ field: 'grade_filters' }] })
})

test('an error has the code, the wrong fields and the request', async () => {
  const error = await client.get('/api/v1/items', { params: { query: { per_page: 101 } } }).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(MintmarkError)
  expect(error).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', details: [{ field: 'per_page' }], retryAfter: null })
  expect((error as MintmarkError).requestId).toMatch(/\S/)
})

describe('retries', () => {
  const refusal = (status: number, retryAfter?: string) =>
    new Response('{"success":false,"error":{"code":"UNAVAILABLE","message":"later"}}', {
      status,
      ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
    })

  /** A client whose first requests fail in this way, and the requests that it sent. */
  function flaky(failures: (() => Response | Promise<never>)[], retries = 2) {
    const sent: Request[] = []
    const fetch = (request: Request) => {
      sent.push(request)
      return Promise.resolve(failures.shift()?.() ?? globalThis.fetch(request))
    }
    return { sent, client: new Mintmark({ apiKey: node.keys.plus, baseUrl: node.publicUrl!, fetch, retries }) }
  }
  const soon = () => refusal(503, '0.01')
  const keysOf = (sent: Request[]) => sent.map(({ headers }) => headers.get('idempotency-key'))

  test.each(['post', 'patch'] as const)('a %s with one idempotency key and its body', async (method) => {
    const { client, sent } = flaky([soon, () => refusal(429, '0.01')])
    const called =
      method === 'post'
        ? client.post('/api/v1/plus/make-highlight', { params: { query: { id: 999_999 } } })
        : client.patch('/api/v1/plus/listings/{id}/price', { params: { path: { id: 999_999 } }, body: { price: 5 } })
    await expect(called).rejects.toMatchObject({ code: 'PLUS_LISTING_ERROR' })
    expect(sent).toHaveLength(3)
    expect(new Set(keysOf(sent)).size).toBe(1)
    expect(keysOf(sent)[0]).toMatch(/^[0-9a-f-]{36}$/)
  })

  test("with the caller's own key, and reads without a key", async () => {
    const { client, sent } = flaky([soon, soon])
    const params = { query: { id: 999_999 }, header: { 'Idempotency-Key': 'mine' } }
    await expect(client.post('/api/v1/plus/make-highlight', { params })).rejects.toThrow()
    await client.get('/api/v1/items')
    expect(keysOf(sent)).toEqual(['mine', 'mine', 'mine', null])
  })

  test('when the service could not be reached', async () => {
    const lost = () => Promise.reject(new TypeError('fetch failed'))
    const { client, sent } = flaky([lost])
    await client.get('/api/v1/items')
    expect(sent).toHaveLength(2)
    await expect(flaky([lost, lost], 1).client.get('/api/v1/items')).rejects.toThrow('fetch failed')
  })

  test('no more often than configured, not for other errors, and not after a long wait', async () => {
    const often = flaky([soon, soon, soon, soon], 3)
    await expect(often.client.get('/api/v1/items')).rejects.toMatchObject({ status: 503, code: 'UNAVAILABLE', retryAfter: 0.01 })
    expect(often.sent).toHaveLength(4)
    const never = flaky([soon], 0)
    await expect(never.client.get('/api/v1/items')).rejects.toMatchObject({ status: 503 })
    const wrong = flaky([() => refusal(500)])
    await expect(wrong.client.get('/api/v1/items')).rejects.toMatchObject({ status: 500 })
    const long = flaky([() => refusal(429, '3600')])
    await expect(long.client.get('/api/v1/items')).rejects.toMatchObject({ status: 429, retryAfter: 3600 })
    expect([never, wrong, long].map(({ sent }) => sent.length)).toEqual([1, 1, 1])
  })

  test('after a date, and until the caller cancels', async () => {
    const past = flaky([() => refusal(503, new Date(0).toUTCString())])
    await past.client.get('/api/v1/items')
    expect(past.sent).toHaveLength(2)
    const abort = new AbortController()
    const stopped = flaky([
      () => {
        setImmediate(() => abort.abort(new Error('stopped')))
        return refusal(503, '50')
      },
    ])
    await expect(stopped.client.get('/api/v1/items', { signal: abort.signal })).rejects.toThrow('stopped')
    expect(stopped.sent).toHaveLength(1)
  })

  test("a proxy's response is an error as well", async () => {
    const { client } = flaky([() => new Response('<h1>Bad gateway</h1>', { status: 400 })])
    await expect(client.get('/api/v1/items')).rejects.toMatchObject({ status: 400, code: 'UNKNOWN', details: [] })
  })
})

describe('webhook verification', () => {
  const SECRET = 's'.repeat(48)
  const hmac = (text: string, encoding: 'hex' | 'base64', secret = SECRET) => createHmac('sha256', secret).update(text).digest(encoding)
  const now = () => Math.floor(Date.now() / 1_000)
  const bodyOf = (sentMs: number) => JSON.stringify({ event: 'sale', sent_at: new Date(sentMs).toISOString(), data: {} })
  const signed = (body: string, at: number, secret = SECRET) => ({
    'x-service-signature': hmac(body, 'hex', secret),
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${hmac(`evt_1.${at}.${body}`, 'base64', secret)} v1,${hmac('other', 'base64')}`,
  })
  const BODY = bodyOf(0)

  test('accepts the raw body, as text or bytes, with headers of any server', async () => {
    const headers = signed(BODY, now())
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
    for (const someHeaders of [headers, new Headers(headers), upper]) {
      expect(await verifyWebhook(BODY, someHeaders, SECRET)).toMatchObject({ event: 'sale' })
      expect(await verifyWebhook(Buffer.from(BODY), someHeaders, SECRET)).toMatchObject({ event: 'sale' })
    }
  })

  test('rejects forged, altered or incomplete notifications', async () => {
    const at = now()
    const good = signed(BODY, at)
    const wrong: [body: string, headers: WebhookHeaders, secret: string][] = [
      [`${BODY} `, good, SECRET],
      [BODY, good, 'other'],
      [BODY, {}, SECRET],
      [BODY, { ...good, 'x-service-signature': undefined }, SECRET],
      [BODY, { ...good, 'x-service-signature': good['x-service-signature'].toUpperCase() }, SECRET],
      [BODY, { ...good, 'x-service-signature': [good['x-service-signature']] }, SECRET],
      [BODY, { ...good, 'x-service-signature': 'not hexadecimal' }, SECRET],
      [BODY, { ...good, 'webhook-id': 'evt_2' }, SECRET],
      [BODY, { ...good, 'webhook-timestamp': String(at - 1) }, SECRET],
      [BODY, { ...good, 'webhook-signature': 'v1,%%%' }, SECRET],
      [BODY, { ...good, 'webhook-signature': undefined }, SECRET],
    ]
    for (const [body, headers, secret] of wrong) expect(await verifyWebhook(body, headers, secret)).toBeNull()
  })

  test('rejects notifications that were not sent recently', async () => {
    for (const [at, expected] of [
      [now() - 240, true],
      [now() - 360, false],
      [now() + 360, false],
    ] as const) {
      expect([at, (await verifyWebhook(BODY, signed(BODY, at), SECRET)) !== null]).toEqual([at, expected])
      expect(await verifyWebhook(BODY, signed(BODY, at), SECRET, { toleranceSeconds: 420 })).not.toBeNull()
    }
    expect(await verifyWebhook(BODY, signed(BODY, 0), SECRET, { toleranceSeconds: Infinity })).not.toBeNull()
  })

  test('uses the time in the body if only the signature of the body was sent', async () => {
    for (const [age, expected] of [
      [10_000, true],
      [310_000, false],
    ] as const) {
      const body = bodyOf(Date.now() - age)
      const headers = { 'x-service-signature': hmac(body, 'hex') }
      expect([age, (await verifyWebhook(body, headers, SECRET)) !== null]).toEqual([age, expected])
    }
  })
})

test('a sandbox: its own client, its clock, and the shop', async () => {
  const sandbox = await client.sandbox({ at: '2027-01-01T00:00:00Z', seed: 7 })
  const { data: own } = await sandbox.client.get('/api/v1/plus/my-listings', {})
  const { order_id: order } = await sandbox.sell({ lines: [{ listing_id: own.at(-1)!.id, quantity: 1 }] })
  const { status, now } = await sandbox.advance({ by: 'P2D' })
  expect([status, now]).toEqual(['ready', '2027-01-03T00:00:00.000Z'])
  expect((await sandbox.refund({ order_id: order })).lines).toMatchObject([{ cancelled: true }])
  expect((await sandbox.reset()).now).toBe('2027-01-01T00:00:00.000Z')
  await sandbox.remove()
  await expect(sandbox.state()).rejects.toMatchObject({ status: 401 })
  await expect(client.post('/api/v1/sandbox/advance', { body: { by: 'P1D' } })).rejects.toMatchObject({ code: 'KEY_MODE_MISMATCH' })
})
