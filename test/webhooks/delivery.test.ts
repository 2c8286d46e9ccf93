// Delivery from the commit of a sale to the receiver: signatures, attempts, the log, fair turns, crashes, workers.
import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { call } from '#core/verb.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { emitExpiries, emitSales } from '#webhooks/emit.ts'
import { listWebhookLogs } from '#webhooks/list-attempts.ts'
import { openResolver } from '#outbound/resolve.ts'
import { Notices } from '#jobs/notices.ts'
import { Scheduler } from '#jobs/scheduler.ts'
import { startSender } from '#webhooks/delivery/sender.ts'
import type { Webhook, WebhookCtx } from '#webhooks/webhook-types.ts'
import { webhookRules } from '#webhooks/rules.ts'
import { freshDatabase } from '../support/postgres.ts'
import { silent, startTestNode, type TestNode, until } from '../support/node.ts'
import { type Behaviour, ok, openReceiver, type Receiver, sell, silence, status } from './receiver.ts'

const ZONE = 'Europe/Istanbul'
let node: TestNode
const receivers: Receiver[] = []

beforeAll(async () => {
  node = await startTestNode({ env: { WEBHOOK_RETRY_DELAYS: '40ms,80ms' }, worker: true, listeners: 'public' })
})
beforeEach(() => async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()))
})
afterAll(() => node.close())

interface Seller {
  accountId: number
  ctx: WebhookCtx
  webhook: Webhook
  receiver: Receiver
}

function sellerCtx(accountId: number): WebhookCtx {
  const webhooks = webhookRules(node.config, node.db, silent, () => [])
  return { ...node.ctx, viewer: { kind: 'account', accountId, keyId: 0, plan: 'plus' }, webhooks }
}

/** A separate account whose webhook uses a separate receiver. */
async function openSeller(behaviour: Behaviour = ok, settings: object = {}): Promise<Seller> {
  const receiver = await openReceiver(behaviour)
  receivers.push(receiver)
  const { id: accountId } = await call(createAccount, node.ctx, { name: 'Seller', plan: 'plus' })
  const ctx = sellerCtx(accountId)
  const webhook = await call(configureWebhook, ctx, { url: receiver.url, on_sale: true, on_expire: true, ...settings })
  return { accountId, ctx, webhook, receiver }
}

const logsOf = async ({ ctx }: Seller) => (await call(listWebhookLogs, ctx, { per_page: 100 })).rows
const statesOf = async ({ accountId }: Seller) => {
  const rows = await node.db.kysely
    .selectFrom('webhook_events')
    .select(['state', 'attempts'])
    .where('account_id', '=', accountId)
    .orderBy('id')
    .execute()
  return rows.map(({ state, attempts }) => `${state} ${attempts}`)
}
const settled = (seller: Seller) => until('all settled', async () => (await statesOf(seller)).every((state) => !state.startsWith('queued')))

