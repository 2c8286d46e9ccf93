// Field queries over HTTP and GraphQL: matches of each field, combinations of terms, the canonical form, and errors in invalid queries.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, post } from '../graphql/client.ts'
import { operator } from '../market/kit.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'

interface Card {
  ref: string
  name: string
  code: string
  attributes: Record<string, string>
  details?: object
  genre?: string
}

const CARDS: readonly Card[] = [
  {
    ref: 'lynx',
    name: 'Dark Lynx',
    code: '4/102',
    attributes: { Rarity: 'Rare Holo', Finish: 'Holo', Languages: 'en, fr', Illustrator: 'Ada "Ink" Sol' },
    details: { hp: 120, types: ['Fire', 'Water'] },
  },
  {
    ref: 'lynx-first',
    name: 'Dark Lynx',
    code: '4/102',
    attributes: { Rarity: 'Rare Holo', Finish: 'Holo First Edition', Languages: 'en' },
    details: { hp: 120, types: ['Fire'] },
  },
  {
    ref: 'otter',
    name: 'Otter',
    code: '004/130',
    attributes: { Rarity: 'Common', Finish: 'Normal', Languages: 'ja', Illustrator: 'Ben Uzun' },
    details: { hp: 50, types: ['Ateş'] },
  },
  { ref: 'owl', name: 'Owl', code: '12/102', attributes: { Rarity: 'Uncommon', Language: 'Japanese' } },
  { ref: 'gallery', name: 'Lynx of Night', code: 'TG12/TG30', attributes: { Rarity: 'Secret Rare' } },
  { ref: 'box', name: 'Lynx Box', code: '', attributes: { 'Product Type': 'Booster Box' }, genre: 'sealed' },
]

let node: TestNode
const ids = new Map<string, number>()

beforeAll(async () => {
  node = await startTestNode()
  const lines = [
    { type: 'category', market: 'service', ref: 'wild', name: 'Wild Set', game: 'tests', parent: null, image: null },
    ...CARDS.map(({ ref, name, code, attributes, details = {}, genre = 'single' }) => {
      const stated = Object.entries(attributes).map(([attribute, value]) => ({ name: attribute, value }))
      return {
        type: 'item',
        market: 'service',
        ref,
        name,
        code: code || null,
        genre,
        game: 'tests',
        category: 'wild',
        images: [],
        attributes: stated,
        groups: [],
        details,
        foreign_ids: [],
      }
    }),
  ]
  expect((await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))).errors).toEqual([])
  const items = await operator<{ id: number; ref: string }[]>(node, 'GET', '/items?per_page=100')
  for (const { id, ref } of items.body.data) ids.set(ref, id)
  await setPrice('lynx', 'source_a', 'Near Mint', 20)
  await setPrice('lynx', 'source_a', 'PSA 10', 400)
  await setPrice('otter', 'source_b', 'Lightly Played', 1.5)
})

afterAll(() => node.close())

async function setPrice(ref: string, market: string, label: string, price: number): Promise<void> {
  await operator(node, 'POST', '/prices', [{ item_id: ids.get(ref), market, label, price, updated_at: new Date().toISOString() }])
}

function read<T = unknown>(path: string) {
  return send<T>(`${node.publicUrl}/api/v1${path}`, node.keys.professional)
}

async function found(query: string, more = ''): Promise<string[]> {
  const { status, body } = await read<{ id: number }[]>(`/items?sort_by=id&per_page=100&query=${encodeURIComponent(query)}${more}`)
  expect(status, query).toBe(200)
  return body.data.map(({ id }) => [...ids].find(([, one]) => one === id)![0])
}

