// The receiver check, the self-service test event and replays: what they send, what they report, and what they leave unchanged.
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { emitExpiries } from '#webhooks/emit.ts'
import { freePorts } from '../../reliability/service.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { openReceiver, sell, status } from './receiver.ts'
import { REFERENCE_RECEIVERS, serve } from './reference-receivers.ts'

let node: TestNode
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  node = await startTestNode({ env: { WEBHOOK_RETRY_DELAYS: '20ms,20ms' }, worker: true })
})
afterAll(async () => {
  await Promise.all(closing.map((close) => close()))
  await node.close()
})

interface Check {
  name: string
  expected: string
  got: string
  ok: boolean
  how_to_fix: string | null
}
interface Log {
  attempt: number
  success: boolean
  test: boolean
  mark: string | null
}

async function openSeller(url?: string, settings: object = {}) {
  const { id: accountId } = await call(createAccount, node.ctx, { name: 'Seller', plan: 'plus' })
  const { key } = await call(createKey, node.ctx, { account_id: accountId })
  const ask = <T>(path: string, json: object | undefined, headers: Record<string, string> = {}, method = 'POST') =>
    send<T>(`${node.publicUrl}/api/v1/plus/${path}`, key, { method, headers, ...(json && { json }) })
  const configure = async (changed: object) => (await ask<{ secret: string }>('webhook', { on_sale: true, ...changed }, {}, 'PUT')).body.data.secret
  const secret = url === undefined ? '' : await configure({ url, ...settings })
  return {
    accountId,
    key,
    secret,
    ask,
    configure,
    check: (headers = {}) => ask<{ checks: Check[] }>('webhook/check', {}, headers),
    replay: (json: object, headers = {}) => ask<{ queued: number }>('events/replay', json, headers),
    logs: async () => (await send<Log[]>(`${node.publicUrl}/api/v1/plus/webhook/logs?per_page=100`, key)).body.data,
    cursors: async () => (await send<{ id: string; cursor: string }[]>(`${node.publicUrl}/api/v1/plus/events`, key)).body.data,
    events: async () =>
      (await send<{ state: string }[]>(`${node.operatorUrl}/operator/v1/webhook-events?account_id=${accountId}`, OPERATOR_TOKEN)).body.data.map(
        ({ state }) => state,
      ),
    failing: async () =>
      (await send<{ failing: boolean }>(`${node.operatorUrl}/operator/v1/accounts/${accountId}/webhook`, OPERATOR_TOKEN)).body.data.failing,
  }
}

async function receiverOf(behaviour = status(200)) {
  const receiver = await openReceiver(behaviour)
  closing.push(receiver.close)
  return receiver
}

const healthOf = async (accountId: number) => {
  const { body } = await send<{ webhook_receivers: { account_id: number }[] }>(`${node.operatorUrl}/operator/v1/stats`, OPERATOR_TOKEN)
  return body.data.webhook_receivers.find(({ account_id }) => account_id === accountId)
}