test('a sale is delivered once per order line, with exactly the documented keys and types', async () => {
  const seller = await openSeller()
  await sell(node, seller.accountId, 3, 77)
  await until('three notifications', () => seller.receiver.received.length === 3)
  await settled(seller)
  const bodies = seller.receiver.received.map(({ body }) => JSON.parse(body.toString()) as { data: { listing_id: number } })
  bodies.sort((a, b) => a.data.listing_id - b.data.listing_id)
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/) as string
  const data = {
    order_id: 77,
    listing_id: 1,
    item_name: 'Charizard ✨',
    quantity: 2,
    unit_price: 123.45,
    seller_payout: 222.21,
    sold_at: time,
  }
  expect(bodies).toEqual([1, 2, 3].map((listing_id) => ({ event: 'sale', sent_at: time, data: { ...data, listing_id } })))
  expect(Object.keys(bodies[0]!)).toEqual(['event', 'sent_at', 'data'])
  expect(new Set(seller.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
  const logs = await logsOf(seller)
  expect(logs).toHaveLength(3)
  expect(logs[0]).toEqual({
    id: expect.any(Number) as number,
    event: 'sale',
    attempt: 1,
    status_code: 200,
    success: true,
    error: null,
    response_excerpt: 'thanks',
    created_at: time,
    test: false,
    mark: null,
  })
})

test('an expiry is delivered, and rolled-back events never are', async () => {
  const seller = await openSeller()
  const now = new Date()
  const expiry = {
    accountId: seller.accountId,
    listingId: 5,
    title: 'Charizard',
    expiredAt: new Date('2026-11-21T08:00:00Z'),
  }
  const undone = inTransaction(node.db, async (tx) => {
    await emitExpiries(tx, { now, zone: ZONE }, [expiry])
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  await inTransaction(node.db, (tx) => emitExpiries(tx, { now, zone: ZONE }, [{ ...expiry, listingId: 6 }]))
  await settled(seller)
  expect(seller.receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { data: object }).data)).toEqual([
    { listing_id: 6, title: 'Charizard', expired_at: '2026-11-21T11:00:00+03:00' },
  ])
})

test('signatures cover the raw bytes, with the secret', async () => {
  const seller = await openSeller()
  await sell(node, seller.accountId)
  await settled(seller)
  const { headers, body } = seller.receiver.received[0]!
  const secret = seller.webhook.secret!
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^Mintmark/) as string,
  })
  expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'))
  const content = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body.toString()}`
  const signed = (key: string | Buffer) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  expect((headers['webhook-signature'] as string).split(' ')).toEqual([signed(secret), signed(Buffer.from(secret, 'base64'))])
  expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(600)
})

test('a failed delivery is attempted three times, after its delays, with the same bytes and id', async () => {
  const seller = await openSeller(
    (_request, response, count) => void response.writeHead(count === 1 ? 500 : 302, { location: '/' }).end(`no ${count}`),
  )
  await sell(node, seller.accountId)
  await settled(seller)
  expect(await statesOf(seller)).toEqual(['failed 3'])
  const { received } = seller.receiver
  expect(received).toHaveLength(3)
  expect(new Set(received.map(({ body }) => body.toString('hex'))).size).toBe(1)
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(received[1]!.atMs - received[0]!.atMs).toBeGreaterThanOrEqual(39)
  expect(received[2]!.atMs - received[1]!.atMs).toBeGreaterThanOrEqual(79)
  expect(await logsOf(seller)).toMatchObject([
    { attempt: 3, status_code: 302, success: false, error: null, response_excerpt: 'no 3' },
    { attempt: 2, status_code: 302 },
    { attempt: 1, status_code: 500 },
  ])
})

test('a later success ends the attempts', async () => {
  const seller = await openSeller((request, response, count) => (count < 3 ? status(503) : ok)(request, response, count))
  await sell(node, seller.accountId)
  await settled(seller)
  expect(await statesOf(seller)).toEqual(['delivered 3'])
})

test('nothing is queued for disabled kinds or accounts without a webhook', async () => {
  const off = [await openSeller(ok, { on_sale: false }), await openSeller(ok, { is_active: false })]
  await Promise.all(off.map(({ accountId }) => sell(node, accountId)))
  await sell(node, node.accounts.plus)
  for (const seller of off) expect(await statesOf(seller)).toEqual(['cancelled 0'])
})

test('pausing or disabling between attempts stops them; a changed URL is used', async () => {
  for (const change of [{ is_active: false }, { on_sale: false }]) {
    const seller = await openSeller(status(500))
    seller.receiver.behave((request, response, count) => {
      void call(configureWebhook, seller.ctx, { url: seller.receiver.url, on_sale: true, ...change }).then(() =>
        status(500)(request, response, count),
      )
    })
    await sell(node, seller.accountId)
    await settled(seller)
    expect(await statesOf(seller)).toEqual(['cancelled 1'])
    expect(seller.receiver.received).toHaveLength(1)
  }
  const other = await openReceiver()
  receivers.push(other)
  const moved = await openSeller()
  moved.receiver.behave((request, response, count) => {
    void call(configureWebhook, moved.ctx, { url: other.url, on_sale: true }).then(() => status(500)(request, response, count))
  })
  await sell(node, moved.accountId)
  await settled(moved)
  expect(await statesOf(moved)).toEqual(['delivered 2'])
  expect(other.received).toHaveLength(1)
})

test('a target that is not allowed is not connected to, and the log reveals nothing', async () => {
  const seller = await openSeller()
  const url = `http://localhost:${new URL(node.publicUrl!).port}/health/live`
  await call(configureWebhook, seller.ctx, { url, on_sale: true })
  await sell(node, seller.accountId)
  await settled(seller)
  expect(await statesOf(seller)).toEqual(['failed 3'])
  const entry = { status_code: null, success: false, error: 'target address not allowed', response_excerpt: '' }
  expect(await logsOf(seller)).toMatchObject([entry, entry, entry])
})

