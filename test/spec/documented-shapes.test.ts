// The fields that the interface and the operator's document name, exactly: programs written from them depend on these.
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'

type Row = Record<string, unknown> & { id: number }

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ worker: true })
})

afterAll(() => node.close())

function operator<T = Row>(path: string, json?: unknown, method = json === undefined ? 'GET' : 'POST', headers = {}) {
  return send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, headers, ...(json !== undefined && { json }) })
}

function api<T = Row>(path: string, key = node.keys.plus, json?: unknown, method = json === undefined ? 'GET' : 'POST') {
  return send<T>(`${node.publicUrl}/api/v1${path}`, key, { method, ...(json !== undefined && { json }) })
}

/** The data of a response, which must have this status and the named fields, and may have more. */
function having<T>({ status, body }: Reply<T>, expectedStatus: number, fields: string): T {
  expect([status, body.success, body.error]).toEqual([expectedStatus, true, undefined])
  const first = (Array.isArray(body.data) ? body.data[0] : body.data) as object
  expect(Object.keys(first)).toEqual(expect.arrayContaining(fields.split(' ')))
  return body.data
}

/** Checks that there are exactly these fields. */
function exactly(value: unknown, fields: string): void {
  expect(Object.keys(value as object).sort()).toEqual(fields.split(' ').sort())
}

const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

let itemCount = 0

/** An item that can be sold, with a price of its own market and one of source_a. */
async function anItem(): Promise<{ category: Row; item: Row; ref: string }> {
  const ref = `shop:${(itemCount += 1)}`
  const category = having(
    await operator('/categories', {
      ref,
      name: `Set ${itemCount}`,
      slug: `set-${itemCount}`,
      game: 'pokemon',
      market: 'service',
      parent_id: null,
      image: 'https://img.example/set.png',
    }),
    201,
    'id ref name slug game market parent_id image',
  )
  const details = {
    rarity: 'Rare Holo',
    illustrator: 'Mitsuhiro Arita',
    hp: 120,
    types: ['Fire'],
    dex_ids: [6],
    stage: 'Stage 2',
    evolve_from: 'Charmeleon',
    suffix: null,
    level: 76,
  }
  const item = having(
    await operator('/items', {
      ref,
      name: 'Charizard',
      code: '4/102',
      slug: `charizard-${itemCount}`,
      genre: 'single',
      game: 'pokemon',
      market: 'service',
      category_id: category.id,
      images: ['https://img.example/1.png', { url: 'https://img.example/2.png', order: 0 }],
      attributes: [{ name: 'Rarity', value: 'Rare Holo' }],
      groups: [1, 2],
      details,
    }),
    201,
    'id ref name code slug genre game market category_id images attributes groups details',
  )
  const { suffix: _none, ...shownDetails } = details
  expect(item.details).toEqual(shownDetails)
  const prices = [
    { item_id: item.id, market: 'service', label: 'Near Mint', price: 1000.5, updated_at: '2026-01-31T12:00:00+03:00' },
    { item_ref: ref, market: 'source_a', label: 'PSA 10', price: 250, updated_at: '2026-01-31T09:00:00Z' },
    { item_id: item.id, market: 'service', label: 'Near Mint', price: 0 },
  ]
  const posted = having(await operator<{ errors: unknown[] }>('/prices', prices), 200, 'import_id accepted unchanged held rejected errors')
  expect(posted).toMatchObject({ accepted: 2, unchanged: 0, held: 0, rejected: 1 })
  exactly(posted.errors[0], 'row message field rule params')
  return { category, item, ref }
}