/** Failed events in the statistics, the list, and the metrics. */
async function failedEvents() {
  const stats = await send<{ webhook_events: { failed: number } }>(`${node.operatorUrl}/operator/v1/stats`, OPERATOR_TOKEN)
  const listed = await send(`${node.operatorUrl}/operator/v1/webhook-events?state=failed`, OPERATOR_TOKEN)
  const metrics = await fetch(`${node.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })
  return {
    stats: stats.body.data.webhook_events.failed,
    listed: listed.body.pagination?.total,
    metrics: (await metrics.text()).split('\n').filter((line) => /^mintmark_(webhook_events\{state="failed"|webhooks_failing)/.test(line)),
  }
}

describe('the check', () => {
  test('there are twelve reference receivers', () => {
    expect(Object.keys(REFERENCE_RECEIVERS)).toHaveLength(12)
  })

  for (const [name, reference] of Object.entries(REFERENCE_RECEIVERS)) {
    // This one takes as long as the check waits.
    const tags = name === 'answers too late' ? ['slow'] : []
    test(`reports the receiver that ${name}`, { tags }, async () => {
      const receiver = await serve(reference)
      closing.push(receiver.close)
      const seller = await openSeller(receiver.url)
      receiver.useSecret(seller.secret)
      const { checks } = (await seller.check()).body.data
      const wrong = checks.filter(({ ok }) => !ok)
      expect(wrong.map((check) => check.name)).toEqual(reference.fails)
      expect(checks.filter(({ how_to_fix: fix }) => fix !== null)).toEqual(wrong)
      if (reference.advice) expect(wrong[0]!.how_to_fix).toMatch(reference.advice)
    })
  }

  test('reports a receiver that does not respond', async () => {
    const [port] = (await freePorts(1)) as [number]
    const seller = await openSeller(`http://127.0.0.1:${port}/hook`)
    const { checks } = (await seller.check()).body.data
    expect(checks.map(({ got }) => got)).toEqual(['connection failed', ...checks.slice(1).map(() => 'not sent')])
    expect(await seller.logs()).toMatchObject([{ attempt: 1, success: false, mark: 'check', error: 'connection failed' }])
  })

  test('goes through the address guard', async () => {
    const seller = await openSeller(`http://localhost:${new URL(node.publicUrl!).port}/health/live`)
    const { checks } = (await seller.check()).body.data
    expect(checks[0]).toMatchObject({ got: 'target address not allowed', ok: false })
  })

  test('is marked, is not a sale, and does not affect the health of the receiver', async () => {
    const receiver = await receiverOf(status(500))
    const seller = await openSeller(receiver.url)
    await seller.check()
    expect(receiver.received).toHaveLength(8)
    for (const { headers } of receiver.received) expect(headers).toMatchObject({ 'webhook-check': 'true', 'webhook-test': 'true' })
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const { headers, body } = receiver.received[0]!
    expect(new StandardWebhook(seller.secret).verify(body.toString(), headers as Record<string, string>)).toMatchObject({ event: 'sale' })
    expect(await seller.logs()).toMatchObject(Array.from({ length: 8 }, (_, i) => ({ attempt: 8 - i, test: true, mark: 'check', status_code: 500 })))
    expect(await seller.cursors()).toEqual([])
    expect(await seller.failing()).toBe(false)
    expect(await healthOf(seller.accountId)).toBeUndefined()
    expect(await node.db.kysely.selectFrom('sales').select('id').where('seller_id', '=', seller.accountId).execute()).toEqual([])
  })

  test('does not count as a failed event, whatever the receiver responds', async () => {
    const before = await failedEvents()
    const answers = [status(500), status(401), status(200)]
    const sellers = await Promise.all(answers.map(async (behaviour) => openSeller((await receiverOf(behaviour)).url)))
    for (const seller of sellers) await seller.check()
    const states = await Promise.all(sellers.map((seller) => seller.events()))
    expect(states.flat()).toEqual(['cancelled', 'cancelled', 'delivered'])
    expect(await failedEvents()).toEqual(before)
  })

  test('runs once a minute, and once for an Idempotency-Key', async () => {
    const receiver = await receiverOf()
    const seller = await openSeller(receiver.url)
    const first = await seller.check({ 'idempotency-key': 'k' })
    expect((await seller.check({ 'idempotency-key': 'k' })).body.data).toEqual(first.body.data)
    const refused = await seller.check()
    expect([refused.status, refused.body.error?.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'RATE_LIMITED',
      expect.stringMatching(/^\d+$/),
    ])
    expect(receiver.received).toHaveLength(8)
    node.clock.advance(60_000)
    expect((await seller.check()).status).toBe(200)
  })

  test('requires an enabled webhook', async () => {
    const none = await openSeller()
    expect((await none.check()).body.error?.code).toBe('CONFLICT')
    const receiver = await receiverOf()
    const paused = await openSeller(receiver.url, { is_active: false })
    expect((await paused.check()).status).toBe(409)
    await paused.configure({ url: receiver.url })
    // A rejected check does not count.
    expect((await paused.check()).status).toBe(200)
  })

  test('GraphQL returns the same', async () => {
    const receiver = await receiverOf()
    const seller = await openSeller(receiver.url)
    const query = 'mutation { checkWebhook { checks { name expected got ok howToFix } } }'
    const { body } = await send(`${node.publicUrl}/graphql`, seller.key, { json: { query } })
    const { checks } = (body.data as { checkWebhook: { checks: { name: string; ok: boolean }[] } }).checkWebhook
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(['altered', 'reformatted', 'unsigned', 'empty_secret', 'stale'])
  })
})