test.each<[query: string, refs: string[]]>([
  ['name:"dark lynx" finish=holo', ['lynx']],
  ['n:lynx', ['lynx', 'lynx-first', 'gallery', 'box']],
  ['name="DARK LYNX"', ['lynx', 'lynx-first']],
  ['finish:holo', ['lynx', 'lynx-first']],
  ['finish:"1st edition"', ['lynx-first']],
  ['finish:normal', ['otter']],
  ['number:4', ['lynx', 'lynx-first', 'otter']],
  ['number:004 -code:4/102', ['otter']],
  ['number>4', ['owl']],
  ['number:TG12', ['gallery']],
  ['set:wild genre:single number>=4 number<=12', ['lynx', 'lynx-first', 'otter', 'owl']],
  ['set="Wild Set" r<rare', ['otter', 'owl']],
  ['r>="rare holo" -finish:first-edition', ['lynx', 'gallery']],
  ['lang:ja', ['otter', 'owl']],
  ['artist:"\\"ink\\""', ['lynx']],
  ['type:water or hp<100', ['lynx', 'otter']],
  ['type:ates', ['otter']],
  ['genre:sealed product:booster', ['box']],
  ['price<=20', ['lynx', 'otter']],
  ['price.source_a>=5 -price.source_b<9', ['lynx']],
  ['label:"psa 10"', ['lynx']],
  ['-label:"PSA 10" (name:otter or owl)', ['otter', 'owl']],
  ['-(name:lynx or name:owl)', ['otter']],
  ['market:source_b', ['otter']],
  ['lynx', ['lynx', 'lynx-first', 'gallery', 'box']],
  ['game:tests hp!=120 genre!=sealed', ['otter', 'owl', 'gallery']],
])('%s', async (query, refs) => {
  expect(await found(`game:tests (${query})`)).toEqual(refs)
})

test('other parameters narrow a field query', async () => {
  expect(await found('name:lynx', '&search=night')).toEqual(['gallery'])
  expect(await found('name:lynx', '&genre=sealed')).toEqual(['box'])
  expect(await found('price>1', '&market=source_b')).toEqual(['otter'])
  const ranked = await read<{ id: number }[]>(`/items/search?q=lynx&query=${encodeURIComponent('genre:single r>common')}`)
  expect(ranked.body.data.map(({ id }) => id)).toEqual(['gallery', 'lynx', 'lynx-first'].map((ref) => ids.get(ref)))
})

test('the response contains the canonical form, which finds the same', async () => {
  const typed = ' N:"dark lynx"   R>=rare AND -( Color:fire OR "two words")'
  const { body } = await read<{ id: number }[]>(`/items?query=${encodeURIComponent(typed)}`)
  const { query } = body as unknown as { query: string }
  expect(query).toBe('name:"dark lynx" rarity>=rare -(type:fire or "two words")')
  const again = await read(`/items?query=${encodeURIComponent(query)}`)
  expect(again.body).toEqual(body)
  const graphql = await post<{ items: { query: string; nodes: { id: string }[] } }>(
    node,
    JSON.stringify({ query: 'query($q: String) { items(query: $q) { query nodes { id } } }', variables: { q: typed } }),
    { authorization: `Bearer ${node.keys.professional}` },
  )
  expect(graphql.data.items).toEqual({ query, nodes: body.data.map(({ id }) => ({ id: String(id) })) })
})

test('a changed price is found at its new value', async () => {
  expect(await found('price.source_c:7.25')).toEqual([])
  await setPrice('owl', 'source_c', 'Near Mint', 7.25)
  await expect.poll(() => found('price.source_c:7.25')).toEqual(['owl'])
  await setPrice('owl', 'source_c', 'Near Mint', 7.5)
  await expect.poll(() => found('price.source_c:7.25')).toEqual([])
})

