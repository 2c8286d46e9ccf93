// Watches of prices and offers: told once a day, only by trusted prices and real offers, and never twice or not at all, whatever happens to nodes.
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PriceState } from '#prices/evidence/evidence-types.ts'
import { followChanges } from '#watches/follow-changes.ts'
import { tellItems } from '#watches/tell-watches.ts'
import { DAY_MS, operator, orderId, pending, plus, published } from '../market/kit.ts'
import { setEvidence } from '../support/evidence.ts'
import type { TestNode } from '../support/node.ts'
import { below, events, newItem, newItems, setPrice, toldPrices, twoNodes, wanted, type Watch, watch, watching } from './kit.ts'

let node: TestNode
let other: TestNode

const { nodes, advance } = twoNodes()
beforeAll(() => {
  ;[node, other] = nodes()
})

const nextDay = () => advance(DAY_MS)
const usd = (price: string) => [{ market: 'source_a', price } as const]

describe('a price', () => {
  test('is told with what met the condition, and only in the feed', async () => {
    await plus(node, 'PUT', '/webhook', { url: 'https://shop.example/hook', on_sale: true, on_expire: true }, { key: node.keys.enterprise })
    const item = await newItem(node, [...usd('90.00'), { market: 'source_c', price: '80.50' }, { market: 'source_b', price: '10.00' }])
    const { id } = await below(node, item, 80.5)
    await followChanges(node.ctx)
    const told = (await events(node)).filter((event) => event.watch_id === id)
    expect(told).toEqual([
      {
        watch_id: id,
        kind: 'price_below',
        item_id: item,
        item_name: expect.stringMatching(/^Card /),
        label: 'Near Mint',
        amount: 80.5,
        price: 80.5,
        currency: 'USD',
        market: 'source_c',
        listing_id: null,
      },
    ])
    const stored = await node.db.kysely.selectFrom('webhook_events').select(['state', 'attempts']).where('kind', '=', 'watch').execute()
    expect(stored.every(({ state, attempts }) => state === 'cancelled' && attempts === 0)).toBe(true)
    expect((await watching(node, 'GET', `/${id}`)).body.data.told_on).toMatch(/^\d{4}-\d\d-\d\d$/)
  })

  test('above the amount is told by a watch for that', async () => {
    const item = await newItem(node, usd('99.99'))
    const { id } = await below(node, item, 100, { kind: 'price_above' })
    expect(await toldPrices(node, { id })).toEqual([])
    await setPrice(node, item, '100.00')
    expect(await toldPrices(node, { id })).toEqual([100])
  })

  test.each(['disputed', 'stale', 'unproven'] as const)('that is %s is told only once it is trusted', async (state: PriceState) => {
    const item = await newItem(node, usd('50.00'))
    const key = { itemId: item, market: 'source_a', label: 'Near Mint' } as const
    await setEvidence(node, key, { state })
    const { id } = await below(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([])
    await setEvidence(node, key, { state: 'trusted' })
    expect(await toldPrices(node, { id })).toEqual([50])
  })

  test('of another label, another currency or an internal source is not told', async () => {
    const item = await newItem(node, [
      { market: 'source_a', label: 'PSA 10', price: '1.00' },
      { market: 'source_b', price: '1.00' },
    ])
    const { id } = await below(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([])
    const secret = await newItem(node, [{ market: 'source_c', price: '5.00' }])
    expect((await operator(node, 'PATCH', '/sources/source_c', { use: 'internal' })).status).toBe(200)
    const hidden = await below(node, secret, 60)
    expect(await toldPrices(node, hidden)).toEqual([])
    await operator(node, 'PATCH', '/sources/source_c', { use: 'show' })
    expect(await toldPrices(node, hidden)).toEqual([5])
  })
})

describe('an offer', () => {
  test('is told once it is approved, to everyone but its seller', async () => {
    const item = await newItem(node)
    const { id } = await wanted(node, item, 100)
    const own = await wanted(node, item, 100, {}, node.keys.plus)
    const listing = await pending(node, item, { price: 99.5, language: 'EN' })
    expect(await toldPrices(node, { id })).toEqual([])
    await operator(node, 'POST', `/listings/${listing.id}/approve`)
    expect(await toldPrices(node, { id })).toEqual([99.5])
    expect((await events(node)).find((event) => event.watch_id === id)).toMatchObject({
      label: 'Near Mint',
      currency: 'TRY',
      market: null,
      listing_id: listing.id,
    })
    expect(await toldPrices(node, own, node.keys.plus)).toEqual([])
  })

  test('is told when its price alone falls to the amount', async () => {
    const item = await newItem(node)
    const listing = await published(node, item, { price: 120 })
    const { id } = await wanted(node, item, 100)
    expect(await toldPrices(node, { id })).toEqual([])
    expect((await plus(node, 'PATCH', `/listings/${listing.id}`, { price: 99 })).status).toBe(200)
    expect(await toldPrices(node, { id })).toEqual([99])
  })

  test('above the amount, of another condition or language is not told', async () => {
    const item = await newItem(node)
    const watches = [
      await wanted(node, item, 99.99),
      await wanted(node, item, 500, { label: 'PSA 10' }),
      await wanted(node, item, 500, { language: 'tr' }),
      await wanted(node, item, 500, { label: 'NM', language: 'en' }),
      await wanted(node, item, 500, { label: 'Ungraded' }),
    ]
    await published(node, item, { price: 100, language: 'EN' })
    await followChanges(node.ctx)
    const told = (await events(node)).filter((event) => event.item_id === item).map((event) => event.watch_id)
    // Near Mint and Ungraded are the same for listings, so these are one watch in any language, and one in English.
    expect(told).toEqual([watches[3]!.id, watches[4]!.id])
  })

  test('is not told while it is paused, out of stock or sold', async () => {
    const item = await newItem(node)
    const listing = await published(node, item, { price: 50, quantity: 1 })
    await plus(node, 'POST', `/listings/${listing.id}/status?action=pause`)
    const { id } = await wanted(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([])
    await plus(node, 'PATCH', `/listings/${listing.id}`, { quantity: 0 })
    await plus(node, 'POST', `/listings/${listing.id}/status?action=publish`)
    expect(await toldPrices(node, { id })).toEqual([])
    await plus(node, 'PATCH', `/listings/${listing.id}`, { quantity: 1 })
    const order = await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: listing.id, quantity: 1 }] })
    expect([order.status, await toldPrices(node, { id })]).toEqual([201, []])
  })

  test('is told when the vacation of its seller ends, by time or at once', async () => {
    const item = await newItem(node)
    await published(node, item, { price: 50 })
    await plus(node, 'PUT', '/vacation', { to: new Date(node.clock.now().getTime() + 60_000).toISOString() })
    const { id } = await wanted(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([])
    advance(61_000)
    expect(await toldPrices(node, { id })).toEqual([50])
    await plus(node, 'PUT', '/vacation', { to: new Date(node.clock.now().getTime() + 60_000).toISOString() })
    const later = await wanted(node, item, 55, { label: 'NM' })
    expect(await toldPrices(node, later)).toEqual([])
    await plus(node, 'DELETE', '/vacation')
    expect(await toldPrices(node, later)).toEqual([50])
  })

  test('of a suspended seller is told once the account is resumed', async () => {
    const item = await newItem(node)
    await published(node, item, { price: 50 })
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { suspended: true })
    const { id } = await wanted(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([])
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { suspended: false })
    expect(await toldPrices(node, { id })).toEqual([50])
  })
})

