// Reads that a shop page or an app needs: a listing by its id, details on lists, categories, groups, markets; and items by their last change.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call } from '#core/verb.ts'
import { mergeItem } from '#identity/merge/merge-item.ts'
import { revertBatch } from '#identity/revert-batch.ts'
import type { CategoryEntry } from '#catalogue/categories/list-categories.ts'
import { endPeriods, type Grades, inStatus, makeCatalogue, operator, orderId, pending, plus, published, search, STATUS_LIST } from '../market/kit.ts'
import { send, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
let items: Record<string, number>
let grades: Grades

beforeAll(async () => {
  node = await startTestNode({ env: { MARKET_NAMES: 'source_a=PriceCharting,source_b=Cardmarket' } })
  ;({ items, grades } = await makeCatalogue(node))
})

afterAll(() => node.close())

const read = <T = unknown>(path: string, key = node.keys.starter, headers: Record<string, string> = {}) =>
  send<T>(`${node.publicUrl}/api/v1${path}`, key, { headers })

async function graphql<T>(query: string, key = node.keys.plus): Promise<{ status: number; data: T; errors?: { extensions: { code: string } }[] }> {
  const response = await send(`${node.publicUrl}/graphql`, key, { json: { query } })
  return { status: response.status, ...(response.body as unknown as { data: T }) }
}

interface Listing {
  id: number
  grade: { id: number; label: string } | null
  [field: string]: unknown
}

const DETAILS = [
  'grade',
  'language',
  'quantity',
  'images',
  'certificate',
  'shipping_payer',
  'offers_enabled',
  'highlighted_until',
  'published_at',
  'expires_at',
]

describe('a listing by its id', () => {
  test('is minimal, with details and with every flag, as in lists', async () => {
    const fields = {
      seller_id: node.accounts.enterprise,
      grade_id: grades['PSA 10'],
      language: 'ja',
      quantity: 3,
      images: [{ url: 'https://example.com/front.jpg', order: 1 }],
      shipping_payer: 'seller',
      offers_enabled: true,
    }
    const { id } = await published(node, items.char!, { ...fields, title: 'Charizard, mint' })
    const minimal = await plus<Listing>(node, 'GET', `/listings/${id}`)
    expect(minimal.body.data).toEqual({ id, title: 'Charizard, mint', slug: `charizard-mint-${id}`, price: 100 })
    expect(minimal.headers.get('etag')).toBeNull()
    const details = {
      grade: { id: grades['PSA 10'], label: 'PSA 10' },
      language: 'ja',
      quantity: 3,
      images: [{ url: 'https://example.com/front.jpg', order: 1 }],
      certificate: null,
      shipping_payer: 'seller',
      offers_enabled: true,
      highlighted_until: null,
      published_at: expect.stringMatching(/\+03:00$/),
      expires_at: expect.stringMatching(/\+03:00$/),
    }
    const detailed = await plus<Listing>(node, 'GET', `/listings/${id}?with_details=1`)
    expect(detailed.body.data).toEqual({ ...minimal.body.data, ...details })
    const flags = 'with_details=1&with_item=1&with_pc=1&with_average=1&with_last_sales=1&with_explain=1'
    const whole = (await plus<Listing>(node, 'GET', `/listings/${id}?${flags}`)).body.data
    const listed = (await search<Listing>(node, `?${flags}&search=charizard%20mint`)).body.data
    expect(listed).toEqual([whole])
    expect(whole).toMatchObject({ item: { id: items.char, name: 'Charizard' }, pc_multiplier: 0.03, average_price: null, last_sales: [] })
    expect(whole.explain).toMatchObject({ pc_multiplier: { result: 0.03 } })
  })

  test('lists have details of every row, and entity tags that follow them', async () => {
    const plain = await published(node, items.pika!, { title: 'Plain' })
    const before = await search<Listing>(node, '?with_details=1&search=plain')
    expect(before.body.data[0]).toMatchObject({ id: plain.id, grade: null, quantity: 1, images: [] })
    expect(Object.keys(before.body.data[0]!)).toEqual(['id', 'title', 'slug', 'price', ...DETAILS])
    const tag = before.headers.get('etag')!
    const again = (headers: Record<string, string>) =>
      send(`${node.publicUrl}/api/v1/plus/listings?with_details=1&search=plain`, node.keys.plus, { headers })
    expect((await again({ 'if-none-match': tag })).status).toBe(304)
    await operator(node, 'PATCH', `/listings/${plain.id}`, { quantity: 5 })
    const after = await again({ 'if-none-match': tag })
    expect([after.status, (after.body.data as Listing[])[0]!.quantity]).toEqual([200, 5])
    const own = await plus<Listing[]>(node, 'GET', '/my-listings?with_details=1&per_page=100')
    expect(own.body.data.find((one) => one.id === plain.id)).toMatchObject({ grade: null, quantity: 5 })
    const page = await search<Listing>(node, '?with_details=1&per_page=1&page=2')
    expect([page.status, page.body.data.length, page.body.pagination?.total]).toEqual([200, 1, (await search(node)).body.pagination?.total])
  })

  test.each(STATUS_LIST)('%s: its owner sees all fields, others only when it is published', async (status) => {
    const listing = await inStatus(node, status, items.char!, { seller_id: node.accounts.plus, title: `Now ${status}` })
    await endPeriods(node)
    const own = await plus<Listing>(node, 'GET', `/listings/${listing.id}?with_details=1`)
    const [listed] = (await plus<Listing[]>(node, 'GET', `/my-listings?with_details=1&status=${status}`)).body.data
    expect(own.body.data).toEqual(listed)
    expect(own.body.data).toMatchObject({ id: listing.id, status, grade: null })
    expect(own.headers.get('etag')).toBe(own.body.data.etag)
    const others = await plus<Listing>(node, 'GET', `/listings/${listing.id}`, undefined, { key: node.keys.enterprise })
    if (status === 'active') expect(others.body.data).toEqual({ id: listing.id, title: 'Now active', slug: `now-active-${listing.id}`, price: 100 })
    else expect([others.status, others.body.error?.code]).toEqual([404, 'NOT_FOUND'])
  })

  test('the tag of an own listing is the one for If-Match', async () => {
    const { id } = await pending(node, items.char!)
    const { headers } = await plus(node, 'GET', `/listings/${id}`)
    const condition = { headers: { 'if-match': headers.get('etag')! } }
    expect((await plus(node, 'PATCH', `/listings/${id}/price`, { price: 7 }, condition)).status).toBe(200)
    expect((await plus(node, 'PATCH', `/listings/${id}/price`, { price: 8 }, condition)).status).toBe(412)
  })

  test('a sold-out or suspended listing returns 404 for others', async () => {
    const seller = (await operator<{ id: number }>(node, 'POST', '/accounts', { name: 'Soon suspended', plan: 'plus' })).body.data
    const { id } = await published(node, items.char!, { seller_id: seller.id })
    const status = async () => (await plus(node, 'GET', `/listings/${id}`)).status
    expect(await status()).toBe(200)
    await operator(node, 'PATCH', `/accounts/${seller.id}`, { suspended: true })
    expect(await status()).toBe(404)
    await operator(node, 'PATCH', `/accounts/${seller.id}`, { suspended: false })
    expect(await status()).toBe(200)
    await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] })
    expect(await status()).toBe(404)
  })

  test.each(['0', '-1', '2147483647', '99999999999'])('%s is not found', async (id) => {
    expect((await plus(node, 'GET', `/listings/${id}`)).status).toBe(404)
  })

  test('invalid ids and flags are reported', async () => {
    const { id } = await published(node, items.char!)
    expect((await plus(node, 'GET', '/listings/abc')).body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'id' }] })
    const flag = await plus(node, 'GET', `/listings/${id}?with_details=perhaps`)
    expect([flag.status, flag.body.error?.details?.[0]?.field]).toEqual([422, 'with_details'])
  })

  test('GraphQL returns the same with its own names, and rejects smaller plans as a whole', async () => {
    const { id } = await published(node, items.char!, { seller_id: node.accounts.enterprise, grade_id: grades['PSA 10'] })
    const query = `{ listing(id: ${id}) { id price pcMultiplier lastSales { price } item { name groups { name } } grade { id label } quantity shippingPayer
      offersEnabled images { url } publishedAt status explain { pcMultiplier { result rule { name } } } } }`
    const { data } = await graphql<{ listing: object }>(query)
    const rest = (await plus<Listing>(node, 'GET', `/listings/${id}?with_details=1&with_last_sales=1`)).body.data
    expect(data.listing).toMatchObject({
      id: String(id),
      price: 100,
      pcMultiplier: 0.03,
      lastSales: (rest.last_sales as object[]).map(() => ({ price: 100 })),
      item: { name: 'Charizard', groups: [{ name: 'Ungraded' }, { name: 'Graded' }] },
      grade: { id: String(grades['PSA 10']), label: 'PSA 10' },
      quantity: 1,
      shippingPayer: rest.shipping_payer,
      publishedAt: rest.published_at,
      status: null,
      explain: { pcMultiplier: { result: 0.03, rule: { name: 'price_over_source_a' } } },
    })
    const hidden = await pending(node, items.char!, { seller_id: node.accounts.enterprise })
    expect(await graphql(`{ listing(id: ${hidden.id}) { id } }`)).toMatchObject({ status: 200, data: { listing: null } })
    expect(await graphql(`{ listing(id: ${hidden.id}) { id status } }`, node.keys.enterprise)).toMatchObject({
      data: { listing: { id: String(hidden.id), status: 'pending' } },
    })
    const refused = await graphql(`{ items { nodes { id } } listing(id: ${id}) { id } }`, node.keys.professional)
    expect([refused.status, refused.data, refused.errors?.[0]?.extensions.code]).toEqual([403, undefined, 'PLAN_UPGRADE_REQUIRED'])
    const wrong = await graphql('{ listing(id: "abc") { id } }')
    expect(wrong.errors?.[0]?.extensions.code).toBe('VALIDATION_ERROR')
  })
})

