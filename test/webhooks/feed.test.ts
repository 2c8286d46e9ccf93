// The feed of an account's events: bytes, order, cursors, long polls and what ends them, over HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { revokeKey } from '#accounts/keys/revoke-key.ts'
import { DAY_MS } from '#core/duration.ts'
import { call } from '#core/verb.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { emitExpiries, emitSales } from '#webhooks/emit.ts'
import { forgetOldEvents } from '#webhooks/retention.ts'
import { send, startTestNode, startTwoNodes, type TestNode, until } from '../support/node.ts'
import { openReceiver, sell, status } from './receiver.ts'

const ZONE = 'Europe/Istanbul'
let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ env: { WEBHOOK_RETRY_DELAYS: '20ms,20ms' }, worker: true, listeners: 'public' })
})
afterAll(() => node.close())

interface FeedEvent {
  id: string
  cursor: string
  event: string
  sent_at: string
  data: { order_id: number; listing_id: number }
  delivered: boolean
}

async function openAccount(on: Pick<TestNode, 'ctx'> = node) {
  const { id: accountId } = await call(createAccount, on.ctx, { name: 'Seller', plan: 'plus' })
  const { key, id: keyId } = await call(createKey, on.ctx, { account_id: accountId })
  return { accountId, key, keyId }
}

const feedUrl = (query: object = {}, on: Pick<TestNode, 'publicUrl'> = node) =>
  `${on.publicUrl}/api/v1/plus/events?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString()}`

async function read(key: string, query: object = {}, on: Pick<TestNode, 'publicUrl'> = node) {
  const reply = await send<FeedEvent[]>(feedUrl(query, on), key)
  const { next } = reply.body as unknown as { next: string }
  return { ...reply, events: reply.body.data, next }
}

const waiting = (count: number, on: Pick<TestNode, 'polls'> = node) => until(`${count} wait`, () => on.polls.waiting === count)

test('contains every sale and expiry, whatever the webhook received, with the same bytes', async () => {
  const { accountId, key } = await openAccount()
  await sell(node, accountId, 1, 1)
  const receiver = await openReceiver()
  const webhook = `${node.publicUrl}/api/v1/plus/webhook`
  await send(webhook, key, { method: 'PUT', json: { url: receiver.url, on_sale: true } })
  await sell(node, accountId, 1, 2)
  await until('it is delivered', async () => (await read(key)).events.some(({ delivered }) => delivered))
  const now = new Date()
  await inTransaction(node.db, (tx) => emitExpiries(tx, { now, zone: ZONE }, [{ accountId, listingId: 9, title: 'Ağaç "✨"', expiredAt: now }]))
  await send(webhook, key, { method: 'PUT', json: { url: receiver.url, on_sale: true, is_active: false } })
  await sell(node, accountId, 1, 3)

  const { status: code, events, next } = await read(key)
  expect(code).toBe(200)
  expect(events.map(({ event, delivered }) => `${event} ${delivered}`)).toEqual(['sale false', 'sale true', 'expire false', 'sale false'])
  expect(events.map(({ data }) => data.order_id ?? null)).toEqual([1, 2, null, 3])
  expect(Object.keys(events[0]!)).toEqual(['id', 'cursor', 'event', 'sent_at', 'data', 'delivered'])
  expect(next).toBe(events.at(-1)!.cursor)
  expect(receiver.received).toHaveLength(1)
  const [{ headers, body }] = receiver.received as [(typeof receiver.received)[0]]
  expect(headers['webhook-id']).toBe(events[1]!.id)
  const text = await (await fetch(feedUrl(), { headers: { authorization: `Bearer ${key}` } })).text()
  const bodies = await node.db.kysely.selectFrom('webhook_events').select('body').where('account_id', '=', accountId).orderBy('id').execute()
  expect(bodies.map((row) => text.includes(row.body.slice(1, -1)))).toEqual([true, true, true, true])
  expect(bodies[1]!.body).toBe(body.toString())
  await receiver.close()
})

test('is paged by cursor, and excludes test events', async () => {
  const { accountId, key } = await openAccount()
  const empty = await read(key)
  expect(empty.events).toEqual([])
  await sell(node, accountId, 5)
  await send(`${node.publicUrl}/api/v1/plus/webhook`, key, { method: 'PUT', json: { url: 'http://127.0.0.1:9/' } })
  expect((await send(`${node.publicUrl}/api/v1/plus/webhook/test`, key, { json: { event: 'sale' } })).status).toBe(200)
  const pages = []
  for (let { next: after, events } = await read(key, { after: empty.next, limit: 2 }); events.length > 0; ) {
    pages.push(events.map(({ data }) => data.listing_id))
    ;({ next: after, events } = await read(key, { after, limit: 2 }))
  }
  expect(pages).toEqual([[1, 2], [3, 4], [5]])
  expect((await read(key, { after: '' })).events).toHaveLength(5)
})