test.each<[query: string, rule: string, params: object]>([
  ['name:a colour:red', 'query_field', { name: 'colour', at: 8 }],
  ['name>a', 'query_operator', { name: 'name', at: 1 }],
  ['genre:book', 'query_value', { name: 'genre', at: 1, value: 'book' }],
  ['a price<cheap', 'query_value', { name: 'price', at: 3, value: 'cheap' }],
  ['r>=nice', 'query_value', { name: 'rarity', value: 'nice' }],
  ['label:mintish', 'query_value', { name: 'label' }],
  ['updated>=yesterday', 'query_value', { name: 'updated' }],
  ['hp>-1', 'query_value', { name: 'hp', value: '-1' }],
  ['name:', 'query_value_missing', { at: 6 }],
  ['name:""', 'query_value_missing', { at: 6 }],
  ['(name:a', 'query_open', { at: 1 }],
  ['name:a)', 'query_closed', { at: 7 }],
  ['name:"a', 'query_quote', { at: 6 }],
  ['a or', 'query_term', { at: 5 }],
  ['or a', 'query_term', { at: 1 }],
  ['()', 'query_term', { at: 2 }],
  ['a b c d e f g h i j k l m n o p q r s t u', 'query_terms', { most: 20 }],
  [`${'('.repeat(40)}a${')'.repeat(40)}`, 'query_depth', { most: 20 }],
])('%s is rejected', async (query, rule, params) => {
  const { status, body } = await read(`/items?query=${encodeURIComponent(query)}`)
  expect(status).toBe(422)
  expect(body).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: [{ field: 'query', rule, params }] } })
})

test('a value of which no character counts is a syntax error, not every item', async () => {
  for (const query of ["name:'", 'name:"’"', "-name:'", "set:'", "rarity='", 'illustrator:"\u200b"', "number:'", "hp:'", 'owl or name:`']) {
    const { status, body } = await send(`${node.publicUrl}/api/v1/items?query=${encodeURIComponent(query)}`, node.keys.professional)
    expect([query, status, body.error?.message]).toEqual([query, 422, expect.stringContaining('lacks a value at character') as string])
  }
})

test('a missing value is reported where it should start', async () => {
  const { body } = await send(`${node.publicUrl}/api/v1/items?query=${encodeURIComponent("owl -Name:'")}`, node.keys.professional)
  expect(body.error).toMatchObject({ message: 'query lacks a value at character 11', details: [{ params: { at: 11 } }] })
})

test('Starter cannot filter by attributes and details, over any interface, and sees no attributes', async () => {
  const read = (query: string, plan: 'starter' | 'professional', path = '/items?') =>
    send(`${node.publicUrl}/api/v1${path}query=${encodeURIComponent(query)}`, node.keys[plan])
  for (const query of ['hp=120', 'owl or -(r>=rare)', 'finish:holo', 'lang:ja', 'artist:ada', 'card:x', 't:fire', 'regulation:x', 'product:box']) {
    for (const path of ['/items?', '/items/search?q=lynx&']) {
      const { status, body } = await read(query, 'starter', path)
      expect([query, status, body.error?.code]).toEqual([query, 403, 'PLAN_UPGRADE_REQUIRED'])
      expect([query, (await read(query, 'professional', path)).status]).toEqual([query, 200])
    }
  }
  expect((await read('owl or hp=120', 'starter')).body.error?.message).toBe(
    'The field hp (character 8 of query) needs the Professional plan or a larger one; the account has Starter',
  )
  for (const open of ['name:lynx', 'number:4', 'set:wild', 'game:tests', 'genre:sealed', 'market:service', 'price<5', 'updated>2026-01-01']) {
    expect([open, (await read(open, 'starter')).status]).toEqual([open, 200])
  }
  const graphql = (plan: 'starter' | 'professional', query: string) => ask<{ items: { nodes: object[] } }>(node, query, { plan })
  const refused = await graphql('starter', '{ items(query: "hp=120") { nodes { id } } }')
  expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual(['PLAN_UPGRADE_REQUIRED'])
  const attributes = '{ items(query: "name:owl") { nodes { name attributes { name value } } } }'
  expect((await graphql('starter', attributes)).data.items.nodes).toEqual([{ name: 'Owl', attributes: null }])
  const shown = { name: 'Owl', attributes: expect.arrayContaining([{ name: 'Rarity', value: 'Uncommon' }]) as unknown }
  expect((await graphql('professional', attributes)).data.items.nodes).toEqual([shown])
})