async function aListing(itemId: number, sellerId: number): Promise<Row> {
  const listing = having(
    await operator('/listings', {
      seller_id: sellerId,
      item_id: itemId,
      grade_id: 8,
      title: 'Charizard, Base Set',
      description: 'Mint',
      price: 500,
      quantity: 3,
      language: 'en',
      images: ['https://img.example/l.png'],
      shipping_payer: 'seller',
      offers_enabled: true,
      min_offer_price: 400,
    }),
    201,
    'id seller_id item_id grade_id title slug description price quantity language images shipping_payer offers_enabled min_offer_price status',
  )
  expect(listing.status).toBe('pending')
  expect(having(await operator(`/listings/${listing.id}/approve`, {}), 200, 'id status expires_at').status).toBe('active')
  return listing
}

test('accounts, credits and keys', async () => {
  const account = having(
    await operator('/accounts', { name: 'Shop', plan: 'plus', highlight_credits: 3 }),
    201,
    'id name plan highlight_credits suspended listing_intake created_at',
  )
  expect(having(await operator(`/accounts/${account.id}`), 200, 'id')).toEqual(account)
  expect(having(await operator(`/accounts/${account.id}`, { name: 'New', plan: 'enterprise', suspended: true }, 'PATCH'), 200, 'id')).toEqual({
    ...account,
    name: 'New',
    plan: 'enterprise',
    suspended: true,
  })
  expect(having(await operator(`/accounts/${account.id}/credits`, { amount: -2, reason: 'gift' }), 200, 'highlight_credits')).toEqual({
    highlight_credits: 1,
  })
  expect((await operator(`/accounts/${account.id}/credits`, { amount: -2, reason: 'gift' })).status).toBe(422)
  const key = having(
    await operator(`/accounts/${account.id}/keys`, { label: 'web', expires_at: '2099-01-31T12:00:00+03:00' }),
    201,
    'id key label last4 expires_at',
  )
  expect(String(key.key).slice(-4)).toBe(key.last4)
  expect(having(await operator<Row[]>(`/accounts/${account.id}/keys`), 200, 'id label last4 expires_at')[0]).not.toHaveProperty('key')
  const second = having(await operator(`/keys/${key.id}/rotate`, { overlap_hours: 1 }), 201, 'id key label last4 expires_at')
  expect((await operator(`/keys/${second.id}`, undefined, 'DELETE')).status).toBe(200)
  having(await operator<Row[]>('/accounts'), 200, 'id name plan highlight_credits suspended listing_intake created_at')
})

test('catalogue, prices and imports', { tags: 'slow' }, async () => {
  const { category, item, ref } = await anItem()
  having(await operator(`/categories/${category.id}`, { name: 'Renamed' }, 'PATCH'), 200, 'id name')
  having(await operator<Row[]>('/categories'), 200, 'id ref name slug game market parent_id image')
  having(await operator(`/items/${item.id}`, { code: '4' }, 'PATCH'), 200, 'id code')
  having(await operator(`/items/${item.id}`), 200, 'id ref details')
  having(await operator<Row[]>('/items'), 200, 'id ref details')
  const query = 'market=service&label=Near%20Mint&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z'
  expect(having(await operator<Row[]>(`/items/${item.id}/price-history?${query}`), 200, 'price updated_at')).toHaveLength(1)
  const groups = having(await operator<(Row & { types: Row[] })[]>('/groups'), 200, 'id name slug types')
  exactly(groups[0]!.types[0], 'id label slug')

  const csv = `item_ref,market,label,price,updated_at\n${ref},source_b,Near Mint,55,2026-01-31T12:00:00Z\nnobody,source_b,Near Mint,5,2026-01-31T12:00:00Z\n`
  const uploaded = await send<Row>(`${node.operatorUrl}/operator/v1/imports/mintmark-prices-csv`, OPERATOR_TOKEN, {
    body: gzipSync(csv),
    headers: { 'content-encoding': 'gzip', 'content-type': 'text/csv' },
  })
  const { id } = having(uploaded, 202, 'id')
  const read = async () => (await operator<Row & { errors: Row[] }>(`/imports/${id}`)).body.data
  await until('the import ends', async () => (await read()).percent === 100)
  const ended = await read()
  exactly(ended.errors[0], 'file line reason rule params')
  expect(ended).toMatchObject({ status: 'done', rows_read: 2, rejected: 1, created: 1, updated: 0, unchanged: 0, held: 0, percent: 100 })
  having(await operator<Row[]>('/imports'), 200, 'id status rows_read created updated unchanged held rejected percent')
  having(await operator(`/imports/${id}/revert`, {}), 200, 'id status')

  const jumped = await operator<{ held: number }>('/prices', [{ item_id: item.id, market: 'source_a', label: 'PSA 10', price: 2500 }])
  expect(jumped.body.data.held).toBe(1)
  const held = having(await operator<Row[]>('/held-prices'), 200, 'id import_id market label price')
  expect((await operator(`/held-prices/${held[0]!.id}/discard`, undefined, 'POST')).status).toBe(200)
  expect((await operator(`/held-prices/${held[0]!.id}/accept`, undefined, 'POST')).status).toBe(409)
})

