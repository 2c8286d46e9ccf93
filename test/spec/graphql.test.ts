// GraphQL schema v3 over HTTP: reading, plans, errors and the rules of the transport.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLANS } from '#core/plans.ts'
import { ask, type GraphqlReply, post } from '../graphql/client.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startSampleNode({ env: { SOURCE_CURRENCIES: 'source_b=GBP' }, listeners: 'public' })
})

afterAll(() => node.close())

const WHOLE_ITEM = `
  id name code slug genre game
  category { id name slug }
  images { url order }
  prices { market label price currency updatedAt }
  groups { id name slug }
  attributes { name value }
  rarity illustrator hp types dexIds stage evolveFrom suffix level`

interface Item {
  id: string
  name: string
  code: string | null
  slug: string
  genre: string
  game: string
  category: { id: string; name: string; slug: string }
  images: { url: string; order: number }[]
  prices: { market: string; label: string; price: number; currency: string; updatedAt: string }[]
  groups: { id: string; name: string; slug: string }[]
  attributes: { name: string; value: string }[]
  [detail: string]: unknown
}

interface RestItem extends Record<string, unknown> {
  id: number
  market: string
  category: { id: number }
  groups: { id: number }[]
  images: { url: string; order: number }[]
  prices: { label: string; price: number; updated_at: string }[]
}

