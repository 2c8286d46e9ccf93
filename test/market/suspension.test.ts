// A suspended account: its listings are hidden on every node and cannot be sold, its webhooks are paused, and resuming restores everything.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { addCredits } from '#accounts/add-credits.ts'
import { call } from '#core/verb.ts'
import { ListingSnapshot } from '#market/snapshot/listings.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { openReceiver, type Receiver } from '../webhooks/receiver.ts'
import { found, makeCatalogue, operator, orderId, plus, published, search } from './kit.ts'

let node: TestNode
let other: TestNode
let item: number
let seller: number

beforeAll(async () => {
  node = await startTestNode({ worker: true })
  other = await startTestNode({ databaseUrl: node.databaseUrl, worker: true })
  item = (await makeCatalogue(node)).items.char!
  seller = node.accounts.plus
})

afterEach(async () => {
  await operator(node, 'PATCH', `/accounts/${seller}`, { suspended: false, plan: 'plus' })
  await other.ctx.caughtUp()
})

afterAll(async () => {
  await other.close()
  await node.close()
})

const suspended = (value: boolean) => operator(node, 'PATCH', `/accounts/${seller}`, { suspended: value })
const order = (on: TestNode, id: number) => operator(on, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] })
const asOther = (on: TestNode, query: string) => plus<{ id: number }[]>(on, 'GET', `/listings${query}`, undefined, { key: node.keys.enterprise })
const foundBy = async (on: TestNode, query: string) => (await asOther(on, query)).body.data.map(({ id }) => id)
/** The listings of a node that starts now. */
const loaded = async () => {
  const listings = new ListingSnapshot({ db: node.db, catalogue: node.catalogue, now: node.clock.now, timeZone: 'UTC', readyBytesMb: 64 })
  await listings.load()
  return listings
}

test('listings are hidden at once, on every node and on one that starts, and restored unchanged', async () => {
  await call(addCredits, node.ctx, { id: seller, amount: 1 })
  const ids = [(await published(node, item, { title: 'Hidden one' })).id, (await published(node, item, { title: 'Hidden two' })).id]
  const visible = await published(node, item, { seller_id: node.accounts.enterprise, title: 'Hidden not' })
  await plus(node, 'POST', '/make-highlight', { id: ids[0] })
  const all = [ids[0]!, visible.id, ids[1]!]
  expect(await found(node, '?search=hidden')).toEqual(all)
  const before = (await asOther(node, '?search=hidden')).body

  await suspended(true)
  expect(await foundBy(node, '?search=hidden')).toEqual([visible.id])
  expect((await asOther(node, '?search=hidden')).body.pagination).toMatchObject({ total: 1 })
  expect(await foundBy(node, `?seller_name=${encodeURIComponent('Test plus')}`)).toEqual([])
  await until('the other node hides them', async () => (await foundBy(other, '?search=hidden')).length === 1)
  const fresh = await loaded()
  expect(fresh.size).toBe(node.listings.size)

  // Changes during the suspension do not show the listings: a correction, an approval, a price of the item.
  await operator(node, 'PATCH', `/listings/${ids[0]}`, { language: 'tr' })
  const approved = await published(node, item, { title: 'Hidden three' })
  expect(await foundBy(node, '?search=hidden')).toEqual([visible.id])

  await suspended(false)
  expect(await foundBy(node, '?search=hidden')).toEqual([ids[0], approved.id, visible.id, ids[1]])
  await until('the other node shows them', async () => (await foundBy(other, '?search=hidden')).length === 4)
  const after = (await asOther(node, '?search=hidden')).body
  expect(after.data.filter(({ id }) => id !== approved.id)).toEqual(before.data)
  expect((await search(node, '?search=hidden')).body.pagination).toMatchObject({ total: 4 })
})

test('the operator sees them counted separately', async () => {
  const stats = async () =>
    (await operator<{ listings: { active: number }; listings_hidden: number; accounts: { suspended: number } }>(node, 'GET', '/stats')).body.data
  await published(node, item)
  const before = await stats()
  await suspended(true)
  const rows = await node.db.kysely.selectFrom('listings').select('id').where('seller_id', '=', seller).where('status', '=', 'active').execute()
  const after = await stats()
  expect(before.listings_hidden).toBe(0)
  expect(after).toMatchObject({ listings_hidden: rows.length, accounts: { suspended: 1 } })
  expect(after.listings.active).toBe(before.listings.active - rows.length)
})

test('they cannot be sold: the whole order is rejected, and succeeds after the account is resumed', async () => {
  const { id } = await published(node, item, { quantity: 2 })
  const ofOther = await published(node, item, { seller_id: node.accounts.enterprise })
  await suspended(true)
  const mixed = {
    order_id: orderId(),
    lines: [
      { listing_id: ofOther.id, quantity: 1 },
      { listing_id: id, quantity: 1 },
    ],
  }
  expect(await operator(other, 'POST', '/orders', mixed)).toMatchObject({
    status: 409,
    body: { error: { code: 'CONFLICT', rule: 'seller_suspended', params: { id } } },
  })
  expect((await operator(node, 'GET', `/listings/${ofOther.id}`)).body.data.status).toBe('active')
  await suspended(false)
  expect((await operator(other, 'POST', '/orders', mixed)).status).toBe(201)
})

