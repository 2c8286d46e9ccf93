// The webhook endpoints and the operator's, over HTTP only (interface.md, "Webhook (Plus)").
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { openReceiver, type Receiver, sell, status } from '../webhooks/receiver.ts'

interface Webhook {
  url: string
  secret: string
}
interface Event {
  id: number
  state: string
  attempts: number
}
interface Log {
  id: number
  attempt: number
  test: boolean
}

let node: TestNode
let receiver: Receiver

beforeAll(async () => {
  node = await startTestNode({ env: { WEBHOOK_RETRY_DELAYS: '20ms,20ms' }, worker: true })
  receiver = await openReceiver()
})
afterAll(async () => {
  await node.close()
  await receiver.close()
})

const hook = () => `${node.publicUrl}/api/v1/plus/webhook`
const get = <T>(path = '', key: string | null = node.keys.plus) => send<T>(hook() + path, key)
const put = (json: unknown, key = node.keys.plus) => send<Webhook>(hook(), key, { method: 'PUT', json })
const operator = <T>(method: string, path: string, json?: unknown) =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, ...(json !== undefined && { json }) })

function expectRefusal(reply: Reply, code: number, error: string, field?: string): void {
  expect(reply.status).toBe(code)
  expect(reply.body).toMatchObject({ success: false, error: { code: error } })
  if (field) expect(reply.body.error!.details!.map((problem) => problem.field)).toEqual([field])
}

async function newKey(): Promise<{ key: string; accountId: number }> {
  const { body } = await operator<{ id: number }>('POST', '/accounts', { name: 'Seller', plan: 'enterprise' })
  const created = await operator<{ key: string }>('POST', `/accounts/${body.data.id}/keys`, {})
  return { key: created.body.data.key, accountId: body.data.id }
}

describe('configuration', () => {
  test('is null at first, and the note explains how to verify signatures', async () => {
    const { key } = await newKey()
    const reply = await get<Webhook | null>('', key)
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      success: true,
      data: null,
      note: expect.stringContaining('X-Service-Signature') as string,
    })
  })

  test('is created with defaults and replaced as a whole; the secret stays', async () => {
    const { key } = await newKey()
    const created = await put({ url: receiver.url }, key)
    expect(created.status).toBe(200)
    const secret = expect.stringMatching(/^[0-9A-Za-z]{48}$/) as string
    expect(created.body).toEqual({
      success: true,
      message: expect.any(String) as string,
      data: { url: receiver.url, on_sale: false, on_expire: false, is_active: true, secret },
    })
    const changed = await put({ url: 'https://example.com', on_sale: true, on_expire: true, is_active: false }, key)
    expect(changed.body.data).toEqual({
      url: 'https://example.com',
      on_sale: true,
      on_expire: true,
      is_active: false,
      secret: created.body.data.secret,
    })
    expect((await get<Webhook>('', key)).body.data).toEqual(changed.body.data)
    expect((await put({ url: receiver.url }, key)).body.data).toEqual(created.body.data)
  })

  test('has one secret, even after 50 concurrent first saves', async () => {
    const { key } = await newKey()
    const replies = await Promise.all(Array.from({ length: 50 }, () => put({ url: receiver.url }, key)))
    const secrets = new Set(replies.map(({ body }) => body.data.secret))
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200))
    expect(secrets.size).toBe(1)
    expect((await get<Webhook>('', key)).body.data.secret).toBe([...secrets][0])
  })

  test('keeps no secret in plain text', async () => {
    const { secret } = (await put({ url: receiver.url })).body.data
    const stored = await node.db.kysely.selectFrom('webhooks').select('sealed_secret').execute()
    const audits = await node.db.kysely.selectFrom('audit_log').selectAll().where('action', '=', 'webhook.configure').execute()
    expect(stored.every((row) => !row.sealed_secret.toString('latin1').includes(secret))).toBe(true)
    expect(audits.length).toBeGreaterThan(0)
    expect(JSON.stringify(audits)).not.toContain(secret)
  })

  test('rejects an invalid URL with 422', async () => {
    const base = 'https://example.com/'
    expect((await put({ url: base + 'a'.repeat(500 - base.length) })).status).toBe(200)
    const wrong: unknown[] = [base + 'a'.repeat(501 - base.length), '', 'example.com', 'ftp://example.com', 'javascript:alert(1)', null, 5, [], {}]
    wrong.push('https://a:b@example.com', 'https://example.com:0', 'https://example.com:99999', 'http://10.0.0.1/', 'http://[::ffff:10.0.0.1]/')
    wrong.push('https://example.com\r\nX: y', 'https://exa mple.com', 'http://169.254.169.254/', 'http://192.168.1', 'http://①0.0.0.1/')
    for (const { port } of [new URL(node.publicUrl!), new URL(node.operatorUrl!)]) wrong.push(`http://127.0.0.1:${port}/`)
    for (const url of wrong) expectRefusal(await put({ url }), 422, 'VALIDATION_ERROR', 'url')
  })

  test('rejects missing, mistyped and unknown fields by name', async () => {
    expectRefusal(await put({}), 422, 'VALIDATION_ERROR', 'url')
    for (const value of ['true', 1, null, 'yes']) {
      for (const field of ['on_sale', 'on_expire', 'is_active']) {
        expectRefusal(await put({ url: receiver.url, [field]: value }), 422, 'VALIDATION_ERROR', field)
      }
    }
    expectRefusal(await put({ url: receiver.url, secret: 'x' }), 422, 'VALIDATION_ERROR', 'secret')
    expectRefusal(await put([]), 400, 'INVALID_JSON')
    expectRefusal(await send(hook(), node.keys.plus, { method: 'PUT', body: '{' }), 400, 'INVALID_JSON')
    expectRefusal(await send(hook(), node.keys.plus, { method: 'PATCH' }), 405, 'METHOD_NOT_ALLOWED')
  })
})