interface Page<T> {
  nodes: T[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

function firstError(reply: GraphqlReply<unknown>) {
  expect(reply.errors).toBeDefined()
  return reply.errors![0]!
}

async function restItems(query = ''): Promise<RestItem[]> {
  const items: RestItem[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await send<RestItem[]>(`${node.publicUrl}/api/v1/items?per_page=100&page=${page}&${query}`, node.keys.enterprise)
    items.push(...body.data)
    if (!body.pagination!.has_more) return items
  }
}

describe('items', () => {
  test('equal those over REST, all of them, with the prices of all markets', async () => {
    const found: Item[] = []
    for (let after: string | null = null; ; ) {
      const query = `query ($after: String) { items(first: 100, after: $after) { nodes { ${WHOLE_ITEM} } pageInfo { hasNextPage endCursor } } }`
      const reply: GraphqlReply<{ items: Page<Item> }> = await ask(node, query, { plan: 'enterprise', variables: { after } })
      expect(reply.errors).toBeUndefined()
      found.push(...reply.data.items.nodes)
      after = reply.data.items.pageInfo.endCursor
      if (!reply.data.items.pageInfo.hasNextPage) break
    }
    const rest = await restItems()
    expect(found.map((item) => Number(item.id))).toEqual(rest.map((item) => item.id))
    for (const [i, item] of found.entries()) {
      const expected = rest[i]!
      const { id, name, code, slug, genre, game, category, images, groups, attributes } = item
      expect({ id: Number(id), name, code, slug, genre, game, attributes }).toEqual(
        Object.fromEntries(['id', 'name', 'code', 'slug', 'genre', 'game', 'attributes'].map((field) => [field, expected[field]])),
      )
      expect({ ...category, id: Number(category.id) }).toEqual(expected.category)
      expect(groups.map((group) => ({ ...group, id: Number(group.id) }))).toEqual(expected.groups)
      expect(images).toEqual(expected.images.map(({ url, order }) => ({ url, order })))
      const own = item.prices.filter((price) => price.market === expected.market)
      expect(own.map(({ label, price, updatedAt }) => ({ label, price, updated_at: updatedAt }))).toEqual(expected.prices)
    }
    expect(new Set(found.flatMap((item) => item.prices.map((price) => `${price.market} ${price.currency}`)))).toEqual(
      new Set(['service TRY', 'source_a USD', 'source_b GBP', 'source_c USD']),
    )
    expect(found.some((item) => Array.isArray(item.dexIds) && typeof item.hp === 'number' && typeof item.evolveFrom === 'string')).toBe(true)
  })

  test.each([
    ['game: "onepiece"', 'game=onepiece'],
    ['market: "source_b"', 'market=source_b'],
    ['market: "SOURCE_B"', 'market=source_b'],
    ['search: "CHARIZARD 4", sortBy: "name"', 'search=charizard%204'],
    ['search: ""', ''],
    ['sortBy: "price", sortOrder: "desc"', 'sort_by=price&sort_order=desc'],
    ['sortBy: "code"', 'sort_by=code'],
    ['sortBy: "updated_at", sortOrder: "desc"', 'sort_by=updated_at&sort_order=desc'],
    ['sortBy: "id", sortOrder: "desc"', 'sort_by=id&sort_order=desc'],
    ['game: "no such game"', 'game=no%20such%20game'],
    ['categoryId: 987654', 'category_id=987654'],
  ])('items(%s) equal those of REST with %s', async (args, query) => {
    const reply = await ask<{ items: Page<{ id: string }> }>(node, `{ items(first: 50, ${args}) { nodes { id } } }`)
    const rest = await send<RestItem[]>(`${node.publicUrl}/api/v1/items?per_page=50&${query}`, node.keys.professional)
    expect(reply.data.items.nodes.map((item) => Number(item.id))).toEqual(rest.body.data.map((item) => item.id))
  })

  test('returns one by id; null without an error if it does not exist', async () => {
    const reply = await ask(node, '{ item(id: 5) { id name } missing: item(id: "99999999") { id } huge: item(id: "123456789012345") { id } }')
    expect(reply).toMatchObject({ status: 200, data: { item: { id: '5' }, missing: null, huge: null } })
    expect(reply.errors).toBeUndefined()
  })
})

describe('categories', () => {
  interface Category {
    id: string
    name: string
    slug: string
    image: string | null
    parent: Category | null
    children: Category[]
    items: Page<{ id: string; category: { id: string } }>
  }

  test('are all by default, the roots for null, and the children of one', async () => {
    const query = `query ($parentId: ID) {
      all: categories { nodes { id parent { id } children { id } } }
      roots: categories(parentId: null) { nodes { id } }
      below: categories(parentId: $parentId) { nodes { id } }
    }`
    const { data } = await ask<Record<'all' | 'roots' | 'below', Page<Category>>>(node, query, { plan: 'plus', variables: { parentId: 1 } })
    const all = data.all.nodes
    const ids = (categories: Category[]) => categories.map((category) => category.id)
    expect(ids(all)).toEqual(ids(all).toSorted((a, b) => Number(a) - Number(b)))
    expect(ids(data.roots.nodes)).toEqual(ids(all.filter((category) => category.parent === null)))
    expect(ids(data.below.nodes)).toEqual(ids(all.filter((category) => category.parent?.id === '1')))
    for (const category of all) {
      expect(ids(category.children)).toEqual(ids(all.filter((child) => child.parent?.id === category.id)))
    }
  })

  test('are filtered by game and market, and paged', async () => {
    const { data } = await ask<Record<string, Page<Category>>>(
      node,
      `{
      onepiece: categories(game: "onepiece", market: "source_a") { nodes { id } }
      market: categories(market: "SOURCE_A") { nodes { id } }
      none: categories(parentId: 99999) { nodes { id } pageInfo { hasNextPage endCursor } }
    }`,
    )
    expect(data.onepiece!.nodes.length).toBeGreaterThan(0)
    expect(data.market!.nodes.length).toBeGreaterThan(data.onepiece!.nodes.length)
    expect(data.none).toEqual({ nodes: [], pageInfo: { hasNextPage: false, endCursor: null } })
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const query = 'query ($after: String) { categories(first: 7, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }'
      const reply: GraphqlReply<{ categories: Page<Category> }> = await ask(node, query, { variables: { after } })
      seen.push(...reply.data.categories.nodes.map((category) => category.id))
      after = reply.data.categories.pageInfo.endCursor
      if (!reply.data.categories.pageInfo.hasNextPage) break
    }
    const all = await ask<{ categories: Page<Category> }>(node, '{ categories(first: 500) { nodes { id } } }')
    expect(seen).toEqual(all.data.categories.nodes.map((category) => category.id))
  })

  test('have pages of their items, including all categories below', async () => {
    const query = `query ($after: String) { category(id: 1) { children { id } items(first: 40, after: $after) {
      nodes { id category { id } } pageInfo { hasNextPage endCursor } } } missing: category(id: 99999) { id } }`
    const seen: string[] = []
    for (let after: string | null = null; ; ) {
      const reply: GraphqlReply<{ category: Category; missing: null }> = await ask(node, query, { variables: { after } })
      expect(reply.data.missing).toBeNull()
      const { items } = reply.data.category
      seen.push(...items.nodes.map((item) => item.id))
      after = items.pageInfo.endCursor
      if (!items.pageInfo.hasNextPage) break
    }
    const rest = await restItems('category_id=1')
    expect(seen.map(Number)).toEqual(rest.map((item) => item.id))
  })
})

describe('plans', () => {
  test('Starter gets null for every gated field, without an error, and all others as everyone', async () => {
    const gated = 'prices { price } attributes { name value } rarity illustrator hp types dexIds stage evolveFrom suffix level'
    const open = 'id name code slug genre game category { id name slug } images { url } groups { slug }'
    const starter = await ask<{ item: object }>(node, `{ item(id: 5) { ${gated} } }`, { plan: 'starter' })
    expect(starter.errors).toBeUndefined()
    expect(new Set(Object.values(starter.data.item))).toEqual(new Set([null]))
    const seen = await Promise.all(PLANS.map((plan) => ask(node, `{ item(id: 5) { ${open} } }`, { plan })))
    for (const reply of seen) expect(reply.data).toEqual(seen[0]!.data)
    for (const plan of PLANS.slice(1)) {
      const reply = await ask<{ item: Item }>(node, `{ item(id: 5) { ${gated} } }`, { plan })
      expect(reply.data.item.prices.length).toBeGreaterThan(3)
      expect(reply.data.item.hp).toBeGreaterThan(0)
    }
  })

  test.each(['starter', 'professional'] as const)('%s cannot execute an operation with a mutation', async (plan) => {
    const document = 'query Read { item(id: 1) { id } } mutation Write { anything }'
    const refused = await ask(node, document, { plan, operationName: 'Write' })
    expect(refused.status).toBe(403)
    expect(refused.data).toBeUndefined()
    expect(firstError(refused).extensions).toMatchObject({ code: 'PLAN_UPGRADE_REQUIRED', status: 403 })
  })
})

describe('errors', () => {
  test.each([
    ['{ items(sortBy: "hp") { nodes { id } } }', 'sortBy', 'name, code, id, price, updated_at'],
    ['{ items(sortOrder: "up") { nodes { id } } }', 'sortOrder', 'asc, desc'],
    ['{ items(market: "ebay") { nodes { id } } }', 'market', 'service, source_a, source_b, source_c'],
    ['{ categories(market: "ebay") { nodes { id } } }', 'market', 'service, source_a, source_b, source_c'],
    ['{ items(first: 0) { nodes { id } } }', 'first', 'between 1 and 100'],
    ['{ items(first: 101) { nodes { id } } }', 'first', 'between 1 and 100'],
    ['{ items(first: -5) { nodes { id } } }', 'first', 'between 1 and 100'],
    ['{ categories(first: 501) { nodes { id } } }', 'first', 'between 1 and 500'],
    ['{ item(id: "abc") { id } }', 'id', 'whole number'],
    ['{ category(id: "1.5") { id } }', 'id', 'whole number'],
    ['{ items(categoryId: "x") { nodes { id } } }', 'categoryId', 'whole number'],
    ['{ categories(parentId: "x") { nodes { id } } }', 'parentId', 'whole number'],
    ['{ items(after: "nonsense") { nodes { id } } }', 'after', 'endCursor'],
    [`{ items(search: "${'x'.repeat(201)}") { nodes { id } } }`, 'search', '200'],
  ])('%s reports %s and what is allowed', async (query, field, allowed) => {
    const reply = await ask(node, query)
    expect(reply.status).toBe(200)
    const { message, extensions } = firstError(reply)
    expect(extensions).toMatchObject({ code: 'VALIDATION_ERROR', status: 422 })
    expect(extensions.details!.map((problem) => problem.field)).toEqual([field])
    expect(message).toContain(field)
    expect(message).toContain(allowed)
  })

  test.each([
    ['{', 'Syntax'],
    ['{ itemz { id } }', 'Did you mean'],
    ['{ item { id } }', 'required'],
    ['{ item(id: null) { id } }', 'null'],
    ['{ items(first: "ten") { nodes { id } } }', 'Int'],
    ['{ items(colour: "red") { nodes { id } } }', 'colour'],
    ['query ($id: ID!) { item(id: $id) { id } }', '$id'],
    ['query A { item(id: 1) { id } } query B { item(id: 1) { id } }', 'operationName'],
    ['{ item(id: 1, id: 2) { id } }', 'one argument named "id"'],
    ['{ item(id: 1) { id } } fragment F on Item { ...F }', 'Cannot spread fragment'],
    ['{ item(id: 1) { id @skip } }', 'if'],
    ['subscription { x }', 'subscription'],
    ['{ itemz { id } }', 'Its fields are categories, category, items, item, groups, markets, listing, me, '],
    ['{ item(id: 1) { nam } }', 'Its fields are id, name, code, slug, genre, game, category,'],
    ['{ item(id: 1) { ... { category { up } } } }', 'Its fields are id, name, slug, image, parent, children, items, itemsCount.'],
    [
      '{ items(colour: "red") { nodes { id } } }',
      'Its arguments are game, market, search, query, updatedSince, categoryId, first, after, sortBy, sortOrder.',
    ],
    ['{ item(id: 1) { name(short: true) } }', 'It takes none.'],
    ['{ item(id: 1) { id @skip(unless: true, if: true) } }', 'Its arguments are if.'],
    ['{ items(first: "ten") { nodes { id } } }', 'first: Int'],
    ['{ item(id: null) { id } }', 'id: '],
    ['mutation { configureWebhook(input: { url: 1 }) { url } }', 'input.url: String'],
    ['mutation { configureWebhook(input: { onSale: true }) { url } }', 'input: '],
    ['mutation { configureWebhook(input: { url: "https://example.com", on: true }) { url } }', 'Its fields are url, onSale, onExpire, isActive.'],
    ['mutation { configureWebhook(input: { url: "https://example.com", on: { sale: 1 } }) { url } }', 'input.on: '],
  ])('%s is rejected before execution', async (query, text) => {
    const reply = await ask(node, query, { accept: 'application/graphql-response+json', plan: 'plus' })
    expect(reply.status).toBe(400)
    expect(reply.data).toBeUndefined()
    expect(firstError(reply).extensions).toMatchObject({ code: 'BAD_REQUEST', status: 400 })
    expect(reply.errors!.map((error) => error.message).join('\n')).toContain(text)
    expect((await ask(node, query, { plan: 'plus' })).status).toBe(200)
  })

  test('an unknown operation name is reported', async () => {
    const reply = await ask(node, 'query A { item(id: 1) { id } }', { operationName: 'B' })
    expect(firstError(reply).message).toContain('B')
  })
})

describe('transport', () => {
  const query = '{ item(id: 1) { id } }'
  const key = () => ({ authorization: `Bearer ${node.keys.professional}` })

  test.each(['/graphql', '/graphql/v3'])('%s gets a response with a request id', async (path) => {
    const reply = await ask(node, query, { path })
    expect(reply.data).toEqual({ item: { id: '1' } })
    expect(reply.headers.get('x-request-id')).toMatch(/^[\w-]+$/)
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  test.each([
    ['no header', {}],
    ['a malformed header', { authorization: 'Basic abc' }],
    ['an unknown key', { authorization: 'Bearer nonsense' }],
  ])('401 with %s, also for introspection', async (_name, headers: Record<string, string>) => {
    for (const body of [{ query }, { query: '{ __schema { queryType { name } } }' }]) {
      const reply = await post(node, JSON.stringify(body), { ...headers, accept: 'application/graphql-response+json' })
      expect(reply.status).toBe(401)
      expect(reply.headers.get('www-authenticate')).toBe('Bearer')
      expect(reply.errors).toEqual([
        {
          message: expect.any(String) as string,
          extensions: {
            code: 'UNAUTHENTICATED',
            status: 401,
            rule: expect.any(String) as string,
            params: expect.objectContaining({ credential: 'API key' }) as object,
          },
        },
      ])
    }
  })

  test('queries are accepted by GET, mutations are not', async () => {
    const get = (params: Record<string, string>) => fetch(`${node.publicUrl}/graphql?${new URLSearchParams(params).toString()}`, { headers: key() })
    const read = await get({ query: 'query ($id: ID!) { item(id: $id) { id } }', variables: '{"id": 1}' })
    expect(await read.json()).toMatchObject({ data: { item: { id: '1' } } })
    const write = await get({ query: 'mutation { x }' })
    expect(write.status).toBe(405)
    expect(write.headers.get('allow')).toBe('POST')
    expect(await write.json()).toMatchObject({ errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }] })
    expect((await get({ query, variables: '{"id": ' })).status).toBe(400)
    const twice = await fetch(`${node.publicUrl}/graphql?query=%7Ba%7D&query=%7Bb%7D`, { headers: key() })
    expect(twice.status).toBe(400)
  })

  test('other methods are rejected with the allowed ones', async () => {
    const response = await fetch(`${node.publicUrl}/graphql`, { method: 'PUT', headers: key() })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toContain('GET, POST')
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED', status: 405 } }] })
  })

  test.each([
    ['no JSON', '{"query": ', 400, 'INVALID_JSON'],
    ['an empty body', '', 400, 'INVALID_JSON'],
    ['a batch', JSON.stringify([{ query }, { query }]), 400, 'BAD_REQUEST'],
    ['an empty batch', '[]', 400, 'BAD_REQUEST'],
    ['no object', '"query"', 400, 'BAD_REQUEST'],
    ['no query', '{}', 400, 'BAD_REQUEST'],
    ['the same key twice', `{"query": "${query}", "query": "{ __typename }"}`, 400, 'INVALID_JSON'],
    ['the same variable twice', `{"query": "${query}", "variables": {"a:\\"": 1, "b": {"c": 1, "c": 2}}}`, 400, 'INVALID_JSON'],
    ['variables as a text', JSON.stringify({ query, variables: '{}' }), 400, 'BAD_REQUEST'],
    ['a document of 1 MB', JSON.stringify({ query: `{ item(id: 1) { id } } # ${'x'.repeat(1_000_000)}` }), 413, 'PAYLOAD_TOO_LARGE'],
  ])('%s is rejected', async (_name, body, status, code) => {
    const reply = await post(node, body, key())
    expect(reply.status).toBe(status)
    expect(firstError(reply).extensions).toMatchObject({ code, status })
  })

  test('colons, quotes and backslashes in texts are not mistaken for keys', async () => {
    const variables = { id: 1, 'a:b': '":{"c":1}', 'e\\': '\\', 'f\\"': [{ 'g:': '\\":' }] }
    const body = JSON.stringify({ query: 'query ($id: ID!) { item(id: $id) { id } }', variables })
    expect((await post(node, body, key())).data).toEqual({ item: { id: '1' } })
  })

  test('other content types and media types are rejected', async () => {
    const body = JSON.stringify({ query })
    expect((await post(node, body, { ...key(), 'content-type': 'text/plain' })).status).toBe(415)
    expect((await post(node, body, { ...key(), accept: 'image/png' })).status).toBe(406)
  })

  test.each([
    ['application/graphql-response+json, application/json;q=0.9', 'application/graphql-response+json'],
    ['application/graphql-response+json;charset=utf-8, application/json;charset=utf-8', 'application/graphql-response+json'],
    ['application/json;q=0.5, application/graphql-response+json', 'application/graphql-response+json'],
    ['application/json, multipart/mixed', 'application/json'],
    ['application/*', 'application/json'],
    ['text/event-stream, */*;q=0.1', 'application/json'],
  ])('Accept: %s gets %s', async (accept, type) => {
    const reply = await ask(node, query, { accept })
    expect(reply.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
  })
})

test('requests share the count with REST', { tags: 'slow' }, async () => {
  const limited = await startSampleNode({ env: { RATE_LIMITS: 'starter=3' }, listeners: 'public' })
  try {
    const read = () => ask(limited, '{ item(id: 1) { id } }', { plan: 'starter' })
    await send(`${limited.publicUrl}/api/v1/items/1`, limited.keys.starter)
    expect((await read()).headers.get('ratelimit')).toMatch(/^"default";r=1;t=\d+$/)
    await send(`${limited.publicUrl}/api/v1/items/1`, limited.keys.starter)
    const refused = await read()
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(firstError(refused).extensions).toMatchObject({ code: 'RATE_LIMITED', status: 429 })
  } finally {
    await limited.close()
  }
})