test('the fields of an item on each plan', async () => {
  const { item } = await anItem()
  const starter = (await api<Row & { category: object; groups: object[]; prices: Row[] }>(`/items/${item.id}`, node.keys.starter)).body.data
  exactly(starter, 'id name code category prices groups')
  exactly(starter.category, 'id name')
  exactly(starter.groups[0], 'id name')
  exactly(starter.prices[0], 'label price updated_at')
  expect(starter.prices).toEqual([{ label: 'Near Mint', price: 1000.5, updated_at: expect.stringMatching(UTC) }])
  const full = (
    await api<Row & { category: object; groups: object[]; images: object[]; attributes: object[] }>(`/items/${item.id}`, node.keys.professional)
  ).body.data
  exactly(full, 'id name code category prices groups slug genre game market images attributes')
  exactly(full.category, 'id name slug')
  exactly(full.groups[0], 'id name slug')
  exactly(full.images[0], 'id url order')
  expect(full.images).toMatchObject([
    { url: 'https://img.example/2.png', order: 0 },
    { url: 'https://img.example/1.png', order: 1 },
  ])
  exactly(full.attributes[0], 'name value')
  const { body } = await api<Row[]>('/items')
  exactly(body, 'success data pagination')
  exactly(body.pagination, 'current_page per_page total last_page has_more')
})