test('at most 5 requests are in progress for one receiver, over all workers', async () => {
  const second = await startTestNode({ databaseUrl: node.databaseUrl, worker: true, listeners: 'public' })
  const waiting: (() => void)[] = []
  const seller = await openSeller((_request, response) => void waiting.push(() => response.end()))
  await sell(node, seller.accountId, 40)
  let released = 0
  while (released < 40) {
    const { received } = seller.receiver
    await until('a full hand', () => received.length >= Math.min(40, released + 5))
    expect(received.length).toBeLessThanOrEqual(released + 5)
    for (const release of waiting.splice(0)) {
      release()
      released += 1
    }
  }
  await settled(seller)
  expect(seller.receiver.mostOpen).toBe(5)
  expect(new Set(seller.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(40)
  expect(await logsOf(seller)).toHaveLength(40)
  await second.close()
})

test('hanging receivers delay no others, and get one request at a time until they respond', { tags: 'slow' }, async () => {
  const hanging = await Promise.all(Array.from({ length: 20 }, () => openSeller(silence)))
  await Promise.all(hanging.map(({ accountId }) => sell(node, accountId, 10)))
  await until('all of them hang', () => hanging.every(({ receiver }) => receiver.received.length >= 5))
  const healthy = await openSeller()
  for (let i = 0; i < 20; i++) await sell(node, healthy.accountId)
  await until('the healthy one got all', () => healthy.receiver.received.length === 20)
  const first = hanging[0]!
  await until('the first time-outs', async () => (await logsOf(first)).length >= 5)
  expect((await logsOf(first))[0]).toMatchObject({
    error: 'timed out after 5 s',
    status_code: null,
    success: false,
    response_excerpt: '',
  })
  await until('another try', () => first.receiver.received.length > 5)
  expect(new Set(first.receiver.received.slice(5).map(({ open }) => open))).toEqual(new Set([1]))
  first.receiver.behave(ok)
  for (const { ctx, receiver } of hanging) await call(configureWebhook, ctx, { url: receiver.url, is_active: false })
})

test('attempts interrupted by a crash are logged, retried, and never exceed three', { tags: 'slow' }, async () => {
  const seller = await openSeller()
  const crashed = async (attempts: number) => {
    const now = new Date(Date.now() - 60_000)
    const event = {
      account_id: seller.accountId,
      kind: 'sale' as const,
      body: '{}',
      due_at: now,
      created_at: now,
      attempts,
      lease_until: now,
    }
    await inTransaction(node.db, async (tx) => {
      const { id } = await tx.insertInto('webhook_events').values(event).returning('id').executeTakeFirstOrThrow()
      const attempt = {
        event_id: id,
        account_id: seller.accountId,
        kind: 'sale' as const,
        test: false,
        attempt: attempts,
        started_at: now,
      }
      await tx.insertInto('webhook_attempts').values(attempt).execute()
    })
  }
  await crashed(1)
  await settled(seller)
  expect(await statesOf(seller)).toEqual(['delivered 2'])
  await crashed(3)
  await settled(seller)
  expect(await statesOf(seller)).toEqual(['delivered 2', 'failed 3'])
  const interrupted = { success: false, status_code: null, error: 'interrupted by a restart', response_excerpt: '' }
  const cutOff = (await logsOf(seller)).filter(({ error }) => error !== null)
  expect(cutOff).toMatchObject([
    { attempt: 3, ...interrupted },
    { attempt: 1, ...interrupted },
  ])
  expect(seller.receiver.received).toHaveLength(1)
})

test('the only worker on its database takes over interrupted attempts at once', async () => {
  const database = await freshDatabase()
  const db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
  const receiver = await openReceiver()
  receivers.push(receiver)
  const on = { ...node.ctx, db, caughtUp: async () => {} }
  const { id: accountId } = await call(createAccount, on, { name: 'Seller', plan: 'plus' })
  const { webhooks } = sellerCtx(accountId)
  const ctx: WebhookCtx = { ...on, viewer: { kind: 'account', accountId, keyId: 0, plan: 'plus' }, webhooks }
  await call(configureWebhook, ctx, { url: receiver.url, on_sale: true })
  const now = new Date()
  const lease = { attempts: 1, lease_until: new Date(now.getTime() + 3_600_000) }
  const event = { account_id: accountId, kind: 'sale' as const, body: '{}', due_at: now, created_at: now, ...lease }
  await db.kysely.insertInto('webhook_events').values(event).execute()
  const network = { guard: webhooks.guard, resolve: openResolver() }
  const [scheduler, notices] = [new Scheduler(silent), new Notices(db)]
  const options = {
    db,
    log: silent,
    scheduler,
    notices,
    now: () => new Date(),
    random: () => 0,
    network,
    sealing: webhooks.sealing,
    retryDelaysMs: [0, 0],
  }
  const sender = startSender({ ...options, alone: true })
  await until('it arrives', () => receiver.received.length === 1)
  await sender.close()
  await scheduler.stop()
  notices.close()
  expect(await db.kysely.selectFrom('webhook_events').select(['state', 'attempts']).execute()).toEqual([{ state: 'delivered', attempts: 2 }])
  await db.close()
  await database.drop()
})

test('closing waits for requests in progress and records them, and starts no others', async () => {
  const database = await freshDatabase()
  const stopping = await startTestNode({ databaseUrl: database.url, env: { WEBHOOK_RETRY_DELAYS: '40ms,80ms' }, worker: true, listeners: 'public' })
  const answers: (() => void)[] = []
  const receiver = await openReceiver((_request, response) => void answers.push(() => response.end('late')))
  receivers.push(receiver)
  const webhooks = webhookRules(stopping.config, stopping.db, silent, () => [])
  const viewer = { kind: 'account' as const, accountId: stopping.accounts.plus, keyId: 0, plan: 'plus' as const }
  const ctx: WebhookCtx = { ...stopping.ctx, viewer, webhooks }
  await call(configureWebhook, ctx, { url: receiver.url, on_sale: true })
  await sell(stopping, viewer.accountId, 8)
  await until('five in flight', () => answers.length === 5)
  const closed = stopping.close()
  for (const answer of answers) answer()
  await closed
  expect(receiver.received).toHaveLength(5)
  const reader = openPool<Schema>({ url: database.url, max: 1, applicationName: 'mintmark test' })
  const events = await reader.kysely.selectFrom('webhook_events').select('state').orderBy('state').execute()
  expect(events.map(({ state }) => state)).toEqual([...Array<string>(5).fill('delivered'), ...Array<string>(3).fill('queued')])
  await reader.close()
  await database.drop()
})

test('events of many accounts are emitted at once', async () => {
  const sellers = await Promise.all([openSeller(), openSeller(), openSeller(ok, { on_sale: false })])
  const now = new Date()
  const sale = { orderId: 1, itemName: 'x', quantity: 1, unitPriceKurus: 100, payoutKurus: 90, soldAt: now }
  const sales = sellers.flatMap(({ accountId }) => [1, 2].map((listingId) => ({ ...sale, accountId, listingId })))
  await inTransaction(node.db, (tx) => emitSales(tx, { now, zone: ZONE }, sales))
  await Promise.all(sellers.map(settled))
  expect(sellers.map(({ receiver }) => receiver.received.length)).toEqual([2, 2, 0])
})

test('a node with a different key than that of the stored secrets does not start, and says what to do', async () => {
  await openSeller()
  const started = startTestNode({
    databaseUrl: node.databaseUrl,
    env: { SECRET_KEY: 'another secret key of the tests' },
    worker: true,
    listeners: 'public',
  })
  await expect(started).rejects.toThrow(/encrypted with a different key: set the old SECRET_KEY/)
})