describe('the test event', () => {
  test('is signed, marked by a header and in the log, and has the body of a real event', async () => {
    const receiver = await receiverOf()
    const seller = await openSeller(receiver.url)
    const sale = await seller.ask('webhook/test', { event: 'sale' })
    expect([sale.status, sale.body]).toEqual([
      200,
      { success: true, data: { id: expect.stringMatching(/^evt_\d+$/) as string, event: 'sale' }, message: 'Test event queued' },
    ])
    const query = 'mutation { testWebhook(event: "expire") { id event } }'
    expect((await send(`${node.publicUrl}/graphql`, seller.key, { json: { query } })).body.data).toMatchObject({ testWebhook: { event: 'expire' } })
    await until('both have arrived', async () => (await seller.logs()).length === 2)
    // They may arrive in any order.
    const bodies = receiver.received.map(({ body }) => JSON.parse(body.toString()) as { event: string; data: object })
    const [second, first] = bodies.sort((a, b) => a.event.localeCompare(b.event))
    expect([first!.event, Object.keys(first!.data)]).toEqual([
      'sale',
      ['order_id', 'listing_id', 'item_name', 'quantity', 'unit_price', 'seller_payout', 'sold_at'],
    ])
    expect([second!.event, Object.keys(second!.data)]).toEqual(['expire', ['listing_id', 'title', 'expired_at']])
    for (const { headers, body } of receiver.received) {
      expect(headers['webhook-test']).toBe('true')
      expect(headers).not.toHaveProperty('webhook-check')
      new StandardWebhook(seller.secret).verify(body.toString(), headers as Record<string, string>)
    }
    expect(await seller.logs()).toMatchObject([
      { test: true, mark: 'test' },
      { test: true, mark: 'test' },
    ])
  })

  test('is rejected without a webhook, while it is paused, and for other kinds', async () => {
    const none = await openSeller()
    expect((await none.ask('webhook/test', { event: 'sale' })).status).toBe(409)
    const paused = await openSeller('http://127.0.0.1:9/', { is_active: false })
    expect((await paused.ask('webhook/test', { event: 'sale' })).status).toBe(409)
    const wrong = await none.ask('webhook/test', { event: 'refund' })
    expect([wrong.status, wrong.body.error?.details?.map(({ field }) => field)]).toEqual([422, ['event']])
  })
})

