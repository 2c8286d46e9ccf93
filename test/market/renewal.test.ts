// Renewal of listings: by the transition table in every status, all or nothing, never shorter, and without moving to the top.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../graphql/client.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { DAY_MS, endPeriods, found, inStatus, makeCatalogue, operator, orderId, plus, published, STATUS_LIST, type Status } from './kit.ts'

let node: TestNode
let other: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode()
  other = await startTestNode({ databaseUrl: node.databaseUrl })
  item = (await makeCatalogue(node)).items.char!
})

afterAll(async () => {
  await other.close()
  await node.close()
})

interface Renewed {
  id: number
  status: Status | null
  expires_at: string | null
  refused: { message: string; rule: string } | null
}

const renew = (body: object, headers?: Record<string, string>, on = node) =>
  plus<Renewed[]>(on, 'POST', '/listings/renew', body, { key: node.keys.plus, ...(headers && { headers }) })
const stored = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data
const period = () => node.config.listingPeriodDays * DAY_MS
const inDays = (days: number) => new Date(node.clock.now().getTime() + days * DAY_MS)
/** Milliseconds by which a listing ends later than one period from now. */
const beyond = async (id: number) => Date.parse((await stored(id)).expires_at!) - node.clock.now().getTime() - period()
const AROUND_NOW_MS = 3_600_000

test('each status follows the table: the period is new, and the response equals the stored state', async () => {
  const ids = new Map<Status, number>()
  for (const status of STATUS_LIST) ids.set(status, (await inStatus(node, status, item, { title: `Renewed ${status}` })).id)
  const before = new Map(await Promise.all([...ids].map(async ([status, id]) => [status, await stored(id)] as const)))
  node.clock.advance(DAY_MS)
  const { status: code, body } = await renew({ ids: [...ids.values()] })
  expect([code, body.message, (body as unknown as { more: boolean }).more]).toEqual([200, 'Listings renewed, except those refused', false])
  expect(body.data.map(({ id, status, refused }) => [id, status, refused?.rule ?? null])).toEqual([
    [ids.get('pending'), 'pending', 'not_renewable'],
    [ids.get('active'), 'active', null],
    [ids.get('paused'), 'paused', null],
    [ids.get('rejected'), 'rejected', 'not_renewable'],
    [ids.get('expired'), 'active', null],
    [ids.get('sold'), 'sold', 'listing_sold'],
  ])
  for (const { id, status, expires_at, refused } of body.data) {
    const after = await stored(id)
    expect(after.status).toBe(status)
    expect(expires_at && Date.parse(expires_at)).toBe(after.expires_at && Math.floor(Date.parse(after.expires_at) / 1_000) * 1_000)
    if (refused) expect(after).toEqual(before.get(status!))
    else expect(Math.abs(await beyond(id))).toBeLessThan(AROUND_NOW_MS)
  }
  // Listings that were published keep their position; the expired one is published again.
  expect((await stored(ids.get('active')!)).published_at).toBe(before.get('active')!.published_at)
  expect(await found(node, '?search=renewed')).toEqual([ids.get('expired'), ids.get('active')])
  const { body: log } = await operator<{ action: string; after: object }[]>(
    node,
    'GET',
    `/audit?subject_type=listing&subject_id=${ids.get('expired')}`,
  )
  expect(log.data[0]).toMatchObject({ action: 'listing.renew', before: { status: 'expired' }, after: { status: 'active' } })
})

test('a forecast predicts a renewal, and changes nothing', async () => {
  const ids = await Promise.all(
    (['active', 'expired', 'pending'] as const).map(async (status) => (await inStatus(node, status, item, { title: 'Foreseen' })).id),
  )
  const corrected = await inStatus(node, 'active', item)
  await operator(node, 'PATCH', `/listings/${corrected.id}`, { description: 'Corrected' })
  ids.push(corrected.id)
  await endPeriods(node)
  const before = await Promise.all(ids.map(stored))
  const { status, body } = await plus<(Renewed & { forecast?: object })[]>(
    node,
    'POST',
    '/listings/renew?dry_run=1',
    { ids },
    { key: node.keys.plus },
  )
  expect([status, body.message]).toEqual([200, 'Forecast only; nothing was changed'])
  expect(body.data.map(({ forecast }) => forecast)).toEqual([
    expect.objectContaining({ status: 'active', hidden: false, because: [] }),
    expect.objectContaining({ status: 'active', hidden: false, because: [] }),
    undefined,
    expect.objectContaining({ status: 'pending', hidden: true, because: ['description'] }),
  ])
  expect(await Promise.all(ids.map(stored))).toEqual(before)
  const inGraphql = await ask<{ renewListings: { listings: { forecast: { status: string } | null }[] } }>(
    node,
    `mutation { renewListings(ids: [${ids.join(',')}], dryRun: true) { listings { forecast { status } } } }`,
    { plan: 'plus' },
  )
  expect(inGraphql.data?.renewListings.listings.map(({ forecast }) => forecast?.status ?? null)).toEqual(['active', 'active', null, 'pending'])
  const { body: done } = await renew({ ids })
  expect(done.data.map(({ status }) => status)).toEqual(['active', 'active', 'pending', 'pending'])
})

