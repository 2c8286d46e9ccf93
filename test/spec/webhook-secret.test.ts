// The secret of a webhook over HTTP: who sees it, its rotation with receivers that have the previous or the new secret, and its deletion.
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyWebhook } from '../../client/src/index.ts'
import { DAY_MS } from '../market/kit.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { openReceiver, type Receiver, sell, status } from '../webhooks/receiver.ts'

interface Saved {
  url: string
  secret: string | null
}
interface Rotated {
  secret: string
  previous_valid_until: string
}

let node: TestNode
let other: TestNode
const receivers: Receiver[] = []

beforeAll(async () => {
  const env = { WEBHOOK_RETRY_DELAYS: '20ms,20ms', TRUST_PROXY: 'loopback' }
  node = await startTestNode({ env, worker: true })
  other = await startTestNode({ databaseUrl: node.databaseUrl, env, worker: true })
})
afterAll(async () => {
  await other.close()
  await node.close()
  await Promise.all(receivers.map((receiver) => receiver.close()))
})

const operator = <T>(method: string, path: string, json: unknown = {}) =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, ...(method !== 'GET' && { json }) })
const hook = (key: string, method = 'GET', json?: unknown, headers = {}, on = node) =>
  send<Saved>(`${on.publicUrl}/api/v1/plus/webhook`, key, { method, headers, ...(json !== undefined && { json }) })
const rotate = (key: string, headers = {}, on = node) =>
  send<Rotated>(`${on.publicUrl}/api/v1/plus/webhook/rotate-secret`, key, { method: 'POST', headers })
const graphql = (key: string, query: string, headers = {}) =>
  send(`${node.publicUrl}/graphql`, key, { json: { query }, headers }) as Promise<unknown> as Promise<{
    headers: Headers
    body: { data: Record<string, Record<string, unknown>>; errors?: { extensions: { code: string } }[] }
  }>

async function openAccount() {
  const { body } = await operator<{ id: number }>('POST', '/accounts', { name: 'Seller', plan: 'plus' })
  const accountId = body.data.id
  const newKey = async (scope: object = {}) => (await operator<{ id: number; key: string }>('POST', `/accounts/${accountId}/keys`, scope)).body.data
  return { accountId, newKey, key: (await newKey()).key }
}

async function openSeller() {
  const account = await openAccount()
  const receiver = await openReceiver()
  receivers.push(receiver)
  const { body } = await hook(account.key, 'PUT', { url: receiver.url, on_sale: true })
  return { ...account, receiver, secret: body.data.secret! }
}

const ORIGIN = 'https://shop.example'
const fromShop = { origin: ORIGIN }
const codeOf = ({ status: code, body }: { status: number; body: { error?: { code: string } } }) => [code, body.error?.code]
const hex = (secret: string, body: Buffer) => createHmac('sha256', secret).update(body).digest('hex')

describe('who sees the secret', () => {
  test('full keys, but not read-only keys and keys of web pages, in any response', async () => {
    const { key, newKey } = await openAccount()
    const { secret } = (await hook(key, 'PUT', { url: 'https://example.com' })).body.data
    const [reading, browser, server] = [
      await newKey({ read_only: true }),
      await newKey({ allowed_origins: [ORIGIN] }),
      await newKey({ allowed_addresses: ['127.0.0.1', '::1'] }),
    ]
    const settings = { url: 'https://example.com', on_sale: false, on_expire: false, is_active: true }
    expect((await hook(key)).body.data).toEqual({ ...settings, secret })
    expect((await hook(server.key)).body.data).toEqual({ ...settings, secret })
    expect((await hook(reading.key)).body.data).toEqual({ ...settings, secret: null })
    expect((await hook(browser.key, 'GET', undefined, fromShop)).body.data).toEqual({ ...settings, secret: null })
    expect((await hook(browser.key, 'PUT', settings, fromShop)).body.data).toEqual({ ...settings, secret: null })
    const mutation = 'mutation { configureWebhook(input: { url: "https://example.com" }) { url secret } }'
    expect((await graphql(browser.key, mutation, fromShop)).body.data.configureWebhook).toEqual({ url: settings.url, secret: null })
    expect((await graphql(key, mutation)).body.data.configureWebhook).toEqual({ url: settings.url, secret })
    expect(codeOf(await hook(reading.key, 'PUT', settings))).toEqual([403, 'READ_ONLY_KEY'])
  })

  test('not in a repeated response, once the key has been restricted', async () => {
    const { newKey } = await openAccount()
    const { id, key } = await newKey()
    const headers = { 'idempotency-key': 'save', ...fromShop }
    const save = () => hook(key, 'PUT', { url: 'https://example.com' }, headers)
    expect((await save()).body.data.secret).toMatch(/^\w{48}$/)
    await operator('PATCH', `/keys/${id}`, { allowed_origins: [ORIGIN] })
    expect((await save()).body.data.secret).toBeNull()
  })
})

