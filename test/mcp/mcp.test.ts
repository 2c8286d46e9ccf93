// The Model Context Protocol through its official client: tools by plan, each called once correctly and once incorrectly, and the service's checks.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCollection } from '#collections/create-collection.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import type { KeyUsageRow } from '#accounts/keys/usage.ts'
import { call } from '#core/verb.ts'
import { changeSource } from '#prices/reviews/change-source.ts'
import type { PriceJob } from '#market/jobs/types.ts'
import { makeCatalogue, plus, published } from '../market/kit.ts'
import { passOnAllPrices, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { callTool, withClient } from './client.ts'

const EVERY_PLAN = ['search_items', 'get_item', 'look_up_items', 'list_categories', 'me']
const PROFESSIONAL = ['price_history', 'explain_price']
const PLUS = [
  'search_listings',
  'get_listing',
  'my_listings',
  'plan_price_job',
  'apply_price_job',
  'undo_price_job',
  'list_collections',
  'collection_worth',
  'collection_records',
  'collection_profit',
  'collection_completion',
  'collection_lots',
  'collection_disposals',
  'my_watches',
  'recent_sales',
]

let node: TestNode
let items: Record<string, number>
let listing: number
let collection: number
let record: number

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
  ;({ items } = await makeCatalogue(node))
  await passOnAllPrices(node)
  listing = (await published(node, items.char!, { price: 100, title: 'Charizard, played' })).id
  ;({ id: collection } = await call(createCollection, node.ctx, { account_id: node.accounts.plus, name: 'Binder' }))
  const bought = { item_id: items.char!, quantity: 3, purchase_price: 90.5, purchase_date: '2026-11-02' }
  record = (await plus<{ id: number }>(node, 'POST', `/collections/${collection}/items`, bought)).body.data.id
  await plus(node, 'POST', `/collections/${collection}/items/${record}/disposals`, { at: '2026-11-20', gross: 300, fees: 10 })
  await plus(node, 'PUT', '/watches', { kind: 'offer_below', item_id: items.char!, amount: 70 })
})

afterAll(() => node.close())

const asPlan = <T>(plan: keyof TestNode['keys'], use: (client: Client) => Promise<T>) => withClient(node.publicUrl!, node.keys[plan], use)
const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const headers = { accept: 'application/json, text/event-stream' }