test('a listing that changed since its approval becomes pending; a new price is no such change', async () => {
  const corrected = await inStatus(node, 'active', item)
  await operator(node, 'PATCH', `/listings/${corrected.id}`, { description: 'Corrected' })
  const cheaper = await inStatus(node, 'expired', item)
  await plus(node, 'PATCH', `/listings/${cheaper.id}/price`, { price: 55 })
  const { body } = await renew({ ids: [corrected.id, cheaper.id] })
  expect(body.data.map(({ status }) => status)).toEqual(['pending', 'active'])
  expect(await stored(corrected.id)).toMatchObject({ status: 'pending', waiting_since: expect.any(String) as string })
  expect(await stored(cheaper.id)).toMatchObject({ price: 55, approved_price: 55 })
  expect(await found(node)).toContain(cheaper.id)
  expect(await found(node)).not.toContain(corrected.id)
})

test('a period that is over is expired first, with its one notification', async () => {
  const webhook = await plus(node, 'PUT', '/webhook', { url: 'http://127.0.0.1:9/never', on_expire: true })
  expect(webhook.status).toBe(200)
  const { id } = await published(node, item, {}, new Date(node.clock.now().getTime() + 60_000))
  node.clock.advance(60_000)
  expect((await renew({ ids: [id] })).body.data[0]).toMatchObject({ status: 'active', refused: null })
  const { rows } = await sql`select from webhook_events where kind = 'expire' and body like ${`%"listing_id":${id},%`}`.execute(node.db.kysely)
  expect(rows).toHaveLength(1)
})

test('a longer period is not shortened, and a vacation is added', async () => {
  const { id } = await published(node, item, {}, inDays(node.config.listingPeriodDays + 20))
  const end = (await stored(id)).expires_at
  expect((await renew({ ids: [id] })).body.data[0]!.status).toBe('active')
  expect((await stored(id)).expires_at).toBe(end)
  const usual = await published(node, item)
  await plus(node, 'PUT', '/vacation', { from: inDays(1).toISOString(), to: inDays(6).toISOString() })
  await renew({ ids: [usual.id] })
  expect(Math.abs((await beyond(usual.id)) - 5 * DAY_MS)).toBeLessThan(AROUND_NOW_MS)
  await plus(node, 'DELETE', '/vacation')
  expect(Math.abs(await beyond(usual.id))).toBeLessThan(AROUND_NOW_MS)
})

test('by days: renewable listings that end within them, the next to end first, up to a thousand', async () => {
  await sql`update listings set expires_at = ${inDays(100)} where seller_id = ${node.accounts.plus}`.execute(node.db.kysely)
  const [second, first, third] = [
    await published(node, item, {}, inDays(2)),
    await inStatus(node, 'paused', item),
    await published(node, item, {}, inDays(8)),
  ]
  await sql`update listings set expires_at = ${inDays(1)} where id = ${first.id}`.execute(node.db.kysely)
  await published(node, item, { seller_id: node.accounts.enterprise }, inDays(1))
  const sold = await published(node, item, {}, inDays(1))
  await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: sold.id, quantity: 1 }] })
  const { body } = await renew({ ending_within_days: 7 })
  expect(body.data.map(({ id, status }) => [id, status])).toEqual([
    [first.id, 'paused'],
    [second.id, 'active'],
  ])
  expect((await renew({ ending_within_days: 7 })).body.data).toEqual([])
  expect((await renew({ ending_within_days: 8 })).body.data.map(({ id }) => id)).toEqual([third.id])

  await sql`
    insert into listings (seller_id, item_id, label_id, title, price, quantity, status, approved, approved_price, approved_at, published_at, expires_at,
      created_at, updated_at)
    select seller_id, item_id, label_id, title, price, quantity, status, approved, approved_price, approved_at, published_at,
      ${inDays(3)}::timestamptz + make_interval(secs => n), created_at, updated_at
    from listings, generate_series(1, 1002) n where id = ${second.id}`.execute(node.db.kysely)
  const many = await renew({ ending_within_days: 7 })
  expect([many.body.data.length, (many.body as unknown as { more: boolean }).more]).toEqual([1_000, true])
  const rest = await renew({ ending_within_days: 7 })
  expect([rest.body.data.length, rest.body.message, (rest.body as unknown as { more: boolean }).more]).toEqual([2, 'Listings renewed', false])
})

