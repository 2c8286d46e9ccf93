// The public marketplace over HTTP: plans, shapes, every parameter and sort, every write and every error.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeAccount } from '#accounts/change-account.ts'
import { call } from '#core/verb.ts'
import type { Forecasted, StoredListing } from '#market/marketplace-types.ts'
import { DAY_MS, found, inStatus, makeCatalogue, operator, orderId, pending, plus, published, search, type Status } from '../market/kit.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { rulesIn } from '../support/reasons.ts'

let node: TestNode
let items: Record<string, number>
let grades: Record<string, number>

beforeAll(async () => {
  node = await startTestNode()
  ;({ items, grades } = await makeCatalogue(node))
})

afterAll(() => node.close())

const refused = (reply: { status: number; body: { error?: { code: string; message: string } } }) => ({
  status: reply.status,
  code: reply.body.error?.code,
})
const REFUSED = { status: 422, code: 'PLUS_LISTING_ERROR' }

describe('authorisation', () => {
  const paths: [string, string][] = [
    ['GET', '/listings'],
    ['GET', '/my-listings'],
    ['GET', '/recent-sales'],
    ['PATCH', '/listings/1/price'],
    ['PATCH', '/listings/1'],
    ['POST', '/listings/1/status?action=pause'],
    ['DELETE', '/listings/1'],
    ['POST', '/make-highlight?id=1'],
  ]

  test.each(paths)('%s %s needs a key and Plus', async (method, path) => {
    const without = await send(`${node.publicUrl}/api/v1/plus${path}`, null, { method })
    expect(without).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHENTICATED' } } })
    for (const plan of ['starter', 'professional'] as const) {
      const reply = await plus(node, method, path, undefined, { key: node.keys[plan] })
      expect(reply).toMatchObject({ status: 403, body: { success: false, error: { code: 'PLAN_UPGRADE_REQUIRED' } } })
    }
    const reply = await plus(node, method, path, undefined, { key: node.keys.enterprise })
    expect(method === 'GET' ? 200 : 422).toBe(reply.status)
  })

  test('other methods return 405', async () => {
    expect(await plus(node, 'PUT', '/listings/1')).toMatchObject({ status: 405 })
  })
})