describe('rotation', () => {
  test('signs with both secrets for a day: receivers with either accept, and the body stays the same', async () => {
    const { key, accountId, receiver, secret: old } = await openSeller()
    const reply = await rotate(key)
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const { secret, previous_valid_until: validUntil } = reply.body.data
    expect(secret).toMatch(/^[0-9A-Za-z]{48}$/)
    expect(secret).not.toBe(old)
    expect(Math.abs(Date.parse(validUntil) - node.clock.now().getTime() - DAY_MS)).toBeLessThan(600_000)
    expect(validUntil).toMatch(/\+03:00$/)
    expect((await hook(key)).body.data.secret).toBe(secret)
    expect((await hook(key, 'PUT', { url: receiver.url, on_sale: true })).body.data.secret).toBe(secret)
    receiver.behave(status(401))
    await sell(node, accountId)
    await until('three attempts', () => receiver.received.length === 3)
    const own = receiver.received.map(({ headers, body }) => [old, secret].findIndex((each) => headers['x-service-signature'] === hex(each, body)))
    expect(own).toEqual([0, 1, 0])
    expect(new Set(receiver.received.map(({ body }) => body.toString())).size).toBe(1)
    for (const { headers, body } of receiver.received) {
      const sent = headers as Record<string, string>
      for (const each of [old, secret]) {
        expect(await verifyWebhook(body, sent, each)).toMatchObject({ event: 'sale' })
        expect(new Webhook(each).verify(body.toString(), sent)).toMatchObject({ event: 'sale' })
        expect(new Webhook(each, { format: 'raw' }).verify(body.toString(), sent)).toMatchObject({ event: 'sale' })
      }
      expect(await verifyWebhook(body, sent, 'x'.repeat(48))).toBeNull()
    }
  })

  test('ends with the day: only the new secret signs, and the secret can be rotated again', async () => {
    const { key, accountId, receiver, secret: old } = await openSeller()
    const { secret } = (await rotate(key)).body.data
    expect(codeOf(await rotate(key))).toEqual([409, 'CONFLICT'])
    for (const each of [node, other]) each.clock.advance(DAY_MS + 1_000)
    await sell(node, accountId)
    await until('delivered', () => receiver.received.length === 1)
    const { headers, body } = receiver.received[0]!
    expect(headers['x-service-signature']).toBe(hex(secret, body))
    expect((headers['webhook-signature'] as string).split(' ')).toHaveLength(2)
    const sent = headers as Record<string, string>
    const anyTime = { toleranceSeconds: Infinity }
    expect([await verifyWebhook(body, sent, secret, anyTime), await verifyWebhook(body, sent, old, anyTime)]).toEqual([expect.anything(), null])
    expect((await rotate(key)).body.data.secret).not.toBe(secret)
  })

  test('succeeds once of many concurrent ones on two nodes, and the secret in use is the one that was returned', async () => {
    const { key, accountId, receiver, secret: old } = await openSeller()
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => rotate(key, {}, i % 2 === 0 ? node : other)))
    const won = replies.filter((reply) => reply.status === 200)
    expect(won).toHaveLength(1)
    expect(new Set(replies.filter((reply) => reply.status !== 200).map((reply) => codeOf(reply).join(' ')))).toEqual(new Set(['409 CONFLICT']))
    const { secret } = won[0]!.body.data
    for (const each of [node, other]) expect((await hook(key, 'GET', undefined, {}, each)).body.data.secret).toBe(secret)
    await sell(node, accountId)
    await until('delivered', () => receiver.received.length === 1)
    const { headers, body } = receiver.received[0]!
    for (const each of [old, secret])
      expect(await verifyWebhook(body, headers as Record<string, string>, each, { toleranceSeconds: Infinity })).not.toBeNull()
  })

  test('returns the same secret for a repeated request', async () => {
    const { key } = await openSeller()
    const headers = { 'idempotency-key': 'rotate' }
    const first = await rotate(key, headers)
    const again = await rotate(key, headers, other)
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body.data).toEqual(first.body.data)
    expect(again.headers.get('cache-control')).toBe('no-store')
  })

  test('needs a full key and a webhook', async () => {
    const { key, newKey } = await openAccount()
    expect(codeOf(await rotate(key))).toEqual([409, 'CONFLICT'])
    await hook(key, 'PUT', { url: 'https://example.com' })
    expect(codeOf(await rotate((await newKey({ read_only: true })).key))).toEqual([403, 'READ_ONLY_KEY'])
    expect(codeOf(await rotate((await newKey({ allowed_origins: [ORIGIN] })).key, fromShop))).toEqual([403, 'FORBIDDEN'])
    expect(codeOf(await rotate(node.keys.professional))).toEqual([403, 'PLAN_UPGRADE_REQUIRED'])
    expect((await rotate(key)).status).toBe(200)
  })

  test('works over GraphQL and is audited without secrets', async () => {
    const { key, accountId, secret: old } = await openSeller()
    const { body, headers } = await graphql(key, 'mutation { rotateWebhookSecret { secret previousValidUntil } }')
    expect(headers.get('cache-control')).toBe('no-store')
    const secret = body.data.rotateWebhookSecret!.secret as string
    expect((await hook(key)).body.data.secret).toBe(secret)
    const again = await graphql(key, 'mutation { rotateWebhookSecret { secret } }')
    expect(again.body.errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }])
    const rows = (await operator<object[]>('GET', `/audit?subject_type=webhook&subject_id=${accountId}`)).body.data
    expect(rows).toMatchObject([{ action: 'webhook.rotate-secret' }, { action: 'webhook.configure' }])
    for (const each of [old, secret]) expect(JSON.stringify(rows)).not.toContain(each)
  })
})