test('others’ listings and unknown ids are rejected by id, and a repeated id counts once', async () => {
  const own = await published(node, item)
  const theirs = await published(node, item, { seller_id: node.accounts.enterprise })
  const end = (await stored(theirs.id)).expires_at
  const { body } = await renew({ ids: [theirs.id, own.id, 999_999, own.id, 2 ** 40, -1] })
  expect(body.data.map(({ id, status, refused }) => [id, status, refused?.rule ?? null])).toEqual([
    [theirs.id, null, 'not_owner'],
    [own.id, 'active', null],
    [999_999, null, 'not_found'],
    [2 ** 40, null, 'not_found'],
    [-1, null, 'not_found'],
  ])
  expect((await stored(theirs.id)).expires_at).toBe(end)
})

test('over GraphQL as over REST', async () => {
  const ids = [(await published(node, item)).id, (await inStatus(node, 'rejected', item)).id]
  const document = `mutation { renewListings(ids: [${ids.join(', ')}]) { message more listings { id status expiresAt refused { message rule } } } }`
  const { data } = await ask<{ renewListings: { message: string; more: boolean; listings: object[] } }>(node, document, { plan: 'plus' })
  const { body } = await renew({ ids })
  expect(data.renewListings.message).toBe(body.message)
  expect(data.renewListings.listings).toMatchObject(
    body.data.map(({ id, status, refused }) => ({ id: String(id), status, refused: refused && { message: refused.message, rule: refused.rule } })),
  )
  const byDays = await ask<{ renewListings: { listings: object[] } }>(node, 'mutation { renewListings(endingWithinDays: 1) { listings { id } } }', {
    plan: 'plus',
  })
  expect(byDays.data.renewListings.listings).toEqual([])
})

test('a repeat with its key returns the same response and changes nothing', async () => {
  const { id } = await published(node, item)
  const headers = { 'idempotency-key': 'renew once' }
  const first = await renew({ ids: [id] }, headers)
  const end = (await stored(id)).expires_at
  node.clock.advance(DAY_MS)
  expect((await renew({ ids: [id] }, headers)).body).toEqual(first.body)
  expect((await stored(id)).expires_at).toBe(end)
})

test.each<[string, object, string]>([
  ['nothing', {}, 'ids exactly_one'],
  ['both', { ids: [1], ending_within_days: 1 }, 'ids exactly_one'],
  ['no id', { ids: [] }, 'ids list'],
  ['too many', { ids: Array.from({ length: 1_001 }, (_, i) => i) }, 'ids list'],
  ['no number', { ids: ['1'] }, 'ids.0 integer'],
  ['no days', { ending_within_days: 0 }, 'ending_within_days integer'],
  ['too many days', { ending_within_days: 366 }, 'ending_within_days integer'],
  ['something else', { ids: [1], days: 1 }, 'days unknown_field'],
])('rejected: %s', async (_what, body, refusal) => {
  const { status, body: answer } = await renew(body)
  const details = answer.error?.details?.map(({ field, rule }) => `${field} ${rule}`)
  expect([status, answer.error?.code, details]).toEqual([422, 'PLUS_LISTING_ERROR', [refusal]])
})

test('with concurrent renewals, sales, edits and vacations on two nodes, none fails, and sold listings stay sold', async () => {
  const listings = await Promise.all(Array.from({ length: 12 }, () => published(node, item, { quantity: 1 })))
  const ids = listings.map(({ id }) => id)
  const own = { key: node.keys.plus }
  const replies = await Promise.all([
    ...[node, other, node, other].map((on, i) => renew({ ids: i % 2 ? ids.toReversed() : ids }, undefined, on)),
    ...ids.slice(0, 4).map((id) => operator(other, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] })),
    ...ids.slice(4, 8).map((id) => plus(other, 'PATCH', `/listings/${id}`, { title: 'Edited' }, own)),
    plus(other, 'PUT', '/vacation', { from: inDays(1).toISOString(), to: inDays(2).toISOString() }, own),
    renew({ ending_within_days: 60 }),
  ])
  expect(replies.filter(({ status }) => status >= 300).map(({ body }) => body)).toEqual([])
  const after = await Promise.all(ids.map(async (id) => (await stored(id)).status))
  expect(after).toEqual([...Array<string>(4).fill('sold'), ...Array<string>(4).fill('pending'), ...Array<string>(4).fill('active')])
  for (const id of ids.slice(8)) expect(Math.abs((await beyond(id)) - DAY_MS)).toBeLessThan(AROUND_NOW_MS)
  await plus(node, 'DELETE', '/vacation')
})