describe('searching', () => {
  const ids: Record<string, number> = {}

  beforeAll(async () => {
    await call(changeAccount, node.ctx, { id: node.accounts.enterprise, name: 'Şık Kartlar' })
    const make = async (name: string, itemId: number, fields: object) => {
      ids[name] = (await published(node, itemId, fields)).id
      node.clock.advance(1_000)
    }
    await make('psa', items.char!, { title: 'Slab', price: 90_000, grade_id: grades['PSA 10'], language: 'en' })
    await make('raw', items.char!, { title: 'Charizard raw', price: 5_000.5, language: 'EN' })
    await make('pika', items.pika!, {
      title: 'Yellow mouse',
      price: 50,
      grade_id: grades['Lightly Played'],
      language: 'tr',
      seller_id: node.accounts.enterprise,
    })
    await make('box', items.box!, { title: 'Sealed box', price: 99_999.99, language: 'ja', quantity: 3 })
    await make('luffy', items.luffy!, { title: 'Leader', price: 50, language: 'ja', seller_id: node.accounts.enterprise })
  })

  const named = async (query: string) => {
    const foundIds = await found(node, query)
    return foundIds.map((id) => Object.keys(ids).find((name) => ids[name] === id))
  }

  test('returns minimal fields unless more are requested', async () => {
    const { body } = await search(node, '?search=raw')
    expect(body).toEqual({
      success: true,
      data: [{ id: ids.raw, title: 'Charizard raw', slug: `charizard-raw-${ids.raw}`, price: 5000.5 }],
      pagination: { current_page: 1, per_page: 20, total: 1, last_page: 1, has_more: false },
    })
  })

  test.each([
    ['?sort_by=latest', ['luffy', 'box', 'pika', 'raw', 'psa']],
    ['?sort_by=popular', ['luffy', 'box', 'pika', 'raw', 'psa']],
    ['', ['luffy', 'box', 'pika', 'raw', 'psa']],
    ['?sort_by=price_low', ['pika', 'luffy', 'raw', 'psa', 'box']],
    ['?sort_by=price_high', ['box', 'psa', 'raw', 'luffy', 'pika']],
    ['?sort_by=pc_multiplier_asc', ['raw', 'psa', 'box', 'pika', 'luffy']],
    ['?sort_by=pc_multiplier_desc', ['box', 'psa', 'raw', 'pika', 'luffy']],
    ['?search=charizard', ['raw', 'psa']],
    ['?search=CHARIZARD%20slab', ['psa']],
    ['?search=pikachu', ['pika']],
    ['?search=dragon', []],
    ['?search=%20', ['luffy', 'box', 'pika', 'raw', 'psa']],
    ['?seller_name=%C5%9Eik%20kartlar', ['luffy', 'pika']],
    ['?item_id=:char', ['raw', 'psa']],
    ['?item_id=:char&sort_by=price_high&language[]=en', ['psa', 'raw']],
    ['?item_id=:char&search=slab', ['psa']],
    ['?item_id=:pika&min_price=51', []],
    ['?item_id=999999', []],
    ['?seller_name=nobody', []],
    ['?seller_name=KAR%20%C5%9F%C4%B1', ['luffy', 'pika']],
    ['?seller_name=artlar', []],
    ['?seller_name=%27', []],
    ['?set_name=b%C3%A2s', ['pika', 'raw', 'psa']],
    ['?set_name=set%20bas', ['pika', 'raw', 'psa']],
    ['?set_name=ase', []],
    ['?game=onepiece', ['luffy']],
    ['?set_name=base%20set', ['pika', 'raw', 'psa']],
    ['?set_name=first%20series', ['box', 'pika', 'raw', 'psa']],
    ['?category=pokemon-base-set', ['pika', 'raw', 'psa']],
    ['?category=pokemon-first-series', ['box', 'pika', 'raw', 'psa']],
    ['?category=nothing', []],
    ['?type=sealed', ['box']],
    ['?type=card', ['luffy']],
    ['?min_price=50.01&max_price=90000', ['raw', 'psa']],
    ['?min_price=50&max_price=50', ['luffy', 'pika']],
    ['?max_price=49.999', []],
    ['?min_pc=29.68', ['box', 'psa']],
    ['?min_pc=29&max_pc=30.5', ['raw', 'psa']],
    ['?max_pc=29.67', ['raw']],
    ['?game[]=onepiece', ['luffy']],
    ['?game[]=onepiece&game[]=pokemon', ['luffy', 'box', 'pika', 'raw', 'psa']],
    ['?game%5B%5D=digimon', []],
    ['?language[]=en', ['raw', 'psa']],
    ['?language[]=JA&language[]=tr', ['luffy', 'box', 'pika']],
    ['?unknown=1', ['luffy', 'box', 'pika', 'raw', 'psa']],
    ['?search=charizard&game[]=pokemon&language[]=en&max_price=6000&sort_by=price_low', ['raw']],
    ['?game[]=pokemon&language[]=en&language[]=ja&min_price=5001&sort_by=price_low', ['psa', 'box']],
  ])('%s', async (query, expected) => {
    const filled = query.replace(/:(char|pika)/, (_, name: string) => String(items[name]))
    expect(await named(filled)).toEqual(expected)
  })

  test('grade_filters accept grades and groups; others count as ungraded', async () => {
    expect(await named(`?grade_filters[]=${grades['PSA 10']}`)).toEqual(['psa'])
    expect(await named(`?grade_filters[]=${grades['group Graded']}`)).toEqual(['psa'])
    expect(await named(`?grade_filters[]=${grades['group Ungraded']}`)).toEqual(['luffy', 'box', 'pika', 'raw'])
    expect(await named(`?grade_filters[]=${grades['Lightly Played']}&grade_filters[]=${grades['PSA 10']}`)).toEqual(['pika', 'psa'])
    expect(await named(`?grade_filters[]=999999`)).toEqual([])
  })

  test.each([
    '?sort_by=best',
    '?type=toy',
    '?per_page=0',
    '?per_page=101',
    '?page=0',
    '?page=x',
    '?item_id=0',
    '?item_id=x',
    '?item_id=99999999999',
    '?min_price=abc',
    '?min_price=-1',
    '?min_price=10&max_price=9',
    '?min_pc=2&max_pc=1',
    '?grade_filters[]=psa',
    '?with_item=perhaps',
  ])('%s is rejected', async (query) => {
    expect(refused(await search(node, query))).toEqual({ status: 422, code: 'VALIDATION_ERROR' })
  })

  test('pages are consecutive and end', async () => {
    const first = await search(node, '?sort_by=price_low&per_page=2')
    expect(first.body.pagination).toEqual({ current_page: 1, per_page: 2, total: 5, last_page: 3, has_more: true })
    const pages = [1, 2, 3, 4].map((page) => found(node, `?sort_by=price_low&per_page=2&page=${page}`))
    expect((await Promise.all(pages)).flat()).toEqual([ids.pika, ids.luffy, ids.raw, ids.psa, ids.box])
    const descending = [1, 2, 3, 4].map((page) => found(node, `?sort_by=pc_multiplier_desc&per_page=2&page=${page}`))
    expect((await Promise.all(descending)).map((page) => page.length)).toEqual([2, 2, 1, 0])
  })

  test('the flags add their fields, with sales of all sellers', async () => {
    const sold_at = new Date(node.clock.now().getTime() - 3_600_000).toISOString()
    await operator(node, 'POST', '/orders', { order_id: orderId(), sold_at, lines: [{ listing_id: ids.box, quantity: 1, unit_price: 10.01 }] })
    await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: ids.box, quantity: 1, unit_price: 20 }] })
    const { body } = await search<Record<string, unknown>>(node, '?search=sealed&with_item=1&with_pc=true&with_average=1&with_last_sales=1')
    expect(body.data).toEqual([
      {
        id: ids.box,
        title: 'Sealed box',
        slug: `sealed-box-${ids.box}`,
        price: 99_999.99,
        item: {
          id: items.box,
          name: 'Base Set Booster Box',
          code: null,
          slug: 'base-set-booster-box-first-series',
          genre: 'sealed',
          game: 'pokemon',
        },
        pc_multiplier: 333_333.3,
        average_price: 15.01,
        last_sales: [
          { price: 20, sold_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+03:00$/) },
          { price: 10.01, sold_at: expect.stringMatching(/\+03:00$/) },
        ],
      },
    ])
    const none = await search<Record<string, unknown>>(node, '?search=leader&with_pc=1&with_average=1&with_last_sales=1')
    expect(none.body.data[0]).toMatchObject({ pc_multiplier: null, average_price: null, last_sales: [] })
    expect((await named(''))[0], 'what sells is popular').toBe('box')
  })

  test('a highlighted listing comes first until its highlight ends', async () => {
    const highlighted = await plus<{ remaining_highlight_credits: number }>(node, 'POST', '/make-highlight', { id: ids.psa })
    expect(highlighted).toMatchObject({
      status: 200,
      body: { success: true, message: expect.any(String), data: { id: ids.psa, remaining_highlight_credits: 0 } },
    })
    expect((await named(''))[0]).toBe('psa')
    node.clock.advance(7 * DAY_MS)
    expect((await named(''))[0]).toBe('box')
    expect(refused(await plus(node, 'POST', `/make-highlight?id=${ids.psa}`)), 'no credits are left').toEqual(REFUSED)
  })

  test('renamed sellers and changed prices are found at once', async () => {
    await call(changeAccount, node.ctx, { id: node.accounts.enterprise, name: 'Kart Evi' })
    expect(await named('?seller_name=kart%20evi&sort_by=latest')).toEqual(['luffy', 'pika'])
    expect(await named('?seller_name=%C5%9Eik%20kartlar')).toEqual([])
    await plus(node, 'PATCH', `/listings/${ids.raw}/price`, { price: 60_000 })
    expect(await named('?search=charizard&sort_by=pc_multiplier_desc')).toEqual(['raw', 'psa'])
    await operator(node, 'POST', '/prices', [{ item_id: items.pika, market: 'source_a', label: 'Lightly Played', price: 0.01 }])
    expect(await named('?min_pc=1&sort_by=pc_multiplier_asc')).toEqual(['psa', 'raw', 'pika', 'box'])
  })
})