test('an order concurrent with a suspension waits for it and is rejected', async () => {
  const { id } = await published(node, item)
  const suspending = await node.db.kysely.startTransaction().execute()
  await suspending.updateTable('accounts').set({ suspended: true }).where('id', '=', seller).execute()
  let answered = false
  const ordered = order(other, id).finally(() => (answered = true))
  await until('the order waits', async () => {
    const waiting = await node.db.kysely.selectFrom('listings').select('id').where('id', '=', id).forUpdate().skipLocked().execute()
    return waiting.length === 0
  })
  expect(answered).toBe(false)
  await suspending.commit().execute()
  expect((await ordered).status).toBe(409)
  await node.db.kysely.updateTable('accounts').set({ suspended: false }).where('id', '=', seller).execute()
})

test('with concurrent orders, highlights and suspensions on two nodes, none fails, and nothing is sold after a suspension', async () => {
  await call(addCredits, node.ctx, { id: seller, amount: 20 })
  const listings = await Promise.all(Array.from({ length: 4 }, () => published(node, item, { quantity: 1_000 })))
  for (let round = 0; round < 4; round += 1) {
    const nodes = [node, other]
    const orders = Array.from({ length: 16 }, (_, i) => {
      const lines = listings.map((listing) => ({ listing_id: listing.id, quantity: 1 }))
      return operator(nodes[i % 2]!, 'POST', '/orders', { order_id: orderId(), lines: i % 3 ? lines : lines.reverse() })
    })
    const highlights = listings.map((listing, i) => plus(nodes[i % 2]!, 'POST', '/make-highlight', { id: listing.id }))
    const suspending = suspended(true).then(() => order(other, listings[0]!.id))
    expect((await suspending).status).toBe(409)
    expect((await Promise.all(orders)).filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
    expect((await Promise.all(highlights)).filter(({ status }) => status >= 500)).toEqual([])
    await suspended(false)
    await other.ctx.caughtUp()
  }
})

test('periods continue: listings that end meanwhile expire, and are not shown again', async () => {
  const { id } = await published(node, item, {}, new Date(node.clock.now().getTime() + 60_000))
  await suspended(true)
  node.clock.advance(60_000)
  other.clock.advance(60_000)
  await suspended(false)
  expect((await operator(node, 'GET', `/listings/${id}`)).body.data.status).toBe('expired')
  expect(await foundBy(node, '')).not.toContain(id)
})

test('a downgraded account keeps its listings published, purchasable and notified', async () => {
  const receiver = await openReceiver()
  try {
    expect((await plus(node, 'PUT', '/webhook', { url: receiver.url, on_sale: true })).status).toBe(200)
    const { id } = await published(node, item, { title: 'Downgraded' })
    await operator(node, 'PATCH', `/accounts/${seller}`, { plan: 'starter' })
    expect((await plus(node, 'GET', '/listings')).status).toBe(403)
    expect(await foundBy(node, '?search=downgraded')).toEqual([id])
    expect((await order(node, id)).status).toBe(201)
    await until('the notification', () => receiver.received.length === 1)
    const delivered = async () => (await operator(node, 'GET', `/webhook-events?account_id=${seller}&state=delivered`)).body.pagination!.total
    await until('its record', async () => (await delivered()) === 1)
  } finally {
    await receiver.close()
  }
})

test('webhooks pause: no attempt is made or counted until the account is resumed', async () => {
  const receiver: Receiver = await openReceiver()
  try {
    expect((await plus(node, 'PUT', '/webhook', { url: receiver.url, on_sale: true, on_expire: true })).status).toBe(200)
    const { id } = await published(node, item, {}, new Date(node.clock.now().getTime() + 60_000))
    await suspended(true)
    node.clock.advance(60_000)
    other.clock.advance(60_000)
    const events = async () =>
      (
        await operator<{ id: number; state: string; attempts: number; body: { data: { listing_id: number } } }[]>(
          node,
          'GET',
          `/webhook-events?account_id=${seller}&event=expire`,
        )
      ).body.data
    const own = async () => (await events()).find((event) => event.body.data.listing_id === id)
    await node.runTask('listing-expiry')
    await until('the period ends', async () => (await own()) !== undefined)
    // Another seller's notification is sent meanwhile, which shows that the workers have run.
    const busy = await openReceiver()
    await plus(node, 'PUT', '/webhook', { url: busy.url, on_sale: true }, { key: node.keys.enterprise })
    const others = await published(node, item, { seller_id: node.accounts.enterprise })
    await order(node, others.id)
    await until('the notification of another seller', () => busy.received.length === 1)
    await busy.close()
    expect(await own()).toMatchObject({ state: 'queued', attempts: 0 })
    // Listings of earlier tests may have expired before the suspension.
    expect(receiver.received.map(({ body }) => body.toString()).filter((body) => body.includes(`"listing_id":${id},`))).toEqual([])
    expect(await operator(node, 'POST', `/accounts/${seller}/webhook/test`, { event: 'sale' })).toMatchObject({
      status: 409,
      body: { error: { rule: 'account_suspended' } },
    })
    // The other seller's attempt is recorded a moment after its receipt.
    const oldest = async () =>
      (await operator<{ waiting_since: { webhook_event: string | null } }>(node, 'GET', '/stats')).body.data.waiting_since.webhook_event
    await until('nothing but what is held back waits', async () => (await oldest()) === null)
    await suspended(false)
    await until('the notification', () => receiver.received.some(({ body: sent }) => sent.includes(`"listing_id":${id},`)))
    await until('its record', async () => (await own())?.state === 'delivered')
    expect(await own()).toMatchObject({ attempts: 1 })
  } finally {
    await receiver.close()
  }
})