describe('categories', () => {
  test('form a tree with counts that equal the totals of the item list', async () => {
    const { body, headers } = await read<CategoryEntry[]>('/categories?per_page=100')
    const series = body.data.find((one) => one.name === 'First Series')!
    const base = body.data.find((one) => one.name === 'Base Set')!
    expect(series).toEqual({ id: series.id, name: 'First Series', slug: series.slug, parent_id: null, items_count: 3 })
    expect(base).toMatchObject({ parent_id: series.id, items_count: 2 })
    for (const { id, items_count } of body.data)
      expect([id, (await read(`/items?category_id=${id}`)).body.pagination?.total]).toEqual([id, items_count])
    expect(body.pagination).toMatchObject({ total: body.data.length, current_page: 1, last_page: 1 })
    expect((await read('/categories?per_page=100', node.keys.starter, { 'if-none-match': headers.get('etag')! })).status).toBe(304)
    const { data } = await graphql<{ category: object }>(`{ category(id: ${series.id}) { itemsCount } }`, node.keys.starter)
    expect(data.category).toEqual({ itemsCount: 3 })
  })

  test('can be filtered and paged', async () => {
    const ids = async (query: string) => (await read<CategoryEntry[]>(`/categories?${query}`)).body.data.map(({ name }) => name)
    expect(await ids('parent_id=0')).toEqual(['First Series', 'Romance Dawn'])
    expect(await ids('game=pokemon')).toEqual(['First Series', 'Base Set'])
    expect(await ids('game=chess')).toEqual([])
    expect(await ids('market=source_a')).toEqual([])
    expect(await ids('per_page=1&page=2')).toEqual(['Base Set'])
    expect(await ids('page=9')).toEqual([])
    for (const query of ['per_page=0', 'per_page=101', 'page=0', 'market=nowhere', 'parent_id=x', 'parent_id=-1'])
      expect([query, (await read(`/categories?${query}`)).status]).toEqual([query, 422])
  })

  test('counts follow new, moved and merged items', async () => {
    const count = async (id: number) => (await read<CategoryEntry[]>('/categories?per_page=100')).body.data.find((one) => one.id === id)!.items_count
    const make = (path: string, body: object) => operator<{ id: number }>(node, 'POST', path, body).then((answer) => answer.body.data.id)
    const [one, two] = [
      await make('/categories', { name: 'One', game: 'test', market: 'service' }),
      await make('/categories', { name: 'Two', game: 'test', market: 'service' }),
    ]
    const item = { genre: 'single', game: 'test', market: 'service', category_id: one }
    const [first, second] = [await make('/items', { name: 'First', ...item }), await make('/items', { name: 'Second', ...item })]
    expect([await count(one), await count(two)]).toEqual([2, 0])
    const beside = async () =>
      (await graphql<{ item: { category: object } }>(`{ item(id: ${second}) { name category { itemsCount } } }`)).data.item.category
    expect([await beside(), await beside()]).toEqual([{ itemsCount: 2 }, { itemsCount: 2 }])
    await operator(node, 'PATCH', `/items/${first}`, { category_id: two })
    expect(await beside()).toEqual({ itemsCount: 1 })
    expect([await count(one), await count(two)]).toEqual([1, 1])
    const { batch_id } = (await operator<{ batch_id: number }>(node, 'POST', `/items/${second}/merge`, { into: first })).body.data
    expect([await count(one), await count(two)]).toEqual([0, 1])
    await operator(node, 'POST', `/batches/${batch_id}/revert`)
    expect([await count(one), await count(two)]).toEqual([1, 1])
  })
})

