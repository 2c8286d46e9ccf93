// What may be done with the prices of a source: who may change it, and what readers, copies and language models get of each use.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportCatalogue } from '#catalogue/export.ts'
import { ask } from '../graphql/client.ts'
import { callTool, withClient } from '../mcp/client.ts'
import { importText, OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'

interface Market {
  code: string
  use: string
  licence: string | null
  last_price_at: string | null
}
interface Item {
  market: string
  prices: { price: number }[]
}

let node: TestNode
let folder: string
let id: number

const FROM = '?from=2026-01-01T00:00:00Z'

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mintmark-terms-'))
  node = await startTestNode({ env: { DUMPS_DIR: folder } })
  const category = await operator<{ id: number }>('POST', '/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })
  const made = { name: 'Pikachu', ref: 'p', market: 'source_c', category_id: category.body.data.id }
  id = (await operator<{ id: number }>('POST', '/items', made)).body.data.id
  const price = (market: string, amount: number) => ({ item_id: id, market, label: 'Near Mint', price: amount, updated_at: '2026-10-01T00:00:00Z' })
  expect((await operator('POST', '/prices', [price('source_a', 10), price('source_b', 11), price('source_c', 12)])).status).toBe(200)
})
afterAll(async () => {
  await node.close()
  rmSync(folder, { recursive: true, force: true })
})

const operator = <T>(method: string, path: string, json?: unknown): Promise<Reply<T>> =>
  send(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, ...(json !== undefined && { json }) })
const get = <T>(path: string): Promise<Reply<T>> => send(`${node.publicUrl}/api/v1${path}`, node.keys.enterprise)
const setUse = async (market: string, use: string) => expect((await operator('PATCH', `/sources/${market}`, { use })).status).toBe(200)
const marketOf = async (code: string) => (await get<Market[]>('/markets')).body.data.find((market) => market.code === code)!

test('the default is to show; the own market may be redistributed', async () => {
  expect((await get<Market[]>('/markets')).body.data.map(({ code, use, licence }) => [code, use, licence])).toEqual([
    ['service', 'redistribute', null],
    ['source_a', 'show', null],
    ['source_b', 'show', null],
    ['source_c', 'show', null],
  ])
})

test('a format states the licence of its prices, until an operator sets another one', async () => {
  await importText(node, 'cardmarket-price-guide', JSON.stringify({ createdAt: '2026-10-02T00:00:00Z', priceGuides: [{ idProduct: 5, trend: 9 }] }))
  expect((await marketOf('source_b')).licence).toBeNull()
  const item = { name: 'Raichu', ref: 'r', market: 'source_c', category_id: 1, foreign_ids: [{ source: 'cardmarket', id: '5' }] }
  expect((await operator('POST', '/items', item)).status).toBe(201)
  const guide = JSON.stringify({ createdAt: '2026-10-02T00:00:00Z', priceGuides: [{ idProduct: 5, trend: 9 }] })
  await importText(node, 'cardmarket-price-guide', guide)
  await until('the licence is shown', async () => (await marketOf('source_b')).licence === 'Terms of Cardmarket')
  const { body } = await operator<object>('PATCH', '/sources/source_b', { licence: ' By contract ' })
  expect(body.data).toEqual({ market: 'source_b', use: 'show', licence: 'By contract', prices: 2 })
  await importText(node, 'cardmarket-price-guide', guide.replace(':9', ':9.5'))
  expect(await marketOf('source_b')).toMatchObject({ use: 'show', licence: 'By contract' })
  const { data } = await ask<{ markets: object[] }>(node, '{ markets { code use licence } }')
  expect(data.markets).toContainEqual({ code: 'source_b', use: 'show', licence: 'By contract' })
  const sources = await operator<object[]>('GET', '/sources')
  expect(sources.body.data).toContainEqual(
    expect.objectContaining({ market: 'source_b', use: 'show', licence: 'By contract', terms_by: 'operator:bootstrap' }),
  )
})

describe('a change', () => {
  test.each([
    [{}, 'body', 'at_least_one'],
    [{ use: 'public' }, 'use', 'one_of'],
    [{ use: null }, 'use', 'one_of'],
    [{ licence: 'x'.repeat(501) }, 'licence', 'or_null'],
    [{ licence: 5 }, 'licence', 'or_null'],
    [{ use: 'show', other: 1 }, 'other', 'unknown_field'],
  ])('%j is refused', async (json, field, rule) => {
    const { status, body } = await operator('PATCH', '/sources/source_a', json)
    expect([status, body.error!.details]).toMatchObject([422, [{ field, rule }]])
  })

  test('of an unknown source is refused, and needs an operator', async () => {
    expect((await operator('PATCH', '/sources/ebay', { use: 'show' })).status).toBe(422)
    expect((await send(`${node.operatorUrl}/operator/v1/sources/source_a`, node.keys.enterprise, { method: 'PATCH', json: {} })).status).toBe(401)
  })

  test('is in the audit log, and an empty licence removes it', async () => {
    await operator('PATCH', '/sources/source_a', { use: 'redistribute', licence: 'CC0' })
    await operator('PATCH', '/sources/source_a', { use: 'show', licence: '' })
    const { body } = await operator<{ before: object; after: object }[]>('GET', '/audit?action=source.change&per_page=1')
    expect(body.data[0]).toMatchObject({ before: { use: 'redistribute', licence: 'CC0' }, after: { use: 'show', licence: null } })
  })
})