describe('own listings', () => {
  test('are listed in every status, newest first, with owner-only fields', async () => {
    const key = node.keys.enterprise
    const { id } = await published(node, items.char!, { seller_id: node.accounts.enterprise, price: 10, title: 'Mine' })
    const waiting = await pending(node, items.char!, { seller_id: node.accounts.enterprise, price: 12.5, title: 'Pending' })
    const { body } = await plus<Record<string, unknown>[]>(node, 'GET', '/my-listings?per_page=2&with_item=1&with_pc=1', undefined, { key })
    expect(body.data.map((one) => one.id)).toEqual([waiting.id, id])
    expect(body.data[0]).toMatchObject({ title: 'Pending', slug: `pending-${waiting.id}`, price: 12.5, status: 'pending', approved_price: null })
    expect(body.data[1]).toMatchObject({
      status: 'active',
      approved_price: 10,
      pc_multiplier: 0.06,
      item: { name: 'Charizard' },
      expires_at: expect.stringMatching(/\+03:00$/),
    })
    expect(body.pagination).toMatchObject({ per_page: 2, has_more: true })
    const only = await plus<{ id: number }[]>(node, 'GET', '/my-listings?status=pending', undefined, { key })
    expect(only.body.data.map((one) => one.id)).toEqual([waiting.id])
    expect(refused(await plus(node, 'GET', '/my-listings?status=lost'))).toEqual({ status: 422, code: 'VALIDATION_ERROR' })
  })

  test('are searched by title and SKU, and sorted', async () => {
    const title = 'Sorted 50%'
    const low = await published(node, items.char!, { title: `${title} b`, price: 5, quantity: 9 })
    const high = await published(node, items.char!, { title: `${title} A`, price: 50, quantity: 2 }, new Date(node.clock.now().getTime() + DAY_MS))
    const waiting = await pending(node, items.char!, { title: `${title} c`, price: 20, quantity: 4 })
    await plus(node, 'PATCH', `/listings/${low.id}`, { sku: 'SHELF-7' })
    const ids = async (query: string) => {
      const { body } = await plus<{ id: number }[]>(node, 'GET', `/my-listings?${query}`)
      return body.data.map(({ id }) => id)
    }
    expect(await ids('search=shelf-7')).toEqual([low.id])
    expect(await ids('search=SORTED 5_%')).toEqual([])
    const sorted = (order: string) => ids(`search=${encodeURIComponent('sorted 50%')}&sort_by=${order}`)
    expect(await sorted('latest')).toEqual([waiting.id, high.id, low.id])
    expect(await sorted('changed')).toEqual([low.id, waiting.id, high.id])
    expect(await sorted('price_low')).toEqual([low.id, waiting.id, high.id])
    expect(await sorted('price_high')).toEqual([high.id, waiting.id, low.id])
    expect(await sorted('quantity_low')).toEqual([high.id, waiting.id, low.id])
    expect(await sorted('quantity_high')).toEqual([low.id, waiting.id, high.id])
    // A listing without a period comes last.
    expect(await sorted('expiring')).toEqual([high.id, low.id, waiting.id])
    expect(await ids(`search=sorted&sort_by=price_low&status=active`)).toEqual([low.id, high.id])
    expect(refused(await plus(node, 'GET', '/my-listings?sort_by=waiting'))).toEqual({ status: 422, code: 'VALIDATION_ERROR' })
  })
})