describe('the gate', () => {
  test('allows Plus and Enterprise only', async () => {
    for (const path of ['', '/logs']) {
      expectRefusal(await get(path, null), 401, 'UNAUTHENTICATED')
      for (const plan of ['starter', 'professional'] as const) expectRefusal(await get(path, node.keys[plan]), 403, 'PLAN_UPGRADE_REQUIRED')
      for (const plan of ['plus', 'enterprise'] as const) expect((await get(path, node.keys[plan])).status).toBe(200)
    }
    for (const plan of ['starter', 'professional'] as const) expectRefusal(await put({}, node.keys[plan]), 403, 'PLAN_UPGRADE_REQUIRED')
  })
})

describe('configureWebhook', () => {
  const DOCUMENT = 'mutation ($input: WebhookInput!) { configureWebhook(input: $input) { url onSale onExpire isActive secret note } }'
  const mutate = (key: string, input: object) =>
    send(`${node.publicUrl}/graphql`, key, {
      json: { query: DOCUMENT, variables: { input } },
    }) as Promise<unknown> as Promise<{
      status: number
      body: { data: { configureWebhook: object | null }; errors?: { extensions: object }[] }
    }>

  test('has the same effect as PUT, with the same secret', async () => {
    const { key } = await newKey()
    const { secret } = (await put({ url: 'https://example.com', on_sale: true }, key)).body.data
    const { body } = await mutate(key, { url: receiver.url, onExpire: true, isActive: null })
    const saved = {
      url: receiver.url,
      onSale: false,
      onExpire: true,
      isActive: true,
      secret,
      note: expect.stringContaining('HMAC') as string,
    }
    expect(body).toMatchObject({ data: { configureWebhook: saved } })
    const same = { url: receiver.url, on_sale: false, on_expire: true, is_active: true, secret }
    expect((await get('', key)).body.data).toEqual(same)
  })

  test('rejects what PUT rejects', async () => {
    const { key } = await newKey()
    const { body } = await mutate(key, { url: 'http://10.0.0.1/' })
    expect(body.data.configureWebhook).toBeNull()
    const details = [{ field: 'url', message: expect.any(String) as string, rule: 'url_private', params: {} }]
    expect(body.errors).toMatchObject([{ extensions: { code: 'VALIDATION_ERROR', status: 422, details } }])
    expect((await get('', key)).body.data).toBeNull()
    const gated = await mutate(node.keys.professional, { url: receiver.url })
    expect(gated).toMatchObject({ status: 403, body: { errors: [{ extensions: { code: 'PLAN_UPGRADE_REQUIRED' } }] } })
  })
})

describe('logs', () => {
  test("are paginated, newest first, and contain the account's own entries only", async () => {
    const { key, accountId } = await newKey()
    await put({ url: receiver.url, on_sale: true }, key)
    await sell(node, accountId, 23)
    await until('all logged', async () => (await get('/logs', key)).body.pagination!.total === 23)
    const first = await get<Log[]>('/logs', key)
    expect(first.body.pagination).toEqual({ current_page: 1, per_page: 20, total: 23, last_page: 2, has_more: true })
    const second = await get<Log[]>('/logs?page=2', key)
    const ids = [...first.body.data, ...second.body.data].map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((a, b) => b - a))
    expect(new Set(ids).size).toBe(23)
    expect((await get<Log[]>('/logs?page=9', key)).body.data).toEqual([])
    for (const query of ['per_page=0', 'per_page=101', 'per_page=x'])
      expectRefusal(await get(`/logs?${query}`, key), 422, 'VALIDATION_ERROR', 'per_page')
    expectRefusal(await get('/logs?page=0', key), 422, 'VALIDATION_ERROR', 'page')
  })
})