describe('tools', () => {
  test('are those of the plan', async () => {
    expect((await asPlan('starter', namesOf)).sort()).toEqual([...EVERY_PLAN].sort())
    expect((await asPlan('professional', namesOf)).sort()).toEqual([...EVERY_PLAN, ...PROFESSIONAL].sort())
    for (const plan of ['plus', 'enterprise'] as const) {
      expect((await asPlan(plan, namesOf)).sort()).toEqual([...EVERY_PLAN, ...PROFESSIONAL, ...PLUS].sort())
    }
  })

  test('have closed schemas of plain JSON Schema, and state which ones write', async () => {
    const { tools } = await asPlan('plus', (client) => client.listTools())
    for (const { name, description, inputSchema, annotations } of tools) {
      expect(description!.length, name).toBeGreaterThan(40)
      expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false })
      expect(JSON.stringify(inputSchema), name).not.toMatch(/"allowed"|"documentedValues"|`1`/)
      expect(annotations!.readOnlyHint, name).toBe(!name.endsWith('_price_job'))
    }
  })

  test('return the same as REST', async () => {
    const rest = (path: string) => send(`${node.publicUrl}/api/v1${path}`, node.keys.plus)
    const id = items.char!
    const twins: [tool: string, args: Record<string, unknown> | undefined, path: string][] = [
      ['search_items', { q: 'charizard' }, '/items/search?q=charizard&per_page=10'],
      ['get_item', { id }, `/items/${id}`],
      [
        'price_history',
        { id, market: 'source_a', from: '2026-10-01T00:00:00Z' },
        `/items/${id}/price-history?market=source_a&from=2026-10-01T00:00:00Z&interval=week`,
      ],
      ['list_categories', { parent_id: 0 }, '/categories?parent_id=0&per_page=50'],
      [
        'search_listings',
        { search: 'charizard', sort_by: 'latest' },
        '/plus/listings?search=charizard&sort_by=latest&per_page=10&with_item=1&with_details=1',
      ],
      ['get_listing', { id: listing }, `/plus/listings/${listing}?with_item=1&with_details=1`],
      ['my_listings', undefined, '/plus/my-listings?per_page=10&with_item=1'],
      ['list_collections', {}, '/plus/collections?with_value=1'],
      ['recent_sales', { item_id: id }, `/plus/recent-sales?item_id=${id}&per_page=10`],
      ['collection_worth', { id: collection }, `/plus/collections/${collection}?with_value=1`],
      [
        'collection_records',
        { id: collection, sort_by: 'value' },
        `/plus/collections/${collection}/items?page=1&per_page=10&with_value=1&with_item=1&sort_by=value`,
      ],
      ['collection_profit', { id: collection, currency: 'USD' }, `/plus/collections/${collection}/profit?currency=USD`],
      ['collection_profit', { id: collection, moneys: ['USD', 'EUR'] }, `/plus/collections/${collection}/profit?moneys[]=USD&moneys[]=EUR`],
      ['collection_completion', { id: collection }, `/plus/collections/${collection}/completion?per_page=10`],
      [
        'collection_completion',
        { id: collection, query: 'set:"Base Set"', goal: 'base' },
        `/plus/collections/${collection}/completion?query=${encodeURIComponent('set:"Base Set"')}&goal=base&per_page=10`,
      ],
      ['collection_lots', { id: collection, itemId: record }, `/plus/collections/${collection}/items/${record}/lots`],
      ['collection_disposals', { id: collection, itemId: record }, `/plus/collections/${collection}/items/${record}/disposals`],
      ['my_watches', { kind: 'offer_below' }, '/plus/watches?kind=offer_below&per_page=10'],
    ]
    await asPlan('plus', async (client) => {
      for (const [name, args, path] of twins) {
        const { success, ...body } = (await rest(path)).body
        expect([name, success]).toEqual([name, true])
        expect({ name, ...(await callTool(client, name, args)) }).toEqual({ name, isError: false, content: body })
        if (/^collection_|watches/.test(name)) expect([name, Object.keys(body.data as object).length]).not.toEqual([name, 0])
      }
      expect((await callTool(client, 'explain_price', { id, market: 'source_a' })).content.data).toMatchObject({ price: 168.56, currency: 'USD' })
      expect((await callTool(client, 'me')).content.data).toMatchObject({ account: { plan: 'plus' } })
      const ids = [
        { set: 'Base Set', number: '4/102' },
        { set: 'Base Set', number: '99' },
      ]
      expect((await callTool(client, 'look_up_items', { ids })).content).toMatchObject({
        data: [{ state: 'found', item: { id } }, { state: 'unknown' }],
      })
    })
  })

  test('of collections read those of another account no more than REST does', async () => {
    await asPlan('enterprise', async (client) => {
      for (const name of ['worth', 'records', 'profit', 'completion']) {
        const answer = await callTool(client, `collection_${name}`, { id: collection })
        expect([name, answer.isError, answer.content.code]).toEqual([name, true, 'PLUS_COLLECTION_ERROR'])
      }
      for (const name of ['lots', 'disposals']) {
        const answer = await callTool(client, `collection_${name}`, { id: collection, itemId: record })
        expect([name, answer.isError, answer.content.code]).toEqual([name, true, 'PLUS_COLLECTION_ERROR'])
      }
      expect((await callTool(client, 'my_watches')).content.data).toEqual([])
    })
  })

  test('of collections contain no figure of a source that may only be shown', async () => {
    const args = { id: collection, itemId: record }
    const figures = () =>
      asPlan('plus', async (client) => {
        const of = async (name: string, more = {}) => (await callTool(client, `collection_${name}`, { id: collection, ...more })).content.data
        const query = 'set:"Base Set"'
        return [await of('worth'), await of('records'), await of('profit'), await of('lots', args), await of('completion', { query })]
      })
    const before = JSON.stringify(await figures())
    for (const figure of ['337.12', '168.56']) expect(before).toContain(figure)
    await call(changeSource, node.ctx, { market: 'source_a', use: 'show' })
    try {
      await until('the prices are left out', async () => !/337\.12|168\.56/.test(JSON.stringify(await figures())))
      const [worth, , profit] = (await figures()) as [{ worth: object }, object, object]
      expect(worth.worth).toMatchObject({ without_price: 1 })
      expect(profit).toMatchObject({ priced: 0, unpriced: 1, basis: [] })
    } finally {
      await passOnAllPrices(node)
    }
  })

  test('give Starter the reduced item', async () => {
    const { content } = await asPlan('starter', (client) => callTool(client, 'get_item', { id: items.char! }))
    expect(content.data).toMatchObject({ name: 'Charizard' })
    expect(content.data).not.toHaveProperty('game')
  })

  test('reject invalid input with the code and message of REST, naming the field', async () => {
    const wrong: [tool: string, args: Record<string, unknown>, code: string, field: string | null][] = [
      ['search_items', {}, 'VALIDATION_ERROR', 'q'],
      ['search_items', { q: 'char', page: '1' }, 'VALIDATION_ERROR', 'page'],
      ['search_items', { q: 'char', pages: 1 }, 'VALIDATION_ERROR', 'pages'],
      ['search_items', { q: { a: [] } }, 'VALIDATION_ERROR', 'q'],
      ['get_item', { id: 999_999 }, 'ITEM_NOT_FOUND', null],
      ['get_item', { id: 1e300 }, 'ITEM_NOT_FOUND', null],
      ['look_up_items', { ids: [] }, 'VALIDATION_ERROR', 'ids'],
      ['price_history', { id: items.char, interval: 'hour' }, 'VALIDATION_ERROR', 'interval'],
      ['price_history', { id: items.char, label: '\u0000' }, '', null],
      ['explain_price', { id: items.char, label: 'PSA 99' }, 'VALIDATION_ERROR', 'label'],
      ['list_categories', { parent_id: -1 }, 'VALIDATION_ERROR', 'parent_id'],
      ['list_categories', { game: '\u0000' }, '', null],
      ['search_listings', { per_page: 101 }, 'VALIDATION_ERROR', 'per_page'],
      ['search_listings', { search: '\u0000\ud800' }, '', null],
      ['get_listing', { id: 0 }, 'NOT_FOUND', null],
      ['my_listings', { status: 'lost' }, 'VALIDATION_ERROR', 'status'],
      ['plan_price_job', { rows: [] }, 'VALIDATION_ERROR', 'rows'],
      ['plan_price_job', { rows: [{ listing_id: listing, price: 2 }], policy: 'some' }, 'VALIDATION_ERROR', 'policy'],
      ['apply_price_job', { id: 999_999 }, 'NOT_FOUND', null],
      ['apply_price_job', { id: 'x' }, 'VALIDATION_ERROR', 'id'],
      ['undo_price_job', {}, 'VALIDATION_ERROR', 'id'],
      ['list_collections', { page: 1 }, 'PLUS_COLLECTION_ERROR', 'page'],
      ['collection_worth', { id: 999_999 }, 'PLUS_COLLECTION_ERROR', null],
      ['collection_records', { id: collection, sort_by: 'note' }, 'PLUS_COLLECTION_ERROR', 'sort_by'],
      ['collection_records', { id: collection, page: null }, 'PLUS_COLLECTION_ERROR', 'page'],
      ['collection_profit', { id: collection, currency: 'GBP' }, 'PLUS_COLLECTION_ERROR', 'currency'],
      ['collection_completion', { id: collection, query: 'set:' }, 'PLUS_COLLECTION_ERROR', 'query'],
      ['collection_lots', { id: collection, itemId: 999_999 }, 'PLUS_COLLECTION_ERROR', null],
      ['collection_disposals', { id: collection }, 'PLUS_COLLECTION_ERROR', 'itemId'],
      ['my_watches', { kind: 'sold' }, 'VALIDATION_ERROR', 'kind'],
      ['recent_sales', { item_id: 'x' }, 'VALIDATION_ERROR', 'item_id'],
      ['recent_sales', { game: '\u0000' }, 'VALIDATION_ERROR', 'game'],
      ['me', { id: 1 }, 'VALIDATION_ERROR', 'id'],
    ]
    await asPlan('plus', async (client) => {
      for (const [name, args, code, field] of wrong) {
        const answer = await callTool(client, name, args)
        if (code === '') {
          expect([name, answer.content.code]).not.toEqual([name, 'INTERNAL_ERROR'])
          continue
        }
        expect([name, args, answer.isError, answer.content.code]).toEqual([name, args, true, code])
        expect(answer.content.message!.length).toBeGreaterThan(5)
        if (field !== null) expect(answer.content.details!.map((detail) => detail.field)).toEqual([field])
      }
      await expect(client.callTool({ name: 'delete_everything', arguments: {} })).rejects.toMatchObject({ code: -32602 })
    })
  })

  test.each([
    ['tools/call', null, 'params: '],
    ['tools/call', { name: 5 }, 'params.name: '],
    ['tools/call', { name: 'me', arguments: [] }, 'params.arguments: '],
    ['tools/list', [], 'params: '],
    ['initialize', {}, 'params.protocolVersion: '],
  ])('%s with params %j is invalid, and the message names the parameter', async (method, params, where) => {
    const headers = { accept: 'application/json, text/event-stream' }
    const reply = await send(`${node.publicUrl}/mcp`, node.keys.plus, { json: { jsonrpc: '2.0', id: 'a', method, params }, headers })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({ jsonrpc: '2.0', id: 'a', error: { code: -32602, message: expect.stringContaining(where) as string } })
  })

  test('outside the plan are rejected', async () => {
    await asPlan('starter', async (client) => {
      for (const name of [...PROFESSIONAL, ...PLUS]) {
        expect(await callTool(client, name, {})).toMatchObject({ isError: true, content: { code: 'PLAN_UPGRADE_REQUIRED' } })
      }
    })
  })
})