test('listings, orders and their notifications', async () => {
  const { item } = await anItem()
  const got: { signature: string; raw: string }[] = []
  const receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push({ signature: String(request.headers['x-service-signature']), raw: Buffer.concat(chunks).toString() })
    response.end('thanks')
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  try {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const saved = await api('/plus/webhook', node.keys.plus, { url, on_sale: true, on_expire: true }, 'PUT')
    exactly(having(saved, 200, 'url'), 'url on_sale on_expire is_active secret')
    expect(saved.body.data.secret).toMatch(/^\S{48}$/)
    exactly((await api('/plus/webhook')).body, 'success data note')

    const listing = await aListing(item.id, node.accounts.plus)
    having(await operator(`/listings/${listing.id}`, { quantity: 4 }, 'PATCH'), 200, 'id quantity')
    having(await operator(`/listings/${listing.id}`), 200, 'id status')
    expect(having(await operator<Row[]>(`/listings?status=active&seller_id=${node.accounts.plus}&item_id=${item.id}`), 200, 'id')).toHaveLength(1)
    const found = (await api<Row[]>(`/plus/listings?search=charizard`)).body.data
    exactly(found[0], 'id title slug price')
    const flags = 'with_item=1&with_pc=1&with_average=1&with_last_sales=1'
    const all = (await api<(Row & { item: object })[]>(`/plus/listings?${flags}`)).body.data[0]!
    exactly(all, 'id title slug price item pc_multiplier average_price last_sales')
    exactly(all.item, 'id name code slug genre game')
    expect(all).toMatchObject({ pc_multiplier: 2, average_price: null, last_sales: [] })
    having(
      await api<Row[]>(`/plus/my-listings?${flags}`),
      200,
      'id title slug price status approved_price item pc_multiplier average_price last_sales',
    )
    const on = `/plus/listings/${listing.id}`
    const priced = await api(`${on}/price`, node.keys.plus, { price: 600 }, 'PATCH')
    exactly(priced.body, 'success data message')
    expect(priced.body.data).toEqual({ id: listing.id, price: 600, status: 'active' })
    exactly((await api(`/plus/make-highlight?id=${listing.id}`, node.keys.plus, {})).body.data, 'id remaining_highlight_credits')

    const order = having(
      await operator<Row & { lines: Row[] }>('/orders', {
        order_id: 555,
        sold_at: '2026-01-31T15:00:00+03:00',
        lines: [{ listing_id: listing.id, quantity: 2 }],
      }),
      201,
      'order_id lines',
    )
    expect(order.lines[0]).toEqual({ listing_id: listing.id, quantity: 2, unit_price: 600, seller_payout: 1080, listing_status: 'active' })
    having(await operator('/orders/555'), 200, 'order_id lines')
    expect((await operator('/orders', { order_id: 555, lines: [{ listing_id: listing.id, quantity: 1 }] })).body.error?.code).toBe('CONFLICT')
    const sale = (await api<(Row & { item: object })[]>(`/plus/recent-sales?item_id=${item.id}`)).body.data[0]!
    exactly(sale, 'item price sold_at')
    exactly(sale.item, 'id name code slug')
    expect(sale.sold_at).toBe('2026-01-31T15:00:00+03:00')

    having(await operator(`/accounts/${node.accounts.plus}/webhook/test`, { event: 'expire' }), 200, 'id state')
    await until('both notifications', () => got.length === 2)
    for (const { signature, raw } of got) expect(signature).toBe(createHmac('sha256', String(saved.body.data.secret)).update(raw).digest('hex'))
    const bodies = got
      .map(({ raw }) => JSON.parse(raw) as { event: string; sent_at: string; data: object })
      .sort((a, b) => a.event.localeCompare(b.event))
    for (const body of bodies) exactly(body, 'event sent_at data')
    exactly(bodies[0]!.data, 'listing_id title expired_at')
    expect(bodies[1]).toEqual({
      event: 'sale',
      sent_at: expect.stringMatching(LOCAL),
      data: {
        order_id: 555,
        listing_id: listing.id,
        item_name: 'Charizard',
        quantity: 2,
        unit_price: 600,
        seller_payout: 1080,
        sold_at: '2026-01-31T15:00:00+03:00',
      },
    })
    await until('both attempts in the log', async () => (await api<Row[]>('/plus/webhook/logs')).body.pagination!.total === 2)
    const log = having(await api<Row[]>('/plus/webhook/logs'), 200, 'id event attempt status_code success error response_excerpt created_at')
    expect(log[0]).toMatchObject({
      attempt: 1,
      status_code: 200,
      success: true,
      error: null,
      response_excerpt: 'thanks',
      created_at: expect.stringMatching(LOCAL),
    })
    const events = having(await operator<Row[]>(`/webhook-events?account_id=${node.accounts.plus}&state=delivered`), 200, 'id state')
    expect((await operator(`/webhook-events/${events[0]!.id}/redeliver`, undefined, 'POST')).status).toBe(200)
    await until('the same once more', () => got.length === 3)

    for (const action of ['pause', 'publish']) exactly((await api(`${on}/status?action=${action}`, node.keys.plus, {})).body.data, 'id status')
    expect((await api(on, node.keys.plus, { title: 'New' }, 'PATCH')).body.data).toEqual({ id: listing.id, price: 600, status: 'pending' })
    expect(having(await operator(`/listings/${listing.id}/reject`, { reason: 'No photo' }), 200, 'id status').status).toBe('rejected')
    exactly((await api(on, node.keys.plus, undefined, 'DELETE')).body, 'success message')
  } finally {
    receiver.close()
  }
})