describe('recent sales', () => {
  test('list what was sold, newest first, without sellers', async () => {
    const { id } = await published(node, items.luffy!, { price: 70, quantity: 2 })
    await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] })
    const { body } = await plus<Record<string, unknown>[]>(node, 'GET', '/recent-sales?game=onepiece')
    expect(body.data).toEqual([
      {
        item: { id: items.luffy, name: 'Monkey.D.Luffy', code: 'OP01-001', slug: expect.any(String) },
        price: 70,
        sold_at: expect.stringMatching(/\+03:00$/),
      },
    ])
    await plus(node, 'DELETE', `/listings/${id}`)
    const of = await plus<unknown[]>(node, 'GET', `/recent-sales?item_id=${items.luffy}&per_page=1`)
    expect(of.body, 'sales outlive their listing').toMatchObject({ data: [{ price: 70 }], pagination: { total: 1 } })
    expect((await plus<unknown[]>(node, 'GET', '/recent-sales?item_id=99999999999')).body.data).toEqual([])
    expect((await plus<unknown[]>(node, 'GET', '/recent-sales?game=digimon')).body.data).toEqual([])
    expect(refused(await plus(node, 'GET', '/recent-sales?per_page=1000'))).toEqual({ status: 422, code: 'VALIDATION_ERROR' })
  })
})

