// Sandboxes over HTTP: a marketplace of one's own, whose clock only `advance` moves.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import type { Sandbox as Shown } from '#sandbox/sandbox-types.ts'
import { signatureOf } from '#webhooks/delivery/sign.ts'
import { send, startTestNode, type TestNode, until } from '../support/node.ts'

type Sandbox = Shown & { key: string }

let node: TestNode
let there: TestNode
let receiver: Server
/** what the receiver answers, and what it got */
let answer = 200
let received: { body: string; signature: string }[] = []

const START = '2027-01-01T00:00:00.000Z'
const api = (path: string, on = node) => `${on.publicUrl}/api/v1${path}`
const create = async (key: string, body: object = {}, on = node) => send<Sandbox>(api('/sandbox', on), key, { json: { at: START, seed: 7, ...body } })
const advance = (key: string, body: object, on = node) => send<Sandbox>(api('/sandbox/advance', on), key, { json: body })
/** Databases of this service's sandboxes: others share the server. */
const databases = async () => {
  const counted = await node.db.pool.query<{ n: number }>(
    "select count(*)::int as n from pg_database where datname ~ ('^mintmark_sandbox_' || left(encode(sha256(current_database()::text::bytea), 'hex'), 8) || '_[0-9]+_')",
  )
  return counted.rows[0]!.n
}

/** An account with a key. */
async function account(plan: 'plus' | 'enterprise' = 'plus') {
  const { id } = await call(createAccount, node.ctx, { name: `Integrator ${plan}`, plan })
  return { id, key: (await call(createKey, node.ctx, { account_id: id })).key }
}

beforeAll(async () => {
  node = await startTestNode()
  there = await startTestNode({ databaseUrl: node.databaseUrl, listeners: 'public' })
  receiver = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      received.push({ body, signature: String(request.headers['x-service-signature']) })
      response.writeHead(answer).end()
    })
  }).listen(0, '127.0.0.1')
}, 120_000)
afterAll(async () => {
  receiver.close()
  await there.close()
  await node.close()
})

