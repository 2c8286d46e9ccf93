// Publication periods that end: hidden to the second, expired and notified exactly once, with any number of processes and writers.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expireListings } from '#market/listings/expire-listings.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { endPeriods, found, makeCatalogue, operator, plus, published } from './kit.ts'

let node: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode({ worker: true })
  item = (await makeCatalogue(node)).items.char!
  const webhook = { url: 'http://127.0.0.1:9/never', on_expire: true, on_sale: true }
  const reply = await plus(node, 'PUT', '/webhook', webhook)
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
})

afterAll(() => node.close())

const inAMinute = () => new Date(node.clock.now().getTime() + 60_000)

/** Ids of the listings in the expiry notifications, one for each. */
async function notified(): Promise<number[]> {
  const rows = await node.db.kysely.selectFrom('webhook_events').select('body').where('kind', '=', 'expire').orderBy('id').execute()
  return rows.map((row) => (JSON.parse(String(row.body)) as { data: { listing_id: number } }).data.listing_id)
}

test('a listing disappears from search at the end of its period, before it is expired', async () => {
  node.clock.stop()
  const { id } = await published(node, item, { title: 'Short' }, inAMinute())
  node.clock.advance(59_999)
  expect(await found(node, '?search=short')).toEqual([id])
  node.clock.advance(1)
  expect(await found(node, '?search=short')).toEqual([])
  expect((await operator(node, 'GET', `/listings/${id}`)).body.data.status).toBe('expired')
  const own = await plus<{ id: number }[]>(node, 'GET', '/my-listings?status=expired')
  expect(own.body.data.map((one) => one.id)).toContain(id)
  node.clock.go()
})

test('many concurrent expiry runs, on two nodes, notify once per listing', { tags: 'slow' }, async () => {
  const other = await startTestNode({ databaseUrl: node.databaseUrl, worker: true })
  const listings = await Promise.all(Array.from({ length: 30 }, () => published(node, item, {}, inAMinute())))
  node.clock.advance(60_000)
  other.clock.advance(60_000 * 10)
  const ctx = { ...other.ctx, now: node.clock.now }
  await Promise.all([0, 1, 2, 3, 4, 5].map((i) => expireListings(i % 2 ? node.ctx : ctx)))
  await endPeriods(node)
  const ids = await notified()
  for (const { id } of listings) expect(ids.filter((one) => one === id)).toHaveLength(1)
  const rows = await node.db.kysely
    .selectFrom('listings')
    .select('status')
    .where(
      'id',
      'in',
      listings.map(({ id }) => id),
    )
    .execute()
  expect(new Set(rows.map((row) => row.status))).toEqual(new Set(['expired']))
  await other.close()
})

interface Audited {
  actor: string
  action: string
  before: object
  after: object
}

/** The audit entries of a listing, oldest first. */
async function audited(id: number): Promise<Audited[]> {
  const { body } = await operator<Audited[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}`)
  return body.data.toReversed()
}

test('each expiry is audited once, as done by the system', async () => {
  const end = inAMinute()
  const [swept, edited] = [await published(node, item, {}, end), await published(node, item, {}, end)]
  node.clock.advance(60_000)
  await plus(node, 'PATCH', `/listings/${edited.id}`, { title: 'Edited before the sweep' })
  await Promise.all([expireListings(node.ctx), expireListings(node.ctx)])
  await endPeriods(node)
  const expiry = {
    actor: 'system',
    action: 'listing.expire',
    before: { status: 'active' },
    after: { status: 'expired', expires_at: end.toISOString() },
  }
  const approved = { actor: 'operator:test', action: 'listing.approve' }
  const created = { actor: 'operator:test', action: 'listing.create' }
  expect(await audited(swept.id)).toMatchObject([created, approved, expiry])
  const update = { actor: `account:${node.accounts.plus}`, action: 'listing.update', before: { status: 'expired' }, after: { status: 'pending' } }
  expect(await audited(edited.id)).toMatchObject([created, approved, expiry, update])
})

test('a starting node expires listings whose period ended while none ran', async () => {
  const { id } = await published(node, item, {}, new Date(node.clock.now().getTime() + 60_000))
  const ended = new Date(Date.now() - 1)
  await node.db.kysely.updateTable('listings').set({ expires_at: ended }).where('id', '=', id).execute()
  const other = await startTestNode({ databaseUrl: node.databaseUrl, worker: true })
  await until('the notification', async () => (await notified()).includes(id))
  await other.close()
  await endPeriods(node)
  expect((await notified()).filter((one) => one === id)).toHaveLength(1)
})

test('a write to a listing whose period is over does not lose its notification', async () => {
  const writes: [string, string, object?][] = [
    ['POST', '/listings/ID/status?action=publish'],
    ['PATCH', '/listings/ID', { title: 'Again' }],
    ['DELETE', '/listings/ID'],
    ['PATCH', '/listings/ID/price', { price: 5 }],
    ['POST', '/listings/ID/status?action=pause'],
  ]
  for (const [method, path, body] of writes) {
    const { id } = await published(node, item, {}, inAMinute())
    node.clock.advance(60_000)
    await plus(node, method, path.replace('ID', String(id)), body)
    await endPeriods(node)
    expect(
      (await notified()).filter((one) => one === id),
      `${method} ${path}`,
    ).toHaveLength(1)
  }
})

test('a paused listing does not expire; when published after its period, it becomes pending', async () => {
  const { id } = await published(node, item, {}, inAMinute())
  await plus(node, 'POST', `/listings/${id}/status?action=pause`)
  node.clock.advance(60_000)
  await expireListings(node.ctx)
  expect((await operator(node, 'GET', `/listings/${id}`)).body.data.status).toBe('paused')
  expect((await plus(node, 'POST', `/listings/${id}/status?action=publish`)).body.data.status).toBe('pending')
  expect(await notified()).not.toContain(id)
})

test('an order after the end is rejected', async () => {
  const { id } = await published(node, item, {}, inAMinute())
  node.clock.advance(60_000)
  expect((await operator(node, 'POST', '/orders', { order_id: 77, lines: [{ listing_id: id, quantity: 1 }] })).status).toBe(409)
  await endPeriods(node)
  expect((await notified()).filter((one) => one === id)).toHaveLength(1)
})

test('each line of an order is notified', async () => {
  const { id } = await published(node, item, { quantity: 3, price: 20 })
  const lines = [
    { listing_id: id, quantity: 1 },
    { listing_id: id, quantity: 2, unit_price: 15.5 },
  ]
  expect((await operator(node, 'POST', '/orders', { order_id: 78, lines })).status).toBe(201)
  const rows = await node.db.kysely.selectFrom('webhook_events').select('body').where('kind', '=', 'sale').orderBy('id').execute()
  expect(rows.map((row) => (JSON.parse(String(row.body)) as { data: object }).data)).toEqual([
    {
      order_id: 78,
      listing_id: id,
      item_name: 'Charizard',
      quantity: 1,
      unit_price: 20,
      seller_payout: 18,
      sold_at: expect.stringMatching(/\+03:00$/),
    },
    { order_id: 78, listing_id: id, item_name: 'Charizard', quantity: 2, unit_price: 15.5, seller_payout: 27.9, sold_at: expect.any(String) },
  ])
})