describe('a watch is told', () => {
  test('at most once a day; on the next day only if something else meets it', async () => {
    const item = await newItem(node, usd('50.00'))
    const { id } = await below(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([50])
    await setPrice(node, item, '49.00')
    expect(await toldPrices(node, { id })).toEqual([50])
    nextDay()
    expect(await toldPrices(node, { id })).toEqual([50, 49])
    nextDay()
    await setEvidence(node, { itemId: item, market: 'source_a', label: 'Near Mint' }, { state: 'trusted', avg7: 4_900 })
    expect(await toldPrices(node, { id })).toEqual([50, 49])
    nextDay()
    await setPrice(node, item, '48.00')
    expect(await toldPrices(node, { id })).toEqual([50, 49, 48])
  })

  test('again when it is met again, by the same price on a later day', async () => {
    const item = await newItem(node, usd('50.00'))
    const { id } = await below(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([50])
    await setPrice(node, item, '61.00')
    await followChanges(node.ctx)
    await setPrice(node, item, '50.00')
    expect(await toldPrices(node, { id })).toEqual([50])
    nextDay()
    expect(await toldPrices(node, { id })).toEqual([50, 50])
    await setPrice(node, item, '61.00')
    await followChanges(node.ctx)
    nextDay()
    expect(await toldPrices(node, { id })).toEqual([50, 50])
  })

  test('at most once a day, even if it is deleted and created again or changed', async () => {
    const item = await newItem(node, usd('50.00'))
    const { id } = await below(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([50])
    expect((await watching(node, 'DELETE', `/${id}`)).status).toBe(200)
    expect((await watching(node, 'GET', `/${id}`)).status).toBe(404)
    expect((await watching(node, 'DELETE', `/${id}`)).status).toBe(404)
    expect((await below(node, item, 60)).id).toBe(id)
    expect(await toldPrices(node, { id })).toEqual([50])
    await watching(node, 'PUT', `/${id}`, { amount: 70 })
    expect(await toldPrices(node, { id })).toEqual([50])
    nextDay()
    expect(await toldPrices(node, { id })).toEqual([50, 50])
    await watching(node, 'DELETE', `/${id}`)
    nextDay()
    await followChanges(node.ctx)
    expect((await below(node, item, 60)).id).not.toBe(id)
  })

  test('of the next listing once the told one is deleted', async () => {
    const item = await newItem(node)
    const { id } = await wanted(node, item, 90)
    const first = await published(node, item, { seller_id: node.accounts.plus, price: 50 })
    await published(node, item, { seller_id: node.accounts.plus, price: 60 })
    expect(await toldPrices(node, { id })).toEqual([50])
    nextDay()
    expect((await plus(node, 'DELETE', `/listings/${first.id}`)).status).toBe(200)
    expect(await toldPrices(node, { id })).toEqual([50, 60])
  })

  test('only while its account has a plan with watches and is not suspended', async () => {
    const item = await newItem(node, usd('50.00'))
    const account = `/accounts/${node.accounts.enterprise}`
    const { id } = await below(node, item, 60)
    await operator(node, 'PATCH', account, { plan: 'professional' })
    await followChanges(node.ctx)
    expect((await watching(node, 'GET', `/${id}`)).status).toBe(403)
    await operator(node, 'PATCH', account, { plan: 'enterprise', suspended: true })
    await followChanges(node.ctx)
    await operator(node, 'PATCH', account, { plan: 'professional', suspended: false })
    await followChanges(node.ctx)
    await operator(node, 'PATCH', account, { plan: 'enterprise' })
    expect((await events(node)).filter((event) => event.watch_id === id)).toEqual([])
    expect(await toldPrices(node, { id })).toEqual([50])
  })

  test('once by two nodes that compare the same items at the same time', async () => {
    const items = await newItems(
      node,
      Array.from({ length: 20 }, () => usd('50.00')),
    )
    const rows = items.map((item_id) => ({ kind: 'price_below', item_id, label: 'Near Mint', amount: 60, currency: 'USD' }))
    await watching(node, 'PUT', '', rows)
    await Promise.all([node, other, node, other].map(({ ctx }) => tellItems(ctx, items)))
    await Promise.all([node, other].map(({ ctx }) => followChanges(ctx)))
    const told = (await events(node)).filter((event) => items.includes(event.item_id)).map((event) => event.item_id)
    expect(told.sort((a, b) => a - b)).toEqual(items)
  })
})

describe('an item that thousands watch', () => {
  test('is told in several transactions to each of them once, by two nodes at the same time', { tags: 'slow' }, async () => {
    const item = await newItem(node)
    await sql`
      with watchers as (insert into accounts (name, plan) select 'Watcher ' || n, 'plus' from generate_series(1, 4500) n returning id)
      insert into watches (account_id, kind, item_id, amount, currency, created_at, updated_at)
      select id, 'offer_below', ${item}, 100, 'TRY', now(), now() from watchers`.execute(node.db.kysely)
    const listing = await published(node, item, { price: 50 })
    await Promise.all([node, other].flatMap(({ ctx }) => [tellItems(ctx, [item]), followChanges(ctx)]))
    await followChanges(node.ctx)
    const counted = async () => {
      const { rows } = await sql<{ events: number; accounts: number }>`
        select count(*)::int4 as events, count(distinct account_id)::int4 as accounts from webhook_events
        where kind = 'watch' and (body::jsonb #>> '{data,listing_id}')::int4 = ${listing.id}`.execute(node.db.kysely)
      return rows[0]
    }
    expect(await counted()).toEqual({ events: 4_500, accounts: 4_500 })
    // A seller who takes the offer away and offers it again for less reaches nobody again on this day.
    await plus(node, 'POST', `/listings/${listing.id}/status?action=pause`)
    await followChanges(node.ctx)
    await plus(node, 'PATCH', `/listings/${listing.id}`, { price: 40 })
    await plus(node, 'POST', `/listings/${listing.id}/status?action=publish`)
    await followChanges(node.ctx)
    expect(await counted()).toEqual({ events: 4_500, accounts: 4_500 })
    await sql`delete from watches where item_id = ${item}`.execute(node.db.kysely)
  })
})

test('the day of an event is that of the time zone of the service', { tags: 'slow' }, async () => {
  const item = await newItem(node, usd('50.00'))
  const { id } = await below(node, item, 60)
  // Midnight in Istanbul is 21:00 UTC.
  const sinceMidnight = (node.clock.now().getTime() + 3 * 60 * 60_000) % DAY_MS
  advance(DAY_MS - sinceMidnight - 60_000)
  expect(await toldPrices(node, { id })).toEqual([50])
  await setPrice(node, item, '49.00')
  expect(await toldPrices(node, { id })).toEqual([50])
  // The clocks of the two nodes differ by seconds.
  advance(20 * 60_000)
  expect(await toldPrices(node, { id })).toEqual([50, 49])
})

test('amounts that change while their watches are compared lose no event and write no second one', { tags: 'slow' }, async () => {
  const items = await newItems(
    node,
    Array.from({ length: 10 }, () => usd('50.00')),
  )
  const watches = []
  for (const item of items) watches.push(await below(node, item, 10))
  await followChanges(node.ctx)
  await Promise.all(watches.flatMap(({ id }, i) => [watching(node, 'PUT', `/${id}`, { amount: 60 }), tellItems((i % 2 ? node : other).ctx, items)]))
  await followChanges(node.ctx)
  const told = (await events(node)).filter((event) => items.includes(event.item_id)).map((event) => event.item_id)
  expect(told.sort((a, b) => a - b)).toEqual(items)
})

describe('no watch is lost or told twice', () => {
  const progress = () => node.db.kysely.selectFrom('watch_progress').select(['position', 'last_seq', 'server']).executeTakeFirstOrThrow()

  test('if a node repeats changes, or another one takes over', async () => {
    const item = await newItem(node, usd('70.00'))
    const { id } = await below(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([])
    const before = await progress()
    await setPrice(node, item, '59.00')
    expect(await toldPrices(node, { id })).toEqual([59])
    // As if the node had died before it stored the position.
    await node.db.kysely
      .updateTable('watch_progress')
      .set({ ...before, lease_until: null })
      .execute()
    expect(await toldPrices(other, { id }, node.keys.enterprise)).toEqual([59])
    nextDay()
    await node.db.kysely
      .updateTable('watch_progress')
      .set({ ...before, lease_until: null })
      .execute()
    expect(await toldPrices(node, { id })).toEqual([59])
    // A node that holds the lease leaves nothing to do for others, until it ends.
    await setPrice(node, item, '58.00')
    await sql`update watch_progress set lease_until = clock_timestamp() + interval '1 hour'`.execute(node.db.kysely)
    expect(await toldPrices(other, { id }, node.keys.enterprise)).toEqual([59])
    await sql`update watch_progress set lease_until = clock_timestamp() - interval '1 second'`.execute(node.db.kysely)
    expect(await toldPrices(other, { id }, node.keys.enterprise)).toEqual([59, 58])
  })

  test.each([
    ['the log no longer has all changes', sql`update change_log_floor set xact = pg_snapshot_xmin(pg_current_snapshot())`],
    ['another database server took over', sql`update watch_progress set server = 'another'`],
    ['the position is missing', sql`update watch_progress set position = null`],
  ])('if %s', async (_case, event) => {
    const item = await newItem(node, usd('70.00'))
    const { id } = await below(node, item, 60)
    expect(await toldPrices(node, { id })).toEqual([])
    await setPrice(node, item, '59.00')
    const told = (await events(node)).length
    await event.execute(node.db.kysely)
    expect(await toldPrices(node, { id })).toEqual([59])
    expect((await events(node)).length).toBe(told + 1)
  })
})

describe('items that are merged and deleted', () => {
  test('a watch follows the merge and comes back; of two equal ones, that of the surviving item stays', async () => {
    const [from, into] = (await newItems(node, [[], usd('50.00')])) as [number, number]
    const moved = await below(node, from, 60)
    const both = [await wanted(node, from, 30), await wanted(node, into, 40)] as const
    const { body } = await operator<{ batch_id: number }>(node, 'POST', `/items/${from}/merge`, { into })
    expect(await toldPrices(node, moved)).toEqual([50])
    const left = async (item: number) => (await watching<Watch[]>(node, 'GET', `?item_id=${item}`)).body.data.map(({ id }) => id)
    expect(await left(from)).toEqual([both[1].id, moved.id])
    // A watch of the old id is one of the surviving item.
    expect(await below(node, from, 60)).toMatchObject({ id: moved.id, item_id: into })
    expect((await operator(node, 'POST', `/batches/${body.data.batch_id}/revert`)).status).toBe(200)
    expect([await left(from), await left(into)]).toEqual([[moved.id], [both[1].id]])
  })

  test('a watch is deleted with its item', async () => {
    const item = await newItem(node)
    const { id } = await wanted(node, item, 30)
    await node.db.kysely.deleteFrom('items').where('id', '=', item).execute()
    expect((await watching(node, 'GET', `/${id}`)).status).toBe(404)
  })
})

describe('requests', () => {
  test('PUT is idempotent, changes amounts, and answers in the order of the rows; the last of equal rows counts', async () => {
    const [a, b] = (await newItems(node, [[], []])) as [number, number]
    const row = (item_id: number, amount: number, fields: object = {}) => ({ kind: 'offer_below', item_id, amount, ...fields })
    const first = (await watching<Watch[]>(node, 'PUT', '', [row(b, 5), row(a, 6, { label: 'psa10' }), row(b, 7)])).body.data
    expect(first.map(({ item_id, label, amount, currency }) => [item_id, label, amount, currency])).toEqual([
      [b, null, 7, 'TRY'],
      [a, 'PSA 10', 6, 'TRY'],
      [b, null, 7, 'TRY'],
    ])
    advance(2_000)
    expect((await watching<Watch[]>(node, 'PUT', '', [row(b, 7), row(a, 6, { label: 'PSA 10' })])).body.data).toEqual([first[0], first[1]])
    const changed = (await watching<Watch[]>(node, 'PUT', '', row(b, 8))).body.data[0]!
    expect(changed).toMatchObject({ id: first[0]!.id, amount: 8 })
    expect(changed.updated_at).not.toBe(first[0]!.updated_at)
    const page = await watching<Watch[]>(node, 'GET', `?item_id=${a}&kind=offer_below`)
    expect([page.body.data, page.body.pagination?.total]).toEqual([[first[1]], 1])
    expect((await watching(node, 'PUT', `/${first[1]!.id}?dry_run=1`, { amount: 9 })).body.data.amount).toBe(9)
    expect((await watching<Watch[]>(node, 'PUT', '?dry_run=1', row(a, 9, { label: 'PSA 10' }))).body.data[0]!.amount).toBe(9)
    expect((await watching(node, 'GET', `/${first[1]!.id}`)).body.data.amount).toBe(6)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { amount: 1 } : undefined
      expect((await watching(node, method, `/${first[1]!.id}`, body, node.keys.plus)).status).toBe(404)
    }
  })

  test('bad input is refused by field', async () => {
    const item = await newItem(node)
    const good = { kind: 'price_below', item_id: item, label: 'Near Mint', amount: 5, currency: 'USD' }
    const bad: [object, string][] = [
      [{ kind: 'goal' }, 'kind'],
      [{ item_id: 2 ** 31 - 1 }, 'item_id'],
      [{ item_id: 2 ** 31 }, 'item_id'],
      [{ item_id: 0 }, 'item_id'],
      [{ label: null }, 'label'],
      [{ label: 'shiny' }, 'label'],
      [{ label: '\0' }, 'label'],
      [{ label: 'PSA 3.5'.repeat(100) }, 'label'],
      [{ amount: 0 }, 'amount'],
      [{ amount: -1 }, 'amount'],
      [{ amount: 1.005 }, 'amount'],
      [{ amount: 1e-7 }, 'amount'],
      [{ amount: 1e10 }, 'amount'],
      [{ amount: '5' }, 'amount'],
      [{ currency: 'JPY' }, 'currency'],
      [{ currency: undefined }, 'currency'],
      [{ language: 'en' }, 'language'],
      [{ kind: 'offer_below', currency: 'USD' }, 'currency'],
      [{ kind: 'offer_below', currency: 'TRY', language: '' }, 'language'],
      [{ market: 'source_a' }, 'market'],
    ]
    for (const [fields, field] of bad) {
      const one = await watching(node, 'PUT', '', { ...good, ...fields })
      expect([one.status, one.body.error?.details?.[0]?.field], JSON.stringify(fields)).toEqual([422, `watches.${field}`])
      const many = await watching(node, 'PUT', '', [good, { ...good, ...fields }])
      expect([many.status, many.body.error?.details?.[0]?.field], JSON.stringify(fields)).toEqual([422, `watches.1.${field}`])
    }
    for (const body of [[], Array.from({ length: 1_001 }, () => good), 5, null, 'x', { watches: [good] }, [[good]]]) {
      expect((await watching(node, 'PUT', '', body)).status, JSON.stringify(body).slice(0, 80)).toBe(422)
    }
    for (const path of ['/0', '/99999999999', '/x']) expect([404, 422]).toContain((await watching(node, 'GET', path)).status)
    expect((await watching<Watch[]>(node, 'GET', `?item_id=${item}`)).body.data).toEqual([])
  })

  test('lower plans and read-only keys are refused', async () => {
    const item = await newItem(node)
    const row = { kind: 'offer_below', item_id: item, amount: 5 }
    for (const key of [node.keys.starter, node.keys.professional]) {
      expect((await watching(node, 'GET', '', undefined, key)).body.error?.code).toBe('PLAN_UPGRADE_REQUIRED')
      expect((await watching(node, 'PUT', '', row, key)).body.error?.code).toBe('PLAN_UPGRADE_REQUIRED')
    }
    const created = await operator<{ key: string }>(node, 'POST', `/accounts/${node.accounts.enterprise}/keys`, { read_only: true })
    const { key } = created.body.data
    expect((await watching(node, 'GET', '', undefined, key)).status).toBe(200)
    for (const [method, path, body] of [
      ['PUT', '', row],
      ['PUT', '/1', { amount: 1 }],
      ['DELETE', '/1'],
      ['DELETE', ''],
    ] as const) {
      expect((await watching(node, method, path, body, key)).body.error?.code).toBe('READ_ONLY_KEY')
    }
  })

  test('an account has at most 20,000 watches; deleting all of them makes room', { tags: 'slow' }, async () => {
    const item = await newItem(node)
    const key = node.keys.plus
    await watching(node, 'DELETE', '', undefined, key)
    await sql`
      insert into watches (account_id, kind, item_id, language, amount, currency, created_at, updated_at)
      select ${node.accounts.plus}, 'offer_below', ${item}, 'x' || n, 1, 'TRY', now(), now() from generate_series(1, 19999) n`.execute(node.db.kysely)
    const row = (language: string) => ({ kind: 'offer_below', item_id: item, amount: 5, language })
    expect((await watching(node, 'PUT', '', [row('en'), row('ja')], key)).body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ field: 'watches', rule: 'too_many_watches' }],
    })
    const racing = await Promise.all(['en', 'ja', 'tr', 'de'].map((language, i) => watching(i % 2 ? node : other, 'PUT', '', row(language), key)))
    expect(racing.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422])
    expect((await watching(node, 'DELETE', '', undefined, key)).body.message).toBe('Watches deleted')
    expect((await watching<Watch[]>(node, 'GET', '', undefined, key)).body.data).toEqual([])
  })

  test('GraphQL reads and writes the same', async () => {
    const item = await newItem(node)
    const ask = async (query: string) => {
      const response = await fetch(`${node.publicUrl}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${node.keys.enterprise}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      return (await response.json()) as { data: Record<string, unknown>; errors?: { extensions: { code: string; details?: { field: string }[] } }[] }
    }
    const fields = 'id kind itemId itemName label language amount currency toldOn createdAt updatedAt'
    const put = await ask(`mutation { putWatches(watches: [{kind: "offer_below", itemId: ${item}, amount: 7.5}]) { ${fields} } }`)
    const [stored] = (await watching<Watch[]>(node, 'GET', `?item_id=${item}`)).body.data
    const { id, kind, item_id, item_name, label, language, amount, currency, told_on, ...times } = stored as Watch & { created_at: string }
    const same = { id: String(id), kind, itemId: String(item_id), itemName: item_name, label, language, amount, currency, toldOn: told_on }
    const all = { ...same, createdAt: times.created_at, updatedAt: times.updated_at }
    expect(put.data.putWatches).toEqual([all])
    const read = await ask(`{ watch(id: ${id}) { ${fields} } watches(itemId: ${item}) { watches { ${fields} } pagination { total } } }`)
    expect(read.data).toEqual({ watch: all, watches: { watches: [all], pagination: { total: 1 } } })
    expect((await ask(`mutation { changeWatch(id: ${id}, amount: 8) { amount } }`)).data.changeWatch).toEqual({ amount: 8 })
    const wrong = await ask(`mutation { putWatches(watches: [{kind: "price_below", itemId: ${item}, amount: 7.5}]) { id } }`)
    expect(wrong.errors?.[0]?.extensions.code).toBe('VALIDATION_ERROR')
    await published(node, item, { price: 6 })
    await followChanges(node.ctx)
    const feed = await ask('{ events(limit: 1000) { events { event data { watchId price listingId market itemName } } } }')
    const { events: listed } = feed.data.events as { events: { event: string; data: { watchId: string } }[] }
    expect(listed.find(({ data }) => data.watchId === String(id))).toMatchObject({ event: 'watch', data: { price: 6, market: null } })
    expect((await ask(`mutation { deleteWatch(id: ${id}) { message } }`)).data.deleteWatch).toEqual({ message: 'Watch deleted' })
    expect((await ask('mutation { deleteWatches { message } }')).data.deleteWatches).toMatchObject({ message: expect.stringMatching(/deleted$/) })
  })
})

test('the feed of a price watch has no listing over GraphQL, and the query does not fail', async () => {
  const item = await newItem(node, usd('50.00'))
  await watch(node, { kind: 'price_below', item_id: item, label: 'Near Mint', amount: 60, currency: 'USD' })
  await followChanges(node.ctx)
  const response = await fetch(`${node.publicUrl}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${node.keys.enterprise}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ events(limit: 1000) { events { data { itemId market listingId } } } }' }),
  })
  const { data, errors } = (await response.json()) as { data: { events: { events: { data: object }[] } }; errors?: object[] }
  expect(errors).toBeUndefined()
  expect(data.events.events.at(-1)!.data).toEqual({ itemId: String(item), market: 'source_a', listingId: 0 })
})