describe('internal prices', () => {
  beforeAll(async () => {
    await setUse('source_c', 'internal')
    await until('the price is hidden', async () => (await get<Item>(`/items/${id}`)).body.data.market !== 'source_c')
  })
  afterAll(async () => {
    await setUse('source_c', 'show')
    await until('the price is shown again', async () => (await get<Item>(`/items/${id}`)).body.data.prices[0]?.price === 12)
  })

  test('are not shown, chosen or sorted by', async () => {
    expect((await get<Item>(`/items/${id}`)).body.data).toMatchObject({ market: 'source_b', prices: [{ price: 11 }] })
    expect((await get<Item>(`/items/${id}?market=source_c`)).body.data.prices).toEqual([])
    const { data } = await ask<{ item: { prices: { market: string }[] } }>(node, `{ item(id: ${id}) { prices { market } } }`)
    expect(data.item.prices.map(({ market }) => market)).toEqual(['source_a', 'source_b'])
    expect(await marketOf('source_c')).toMatchObject({ use: 'internal', last_price_at: null })
  })

  test('have no history, chart or explanation, and are no input of others', async () => {
    expect((await get(`/items/${id}/price-history${FROM}&market=source_c`)).body.data).toEqual([])
    expect((await get<object[]>(`/items/${id}/price-history${FROM}&market=source_a`)).body.data).toHaveLength(1)
    const chart = await get<{ series: { market: string }[] }>(`/items/${id}/price-chart?range=all`)
    expect(chart.body.data.series.map(({ market }) => market)).toEqual(['source_a', 'source_b'])
    expect((await get(`/items/${id}/prices/explain?market=source_c`)).body.data).toMatchObject({ price: null, state: null, inputs: [], findings: [] })
    const explained = await get<{ price: number; inputs: { market: string }[] }>(`/items/${id}/prices/explain?market=source_a`)
    expect(explained.body.data.price).toBe(10)
    expect(explained.body.data.inputs.map(({ market }) => market)).not.toContain('source_c')
  })

  test('stay hidden when they change', async () => {
    const price = { item_id: id, market: 'source_c', label: 'PSA 10', price: 50, updated_at: '2026-10-03T00:00:00Z' }
    expect((await operator('POST', '/prices', [price])).status).toBe(200)
    expect((await get<Item>(`/items/${id}?market=source_c`)).body.data.prices).toEqual([])
    const stored = await operator<{ series: { market: string }[] }>('GET', `/items/${id}/price-chart?range=all&label=PSA 10`)
    expect(stored.body.data.series.map(({ market }) => market)).toEqual(['source_c'])
  })
})

describe('prices that may only be shown', () => {
  beforeAll(() => setUse('source_b', 'redistribute'))

  test('are not in dumps', async () => {
    expect((await operator('POST', '/dumps')).status).toBe(202)
    await until('the dump is published', async () => (await get('/dumps')).body.data !== null)
    const { data } = (await get<{ files: { name: string }[] }>('/dumps')).body
    const rowsOf = async (table: string) => {
      const rows: { market: string }[] = []
      for (const { name } of data.files.filter((file) => file.name.startsWith(table) && file.name.endsWith('.ndjson.gz'))) {
        const answer = await fetch(`${node.publicUrl}/api/v1/dumps/${name}`, { headers: { authorization: `Bearer ${node.keys.enterprise}` } })
        const text = gunzipSync(Buffer.from(await answer.arrayBuffer())).toString()
        for (const line of text.split('\n').filter(Boolean)) rows.push(JSON.parse(line) as { market: string })
      }
      return new Set(rows.map(({ market }) => market))
    }
    expect([await rowsOf('prices-'), await rowsOf('price-points-')]).toEqual([new Set(['source_b']), new Set(['source_b'])])
  })

  test('are not in changes, which name the item when the use of its prices changes', async () => {
    const { next } = (await get<object[]>('/changes?limit=1000')).body as unknown as { next: string }
    await setUse('source_a', 'redistribute')
    const changes = await get<{ kind: string; id: number; data: { prices: { market: string }[] } }[]>(`/changes?after=${next}&with_data=1`)
    const [changed] = changes.body.data.filter((change) => change.id === id)
    expect([changed?.kind, changed?.data.prices.map(({ market }) => market)]).toEqual(['item', ['source_a', 'source_b']])
    await setUse('source_a', 'show')
    const all = await get<{ kind: string; market: string | null }[]>('/changes?limit=1000&kinds=price')
    expect(new Set(all.body.data.map(({ market }) => market))).toEqual(new Set(['source_b']))
  })

  test('are not in exports', async () => {
    const chunks = await Array.fromAsync(exportCatalogue(node.db))
    expect([chunks.join('').includes('"market":"source_a","label"'), chunks.join('').includes('"market":"source_b","label"')]).toEqual([false, true])
  })

  test('are not given to language models', async () => {
    const content = (tool: string, input: Record<string, unknown>) =>
      withClient(node.publicUrl!, node.keys.enterprise, async (client) => (await callTool(client, tool, input)).content as { data: unknown })
    expect((await content('get_item', { id })).data).toMatchObject({ market: 'source_c', prices: [] })
    expect((await content('get_item', { id, market: 'source_b' })).data).toMatchObject({ prices: [{ price: 11 }] })
    expect((await content('price_history', { id, market: 'source_a', from: '2026-01-01T00:00:00Z' })).data).toEqual([])
    expect((await content('price_history', { id, market: 'source_b', from: '2026-01-01T00:00:00Z' })).data).toHaveLength(1)
    expect((await content('explain_price', { id, market: 'source_a' })).data).toMatchObject({ price: null, inputs: [] })
    const { inputs } = (await content('explain_price', { id, market: 'source_b' })).data as { inputs: { market: string }[] }
    expect(new Set(inputs.map(({ market }) => market))).toEqual(new Set(['source_b']))
  })
})
