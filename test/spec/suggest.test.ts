// Suggestions for a text field: one for each card, by its base version, over REST and GraphQL, with and without the fast path.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { post } from '../graphql/client.ts'
import { operator } from '../market/kit.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'

interface Card {
  ref: string
  name: string
  code: string
  finish?: string
  image?: string
}

const PICTURE = 'https://images.example/lynx.png'
const CARDS: readonly Card[] = [
  // The base version is neither the first one imported nor the only match.
  { ref: 'lynx-reverse', name: 'Dark Lynx', code: '4/102', finish: 'Reverse Holo' },
  { ref: 'lynx', name: 'Dark Lynx', code: '4/102', finish: 'Normal', image: PICTURE },
  { ref: 'lynx-holo', name: 'Dark Lynx', code: '4/102', finish: 'Holo' },
  { ref: 'lynx-other', name: 'Dark Lynx', code: '9/102' },
  { ref: 'ice', name: 'İce Owl', code: '10/102' },
  ...Array.from({ length: 12 }, (_, n) => [
    { ref: `otter-${n}`, name: 'Otter', code: `${20 + n}/102`, finish: 'Holo' },
    { ref: `otter-${n}-first`, name: 'Otter', code: `${20 + n}/102`, finish: 'Holo First Edition' },
  ]).flat(),
]

interface Suggestion {
  id: number
  name: string
  code: string
  category: { id: number; name: string }
  image: string | null
}

let node: TestNode
const refs = new Map<number, string>()

beforeAll(async () => {
  node = await startTestNode()
  const lines = [
    { type: 'category', market: 'service', ref: 'wild', name: 'Wild Set', game: 'tests', parent: null, image: null },
    ...CARDS.map(({ ref, name, code, finish, image }) => ({
      type: 'item',
      market: 'service',
      ref,
      name,
      code,
      genre: 'single',
      game: 'tests',
      category: 'wild',
      images: image ? [{ url: image, order: 1 }] : [],
      attributes: finish ? [{ name: 'Finish', value: finish }] : [],
      groups: [],
      details: {},
      foreign_ids: [],
    })),
  ]
  expect((await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))).errors).toEqual([])
  const items = await operator<{ id: number; ref: string }[]>(node, 'GET', '/items?per_page=100')
  for (const { id, ref } of items.body.data) refs.set(id, ref)
})

afterAll(() => node.close())

function suggest(q: string, key = node.keys.starter) {
  return send<Suggestion[]>(`${node.publicUrl}/api/v1/items/suggest?q=${encodeURIComponent(q)}`, key)
}

async function suggested(q: string): Promise<string[]> {
  const { status, body } = await suggest(q)
  expect(status).toBe(200)
  return body.data.map(({ id }) => refs.get(id)!)
}

test('finishes of a card are one suggestion, represented by the base version with its picture and set', async () => {
  const { body } = await suggest('dark ly')
  expect(body.data.map(({ id }) => refs.get(id))).toEqual(['lynx', 'lynx-other'])
  expect(body.data[0]).toEqual({
    id: [...refs].find(([, ref]) => ref === 'lynx')![0],
    name: 'Dark Lynx',
    code: '4/102',
    category: { id: expect.any(Number), name: 'Wild Set' },
    image: PICTURE,
  })
  expect(body.data[1]!.image).toBe(null)
})

test('at most ten cards, found by any kind of match', async () => {
  expect(await suggested('ot')).toEqual(Array.from({ length: 10 }, (_, n) => `otter-${n}`))
  expect((await suggested('4/102'))[0]).toBe('lynx')
  expect(await suggested('ice o')).toEqual(['ice'])
  expect(await suggested('l')).toContain('lynx')
  expect(await suggested('nothing like it')).toEqual([])
})

test.each(['', '   '])('nothing is suggested for %j', async (q) => {
  expect(await suggested(q)).toEqual([])
})

test('without q, nothing is suggested either; one that is too long or given twice is rejected', async () => {
  const without = await send(`${node.publicUrl}/api/v1/items/suggest`, node.keys.starter)
  expect(without.body).toEqual({ success: true, data: [] })
  for (const query of [`q=${'a'.repeat(201)}`, 'q=a&q=b']) {
    const { status, body } = await send(`${node.publicUrl}/api/v1/items/suggest?${query}`, node.keys.starter)
    expect(status).toBe(422)
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'q' }] })
  }
})

test('responses have an entity tag, which changes with a suggestion', async () => {
  const first = await suggest('ice')
  const etag = first.headers.get('etag')!
  const again = () =>
    fetch(`${node.publicUrl}/api/v1/items/suggest?q=ice`, { headers: { authorization: `Bearer ${node.keys.starter}`, 'if-none-match': etag } })
  expect((await again()).status).toBe(304)
  const id = first.body.data[0]!.id
  await operator(node, 'PATCH', `/items/${id}`, { name: 'Ice Owl of the North' })
  const changed = await again()
  expect(changed.status).toBe(200)
  expect(((await changed.json()) as { data: Suggestion[] }).data[0]!.name).toBe('Ice Owl of the North')
})

test('GraphQL suggests the same', async () => {
  const { body } = await suggest('dark')
  const query = 'query($q: String) { suggestItems(q: $q) { id name code category { id name } image } }'
  const { data } = await post<{ suggestItems: Suggestion[] }>(node, JSON.stringify({ query, variables: { q: 'dark' } }), {
    authorization: `Bearer ${node.keys.starter}`,
  })
  const expected = body.data.map((one) => ({ ...one, id: String(one.id), category: { ...one.category, id: String(one.category.id) } }))
  expect(data.suggestItems).toEqual(expected)
})