describe('new prices', () => {
  const priceOf = async (id: number) => (await plus(node, 'GET', `/listings/${id}`)).body.data.price

  test('are planned, then applied as planned, and undone', async () => {
    const { id } = await published(node, items.char!, { price: 100 })
    await asPlan('plus', async (client) => {
      const plan = async (price: number) => (await callTool(client, 'plan_price_job', { rows: [{ listing_id: id, price }] })).content.data as PriceJob
      const job = await plan(150.5)
      expect(job).toMatchObject({ state: 'planned', rows: [{ listing_id: id, old_price: 100, new_price: 150.5, payout: 135.45 }] })
      const later = await plan(90)
      expect(await priceOf(id)).toBe(100)
      const applied = await callTool(client, 'apply_price_job', { id: job.id })
      expect(applied).toMatchObject({ isError: false, content: { data: { state: 'applied', changed: 1 } } })
      expect(await priceOf(id)).toBe(150.5)
      const stale = await callTool(client, 'apply_price_job', { id: later.id })
      expect(stale).toMatchObject({ isError: true, content: { code: 'CONFLICT', rule: 'job_refused' } })
      expect((await callTool(client, 'undo_price_job', { id: job.id })).content.data).toMatchObject({ state: 'undone', reversed: 1 })
      expect(await priceOf(id)).toBe(100)
    })
  })

  test('are planned by the same rules as single changes', async () => {
    const { id } = await published(node, items.char!, { price: 100, min_offer_price: 80, offers_enabled: true })
    const planned = await asPlan('plus', (client) => callTool(client, 'plan_price_job', { rows: [{ listing_id: id, price: 70 }] }))
    const changed = await plus(node, 'PATCH', `/listings/${id}/price`, { price: 70 })
    expect((planned.content.data as PriceJob).rows[0]!.refused).toEqual(changed.body.error!.details)
  })

  test('are rejected for a read-only key, which does not list the tools', async () => {
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
    await withClient(node.publicUrl!, key, async (client) => {
      expect((await namesOf(client)).filter((name) => name.includes('price_job'))).toEqual([])
      const planned = await callTool(client, 'plan_price_job', { rows: [{ listing_id: listing, price: 120 }] })
      expect(planned).toMatchObject({ isError: true, content: { code: 'READ_ONLY_KEY' } })
    })
    expect(await priceOf(listing)).toBe(100)
  })
})