describe('replays', () => {
  const expire = (accountId: number) => {
    const now = new Date()
    return inTransaction(node.db, (tx) =>
      emitExpiries(tx, { now, zone: 'Europe/Istanbul' }, [{ accountId, listingId: 1, title: 'x', expiredAt: now }]),
    )
  }

  test('send each event once more, with its id and body, without affecting the health', async () => {
    const receiver = await receiverOf()
    const seller = await openSeller(receiver.url, { is_active: false })
    await sell(node, seller.accountId, 2)
    await seller.configure({ url: receiver.url })
    await sell(node, seller.accountId, 1, 3)
    await expire(seller.accountId)
    await until('what was wanted is logged', async () => (await seller.logs()).length === 1)
    receiver.behave(status(500))
    const [first, , , last] = await seller.cursors()
    const replayed = await seller.replay({ until: last!.cursor })
    // The expiry event is of a kind that is off.
    expect([replayed.status, replayed.body]).toEqual([200, { success: true, data: { queued: 3 }, message: 'Replay queued' }])
    await until('all are logged', async () => (await seller.logs()).length === 4)
    expect((await seller.logs()).map(({ mark, success }) => `${mark} ${success}`)).toEqual([
      'replay false',
      'replay false',
      'replay false',
      'null true',
    ])
    const states = await node.db.kysely
      .selectFrom('webhook_events')
      .select(['state', 'attempts'])
      .where('account_id', '=', seller.accountId)
      .orderBy('id')
      .execute()
    expect(states.map(({ state, attempts }) => `${state} ${attempts}`)).toEqual(['failed 1', 'failed 1', 'delivered 2', 'cancelled 0'])
    expect(await seller.failing()).toBe(false)
    expect(await healthOf(seller.accountId)).toMatchObject({ attempts: 1, success_share: 1 })
    const third = receiver.received.filter(({ headers }) => headers['webhook-id'] === receiver.received[0]!.headers['webhook-id'])
    expect(third).toHaveLength(2)
    expect(third[0]!.body.equals(third[1]!.body)).toBe(true)

    receiver.behave(status(200))
    node.clock.advance(60_000)
    expect((await seller.replay({ after: first!.cursor, until: last!.cursor })).body.data).toEqual({ queued: 2 })
    await until('they are logged', async () => (await seller.logs()).length === 6)
    expect(receiver.received.slice(-2).map(({ headers }) => headers['webhook-id'])).not.toContain(first!.id)
  })

  test('come after all pending events', async () => {
    const answers: (() => void)[] = []
    const receiver = await receiverOf((_request, response) => void answers.push(() => response.end()))
    const seller = await openSeller(receiver.url, { is_active: false })
    await sell(node, seller.accountId, 12)
    await seller.configure({ url: receiver.url })
    await seller.replay({ until: (await seller.cursors()).at(-1)!.cursor })
    await until('five are in flight', () => answers.length === 5)
    await sell(node, seller.accountId, 1, 99)
    answers.shift()!()
    await until('the next is posted', () => receiver.received.length === 6)
    expect(JSON.parse(receiver.received[5]!.body.toString())).toMatchObject({ data: { order_id: 99 } })
    receiver.behave(status(200))
    for (const answer of answers) answer()
  })

  test('run once a minute, once for an Idempotency-Key, and skip pending events', async () => {
    const receiver = await receiverOf(() => {})
    const seller = await openSeller(receiver.url)
    await sell(node, seller.accountId, 2)
    await until('both are under way', () => receiver.received.length === 2)
    const until_ = (await seller.cursors()).at(-1)!.cursor
    expect((await seller.replay({ until: until_ }, { 'idempotency-key': 'k' })).body.data).toEqual({ queued: 0 })
    expect((await seller.replay({ until: until_ }, { 'idempotency-key': 'k' })).body.data).toEqual({ queued: 0 })
    expect((await seller.replay({ until: until_ })).status).toBe(429)
    await seller.configure({ url: receiver.url, is_active: false })
  })

  test('reject an empty part of the feed', async () => {
    const receiver = await receiverOf()
    const seller = await openSeller(receiver.url)
    await sell(node, seller.accountId, 2)
    const [first, second] = await seller.cursors()
    const details = async (json: object) => {
      const { status: code, body } = await seller.replay(json)
      return [code, body.error?.code, body.error?.details?.map(({ field }) => field)]
    }
    expect(await details({})).toEqual([422, 'VALIDATION_ERROR', ['body']])
    expect(await details({ after: 'x' })).toEqual([422, 'VALIDATION_ERROR', ['after']])
    expect(await details({ after: first!.cursor, until: 'x' })).toEqual([422, 'VALIDATION_ERROR', ['until']])
    expect(await details({ after: second!.cursor, until: first!.cursor })).toEqual([422, 'VALIDATION_ERROR', ['after']])
    expect(await details({ after: first!.cursor, to: 1 })).toEqual([422, 'VALIDATION_ERROR', ['to']])
    const ahead = Buffer.from(JSON.stringify([1, 'events', seller.accountId, 9])).toString('base64url')
    expect((await details({ until: ahead })).slice(0, 2)).toEqual([410, 'CURSOR_EXPIRED'])
    await node.db.kysely.updateTable('event_counters').set({ last: 10_001 }).where('account_id', '=', seller.accountId).execute()
    expect(await details({ after: Buffer.from(JSON.stringify([1, 'events', seller.accountId, 0])).toString('base64url') })).toEqual([
      422,
      'VALIDATION_ERROR',
      ['after'],
    ])
    const none = await openSeller()
    await sell(node, none.accountId)
    expect((await none.replay({ after: (await none.cursors())[0]!.cursor })).body.error?.code).toBe('CONFLICT')
    // None of this was counted.
    expect((await seller.replay({ after: first!.cursor, until: second!.cursor })).status).toBe(200)
  })

  test('GraphQL does the same', async () => {
    const receiver = await receiverOf()
    const seller = await openSeller(receiver.url, { is_active: false })
    await sell(node, seller.accountId, 2)
    await seller.configure({ url: receiver.url })
    const [first] = await seller.cursors()
    const query = `mutation { replayEvents(after: "${first!.cursor}") { queued } }`
    expect((await send(`${node.publicUrl}/graphql`, seller.key, { json: { query } })).body.data).toEqual({ replayEvents: { queued: 1 } })
    await until('it is posted', () => receiver.received.length === 1)
  })
})

test('an event of an account without a webhook is not redelivered by operators', async () => {
  const seller = await openSeller()
  await sell(node, seller.accountId)
  const [event] = await seller.cursors()
  const reply = await send(`${node.operatorUrl}/operator/v1/webhook-events/${event!.id.slice(4)}/redeliver`, OPERATOR_TOKEN, { method: 'POST' })
  expect(reply.body.error?.code).toBe('NOT_FOUND')
})
