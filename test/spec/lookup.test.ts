// Looking up many items at once: by ids of other systems, by set and number, ambiguous results, and errors in invalid identifiers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post } from '../graphql/client.ts'
import { merged, operator } from '../identity/kit.ts'
import { importFiles, importText, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'

interface Card {
  ref: string
  set?: string
  name?: string
  code: string | null
  finish?: string
  ids?: { source: string; id: string; finish?: string }[]
  market?: string
}

const CARDS: readonly Card[] = [
  {
    ref: 'lynx',
    code: '004/102',
    finish: 'Normal',
    ids: [
      { source: 'tcgdex', id: 'wild-4', finish: 'normal' },
      { source: 'cardmarket', id: '900' },
    ],
  },
  {
    ref: 'lynx-holo',
    code: '004/102',
    finish: 'Holo',
    ids: [
      { source: 'tcgdex', id: 'wild-4', finish: 'holo' },
      { source: 'tcgplayer', id: '71' },
    ],
  },
  {
    ref: 'otter',
    name: 'Otter',
    code: '5/102',
    ids: [
      { source: 'cardmarket', id: '901' },
      { source: 'my-shop', id: 'O-5' },
    ],
  },
  { ref: 'owl', name: 'Owl', code: '5/103', ids: [{ source: 'cardmarket', id: '901' }] },
  { ref: 'owl-again', name: 'Owl', code: '6/103', ids: [{ source: 'cardmarket', id: '902' }] },
  { ref: 'lynx-of-b', code: '4/102', market: 'source_b', finish: 'Reverse Holo' },
]

function lineOf({ ref, name = 'Dark Lynx', code, finish, ids: foreign = [], market = 'service' }: Card): object {
  return {
    type: 'item',
    market,
    ref,
    name,
    code,
    genre: 'single',
    game: 'tests',
    category: 'wild',
    images: [],
    attributes: finish ? [{ name: 'Finish', value: finish }] : [],
    groups: ['ungraded'],
    details: {},
    foreign_ids: foreign,
  }
}

let node: TestNode
const ids = new Map<string, number>()

beforeAll(async () => {
  node = await startTestNode()
  const lines = [
    ...['service', 'source_b'].map((market) => ({
      type: 'category',
      market,
      ref: 'wild',
      name: 'Wild Set',
      game: 'tests',
      parent: null,
      image: null,
    })),
    ...CARDS.map(lineOf),
  ]
  expect((await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))).errors).toEqual([])
  const set = { id: 'swshp', name: 'SWSH Black Star Promos', series: 'Sword & Shield', printedTotal: 307, ptcgoCode: 'PR-SW' }
  const promos = [1, 2, 3, 4, 20].map((n) => ({
    id: `swshp-${n}`,
    name: `Promo ${n}`,
    supertype: 'Pokémon',
    number: `SWSH${String(n).padStart(3, '0')}`,
  }))
  const files = [
    { name: 'sets.json', text: JSON.stringify([set]) },
    { name: 'cards.ndjson', text: promos.map((card) => JSON.stringify(card)).join('\n') },
  ]
  expect((await importFiles(node, 'pokemontcg', files)).errors).toEqual([])
  const items = await operator<{ id: number; ref: string }[]>(node, 'GET', '/items?per_page=100')
  for (const { id, ref } of items.body.data) ids.set(ref, id)
})

afterAll(() => node.close())

interface LookedUp {
  state: string
  item?: { id: number }
  candidates?: { id: number }[]
}

function lookUp(identifiers: unknown, key = node.keys.professional): Promise<Reply<LookedUp[]>> {
  return send<LookedUp[]>(`${node.publicUrl}/api/v1/items/lookup`, key, { json: { ids: identifiers } })
}

/** The ref of the found item, a list of candidates, or null. */
async function meant(...identifiers: object[]): Promise<(string | string[] | null)[]> {
  const { status, body } = await lookUp(identifiers)
  expect(status, JSON.stringify(body)).toBe(200)
  const refOf = ({ id }: { id: number }) => [...ids].find(([, one]) => one === id)![0]
  return body.data.map(({ state, item, candidates }) => {
    if (state === 'unknown') return null
    return state === 'found' ? refOf(item!) : candidates!.map(refOf)
  })
}

test('finds ids of catalogues and shops, each in its source', async () => {
  expect(
    await meant(
      { source: 'cardmarket', id: '900' },
      { source: 'cardmarket', id: '1' },
      { source: 'tcgplayer', id: '71' },
      { source: 'tcgdex', id: 'wild-4' },
      { source: 'tcgdex', id: 'wild-4', finish: 'Holofoil' },
      { source: 'tcgdex', id: 'wild-4', finish: 'First Edition' },
      { source: 'cardmarket', id: '901' },
      { source: 'pokemontcg', id: 'swshp-20' },
      { source: 'my-shop', id: 'O-5' },
      { source: 'cardmarket', id: '900' },
    ),
  ).toEqual(['lynx', null, 'lynx-holo', 'lynx', 'lynx-holo', null, ['otter', 'owl'], 'pokemontcg:swshp-20', 'otter', 'lynx'])
})