describe('writing', () => {
  test('a price change keeps the listing published', async () => {
    const { id } = await published(node, items.char!, {})
    const reply = await plus(node, 'PATCH', `/listings/${id}/price`, { price: 1250.55 })
    expect(reply).toMatchObject({ status: 200, body: { success: true, message: expect.any(String) } })
    expect(reply.body.data).toEqual({ id, price: 1250.55, status: 'active' })
    expect(await found(node, '?min_price=1250.55&max_price=1250.55')).toEqual([id])
    expect((await operator(node, 'GET', `/listings/${id}`)).body.data).toMatchObject({ price: 1250.55, approved_price: 1250.55 })
    expect((await plus(node, 'PATCH', `/listings/${id}`, { price: 9_999_999 })).body.data).toEqual({ id, price: 9_999_999, status: 'active' })
  })

  test('changing another field hides it until it is approved', async () => {
    const { id } = await published(node, items.char!, { title: 'Hidden soon' })
    const reply = await plus(node, 'PATCH', `/listings/${id}`, {
      title: 'Hidden now',
      price: 7,
      shipping_payer: 'seller',
      offers_enabled: true,
      min_offer_price: 6.5,
    })
    expect(reply.body.data).toEqual({ id, price: 7, status: 'pending' })
    expect(await found(node, '?search=hidden')).toEqual([])
    const waiting = await operator<{ id: number; changed_since_approval: unknown }[]>(node, 'GET', '/listings/waiting?per_page=100')
    expect(waiting.body.data.find((one) => one.id === id)?.changed_since_approval).toEqual([
      { field: 'title', approved: 'Hidden soon', now: 'Hidden now' },
      { field: 'shipping_payer', approved: 'buyer', now: 'seller' },
      { field: 'offers_enabled', approved: false, now: true },
      { field: 'min_offer_price', approved: null, now: 6.5 },
    ])
    expect(rulesIn((await plus(node, 'PATCH', `/listings/${id}/price`, { price: 6 })).body.error)).toMatch(/^price not_below min_offer_price/)
    await operator(node, 'POST', `/listings/${id}/approve`, {})
    expect(await found(node, '?search=hidden')).toEqual([id])
  })

  test('pictures are replaced together, need approval like a title, and an empty list removes them', async () => {
    const [one, two, three] = [1, 2, 3].map((n) => `https://a.example/${n}.png`) as [string, string, string]
    const { id } = await published(node, items.char!, { images: [one, two] })
    const stored = async () => (await operator<StoredListing>(node, 'GET', `/listings/${id}`)).body.data
    const inOrder = (...urls: string[]) => urls.map((url, i) => ({ url, order: i + 1 }))
    const forecast = await plus<Forecasted>(node, 'PATCH', `/listings/${id}`, { images: [three], dry_run: true })
    expect(forecast.body.data.forecast).toMatchObject({ status: 'pending', hidden: true, because: ['images'] })
    expect(await stored()).toMatchObject({ status: 'active', images: inOrder(one, two) })
    const reply = await plus(node, 'PATCH', `/listings/${id}`, { images: [three, { url: one, order: 1 }].toReversed() })
    expect(refused(reply)).toEqual({ status: 200, code: undefined })
    expect(await stored()).toMatchObject({
      status: 'pending',
      images: [
        { url: one, order: 1 },
        { url: three, order: 2 },
      ],
      changed_since_approval: [{ field: 'images', approved: inOrder(one, two), now: inOrder(one, three) }],
    })
    const audit = await operator<{ before: StoredListing; after: StoredListing }[]>(node, 'GET', `/audit?subject=listing&subject_id=${id}&per_page=1`)
    expect([audit.body.data[0]!.before.images, audit.body.data[0]!.after.images]).toEqual([inOrder(one, two), inOrder(one, three)])
    await operator(node, 'POST', `/listings/${id}/approve`, {})
    expect((await plus(node, 'PATCH', `/listings/${id}`, { images: [] })).body.data).toMatchObject({ status: 'pending' })
    expect(await stored()).toMatchObject({ images: [], changed_since_approval: [{ field: 'images', now: [] }] })
  })

  test('pausing hides it, publishing shows it again if it has not changed since approval', async () => {
    const { id } = await published(node, items.char!, { title: 'Pausing' })
    const paused = await plus(node, 'POST', `/listings/${id}/status?action=pause`)
    expect(paused).toMatchObject({ status: 200, body: { message: expect.any(String) } })
    expect(paused.body.data).toEqual({ id, status: 'paused' })
    expect(await found(node, '?search=pausing')).toEqual([])
    await plus(node, 'PATCH', `/listings/${id}/price`, { price: 3 })
    expect((await plus(node, 'POST', `/listings/${id}/status?action=publish`)).body.data).toEqual({ id, status: 'active' })
    expect(await found(node, '?search=pausing')).toEqual([id])
    await plus(node, 'POST', `/listings/${id}/status`, { action: 'pause' })
    await operator(node, 'PATCH', `/listings/${id}`, { title: 'Pausing, corrected' })
    expect((await plus(node, 'POST', `/listings/${id}/status?action=publish`)).body.data).toEqual({ id, status: 'pending' })
  })

  test('deletion is permanent', async () => {
    const { id } = await published(node, items.char!, { title: 'Gone' })
    const reply = await plus(node, 'DELETE', `/listings/${id}`)
    expect(reply.body).toEqual({ success: true, message: expect.any(String) })
    expect(await found(node, '?search=gone')).toEqual([])
    expect(refused(await plus(node, 'DELETE', `/listings/${id}`))).toEqual(REFUSED)
  })

  test('a repeated Idempotency-Key uses one credit, and an outdated If-Match none', async () => {
    const { id } = await published(node, items.char!, { seller_id: node.accounts.enterprise })
    const key = node.keys.enterprise
    const highlight = () => plus(node, 'POST', '/make-highlight', { id }, { key, headers: { 'idempotency-key': 'once' } })
    const first = await highlight()
    expect(first.body.data).toEqual({ id, remaining_highlight_credits: 0 })
    expect((await highlight()).body).toEqual(first.body)
    const status = (action: string) =>
      plus(node, 'POST', `/listings/${id}/status?action=${action}`, undefined, { key, headers: { 'idempotency-key': 'status' } })
    expect((await status('pause')).body.data).toEqual({ id, status: 'paused' })
    expect((await status('pause')).body.data, 'a second pause would be refused').toEqual({ id, status: 'paused' })
    expect(await status('publish')).toMatchObject({ status: 409, body: { error: { code: 'IDEMPOTENCY_CONFLICT' } } })

    const priced = await plus(node, 'PATCH', `/listings/${id}/price`, { price: 5 }, { key })
    const tag = priced.headers.get('etag')!
    const changed = await plus(node, 'PATCH', `/listings/${id}/price`, { price: 6 }, { key, headers: { 'if-match': tag } })
    expect(changed.status).toBe(200)
    for (const stale of [
      plus(node, 'PATCH', `/listings/${id}/price`, { price: 7 }, { key, headers: { 'if-match': tag } }),
      plus(node, 'PATCH', `/listings/${id}`, { title: 'x' }, { key, headers: { 'if-match': tag } }),
      plus(node, 'DELETE', `/listings/${id}`, undefined, { key, headers: { 'if-match': tag } }),
    ]) {
      expect(await stale).toMatchObject({ status: 412, body: { error: { code: 'PRECONDITION_FAILED' } } })
    }
    const { body } = await plus<{ id: number; price: number; etag: string }[]>(node, 'GET', '/my-listings', undefined, { key })
    expect(body.data.find((one) => one.id === id)).toMatchObject({ price: 6, etag: changed.headers.get('etag') })
  })
})