describe('operators', () => {
  test('list events by state and account, and redeliver one', async () => {
    const { key, accountId } = await newKey()
    const failing = await openReceiver(status(500))
    const { secret } = (await put({ url: failing.url, on_sale: true }, key)).body.data
    await sell(node, accountId, 1, 5)
    const list = (state: string) => operator<Event[]>('GET', `/webhook-events?account_id=${accountId}&state=${state}`)
    await until('failed', async () => (await list('failed')).body.data.length === 1)
    const [event] = (await list('failed')).body.data
    expect(event).toEqual({
      id: expect.any(Number) as number,
      account_id: accountId,
      event: 'sale',
      test: false,
      state: 'failed',
      attempts: 3,
      due_at: null,
      created_at: expect.stringMatching(/Z$/) as string,
      body: JSON.parse(failing.received[0]!.body.toString()) as object,
    })
    failing.behave((_request, response) => void response.end())
    const again = await operator<Event>('POST', `/webhook-events/${event!.id}/redeliver`)
    expect(again).toMatchObject({ status: 200, body: { data: { state: 'queued', attempts: 3 } } })
    await until('delivered', async () => (await list('delivered')).body.data.length === 1)
    expect(failing.received).toHaveLength(4)
    expect(new Set(failing.received.map(({ body }) => body.toString())).size).toBe(1)
    expect(new Set(failing.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(failing.received[3]!.headers['x-service-signature']).toBe(createHmac('sha256', secret).update(failing.received[0]!.body).digest('hex'))
    expect((await get<Log[]>('/logs', key)).body.data.map(({ attempt }) => attempt)).toEqual([4, 3, 2, 1])
    await failing.close()
  })

  test('send signed test events of both kinds, marked by a header and in the log', async () => {
    const { key, accountId } = await newKey()
    const target = await openReceiver()
    const path = `/accounts/${accountId}/webhook/test`
    expectRefusal(await operator('POST', path, { event: 'sale' }), 404, 'NOT_FOUND')
    await put({ url: target.url }, key)
    for (const event of ['sale', 'expire']) expect((await operator('POST', path, { event })).status).toBe(200)
    await until('both arrive', () => target.received.length === 2)
    expect(target.received.map(({ headers }) => headers['webhook-test'])).toEqual(['true', 'true'])
    const { secret } = (await get<{ secret: string }>('', key)).body.data
    for (const { headers, body } of target.received)
      expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'))
    const bodies = target.received.map(({ body }) => JSON.parse(body.toString()) as { event: string; data: object })
    const keys = Object.fromEntries(bodies.map(({ event, data }) => [event, Object.keys(data)]))
    expect(keys).toEqual({
      sale: ['order_id', 'listing_id', 'item_name', 'quantity', 'unit_price', 'seller_payout', 'sold_at'],
      expire: ['listing_id', 'title', 'expired_at'],
    })
    await until('both logged', async () => (await get('/logs', key)).body.pagination!.total === 2)
    expect((await get<Log[]>('/logs', key)).body.data).toMatchObject([{ test: true }, { test: true }])
    await put({ url: target.url, on_sale: true }, key)
    await sell(node, accountId)
    await until('a real sale arrives', () => target.received.length === 3)
    expect(target.received[2]!.headers).not.toHaveProperty('webhook-test')
    await put({ url: target.url, is_active: false }, key)
    expectRefusal(await operator('POST', path, { event: 'sale' }), 409, 'CONFLICT')
    for (const json of [{}, { event: 'bought' }, { event: 'sale', more: 1 }]) {
      expect((await operator('POST', path, json)).status).toBe(422)
    }
    await target.close()
  })

  test('see in the statistics how receivers respond', async () => {
    const { key, accountId } = await newKey()
    const flaky = await openReceiver((_request, response, count) => void response.writeHead(count === 1 ? 500 : 200).end())
    await put({ url: flaky.url, on_sale: true }, key)
    await sell(node, accountId)
    await until('both attempts logged', async () => (await get('/logs', key)).body.pagination!.total === 2)
    const { data } = (await operator<{ webhook_receivers: object[] }>('GET', '/stats')).body
    expect(data.webhook_receivers).toContainEqual({ account_id: accountId, attempts: 2, success_share: 0.5 })
    expect(data).toMatchObject({
      webhook_events: { delivered: expect.any(Number) as number },
      webhooks_failing: expect.any(Number) as number,
    })
    const metrics = await fetch(`${node.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })
    const text = await metrics.text()
    expect(text).toContain(`mintmark_webhook_success_share{account_id="${accountId}"} 0.5`)
    expect(text).toMatch(/^mintmark_webhook_events\{state="delivered"\} \d+$/m)
    expect(text).toMatch(/^mintmark_webhook_oldest_seconds 0$/m)
    await flaky.close()
  })

  test('get an error for unknown and impossible requests', async () => {
    expectRefusal(await operator('POST', '/webhook-events/999999999/redeliver'), 404, 'NOT_FOUND')
    expectRefusal(await operator('POST', '/webhook-events/99999999999/redeliver'), 404, 'NOT_FOUND')
    expectRefusal(await operator('POST', '/accounts/99999999/webhook/test', { event: 'sale' }), 404, 'NOT_FOUND')
    expectRefusal(await operator('GET', '/webhook-events?state=lost'), 422, 'VALIDATION_ERROR', 'state')
    expect((await operator<Event[]>('GET', '/webhook-events?account_id=99999999999')).body.data).toEqual([])
  })
})