describe('the gate', () => {
  test('rejects requests without a key, with a wrong key, and unknown methods', async () => {
    for (const credential of [null, 'mintmark_nothing']) {
      const { status, headers: answered, body } = await send(`${node.publicUrl}/mcp`, credential, { json: ping, headers })
      expect([status, answered.get('www-authenticate')]).toEqual([401, 'Bearer'])
      expect(body).toMatchObject({ jsonrpc: '2.0', id: null, error: { data: { code: 'UNAUTHENTICATED' } } })
    }
    await expect(withClient(node.publicUrl!, 'mintmark_nothing', namesOf)).rejects.toThrow(/401|Unauthorized|UNAUTHENTICATED|API key/i)
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const { status, headers: answered } = await send(`${node.publicUrl}/mcp`, node.keys.plus, { method, headers })
      expect([method, status, answered.get('allow')]).toEqual([method, 405, 'POST'])
    }
  })

  test('a request counts once, and is rejected above the limit', async () => {
    const limited = await startTestNode({ databaseUrl: node.databaseUrl, env: { RATE_LIMITS: 'starter=3' }, listeners: 'public' })
    try {
      const sendPing = () => send(`${limited.publicUrl}/mcp`, node.keys.starter, { json: ping, headers })
      const first = await sendPing()
      expect(first.headers.get('ratelimit')).toMatch(/r=2/)
      expect((await sendPing()).status).toBe(200)
      expect((await sendPing()).status).toBe(200)
      const refused = await sendPing()
      expect(refused.status).toBe(429)
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(refused.body).toMatchObject({ error: { data: { code: 'RATE_LIMITED' } } })
    } finally {
      await limited.close()
    }
  })

  test('anything other than one JSON-RPC message is rejected', async () => {
    const refused = async (sending: object) => {
      const { status, body } = await send(`${node.publicUrl}/mcp`, node.keys.plus, { headers, ...sending })
      return [status, (body.error as unknown as { code: number }).code]
    }
    expect(await refused({ body: '{' })).toEqual([400, -32700])
    expect(await refused({ json: [ping, ping] })).toEqual([400, -32700])
    expect(await refused({ json: {} })).toEqual([400, -32700])
    expect(await refused({ json: 1 })).toEqual([400, -32700])
    expect(await refused({ json: ping, headers: { accept: 'text/html' } })).toEqual([406, -32000])
    expect(await refused({ json: ping, headers: { ...headers, 'content-type': 'text/plain' } })).toEqual([415, -32000])
    expect(await refused({ json: ping, headers: { ...headers, 'mcp-protocol-version': '1999-01-01' } })).toEqual([400, -32000])
  })

  test('can be used from pages of all origins, or of the configured ones', async () => {
    const origin = 'https://shop.example'
    const preflight = await fetch(`${node.publicUrl}/mcp`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } })
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Mcp-Protocol-Version')
    const open = await send(`${node.publicUrl}/mcp`, node.keys.starter, { json: ping, headers: { ...headers, origin } })
    expect([open.status, open.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    const listed = await startTestNode({ databaseUrl: node.databaseUrl, env: { CORS_ORIGINS: origin }, listeners: 'public' })
    try {
      const from = (origin: string) => send(`${listed.publicUrl}/mcp`, node.keys.starter, { json: ping, headers: { ...headers, origin } })
      expect((await from(origin)).status).toBe(200)
      const other = await from('https://evil.example')
      expect(other.status).toBe(403)
      expect(other.body).toMatchObject({ error: { data: { code: 'ORIGIN_NOT_ALLOWED' } } })
    } finally {
      await listed.close()
    }
  })

  test('tool calls are counted by operation', async () => {
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.professional })
    await withClient(node.publicUrl!, key, async (client) => {
      await callTool(client, 'get_item', { id: items.char! })
      await callTool(client, 'get_item', { id: items.char! })
    })
    // Summed over all days: a new one may have begun between the calls.
    const counted = async () => {
      const me = await send<{ usage: KeyUsageRow[] }>(`${node.publicUrl}/api/v1/me`, key)
      return me.body.data.usage.reduce((sum, { operation, requests }) => sum + (operation === 'getItem' ? requests : 0), 0)
    }
    await until('the usage is shown', async () => (await counted()) === 2)
  })
})