test('30 days in a sandbox: sales, retries and expiries arrive in order, and only marked as tests', async () => {
  const { key: live } = await account()
  const { body, status } = await create(live)
  expect([status, body.data]).toEqual([201, expect.objectContaining({ status: 'ready', now: START, seed: 7, fired: [] })])
  const { key } = body.data
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const { body: hook } = await send<{ secret: string }>(api('/plus/webhook'), key, { method: 'PUT', json: { url, on_sale: true, on_expire: true } })
  const mine = await send<{ id: number; status: string }[]>(api('/plus/my-listings?status=active'), key)
  expect(mine.body).toMatchObject({ livemode: false, success: true })
  const listing = mine.body.data.at(-1)!.id
  answer = 500
  received = []
  const sold = await send(api('/sandbox/sell'), key, { json: { lines: [{ listing_id: listing }] } })
  expect([sold.status, sold.body.data]).toEqual([201, expect.objectContaining({ order_id: 1 })])
  // The first attempt has been made when the call returns.
  expect(received).toHaveLength(1)
  expect(JSON.parse(received[0]!.body)).toMatchObject({ livemode: false, event: 'sale', sent_at: '2027-01-01T03:00:00+03:00' })
  expect(received[0]!.signature).toBe(signatureOf(hook.data.secret, received[0]!.body))
  answer = 200
  await advance(key, { by: 'P31D' })
  // On a busy machine, the response does not wait for the end.
  const settled = async () => (await send<Sandbox[]>(api('/sandbox'), key)).body.data[0]!
  await until('the advance has ended', async () => (await settled()).status !== 'advancing')
  const { fired, ...ended } = await settled()
  expect(ended).toMatchObject({ status: 'ready', now: '2027-02-01T00:00:00.000Z' })
  expect(fired.map(({ at }) => at)).toEqual(fired.map(({ at }) => at).toSorted())
  expect(fired[0]).toEqual({
    at: '2027-01-01T00:00:30.000Z',
    action: 'webhook.deliver',
    subject: 'webhook-event',
    id: '1',
    attempt: 2,
    success: true,
  })
  const expired = fired.filter(({ action }) => action === 'listing.expire')
  expect(expired.map(({ at }) => at)).toEqual(Array.from(expired, () => '2027-01-31T00:00:00.000Z'))
  expect(expired).toHaveLength(15)
  expect(received.filter(({ body }) => body.includes('"event":"expire"'))).toHaveLength(5)
  const refunded = await send(api('/sandbox/refund'), key, { json: { order_id: 1 } })
  expect(refunded.body.data).toMatchObject({ order_id: 1, lines: [{ cancelled: true }] })
  const pending = await send<{ id: number }[]>(api('/plus/my-listings?status=pending'), key)
  const decided = await send(api('/sandbox/decide'), key, { json: { listing_id: pending.body.data[0]!.id, decision: 'approve' } })
  expect(decided.body.data).toMatchObject({ status: 'active', expires_at: '2027-03-03T00:00:00.000Z' })
  const posted = await send(api('/sandbox/prices'), key, { json: { prices: [{ item_id: 1, market: 'source_a', label: 'Near Mint', price: 12.5 }] } })
  expect(posted.body.data).toMatchObject({ rejected: 0 })
  // Reset: the same key, as at the start.
  const reset = await send<Sandbox>(api('/sandbox/reset'), key, { json: {} })
  expect(reset.body.data).toMatchObject({ status: 'ready', now: START })
  expect((await send<unknown[]>(api('/plus/my-listings'), key)).body.data).toHaveLength(6)
  expect((await send(api('/plus/webhook'), key)).body.data).toBeNull()
  // GraphQL, in the sandbox and outside.
  const graphql = (query: string, credential: string) =>
    fetch(`${node.publicUrl}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    }).then((response) => response.json() as Promise<unknown>)
  expect(await graphql('mutation { advanceSandbox(by: "P1D") { now status } }', key)).toMatchObject({
    data: { advanceSandbox: { now: '2027-01-02T00:00:00.000Z', status: 'ready' } },
    extensions: { livemode: false },
  })
  expect(await graphql('{ sandboxes { now } }', live)).toMatchObject({ data: { sandboxes: [{ now: '2027-01-02T00:00:00.000Z' }] } })
  expect(await graphql('mutation { advanceSandbox(by: "P1D") { now } }', live)).toMatchObject({
    errors: [{ extensions: { code: 'KEY_MODE_MISMATCH' } }],
  })
}, 120_000)

test('bad input is refused by name and changes nothing', async () => {
  const { key: live } = await account()
  for (const at of ['2019-01-01T00:00:00Z', '2100-01-01T00:00:00Z', 'tomorrow', 5])
    expect([at, (await create(live, { at })).status]).toEqual([at, 422])
  for (const seed of [-1, 2 ** 31, 1.5, 'x']) expect([seed, (await create(live, { seed })).status]).toEqual([seed, 422])
  const { key } = (await create(live)).body.data
  const bodies: [object, string][] = [
    [{}, 'to'],
    [{ to: '2027-01-02T00:00:00Z', by: 'P1D' }, 'to'],
    [{ to: '2026-12-31T00:00:00Z' }, 'to'],
    [{ by: 'P401D' }, 'to'],
    [{ by: 'P' }, 'by'],
    [{ by: '-P1D' }, 'by'],
    [{ by: 'P9999Y' }, 'to'],
    [{ by: 'PT1.5H' }, 'by'],
    [{ by: 86_400 }, 'by'],
    [{ to: '2027-01-02T00:00:00Z', more: 1 }, 'more'],
  ]
  for (const [body, field] of bodies) {
    const { status, body: refused } = await advance(key, body)
    expect([body, status, refused.error?.details?.[0]?.field]).toEqual([body, 422, field])
  }
  for (const [path, json, code] of [
    ['sell', { lines: [{ listing_id: 999_999 }] }, 422],
    ['sell', { lines: [] }, 422],
    ['refund', { order_id: 77 }, 404],
    ['decide', { listing_id: 1, decision: 'burn' }, 422],
    ['prices', { prices: [{ item_id: 1, market: 'nowhere', label: 'x', price: -1 }] }, 422],
  ] as const)
    expect([path, (await send(api(`/sandbox/${path}`), key, { json })).status]).toEqual([path, code])
  expect((await send<Sandbox[]>(api('/sandbox'), key)).body.data).toMatchObject([{ status: 'ready', now: START, problem: null }])
}, 60_000)

test('two nodes: at most three sandboxes an account, one advance at a time, and one time for all', async () => {
  const { key: live, id } = await account('enterprise')
  const all = await Promise.all([0, 1, 2, 3].map((i) => create(live, {}, i % 2 === 0 ? node : there)))
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 201, 409])
  const [first, second] = all.filter(({ status }) => status === 201).map(({ body }) => body.data)
  const both = await Promise.all([advance(first!.key, { by: 'P2D' }), advance(first!.key, { by: 'P2D' }, there)])
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  expect(both.find(({ status }) => status === 409)!.body.error?.code).toBe('SANDBOX_BUSY')
  for (const on of [node, there]) expect((await send<Sandbox[]>(api('/sandbox', on), first!.key)).body.data[0]!.now).toBe('2027-01-03T00:00:00.000Z')
  // Another node shows at once what this one has written.
  await send(api('/sandbox/sell'), first!.key, { json: { lines: [{ listing_id: 1, quantity: 3 }] } })
  expect((await send<{ id: number }[]>(api('/plus/my-listings?status=sold', there), first!.key)).body.data).toMatchObject([{ id: 1 }])
  // A node that dies leaves the sandbox where it was; another advance continues.
  const leave = "update sandboxes set status = 'advancing', lease_until = clock_timestamp() - interval '1 second' where id = $1"
  await node.db.pool.query(leave, [first!.id])
  const cut = await send<Sandbox>(api(`/sandbox/${first!.id}`), live)
  expect(cut.body.data).toMatchObject({ status: 'failed', problem: 'interrupted', now: '2027-01-03T00:00:00.000Z' })
  expect((await advance(first!.key, { by: 'P1D' })).body.data).toMatchObject({ status: 'ready', problem: null, now: '2027-01-04T00:00:00.000Z' })
  // The owner's suspension and plan hold in its sandboxes.
  await call(changeAccount, node.ctx, { id, plan: 'starter' })
  expect((await send(api('/plus/my-listings'), first!.key)).body.error?.code).toBe('PLAN_UPGRADE_REQUIRED')
  expect((await send(api('/items'), first!.key)).status).toBe(200)
  await call(changeAccount, node.ctx, { id, plan: 'plus', suspended: true })
  expect((await send(api('/items'), first!.key)).body.error?.code).toBe('ACCOUNT_SUSPENDED')
  await call(changeAccount, node.ctx, { id, suspended: false })
  // Deletion leaves nothing.
  const before = await databases()
  expect((await send(api(`/sandbox/${second!.id}`), live, { method: 'DELETE' })).status).toBe(204)
  expect(await databases()).toBe(before - 1)
  expect((await send(api('/items', there), second!.key)).status).toBe(401)
  // A row that is gone, such as an erased account's, takes its database with it.
  await node.db.kysely.deleteFrom('sandboxes').where('account_id', '=', id).execute()
  await node.runTask('sandbox-removal')
  expect(await databases()).toBe(before - 3)
}, 120_000)

test('keys: read-only ones create nothing, and restrictions are passed on', async () => {
  const { id } = await account()
  const readOnly = await call(createKey, node.ctx, { account_id: id, read_only: true })
  expect((await create(readOnly.key)).body.error?.code).toBe('READ_ONLY_KEY')
  const inBrowser = await call(createKey, node.ctx, { account_id: id, allowed_origins: ['https://shop.example'] })
  const origin = { origin: 'https://shop.example' }
  const { body } = await send<Sandbox>(api('/sandbox'), inBrowser.key, { json: {}, headers: origin })
  expect((await send(api('/items'), body.data.key)).body.error?.code).toBe('ORIGIN_NOT_ALLOWED')
  expect((await send(api('/items'), body.data.key, { headers: origin })).status).toBe(200)
  const repeated = { json: { seed: 9 }, headers: { 'idempotency-key': 'once' } }
  const full = await call(createKey, node.ctx, { account_id: id })
  const [one, again] = [await send<Sandbox>(api('/sandbox'), full.key, repeated), await send<Sandbox>(api('/sandbox'), full.key, repeated)]
  expect([again.status, again.body.data.key]).toEqual([201, one.body.data.key])
}, 60_000)

test('a repeated request in a sandbox gets the first response and changes nothing', async () => {
  const { key: live } = await account()
  const { key } = (await create(live)).body.data
  const listings = (await send<{ id: number }[]>(api('/plus/my-listings?status=active'), key)).body.data
  const pending = (await send<{ id: number }[]>(api('/plus/my-listings?status=pending'), key)).body.data[0]!.id
  const price = { item_id: 1, market: 'source_a', label: 'Near Mint', price: 12.5 }
  const writes: [path: string, json: object][] = [
    ['sell', { lines: [{ listing_id: listings[0]!.id }] }],
    ['refund', { order_id: 1 }],
    ['decide', { listing_id: pending, decision: 'reject', reason: 'blurred' }],
    ['prices', { prices: [price] }],
    ['advance', { by: 'P1D' }],
    ['reset', {}],
  ]
  const world = async () => {
    const of = async (path: string) => (await send(api(path), key)).body
    const [sandboxes, own, logs] = [await of('/sandbox'), await of('/plus/my-listings?status=active'), await of('/plus/recent-sales')]
    return JSON.stringify([sandboxes, own, logs]).replaceAll(/"(last_used_at|removed_after)":"[^"]+"/g, '')
  }
  for (const [path, json] of writes) {
    const sending = { json, headers: { 'idempotency-key': path } }
    const first = await send(api(`/sandbox/${path}`), key, sending)
    expect([path, first.status < 300]).toEqual([path, true])
    const before = await world()
    const again = await send(api(`/sandbox/${path}`), key, sending)
    expect([path, again.status, again.body]).toEqual([path, first.status, first.body])
    const other = await send(api(`/sandbox/${path}?other=1`), key, sending)
    expect([path, other.body.error?.code]).toEqual([path, 'IDEMPOTENCY_CONFLICT'])
    expect(await world()).toBe(before)
  }
}, 60_000)

test('one that is deleted while it is created is refused as missing, and nothing is left', async () => {
  const { id: owner, key: live } = await account()
  const before = await databases()
  const creating = create(live)
  let id: number | undefined
  await until('the sandbox has a database', async () => {
    id ??= (await node.db.kysely.selectFrom('sandboxes').select('id').where('account_id', '=', owner).executeTakeFirst())?.id
    return id !== undefined && (await databases()) > before
  })
  const deleted = await send(api(`/sandbox/${id}`), live, { method: 'DELETE' })
  const { status, body } = await creating
  // It may have been ready just before.
  expect([deleted.status, status === 201 ? null : body.error?.code]).toEqual([204, status === 201 ? null : 'NOT_FOUND'])
  expect((await send<unknown[]>(api('/sandbox'), live)).body.data).toEqual([])
  await until('its database is gone', async () => (await databases()) === before)
}, 60_000)

test('a role that may not create databases gets a clear refusal, and nothing is left', async () => {
  const { db } = node
  const role = `nobody_${process.pid}`
  await db.pool.query(
    `create role ${role} login password 'x'; grant all on all tables in schema public to ${role}; grant all on all sequences in schema public to ${role}`,
  )
  const own = node.databaseUrl.replace(/\/\/[^@]*@/, `//${role}:x@`)
  const restricted = await startTestNode({ databaseUrl: own, listeners: 'public' }).catch((error: unknown) => error as Error)
  try {
    if (restricted instanceof Error) throw restricted
    const { key: live } = await account()
    const { status, body } = await create(live, {}, restricted)
    expect([status, body.error?.code, body.error?.message]).toEqual([409, 'CONFLICT', expect.stringContaining('not allowed to create databases')])
    expect((await send<unknown[]>(api('/sandbox'), live)).body.data).toEqual([])
  } finally {
    if (!(restricted instanceof Error)) await restricted.close()
    await db.pool.query(`drop owned by ${role}; drop role ${role}`)
  }
}, 60_000)