test.each<[set: string, number: string, finish: string | undefined, found: string | string[] | null]>([
  ['Wild Set', '4', undefined, 'lynx'],
  ['wild set', '4/102', undefined, 'lynx'],
  ['Wild Set', '004', 'holo', 'lynx-holo'],
  ['Wild Set', '4', 'Reverse', 'lynx-of-b'],
  ['Wild Set', '4/130', undefined, null],
  ['Wild Set', '5', undefined, ['otter', 'owl']],
  ['Wild Set', '5/103', undefined, 'owl'],
  ['Tame Set', '4', undefined, null],
  ['swshp', 'SWSH020', undefined, 'pokemontcg:swshp-20'],
  ['PR-SW', 'swsh20', undefined, 'pokemontcg:swshp-20'],
  ['SWSH Black Star Promos', '20', undefined, 'pokemontcg:swshp-20'],
  ['SWSH Black Star Promos', '021', undefined, null],
])('number %s %s %s', async (set, number, finish, found) => {
  expect(await meant({ set, number, ...(finish !== undefined && { finish }) })).toEqual([found])
})

test('a set is found by its slug and its id, too', async () => {
  const { body } = await send<{ category: { id: number; slug: string } }>(
    `${node.publicUrl}/api/v1/items/${ids.get('pokemontcg:swshp-1')}`,
    node.keys.professional,
  )
  const { id, slug } = body.data.category
  expect(await meant({ set: String(id), number: 'SWSH001' }, { set: slug, number: '1' })).toEqual(['pokemontcg:swshp-1', 'pokemontcg:swshp-1'])
})

test('items equal those of GET /items/{id} for the plan', async () => {
  for (const key of [node.keys.starter, node.keys.plus]) {
    const one = await send(`${node.publicUrl}/api/v1/items/${ids.get('owl-again')}`, key)
    const { body } = await lookUp([{ source: 'cardmarket', id: '902' }], key)
    expect(body.data).toEqual([{ state: 'found', item: one.body.data }])
  }
})

test('GraphQL answers the same', async () => {
  const query = `query($ids: [ItemIdentifierInput!]!) { lookupItems(ids: $ids) { state item { id } candidates { id } } }`
  const identifiers = [
    { source: 'cardmarket', id: '901' },
    { set: 'Wild Set', number: '4' },
    { source: 'tcgplayer', id: '1' },
  ]
  const ask = (variables: object) =>
    post<{ lookupItems: LookedUp[] }>(node, JSON.stringify({ query, variables }), { authorization: `Bearer ${node.keys.starter}` })
  const id = (ref: string) => ({ id: String(ids.get(ref)) })
  const { data, extensions } = await ask({ ids: identifiers })
  expect(data.lookupItems).toEqual([
    { state: 'ambiguous', item: null, candidates: [id('otter'), id('owl')] },
    { state: 'found', item: id('lynx'), candidates: null },
    { state: 'unknown', item: null, candidates: null },
  ])
  // Cost by the number of identifiers: 10, plus 3 times a state, an item, and candidates with their ids.
  expect(extensions!.cost.requested).toBe(25)
  const refused = await ask({ ids: [{ set: 'Wild Set' }] })
  expect(refused.errors![0]!.extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field: 'ids.0.number', rule: 'required' }] })
})

test('a merged item returns the item it was merged into', async () => {
  const numbered = { set: 'Wild Set', number: '6/103' }
  expect(await meant(numbered)).toEqual(['owl-again'])
  await merged(node, ids.get('owl-again')!, ids.get('owl')!)
  expect(await meant({ source: 'cardmarket', id: '902' }, numbered)).toEqual(['owl', null])
})

test('an item is found by its new number as soon as it changes, and no longer by the old one', async () => {
  const [old, changed] = ['5/102', '8/102'].map((number) => ({ set: 'Wild Set', number }))
  expect(await meant(old!, changed!)).toEqual(['otter', null])
  const otter = CARDS.find(({ ref }) => ref === 'otter')!
  expect((await importText(node, 'mintmark-ndjson', JSON.stringify(lineOf({ ...otter, code: '8/102' })))).errors).toEqual([])
  expect(await meant(old!, changed!)).toEqual([null, 'otter'])
})

describe('invalid input is rejected by name', () => {
  const good = { source: 'cardmarket', id: '900' }
  test.each<[what: string, ids: unknown, field: string, rule: string]>([
    ['none', [], 'ids', 'list'],
    ['too many', Array.from({ length: 501 }, () => good), 'ids', 'list'],
    ['no list', good, 'ids', 'list'],
    ['not sent', undefined, 'ids', 'required'],
    ['a text', ['base1-4'], 'ids.0', 'object'],
    ['both forms', [good, { ...good, set: 'Wild Set', number: '4' }], 'ids.1.source', 'exactly_one'],
    ['neither form', [{ finish: 'holo' }], 'ids.0.source', 'exactly_one'],
    ['half a form', [{ source: 'cardmarket' }], 'ids.0.id', 'required'],
    ['half the other', [{ number: '4' }], 'ids.0.set', 'required'],
    ['an unknown source', [good, { source: 'nowhere', id: '1' }], 'ids.1.source', 'one_of'],
    ['a number', [{ source: 'cardmarket', id: 900 }], 'ids.0.id', 'text'],
    ['null', [{ source: 'cardmarket', id: '900', finish: null }], 'ids.0.finish', 'text'],
    ['an empty text', [{ set: '', number: '4' }], 'ids.0.set', 'text'],
    ['a control character', [{ source: 'cardmarket', id: '9\u0000' }], 'ids.0.id', 'text'],
    ['an unknown field', [{ ...good, language: 'en' }], 'ids.0.language', 'unknown_field'],
  ])('%s', async (_what, identifiers, field, rule) => {
    const { status, body } = await lookUp(identifiers)
    expect(status).toBe(422)
    expect(body.error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field, rule }] })
  })

  test('500 identifiers are accepted', async () => {
    const { body } = await lookUp(Array.from({ length: 500 }, () => good))
    expect(body.data.map(({ state }) => state)).toEqual(Array.from({ length: 500 }, () => 'found'))
  })
})