test('groups equal those of operators, over REST and GraphQL', async () => {
  const { body, headers } = await read<{ name: string; types: { id: number; label: string; slug: string }[] }[]>('/groups')
  expect(body.data).toEqual((await operator(node, 'GET', '/groups')).body.data)
  expect(body.data.map(({ name }) => name)).toEqual(['Ungraded', 'Graded'])
  expect(body.data[1]!.types[0]).toEqual({ id: grades['PSA 10'], label: 'PSA 10', slug: 'psa-10' })
  expect((await read('/groups', node.keys.starter, { 'if-none-match': headers.get('etag')! })).status).toBe(304)
  const { data } = await graphql<{ groups: { types: { id: string }[] }[] }>('{ groups { id name slug types { id label slug } } }', node.keys.starter)
  expect(data.groups.map(({ types }) => types.map(({ id }) => Number(id)))).toEqual(body.data.map(({ types }) => types.map(({ id }) => id)))
})

test('markets have their names, currencies and newest prices', async () => {
  const markets = async () => (await read<object[]>('/markets')).body.data
  const post = (price: number, updated_at: string) =>
    operator(node, 'POST', '/prices', [{ item_id: items.pika, market: 'source_b', label: 'Near Mint', price, updated_at }])
  const unstated = { use: 'show', licence: null }
  expect(await markets()).toEqual([
    { code: 'service', name: 'service', currency: 'TRY', use: 'redistribute', licence: null, last_price_at: expect.any(String) },
    { code: 'source_a', name: 'PriceCharting', currency: 'USD', ...unstated, last_price_at: '2026-11-01T00:00:00Z' },
    { code: 'source_b', name: 'Cardmarket', currency: 'EUR', ...unstated, last_price_at: null },
    { code: 'source_c', name: 'source_c', currency: 'USD', ...unstated, last_price_at: null },
  ])
  await post(1, '2026-11-02T08:00:00Z')
  const { import_id } = (await post(1.2, '2026-11-03T08:00:00Z')).body.data as unknown as { import_id: number }
  expect(await markets()).toContainEqual(expect.objectContaining({ code: 'source_b', last_price_at: '2026-11-03T08:00:00Z' }))
  await operator(node, 'POST', `/imports/${import_id}/revert`)
  expect(await markets()).toContainEqual(expect.objectContaining({ code: 'source_b', last_price_at: '2026-11-02T08:00:00Z' }))
  const { data } = await graphql<{ markets: object[] }>('{ markets { code name currency lastPriceAt } }', node.keys.starter)
  expect(data.markets[2]).toEqual({ code: 'source_b', name: 'Cardmarket', currency: 'EUR', lastPriceAt: '2026-11-02T08:00:00Z' })
})