describe('deletion', () => {
  test('deletes the secret, cancels pending deliveries and keeps the feed', async () => {
    const { key, accountId, receiver, secret } = await openSeller()
    receiver.behave(status(500))
    await hook(key, 'PUT', { url: receiver.url, on_sale: true })
    const { id } = await node.db.kysely
      .insertInto('webhook_events')
      .values({ account_id: accountId, kind: 'sale', body: '{}', due_at: new Date('2999-01-01'), created_at: new Date() })
      .returning('id')
      .executeTakeFirstOrThrow()
    const gone = await hook(key, 'DELETE')
    expect([gone.status, gone.body]).toEqual([204, null])
    expect((await hook(key)).body).toMatchObject({ success: true, data: null })
    const stateOf = async (eventId: number) =>
      (await node.db.kysely.selectFrom('webhook_events').select('state').where('id', '=', eventId).executeTakeFirstOrThrow()).state
    expect(await stateOf(id)).toBe('cancelled')
    await sell(node, accountId)
    const feed = await send<{ id: string }[]>(`${node.publicUrl}/api/v1/plus/events`, key)
    expect(feed.body.data).toHaveLength(1)
    expect((await hook(key, 'DELETE')).status).toBe(204)
    expect((await hook(key, 'PUT', { url: receiver.url })).body.data.secret).not.toBe(secret)
    expect(receiver.received).toEqual([])
    const rows = (await operator<object[]>('GET', `/audit?subject_type=webhook&subject_id=${accountId}&action=webhook.delete`)).body.data
    expect(rows).toHaveLength(1)
  })

  test('also ends the retries of an attempt in progress', async () => {
    const { key, accountId, receiver } = await openSeller()
    receiver.behave((_request, response) => void hook(key, 'DELETE').then(() => response.writeHead(500).end()))
    await sell(node, accountId)
    const states = async () =>
      (await node.db.kysely.selectFrom('webhook_events').select(['state', 'attempts']).where('account_id', '=', accountId).execute()).map(
        ({ state, attempts }) => [state, attempts],
      )
    await until('cancelled', async () => (await states())[0]![0] === 'cancelled')
    expect(await states()).toEqual([['cancelled', 1]])
  })

  test('works over GraphQL, and not with a read-only key', async () => {
    const { key, newKey } = await openSeller()
    expect(codeOf(await hook((await newKey({ read_only: true })).key, 'DELETE'))).toEqual([403, 'READ_ONLY_KEY'])
    const { body } = await graphql(key, 'mutation { deleteWebhook { success message } }')
    expect(body.data.deleteWebhook).toEqual({ success: true, message: 'Webhook deleted' })
    expect((await hook(key)).body.data).toBeNull()
  })
})