test('rejects foreign and invalid cursors, and invalid numbers, by name', async () => {
  const { accountId, key } = await openAccount()
  const other = await openAccount()
  await sell(node, accountId)
  await sell(node, other.accountId)
  const foreign = (await read(other.key)).next
  const notOurs = Buffer.from(JSON.stringify([1, 'events', accountId, -1])).toString('base64url')
  for (const after of ['x', '1', foreign, `${foreign}=`, notOurs, 'A'.repeat(200)]) {
    const { status: code, body } = await read(key, { after })
    expect([code, body.error?.code, body.error?.details?.map(({ field }) => field)]).toEqual([422, 'VALIDATION_ERROR', ['after']])
  }
  for (const [name, value] of [
    ['wait', '31'],
    ['wait', '-1'],
    ['wait', '1.5'],
    ['limit', '0'],
    ['limit', '1001'],
    ['limit', 'x'],
  ] as const) {
    const { status: code, body } = await read(key, { [name]: value })
    expect([code, body.error?.details?.map(({ field }) => field)]).toEqual([422, [name]])
  }
  expect((await read(node.keys.professional)).status).toBe(403)
})

test('a cursor whose next event is deleted, or that was never issued, returns 410', async () => {
  const { accountId, key } = await openAccount()
  const before = (await read(key)).next
  await sell(node, accountId, 2)
  const old = await read(key)
  await node.db.kysely
    .updateTable('webhook_events')
    .set({ created_at: new Date(Date.now() - 91 * DAY_MS), due_at: new Date(Date.now() - 91 * DAY_MS) })
    .where('account_id', '=', accountId)
    .execute()
  await sell(node, accountId, 1, 7)
  await forgetOldEvents(node.db, 90, new Date())
  for (const after of [before, old.events[0]!.cursor]) {
    const { status: code, body } = await read(key, { after })
    expect([code, body.error?.code]).toEqual([410, 'CURSOR_EXPIRED'])
  }
  // No event is missing after the last deleted one.
  expect((await read(key, { after: old.next })).events.map(({ data }) => data.order_id)).toEqual([7])
  expect((await read(key)).events.map(({ data }) => data.order_id)).toEqual([7])
  const ahead = Buffer.from(JSON.stringify([1, 'events', accountId, 4])).toString('base64url')
  expect((await read(key, { after: ahead, wait: 30 })).status).toBe(410)
})

test('readers get each event once and in commit order, whichever transactions run concurrently', async () => {
  const { accountId, key } = await openAccount()
  const committed: number[] = []
  let writing = true
  const readAll = async () => {
    const seen: FeedEvent[] = []
    let after: string | undefined
    for (let last = false; ; ) {
      const { events, next } = await read(key, { ...(after && { after }), limit: 7 })
      seen.push(...events)
      if (events.length === 0 && last) return seen
      last = events.length === 0 && !writing
      after = next
    }
  }
  const readers = [readAll(), readAll()]
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; i < 15; i++) {
      const orderId = writer * 100 + i
      const now = new Date()
      const sale = { accountId, orderId, listingId: 1, itemName: 'x', quantity: 1, unitPriceKurus: 100, payoutKurus: 90, soldAt: now }
      const undone = new Error('undone')
      await inTransaction(node.db, async (tx) => {
        // A transaction that is old when it writes, and one that is rolled back.
        await tx.selectFrom('accounts').select('id').limit(1).execute()
        await emitSales(tx, { now, zone: ZONE }, [sale])
        if (i % 5 === 4) throw undone
      }).then(
        () => committed.push(orderId),
        (error: unknown) => {
          if (error !== undone) throw error
        },
      )
    }
  })
  await Promise.all(writers)
  writing = false
  const [first, second] = await Promise.all(readers)
  expect(first!.map(({ id }) => id)).toEqual(second!.map(({ id }) => id))
  expect(new Set(first!.map(({ id }) => id)).size).toBe(first!.length)
  expect(first!.map(({ data }) => data.order_id).sort((a, b) => a - b)).toEqual(committed.toSorted((a, b) => a - b))
  const places = await node.db.kysely
    .selectFrom('event_positions')
    .select('position')
    .where('account_id', '=', accountId)
    .orderBy('position')
    .execute()
  expect(places.map(({ position }) => position)).toEqual(committed.map((_, i) => i + 1))
})

test('the later of two commits comes later, even if its transaction began first', async () => {
  const { accountId, key } = await openAccount()
  const begun = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const now = new Date()
  const sale = { accountId, listingId: 1, itemName: 'x', quantity: 1, unitPriceKurus: 100, payoutKurus: 90, soldAt: now }
  const early = inTransaction(node.db, async (tx) => {
    await tx.updateTable('accounts').set({ name: 'Began first' }).where('id', '=', accountId).execute()
    begun.resolve()
    await go.promise
    await emitSales(tx, { now, zone: ZONE }, [{ ...sale, orderId: 1 }])
  })
  await begun.promise
  const other = await openAccount()
  await sell(node, other.accountId, 1, 2)
  const late = (await read(other.key)).events
  go.resolve()
  await early
  await sell(node, accountId, 1, 3)
  expect(late.map(({ data }) => data.order_id)).toEqual([2])
  expect((await read(key)).events.map(({ data }) => data.order_id)).toEqual([1, 3])
})