test('prices with statistics name their currency', async () => {
  const { body } = await read<{ prices: { currency: string }[] }>(`/items/${items.char}?with_stats=1&market=source_a`, node.keys.professional)
  expect(body.data.prices.map(({ currency }) => currency)).toEqual(['USD', 'USD'])
})

describe('updated_since', () => {
  /** A time after all changes so far. */
  const mark = () => {
    node.clock.advance(2_000)
    const at = node.clock.now().toISOString()
    node.clock.advance(2_000)
    return at
  }
  const changed = async (since: string, query = '', on = node) =>
    (await send<{ id: number }[]>(`${on.publicUrl}/api/v1/items?updated_since=${since}${query}`, node.keys.starter)).body.data.map(({ id }) => id)
  const price = (item: number, amount: number, updated_at: string) =>
    operator<{ import_id: number }>(node, 'POST', '/prices', [{ item_id: item, market: 'source_c', label: 'Near Mint', price: amount, updated_at }])

  test('includes facts and prices, however old their dates, and nothing else', async () => {
    const since = mark()
    expect(await changed(since)).toEqual([])
    await operator(node, 'PATCH', `/items/${items.luffy}`, { code: 'OP01-002' })
    expect(await changed(since)).toEqual([items.luffy])
    await price(items.box!, 90, '2026-10-01T00:00:00Z')
    expect(await changed(since, '&sort_by=id')).toEqual([items.box, items.luffy].sort((a, b) => a! - b!))
    const later = mark()
    // Posting the same again is not a change.
    await price(items.box!, 90, '2026-10-02T00:00:00Z')
    expect(await changed(later)).toEqual([])
    await published(node, items.char!)
    expect(await changed(later)).toEqual([])
  })

  test('combines with every filter, with the search, and over GraphQL', async () => {
    const since = mark()
    await price(items.char!, 160, '2026-11-05T00:00:00Z')
    await price(items.pika!, 2, '2026-11-05T00:00:00Z')
    expect(await changed(since, '&search=chari')).toEqual([items.char])
    expect(await changed(since, '&market=source_c&game=pokemon&sort_by=price&sort_order=desc')).toEqual([items.char, items.pika])
    expect(await changed(since, '&query=number:58')).toEqual([items.pika])
    const [base] = (await read<CategoryEntry[]>('/categories?game=pokemon')).body.data.filter(({ name }) => name === 'Base Set')
    expect(await changed(since, `&category_id=${base!.id}&per_page=1&page=2`)).toHaveLength(1)
    const found = await read<{ id: number }[]>(`/items/search?q=charizard&updated_since=${since}`)
    expect(found.body.data.map(({ id }) => id)).toEqual([items.char])
    const { data } = await graphql<{ items: { nodes: { id: string }[]; pageInfo: { endCursor: string } } }>(
      `{ items(updatedSince: "${since}", first: 1) { nodes { id } pageInfo { endCursor } } }`,
    )
    expect(data.items.nodes.map(({ id }) => Number(id))).toEqual([items.char])
    const rest = await graphql<{ items: { nodes: { id: string }[] } }>(
      `{ items(updatedSince: "${since}", first: 9, after: "${data.items.pageInfo.endCursor}") { nodes { id } } }`,
    )
    expect(rest.data.items.nodes.map(({ id }) => Number(id))).toEqual([items.pika])
  })

  test('a cached response and its entity tag end with a change', async () => {
    const since = mark()
    const ask = (headers: Record<string, string> = {}) => read<{ id: number }[]>(`/items?updated_since=${since}`, node.keys.starter, headers)
    const empty = await ask()
    for (let i = 0; i < 3; i += 1) expect((await ask()).body.data).toEqual([])
    await price(items.pika!, 3, '2026-11-06T00:00:00Z')
    const found = await ask({ 'if-none-match': empty.headers.get('etag')! })
    expect([found.status, found.body.data.map(({ id }) => id)]).toEqual([200, [items.pika]])
    expect((await ask({ 'if-none-match': found.headers.get('etag')! })).status).toBe(304)
  })

  test('includes reverted prices and merges, also on nodes that start later', async () => {
    // By the system's clock, which the test does not advance.
    const minuteAgo = new Date(Date.now() - 60_000).toISOString()
    const before = mark()
    const { import_id } = (await price(items.luffy!, 4, '2026-11-07T00:00:00Z')).body.data
    const since = mark()
    await operator(node, 'POST', `/imports/${import_id}/revert`)
    expect(await changed(since)).toEqual([items.luffy])
    const twin = (
      await operator<{ id: number }>(node, 'POST', '/items', {
        name: 'Pikaçhu',
        game: 'pokemon',
        market: 'service',
        genre: 'single',
        category_id: (await read<CategoryEntry[]>('/categories')).body.data[0]!.id,
      })
    ).body.data.id
    const merging = mark()
    const { batch_id } = await call(mergeItem, { ...node.ctx, rules: node.config.priceRules }, { id: twin, into: items.pika! })
    expect(await changed(merging)).toEqual([items.pika])
    const splitting = mark()
    await call(revertBatch, { ...node.ctx, rules: node.config.priceRules }, { id: batch_id })
    expect((await changed(splitting)).sort()).toEqual([items.pika!, twin].sort())
    const late = await startTestNode({ databaseUrl: node.databaseUrl })
    await until('the late node answers', async () => (await changed(minuteAgo, '', late)).length > 0)
    expect(await changed(minuteAgo, '', late)).toEqual(expect.arrayContaining([items.luffy, items.pika, twin]))
    expect(await changed(new Date(Date.now() + 3_600_000).toISOString(), '', late)).toEqual([])
    await late.close()
    expect(await changed(before)).toEqual(expect.arrayContaining([items.luffy, items.pika]))
  })

  test.each(['yesterday', '2026-13-01T00:00:00Z', '2026-11-01', '1600000000', '0000-01-01T00:00:00Z'])('%s is rejected by name', async (since) => {
    for (const path of ['/items', '/items/search?q=charizard']) {
      const answer = await read(`${path}${path.includes('?') ? '&' : '?'}updated_since=${since}`)
      expect([answer.status, answer.body.error?.details?.map(({ field }) => field)]).toEqual([422, ['updated_since']])
    }
    const { errors } = await graphql(`{ items(updatedSince: "${since}") { nodes { id } } }`)
    expect(errors?.[0]?.extensions.code).toBe('VALIDATION_ERROR')
  })
})