test('collections and their records', async () => {
  const { item } = await anItem()
  const fields = { account_id: node.accounts.plus, name: 'Binder', description: 'Old', visibility: 'private' }
  const { id } = having(await operator('/collections', fields), 201, 'id account_id name description visibility')
  having(await operator(`/collections/${id}`, { visibility: 'public' }, 'PATCH'), 200, 'id visibility')
  having(await operator<Row[]>('/collections'), 200, 'id account_id name description visibility')
  exactly((await api<Row[]>('/plus/collections')).body.data[0], 'id name description visibility items_count method')
  const record = {
    item_id: item.id,
    item_group_type_id: 8,
    quantity: 2,
    purchase_price: 10.25,
    sale_price: 20.5,
    purchase_date: '2024-02-29',
    card_uniq_id: 'PSA 1',
    note: 'n',
  }
  const added = await api(`/plus/collections/${id}/items`, node.keys.plus, record)
  expect([added.status, Object.keys(added.body).sort()]).toEqual([201, ['data', 'message', 'success']])
  expect(added.body.data).toEqual({ id: expect.any(Number), item_id: item.id, item_name: 'Charizard', group_label: 'PSA 10', quantity: 2 })
  const { body } = await api<Row[]>(`/plus/collections/${id}/items`)
  exactly(body, 'success data')
  exactly(
    body.data[0],
    'id item_id item_name item_slug group_label quantity purchase_price sale_price purchase_date card_uniq_id note for_trade certificate',
  )
  expect(body.data[0]).toMatchObject({ purchase_price: 10.25, sale_price: 21, purchase_date: '2024-02-29' })
  const changed = await api(`/plus/collections/${id}/items/${added.body.data.id}`, node.keys.plus, { purchase_price: null, sale_price: 3.4 }, 'PATCH')
  expect(changed.body.data).toEqual({ id: added.body.data.id, purchase_price: null, sale_price: 3 })
  exactly((await api(`/plus/collections/${id}/items/${added.body.data.id}`, node.keys.plus, undefined, 'DELETE')).body, 'success message')
  expect((await operator(`/collections/${id}`, undefined, 'DELETE')).status).toBe(200)
})

test('every operator write creates an audit row: who, what, before, after, when', async () => {
  const { category, item } = await anItem()
  const written = async (path: string, json: unknown, method = 'POST'): Promise<Row> => {
    const { status, headers, body } = await operator(path, json, method)
    expect([path, status < 300, body.error]).toEqual([path, true, undefined])
    const rows = (await operator<Row[]>('/audit?per_page=5')).body.data
    const row = rows.find(({ request_id }) => request_id === headers.get('x-request-id'))
    expect([path, row]).toEqual([
      path,
      expect.objectContaining({ actor: expect.stringMatching(/^operator:/), action: expect.stringMatching(/^[\w-]+\.[\w-]+$/) }),
    ])
    exactly(row, 'id at actor action subject_type subject_id before after request_id')
    return body.data
  }
  const account = await written('/accounts', { name: 'Audited', plan: 'plus' })
  await written(`/accounts/${account.id}`, { plan: 'enterprise' }, 'PATCH')
  await written(`/accounts/${account.id}/credits`, { amount: 1, reason: 'gift' })
  const key = await written(`/accounts/${account.id}/keys`, {})
  await written(`/keys/${key.id}/rotate`, {})
  await written(`/keys/${key.id}`, undefined, 'DELETE')
  await written(`/categories/${category.id}`, { name: 'Renamed' }, 'PATCH')
  await written('/categories', { name: 'Another', game: 'pokemon', market: 'service' })
  await written(`/items/${item.id}`, { code: '5' }, 'PATCH')
  await written('/items', { name: 'Another', market: 'service', category_id: category.id })
  const posted = await written('/prices', [{ item_id: item.id, market: 'source_b', label: 'Near Mint', price: 5 }])
  await written(`/imports/${Number(posted.import_id)}/revert`, {})
  const listing = await written('/listings', { seller_id: account.id, item_id: item.id, title: 'A', price: 5, quantity: 2 })
  await written(`/listings/${listing.id}/approve`, {})
  await written(`/listings/${listing.id}`, { price: 6 }, 'PATCH')
  await written('/orders', { order_id: 9001, lines: [{ listing_id: listing.id, quantity: 1 }] })
  await written(`/listings/${listing.id}/reject`, { reason: 'No photo' })
  const collection = await written('/collections', { account_id: account.id, name: 'A' })
  await written(`/collections/${collection.id}`, { name: 'B' }, 'PATCH')
  await written(`/collections/${collection.id}`, undefined, 'DELETE')
})