test('200 waiting callers are answered by the commit, and those of other accounts keep waiting', async () => {
  const seller = await openAccount()
  const quiet = await openAccount()
  const { next: after } = await read(seller.key)
  const polls = Array.from({ length: 200 }, () => read(seller.key, { after, wait: 30 }))
  const other = read(quiet.key, { wait: 30 })
  await waiting(201)
  await sell(node, seller.accountId, 2, 5)
  const answers = await Promise.all(polls)
  expect(new Set(answers.map(({ events }) => events.map(({ data }) => data.listing_id).join()))).toEqual(new Set(['1,2']))
  await waiting(1)
  await sell(node, quiet.accountId)
  expect((await other).events).toHaveLength(1)
  await waiting(0)
})

test('an event of another node also ends the wait', async () => {
  const { here, there, close } = await startTwoNodes()
  const seller = await openAccount(here)
  const poll = read(seller.key, { wait: 30 }, here)
  await waiting(1, here)
  await sell(there, seller.accountId)
  expect((await poll).events).toHaveLength(1)
  await close()
})

test('without an event, the response is empty when the time is over, and continues from the same cursor', async () => {
  const { accountId, key } = await openAccount()
  await sell(node, accountId)
  const { next: after } = await read(key)
  const { status: code, events, next } = await read(key, { after, wait: 1 })
  expect([code, events, next]).toEqual([200, [], after])
  expect(node.polls.waiting).toBe(0)
})

test('a disconnected caller stops waiting', async () => {
  const { key } = await openAccount()
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${key}` }
  const poll = fetch(feedUrl({ wait: 30 }), { headers, signal: gone.signal }).catch(() => 'gone')
  const query = JSON.stringify({ query: '{ events(wait: 30) { next } }' })
  const graphql = fetch(`${node.publicUrl}/graphql`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: query,
    signal: gone.signal,
  }).catch(() => 'gone')
  await waiting(2)
  gone.abort()
  expect(await Promise.all([poll, graphql])).toEqual(['gone', 'gone'])
  await waiting(0)
})

test('a key that is revoked meanwhile reads nothing more', async () => {
  const { accountId, key, keyId } = await openAccount()
  const poll = read(key, { wait: 30 })
  await waiting(1)
  await call(revokeKey, node.ctx, { id: keyId })
  await sell(node, accountId)
  expect((await poll).events).toEqual([])
  expect((await read(key)).status).toBe(401)
})

test('a stopping node answers waiting callers', { tags: 'slow' }, async () => {
  const stopping = await startTestNode({ worker: true, listeners: 'public' })
  const polls = Array.from({ length: 10 }, () => read(stopping.keys.plus, { wait: 30 }, stopping))
  await waiting(10, stopping)
  await stopping.drain()
  expect((await Promise.all(polls)).map(({ status: code, events }) => [code, events])).toEqual(polls.map(() => [200, []]))
  await stopping.close()
})

test('GraphQL returns the same', async () => {
  const { accountId, key } = await openAccount()
  await sell(node, accountId, 1, 4)
  const fields =
    'next events { id cursor event sentAt data { orderId listingId itemName quantity unitPrice sellerPayout soldAt title expiredAt } delivered }'
  const ask = async (query: string, as = key) =>
    (await send(`${node.publicUrl}/graphql`, as, { json: { query } })).body as unknown as Record<string, unknown>
  const { data } = (await ask(`{ events(limit: 1) { ${fields} } }`)) as { data: { events: { next: string; events: Record<string, unknown>[] } } }
  const { events, next } = await read(key)
  const [{ id, cursor, event, sent_at: sentAt, data: facts, delivered }] = events as [FeedEvent]
  expect(data.events).toEqual({
    next,
    events: [
      {
        id,
        cursor,
        event,
        sentAt,
        delivered,
        data: {
          ...Object.fromEntries(
            Object.entries(facts).map(([name, value]) => [name.replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()), value]),
          ),
          title: null,
          expiredAt: null,
        },
      },
    ],
  })
  const codeOf = (body: Record<string, unknown>) => (body.errors as { extensions: { code: string } }[])[0]!.extensions.code
  expect(codeOf(await ask('{ events(after: "x") { next } }'))).toBe('VALIDATION_ERROR')
  expect(codeOf(await ask('{ events { next } }', node.keys.professional))).toBe('PLAN_UPGRADE_REQUIRED')
})

test('delivered stays true when a later attempt fails', async () => {
  const { accountId, key } = await openAccount()
  const receiver = await openReceiver()
  await send(`${node.publicUrl}/api/v1/plus/webhook`, key, { method: 'PUT', json: { url: receiver.url, on_sale: true } })
  await sell(node, accountId)
  await until('delivered', async () => (await read(key)).events[0]!.delivered)
  receiver.behave(status(500))
  expect((await send(`${node.publicUrl}/api/v1/plus/events/replay`, key, { json: { until: (await read(key)).next } })).body.data).toEqual({
    queued: 1,
  })
  await until('posted again', () => receiver.received.length === 2)
  expect((await read(key)).events[0]!.delivered).toBe(true)
  await receiver.close()
})