describe('stock and SKU', () => {
  type Own = { id: number; quantity: number; sku: string | null; status: string; price: number; changed_by: unknown }
  const own = async (id: number) => (await plus<Own>(node, 'GET', `/listings/${id}`)).body.data

  test('change without approval, alone and with the price, and are visible at once', async () => {
    const { id } = await published(node, items.char!, { title: 'Stocked item', price: 80 })
    const reply = await plus(node, 'PATCH', `/listings/${id}`, { quantity: 12, sku: ' BASE1-4 NM ', price: 81.5 })
    expect(reply).toMatchObject({ status: 200, body: { data: { id, price: 81.5, status: 'active' } } })
    const shown = { id, quantity: 12, sku: 'BASE1-4 NM', price: 81.5, status: 'active', changed_by: null }
    expect(await own(id)).toMatchObject({ ...shown, etag: reply.headers.get('etag') })
    const mine = (await plus<Own[]>(node, 'GET', '/my-listings?per_page=100')).body.data.find((one) => one.id === id)
    expect(mine).toMatchObject(shown)
    expect((await operator(node, 'GET', `/listings/${id}`)).body.data).toMatchObject({ ...shown, changed_since_approval: [] })
    expect(await found(node, '?search=stocked')).toEqual([id])

    await plus(node, 'PATCH', `/listings/${id}`, { quantity: 0 })
    expect(await found(node, '?search=stocked'), 'without stock it is hidden').toEqual([])
    await plus(node, 'PATCH', `/listings/${id}`, { quantity: 1, price: 70 })
    expect(await found(node, '?search=stocked&max_price=70')).toEqual([id])
    const { body } = await operator<{ action: string; before: object; after: object }[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}`)
    expect(body.data.slice(0, 2)).toMatchObject([
      { action: 'listing.restock', before: { quantity: 0, price: 81.5 }, after: { quantity: 1, price: 70 } },
      { action: 'listing.restock', before: { quantity: 1 + 11 }, after: { quantity: 0 } },
    ])
  })

  test('with another field, the listing becomes pending with all changes', async () => {
    const { id } = await published(node, items.char!, { title: 'Edited and stocked' })
    const reply = await plus(node, 'PATCH', `/listings/${id}`, { quantity: 3, sku: 'EDITED', description: 'New' })
    expect(reply.body.data).toMatchObject({ status: 'pending' })
    expect(await own(id)).toMatchObject({ quantity: 3, sku: 'EDITED', status: 'pending' })
  })

  test('an SKU is unique among the listings of an account and may be cleared', async () => {
    const [first, second] = [await published(node, items.char!, {}), await published(node, items.char!, {})]
    const theirs = await published(node, items.char!, { seller_id: node.accounts.enterprise })
    expect((await plus(node, 'PATCH', `/listings/${first.id}`, { sku: 'ONCE' })).status).toBe(200)
    expect((await plus(node, 'PATCH', `/listings/${theirs.id}`, { sku: 'ONCE' }, { key: node.keys.enterprise })).status).toBe(200)
    for (const body of [{ sku: 'ONCE' }, { sku: ' ONCE ', quantity: 9 }, { sku: 'ONCE', title: 'Other title' }]) {
      const taken = await plus(node, 'PATCH', `/listings/${second.id}`, body)
      expect(taken).toMatchObject({ status: 422, body: { error: { code: 'PLUS_LISTING_ERROR', rule: 'taken', params: { field: 'sku' } } } })
    }
    expect(await own(second.id)).toMatchObject({ sku: null, quantity: 1, status: 'active' })
    await plus(node, 'PATCH', `/listings/${first.id}`, { sku: null })
    expect((await plus(node, 'PATCH', `/listings/${second.id}`, { sku: 'ONCE' })).status).toBe(200)
  })

  test('of many concurrent requests for one SKU, one gets it, and other writes of their batch succeed', async () => {
    const mine = await Promise.all(Array.from({ length: 12 }, () => published(node, items.char!, {})))
    const replies = await Promise.all(
      mine.map(({ id }, i) => plus(node, 'PATCH', `/listings/${id}`, i % 3 === 0 ? { quantity: 40 + i } : { sku: 'RACED', quantity: 5 })),
    )
    const raced = replies.filter((_reply, i) => i % 3 !== 0)
    expect(raced.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(raced.filter(({ status }) => status !== 200).map(({ body }) => body.error?.rule)).toEqual(Array(7).fill('taken'))
    for (const [i, { id }] of mine.entries()) {
      expect((await own(id)).quantity).toBe(i % 3 === 0 ? 40 + i : replies[i]!.status === 200 ? 5 : 1)
    }
  })

  test.each<[body: object, problem: RegExp]>([
    [{ quantity: -1 }, /^quantity integer 0 1000000/],
    [{ quantity: 1.5 }, /^quantity integer/],
    [{ quantity: null }, /^quantity integer/],
    [{ quantity: '3' }, /^quantity integer/],
    [{ quantity: 1_000_001 }, /^quantity integer/],
    [{ sku: '' }, /^sku or_null text 1 64/],
    [{ sku: '   ' }, /^sku or_null text/],
    [{ sku: 'x'.repeat(65) }, /^sku or_null text/],
    [{ sku: 'a\nb' }, /^sku or_null text/],
    [{ sku: 'a\u0000' }, /^sku or_null text/],
    [{ sku: 7 }, /^sku or_null text/],
  ])('%j is rejected', async (body, problem) => {
    const { id } = await published(node, items.char!, {})
    const reply = await plus(node, 'PATCH', `/listings/${id}`, body)
    expect(refused(reply)).toEqual(REFUSED)
    expect(rulesIn(reply.body.error)).toMatch(problem)
  })

  test('a correction by the operator is marked as made by a person', async () => {
    const { id } = await published(node, items.char!, {})
    await node.db.kysely
      .updateTable('listings')
      .set({ changed_by: JSON.stringify({ kind: 'price_job', id: 3, at: '2026-11-01T10:00:00.000Z' }) })
      .where('id', '=', id)
      .execute()
    expect((await own(id)).changed_by).toEqual({ kind: 'price_job', id: 3, at: '2026-11-01T13:00:00+03:00' })
    await plus(node, 'PATCH', `/listings/${id}`, { sku: 'KEEPS' })
    expect((await own(id)).changed_by).not.toBeNull()
    await operator(node, 'PATCH', `/listings/${id}`, { quantity: 2 })
    expect((await own(id)).changed_by).toBeNull()
  })
})

describe('rejected', () => {
  let id: number
  let sold: number

  beforeAll(async () => {
    id = (await published(node, items.char!, { title: 'Stays', price: 55 })).id
    sold = (await inStatus(node, 'sold', items.char!)).id
  })

  test.each([0, 0.999, 9_999_999.01, 10.123, -5, '12', null, true, [1]])('the price %j', async (price) => {
    for (const path of [`/listings/${id}/price`, `/listings/${id}`]) {
      const reply = await plus(node, 'PATCH', path, { price })
      expect(refused(reply)).toEqual(REFUSED)
      expect(rulesIn(reply.body.error)).toMatch(/^price (required )?number 1 9999999 2$/)
    }
  })

  const family = '👨‍👩‍👧‍👦'
  const e = 'e\u0301'
  test.each([
    ['a title of 255 letters', { title: 'x'.repeat(255) }, true],
    ['a title of 256 letters', { title: 'x'.repeat(256) }, false],
    ['a title of 255 families', { title: family.repeat(255) }, true],
    ['a title of 256 families', { title: family.repeat(256) }, false],
    ['a title of 255 letters with marks', { title: e.repeat(255) }, true],
    ['a title of 256 letters with marks', { title: e.repeat(256) }, false],
    ['an empty title', { title: '  ' }, false],
    ['a description of 5,000', { description: 'ğ'.repeat(5_000) }, true],
    ['a description of 5,001', { description: 'ğ'.repeat(5_001) }, false],
    ['NUL', { description: 'a\u0000b' }, false],
    ['half a character', { title: 'a\ud83d' }, false],
    ['an unknown payer', { shipping_payer: 'nobody' }, false],
    ['offers as text', { offers_enabled: 'yes' }, false],
    ['an offer above the price', { min_offer_price: 56 }, false],
    ['an offer of three decimals', { min_offer_price: 5.555 }, false],
    ['no lowest offer', { min_offer_price: null }, true],
    ['50 pictures', { images: Array.from({ length: 50 }, (_, n) => `https://a.example/${n}.png`) }, true],
    ['51 pictures', { images: Array.from({ length: 51 }, (_, n) => `https://a.example/${n}.png`) }, false],
    ['two pictures in one place', { images: ['https://a.example/1.png', { url: 'https://a.example/2.png', order: 1 }] }, false],
    ['a picture that is a script', { images: ['javascript:alert(1)'] }, false],
    ['a picture without an address', { images: [{ order: 1 }] }, false],
    ['a picture with a further field', { images: [{ url: 'https://a.example/1.png', size: 1 }] }, false],
    ['pictures as text', { images: 'https://a.example/1.png' }, false],
    ['null for pictures', { images: null }, false],
    ['an unknown field', { status: 'active' }, false],
    ['nothing', {}, false],
  ])('%s', async (_what, body, allowed) => {
    const reply = await plus(node, 'PATCH', `/listings/${id}`, body)
    expect(refused(reply)).toEqual(allowed ? { status: 200, code: undefined } : REFUSED)
  })

  test('bodies that are not objects return 400', async () => {
    for (const body of ['[1]', '"x"', '{"price":', '3']) {
      const reply = await send(`${node.publicUrl}/api/v1/plus/listings/${id}/price`, node.keys.plus, { method: 'PATCH', body })
      expect(reply).toMatchObject({ status: 400, body: { error: { code: 'INVALID_JSON' } } })
    }
  })

  test.each(['', '?action=', '?action=delete', '?action=PAUSE', '?action=pause&action=publish'])('the status %s', async (query) => {
    expect(refused(await plus(node, 'POST', `/listings/${id}/status${query}`))).toEqual(REFUSED)
  })

  test('an invalid action, by name', async () => {
    const reply = await plus(node, 'POST', `/listings/${id}/status?action=sell`)
    expect(reply.body.error?.message).toMatch(/invalid action \(must be pause or publish\)/i)
  })

  const writes: [string, string, object | undefined][] = [
    ['PATCH', '/listings/ID/price', { price: 5 }],
    ['PATCH', '/listings/ID', { title: 'x' }],
    ['POST', '/listings/ID/status?action=pause', undefined],
    ['DELETE', '/listings/ID', undefined],
    ['POST', '/make-highlight?id=ID', undefined],
  ]

  test.each(writes)("%s %s of a missing listing, of another account's and of an invalid id", async (method, path, body) => {
    const reply = (of: string | number) => plus(node, method, path.replace('ID', String(of)), body, { key: node.keys.enterprise })
    for (const none of ['999999999', '99999999999999999999', '0', '-1']) {
      const { status, body: answer } = await reply(none)
      expect({ status, ...answer.error }).toMatchObject({ status: 422, code: 'PLUS_LISTING_ERROR', rule: 'not_found' })
    }
    const theirs = await reply(id)
    expect(theirs.body.error).toMatchObject({ code: 'PLUS_LISTING_ERROR', rule: 'not_owner' })
    for (const wrong of ['abc', '1.5', '%20']) expect(refused(await reply(wrong))).toEqual(REFUSED)
  })

  test('anything except deletion of a sold listing', async () => {
    for (const [method, path, body] of writes.slice(0, 3)) {
      const reply = await plus(node, method, path.replace('ID', String(sold)), body)
      expect(reply).toMatchObject({ status: 422, body: { error: { code: 'PLUS_LISTING_ERROR', rule: expect.stringMatching(/sold/) } } })
    }
    expect((await plus(node, 'DELETE', `/listings/${sold}`)).status).toBe(200)
  })

  test.each(['pending', 'paused', 'rejected', 'expired', 'sold'] as Status[])('highlighting a listing that is %s', async (status) => {
    const listing = await inStatus(node, status, items.char!)
    expect((await plus(node, 'POST', '/make-highlight', { id: listing.id })).body.error?.rule).toBe('highlight')
  })

  test('ids in both query and body, and in neither', async () => {
    expect(refused(await plus(node, 'POST', `/make-highlight?id=${id}`, { id }))).toEqual(REFUSED)
    expect(refused(await plus(node, 'POST', '/make-highlight', {}))).toEqual(REFUSED)
    expect(refused(await plus(node, 'POST', '/make-highlight', { id: 'x' }))).toEqual(REFUSED)
  })
})