test('the statistics', async () => {
  const stats = having(await operator('/stats'), 200, 'listings sales webhook_events sources')
  exactly(stats.listings, 'pending active paused rejected expired sold')
  exactly(stats.webhook_events, 'queued delivered failed cancelled')
})

test('the documented messages', async () => {
  const { item } = await anItem()
  const theirs = await aListing(item.id, node.accounts.enterprise)
  const own = await aListing(item.id, node.accounts.plus)
  const mine = (await operator('/collections', { account_id: node.accounts.plus, name: 'Mine' })).body.data.id
  const other = (await operator('/collections', { account_id: node.accounts.enterprise, name: 'Theirs' })).body.data.id
  const said = async (path: string, json?: unknown, method?: string) => {
    const { status, body } = await api(path, node.keys.plus, json, method)
    return `${status} ${body.error?.code} ${body.error?.message}`
  }
  expect(await said('/plus/listings/999999/price', { price: 5 }, 'PATCH')).toMatch(/^422 PLUS_LISTING_ERROR Listing not found/)
  expect(await said(`/plus/listings/${theirs.id}/price`, { price: 5 }, 'PATCH')).toMatch(/^422 PLUS_LISTING_ERROR .*does not belong to the caller$/)
  expect(await said(`/plus/make-highlight?id=${theirs.id}`, {})).toMatch(/^422 PLUS_LISTING_ERROR .*does not belong to the caller$/)
  expect(await said(`/plus/listings/${own.id}/status?action=sell`, {})).toBe('422 PLUS_LISTING_ERROR Invalid action (must be pause or publish)')
  expect(await said('/plus/collections/999999/items')).toMatch(/^422 PLUS_COLLECTION_ERROR Collection not found/)
  expect(await said(`/plus/collections/${other}/items`)).toMatch(/^422 PLUS_COLLECTION_ERROR .*does not belong to the caller$/)
  expect(await said(`/plus/collections/${mine}/items/999999`, { quantity: 1 }, 'PATCH')).toMatch(
    /^422 PLUS_COLLECTION_ERROR Collection record not found/,
  )
  expect(await said(`/plus/collections/${mine}/items`, { item_id: 999_999 })).toMatch(/^422 PLUS_COLLECTION_ERROR Item not found/)
  expect(await said('/items/999999')).toMatch(/^404 ITEM_NOT_FOUND Item not found/)
})

test('a page past the end is empty, whatever its number', async () => {
  await anItem()
  for (const path of [
    '/items?',
    '/items/search?q=charizard&',
    '/plus/listings?',
    '/plus/my-listings?',
    '/plus/recent-sales?',
    '/plus/webhook/logs?',
  ]) {
    for (const page of [1_000_000, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await api<Row[]>(`${path}per_page=100&page=${page}`)
      expect([path, status, body.data, body.pagination]).toMatchObject([path, 200, [], { current_page: page, last_page: 1, has_more: false }])
    }
  }
})
