// What searches find besides names and codes, which item comes first, suggestions for searches without results, and synonyms.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../graphql/client.ts'
import { importFiles, OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'

interface Item {
  id: number
  name: string
  code: string | null
  genre: string
  attributes: { name: string; value: string }[]
}

const category = (ref: string, name: string) => ({ type: 'category', market: 'source_c', ref, name, game: 'pokemon', parent: null, image: null })
const LANGUAGES = { Languages: 'de, en, fr' }
const item = (ref: string, name: string, code: string | null, set: string, attributes: Record<string, string> = {}, more: object = {}) => ({
  type: 'item',
  market: 'source_c',
  ref,
  name,
  code,
  genre: 'single',
  game: 'pokemon',
  category: set,
  images: [],
  attributes: Object.entries(attributes).map(([name, value]) => ({ name, value })),
  groups: [],
  details: {},
  foreign_ids: [],
  ...more,
})
const dragon = { names: ['Drachenfeuer', 'Dragofeu'], dex_ids: [6] }

const ROWS = [
  category('base', 'First Flames'),
  category('next', 'Next Flames'),
  category('asia', '炎の始まり'),
  category('shop', 'Shop'),
  category('op', 'DAWN [OP-01]'),
  item('a1', 'Charizard', '4/102', 'base', { Finish: 'Holo First Edition', Rarity: 'Rare Holo', ...LANGUAGES }, { details: dragon }),
  item('a2', 'Charizard', '4/102', 'base', { Finish: 'Reverse', Rarity: 'Rare Holo', ...LANGUAGES }, { details: dragon }),
  item('a3', 'Charizard', '4/102', 'base', { Finish: 'Holo', Rarity: 'Rare Holo', ...LANGUAGES }, { details: dragon }),
  item('a4', 'Charizard ex', '201/165', 'next', { Rarity: 'Special Illustration Rare', ...LANGUAGES }),
  item('a5', 'Charizard ex', '183/165', 'next', { Rarity: 'Illustration Rare', ...LANGUAGES }),
  item('a6', 'リザードン', '4/102', 'asia', { Finish: 'Normal', Languages: 'ja' }, { details: { dex_ids: [6] } }),
  item('a7', 'Ho-Oh', '7/99', 'base', { Illustrator: 'Somebody', ...LANGUAGES }),
  item('a8', 'Charizard Elite Trainer Box', null, 'shop', {}, { genre: 'sealed' }),
  item('a9', 'Next Flames Elite Trainer Box', null, 'shop', {}, { genre: 'sealed' }),
  item('fr', 'Roronoa Zoro', 'OP01-001', 'op', { Language: 'French' }, { game: 'onepiece' }),
  item('p1', 'Roronoa Zoro', 'OP01-001', 'op', { Language: 'English', Finish: 'Parallel 1' }, { game: 'onepiece' }),
  item('en', 'Roronoa Zoro', 'OP01-001', 'op', { Language: 'English' }, { game: 'onepiece' }),
  item('jp', 'ロロノア・ゾロ', 'OP01-001', 'op', { Language: 'Japanese' }, { game: 'onepiece' }),
]

let node: TestNode
const refs = new Map<number, string>()

beforeAll(async () => {
  node = await startTestNode()
  const report = await importFiles(node, 'mintmark-ndjson', [{ name: 'cards.ndjson', text: ROWS.map((row) => JSON.stringify(row)).join('\n') }])
  expect(report).toMatchObject({ status: 'done', counts: { rejected: 0 } })
  const stored = await node.db.kysely.selectFrom('items').select(['id', 'ref']).execute()
  for (const { id, ref } of stored) refs.set(id, ref)
  await node.db.kysely
    .insertInto('category_codes')
    .columns(['category_id', 'codes'])
    .expression((e) =>
      e
        .selectFrom('categories')
        .select((c) => ['id', c.val(['FFL', 'ff01.5']).as('codes')])
        .where('ref', '=', 'base'),
    )
    .execute()
  await node.catalogue.reload()
})
afterAll(() => node.close())

const search = (q: string, path = 'items/search?q'): Promise<Reply<Item[]> & { body: { suggestions?: string[] } }> =>
  send(`${node.publicUrl}/api/v1/${path}=${encodeURIComponent(q)}`, node.keys.professional)
const found = async (q: string) => (await search(q)).body.data.map(({ id }) => refs.get(id))

describe('searched words', () => {
  test.each<[q: string, refs: string[]]>([
    ['drachenfeuer', ['a3', 'a2', 'a1']],
    ['dragofeu 1st edition', ['a1']],
    ['ff01.5 4', ['a3', 'a2', 'a1']],
    ['FFL 4', ['a3', 'a2', 'a1']],
    ['ffl-7', ['a7']],
    ['ff1pt5 7', ['a7']],
    ['hooh', ['a7']],
    ['ho oh', ['a7']],
    ['charizard 4 reverse holo', ['a2']],
    ['charizard ex sir', ['a4']],
    ['charizard ex illustration rare', ['a5', 'a4']],
    ['charizard japanese', ['a6']],
    ['charizard jp 4/102', ['a6']],
    ['zoro japanese', ['jp']],
    ['next flames etb', ['a9']],
    ['zoro alt art', ['p1']],
    ['somebody', []],
  ])('%s', async (q, expected) => {
    expect(await found(q)).toEqual(expected)
  })
})

describe('order', () => {
  test('the plain version comes first, then the first language, unless the words ask for others', async () => {
    expect(await found('OP01-001')).toEqual(['en', 'jp', 'fr', 'p1'])
    expect(await found('op01-001 parallel')).toEqual(['p1'])
    expect(await found('charizard 4/102')).toEqual(['a3', 'a6', 'a2', 'a1'])
  })

  test('singles come before sealed products, unless a word asks for these', async () => {
    expect((await found('charizard')).at(-1)).toBe('a8')
    expect((await found('charizard box'))[0]).toBe('a8')
  })

  test('CATALOGUE_LANGUAGES orders languages, over REST and GraphQL', { tags: 'slow' }, async () => {
    const other = await startTestNode({ databaseUrl: node.databaseUrl, env: { CATALOGUE_LANGUAGES: 'fr,ja' } })
    try {
      const { body } = await send<Item[]>(`${other.publicUrl}/api/v1/items/search?q=OP01-001`, other.keys.professional)
      expect(body.data.map(({ id }) => refs.get(id))).toEqual(['fr', 'jp', 'en', 'p1'])
    } finally {
      await other.close()
    }
    const { data } = await ask<{ items: { nodes: { id: string }[] } }>(node, '{ items(search: "OP01-001") { nodes { id } } }', {
      plan: 'professional',
    })
    expect(data.items.nodes.map(({ id }) => refs.get(Number(id)))).toEqual(['en', 'jp', 'fr', 'p1'])
  })

  test('a filtered list finds the same in its own order', async () => {
    const { body } = await search('charizard', 'items?sort_by=id&search')
    expect(body.data.map(({ id }) => id)).toEqual(body.data.map(({ id }) => id).toSorted((a, b) => a - b))
    expect(body.data).toHaveLength(7)
  })
})

describe('suggestions', () => {
  test.each<[q: string, suggestions: string[]]>([
    ['sharlzard', ['charizard']],
    ['sharlzard 4/102', ['charizard 4/102', '4/102', 'charizard']],
    ['drachenfauer xx 4', ['drachenfeuer 4', 'drachenfeuer']],
    ['charizrad qqqqqq', ['charizard']],
    ['qqqqqq', []],
  ])('%s', async (q, expected) => {
    for (const path of ['items/search?q', 'items?search']) {
      const { body } = await search(q, path)
      expect(body).toMatchObject({ data: [], suggestions: expect.any(Array) })
      expect(body.suggestions).toEqual(expected)
      for (const suggestion of body.suggestions!) expect(await found(suggestion)).not.toEqual([])
    }
    const reply = await ask<{ items: { suggestions: string[] | null } }>(node, 'query ($q: String) { items(search: $q) { suggestions } }', {
      plan: 'professional',
      variables: { q },
    })
    expect(reply.data.items.suggestions).toEqual((await search(q)).body.suggestions)
  })

  test('are returned for searches without results, and match the filter', async () => {
    expect((await search('charizard')).body).not.toHaveProperty('suggestions')
    expect((await search('charizard', 'items/search?page=9&q')).body).not.toHaveProperty('suggestions')
    const { body } = await send<Item[]>(`${node.publicUrl}/api/v1/items/search?q=sharlzard&game=onepiece`, node.keys.professional)
    expect(body).toMatchObject({ data: [], suggestions: [] })
  })
})

describe('synonyms of the operator', () => {
  const put = (json: unknown, headers: Record<string, string> = {}): Promise<Reply<object[]>> =>
    send(`${node.operatorUrl}/operator/v1/synonyms`, OPERATOR_TOKEN, { method: 'PUT', json, headers })
  const get = (): Promise<Reply<object[]>> => send(`${node.operatorUrl}/operator/v1/synonyms`, OPERATOR_TOKEN)

  test('replace the previous ones, apply to searches at once on all nodes, and leave the built-in ones', async () => {
    const other = await startTestNode({ databaseUrl: node.databaseUrl })
    try {
      expect(await found('ejderha')).toEqual([])
      const rows = [
        { word: 'Ejderha', means: 'charizard' },
        { word: 'ilk baskı', means: 'first edition' },
      ]
      expect((await put(rows)).body).toMatchObject({ data: rows, message: expect.any(String) })
      expect((await get()).body.data).toEqual(rows)
      expect(await found('EJDERHA ilk baski')).toEqual(['a1'])
      await until('the other node searches by it', async () => {
        const { body } = await send<Item[]>(`${other.publicUrl}/api/v1/items/search?q=ejderha`, other.keys.professional)
        return body.data.length > 0
      })
      expect(await found('next flames etb')).toEqual(['a9'])
      expect((await put([])).body.data).toEqual([])
      expect(await found('ejderha')).toEqual([])
    } finally {
      await other.close()
    }
  })

  test('the same list changes nothing, a repeated request returns the first response, and each change creates an audit row', async () => {
    const rows = [{ word: 'zd', means: 'zoro' }]
    const audits = () => node.db.kysely.selectFrom('audit_log').select('after').where('action', '=', 'synonyms.set').execute()
    const before = (await audits()).length
    const first = await put(rows, { 'Idempotency-Key': 'synonyms-1' })
    expect((await put(rows, { 'Idempotency-Key': 'synonyms-1' })).body).toEqual(first.body)
    expect((await put([...rows, { word: 'ZD', means: 'Zoro' }])).body.data).toHaveLength(1)
    expect((await audits()).length).toBeLessThanOrEqual(before + 2)
    expect((await audits()).at(-1)).toBeDefined()
  })

  test.each<[name: string, body: unknown, field: string]>([
    ['no list', { word: 'a', means: 'b' }, 'synonyms'],
    ['no meaning', [{ word: 'a' }], 'synonyms.0.means'],
    ['another field', [{ word: 'a', means: 'b', of: 'c' }], 'synonyms.0.of'],
    ['a word without letters', [{ word: '--', means: 'b' }], 'synonyms.0.word'],
    ['too many words', [{ word: 'a b c d', means: 'b' }], 'synonyms.0.word'],
    ['a meaning without letters', [{ word: 'a', means: '!' }], 'synonyms.0.means'],
    ['itself', [{ word: 'Ä', means: 'a' }], 'synonyms.0.means'],
    ['too many', Array.from({ length: 1_001 }, (_, n) => ({ word: `w${n}`, means: 'b' })), 'synonyms'],
  ])('rejects %s', async (_, body, field) => {
    const before = (await get()).body.data
    const reply = await put(body)
    expect(reply.status).toBe(422)
    expect(reply.body).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: expect.arrayContaining([expect.objectContaining({ field })]) } })
    expect((await get()).body.data).toEqual(before)
  })
})
