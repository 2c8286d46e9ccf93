// Records of several sources as items: one per finish, facts by precedence, whatever the order of the imports.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importFiles, importText, OPERATOR_TOKEN, type Reply, type Sending, send, startTestNode, type TestNode } from '../support/node.ts'
import { exported, exportedItems, pokemontcgCards, pokemontcgSets, tcgdexCards, tcgdexOld, tcgdexSets } from './one-card.ts'

const operator = <T = Record<string, never>>(node: TestNode, path: string, sending: Sending = {}): Promise<Reply<T>> =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, sending)

const tcgdex = (node: TestNode) =>
  importFiles(node, 'tcgdex', [
    { name: 'sets', text: tcgdexSets },
    { name: 'cards', text: tcgdexCards },
  ])
const pokemontcg = (node: TestNode) =>
  importFiles(node, 'pokemontcg', [
    { name: 'sets', text: pokemontcgSets },
    { name: 'cards', text: pokemontcgCards },
  ])

interface StoredItem {
  id: number
  ref: string
  name: string
  market: string
  foreign_ids: { source: string; id: string; finish?: string }[]
  attributes: { name: string; value: string }[]
  details: Record<string, unknown>
  images: { url: string }[]
  sources: { source: string; foreign_id: string; finish: string | null; method: string; confidence: number; decided_by: string | null }[]
  provenance: Record<string, string>
}

async function itemsOf(node: TestNode, search = ''): Promise<StoredItem[]> {
  const { body } = await operator<{ id: number }[]>(node, `/items?per_page=100&search=${search}`)
  return Promise.all(body.data.map(async ({ id }) => (await operator<StoredItem>(node, `/items/${id}`)).body.data))
}

async function withNode(run: (node: TestNode) => Promise<void>): Promise<void> {
  const node = await startTestNode({ listeners: 'operator' })
  try {
    await run(node)
  } finally {
    await node.close()
  }
}

describe('two sources of one set', () => {
  let node: TestNode

  beforeAll(async () => {
    node = await startTestNode({ listeners: 'operator' })
    expect((await tcgdex(node)).counts).toMatchObject({ rowsRead: 8, created: 14, updated: 0, rejected: 0 })
    expect((await pokemontcg(node)).counts).toMatchObject({ rowsRead: 7, created: 2, updated: 6, rejected: 0 })
  })
  afterAll(() => node.close())

  test('are one item per finish, with the facts of both', async () => {
    const items = await itemsOf(node)
    expect(items).toHaveLength(12)
    const [holo, reverse] = items.filter((item) => item.name === 'Charizard').sort((a, b) => a.ref.length - b.ref.length)
    expect(holo).toMatchObject({
      ref: 'tcgdex:base1-4',
      market: 'source_c',
      details: { hp: 80, level: 43, illustrator: 'Ken Sugimori' },
      images: [{ url: 'https://assets.tcgdex.net/en/base/base1/4/high.webp' }],
      provenance: { name: 'tcgdex', 'details.hp': 'tcgdex', 'details.level': 'pokemontcg', images: 'tcgdex', 'foreign_ids.cardmarket': 'tcgdex' },
    })
    expect(holo!.attributes).toContainEqual({ name: 'Finish', value: 'Holo' })
    expect(holo!.foreign_ids).toEqual([
      { source: 'cardmarket', id: '1003', finish: 'holo' },
      { source: 'pokemontcg', id: 'base1-4', finish: 'holo' },
      { source: 'tcgdex', id: 'base1-4', finish: 'holo' },
      { source: 'tcgplayer', id: '2003', finish: 'holo' },
    ])
    expect(holo!.sources).toMatchObject([
      { source: 'tcgdex', foreign_id: 'base1-4', finish: 'holo', method: 'own', confidence: 100, decided_by: null },
      { source: 'pokemontcg', foreign_id: 'base1-4', finish: null, method: 'set-map', decided_by: null },
    ])
    expect(reverse).toMatchObject({ ref: 'tcgdex:base1-4:reverse', details: { level: 43 } })
    expect(reverse!.attributes).toContainEqual({ name: 'Finish', value: 'Reverse' })
    expect(reverse!.foreign_ids).toContainEqual({ source: 'pokemontcg', id: 'base1-4', finish: 'reverse' })
  })

  test('are the same items in the reverse order', () =>
    withNode(async (other) => {
      await pokemontcg(other)
      const ids = (await itemsOf(other, 'Charizard')).map((item) => item.id)
      await tcgdex(other)
      expect(await exportedItems(other)).toEqual(await exportedItems(node))
      // The existing item keeps its id.
      expect((await itemsOf(other, 'Charizard')).map((item) => item.id)).toContain(ids[0])
    }))

  test('are the same items with an older form of one source, whenever it is imported', () =>
    withNode(async (other) => {
      await importText(other, 'tcgdex', tcgdexOld)
      await pokemontcg(other)
      await tcgdex(other)
      expect(await exportedItems(other)).toEqual(await exportedItems(node))
    }))

  test('change nothing when imported again', async () => {
    const before = await exported(node)
    expect((await pokemontcg(node)).counts).toMatchObject({ created: 0, updated: 0, unchanged: 8 })
    expect((await tcgdex(node)).counts).toMatchObject({ created: 0, updated: 0, unchanged: 14 })
    expect(await exported(node)).toBe(before)
  })

  test('are not reduced by an older file with less data', async () => {
    const before = await exported(node)
    expect((await importText(node, 'tcgdex', tcgdexOld)).counts).toMatchObject({ rowsRead: 6, created: 0, rejected: 0 })
    expect(await exported(node)).toBe(before)
  })

  test('do not override facts stated by an operator', async () => {
    const [item] = await itemsOf(node, 'Gyarados')
    const patch = (json: object) => operator<StoredItem>(node, `/items/${item!.id}`, { method: 'PATCH', json })
    const attributes = [{ name: 'Rarity', value: 'Rarest' }]
    const changed = await patch({ name: 'Gyarados!', attributes, foreign_ids: [{ source: 'tcgplayer', id: '7' }] })
    expect(changed.body.data).toMatchObject({ name: 'Gyarados!', attributes, foreign_ids: [{ source: 'tcgplayer', id: '7' }] })
    await importText(node, 'pokemontcg', pokemontcgCards.replaceAll('"level":"45"', '"level":"46"'))
    await importText(node, 'tcgdex', tcgdexCards.replaceAll('Ken Sugimori', 'Mitsuhiro Arita'))
    const after = (await itemsOf(node, 'Gyarados')).find(({ id }) => id === item!.id)!
    expect(after).toMatchObject({ name: 'Gyarados!', attributes, foreign_ids: [{ source: 'tcgplayer', id: '7' }] })
    expect(after).toMatchObject({
      details: { level: 46, illustrator: 'Mitsuhiro Arita' },
      provenance: { name: 'operator', 'details.level': 'pokemontcg' },
    })
    expect(after.sources.map(({ source }) => source)).toEqual(['operator', 'tcgdex', 'tcgdex-api', 'pokemontcg'])
  })
})

test('a list without release dates keeps those of a more complete list', () =>
  withNode(async (node) => {
    await importText(
      node,
      'tcgplayer-sealed',
      'productId,name,imageUrl,set_code,releaseDate\n1,Jungle Booster Box,https://x.test/1.png,2,1999-06-16\n',
    )
    await importText(node, 'tcgplayer-sealed', 'productId,name,imageUrl,set_code\n1,Jungle Booster Box [1st],,2\n2,Fossil Booster Box,,2\n')
    const items = await itemsOf(node)
    expect(items.map(({ name, attributes, images }) => ({ name, attributes, images: images.length }))).toEqual([
      { name: 'Jungle Booster Box [1st]', attributes: [{ name: 'Release Date', value: '1999-06-16' }], images: 1 },
      { name: 'Fossil Booster Box', attributes: [], images: 0 },
    ])
  }))

test('an id without a finish belongs to the only finish that another source states', () =>
  withNode(async (node) => {
    await importFiles(node, 'pokemontcg', [
      { name: 'sets', text: pokemontcgSets },
      { name: 'cards', text: pokemontcgCards.replaceAll('Rare Holo', 'Promo') },
    ])
    const cards = tcgdexCards.split('\n').filter(Boolean)
    const holos = cards.map((card) => JSON.stringify({ ...JSON.parse(card), variants: [{ type: 'holo' }] }))
    await importText(node, 'tcgdex', `${tcgdexSets}${holos.join('\n')}`)
    expect((await itemsOf(node, 'Charizard')).map(({ foreign_ids: ids }) => ids)).toEqual([
      [
        { source: 'pokemontcg', id: 'base1-4', finish: 'holo' },
        { source: 'tcgdex', id: 'base1-4', finish: 'holo' },
      ],
    ])
  }))

test('two finishes with one ref of a source keep different refs', () =>
  withNode(async (node) => {
    const [card] = tcgdexCards.split('\n')
    const printings = (...types: string[]) => JSON.stringify({ ...JSON.parse(card!), variants: types.map((type) => ({ type })) })
    await importText(node, 'tcgdex', tcgdexSets)
    await importText(node, 'tcgdex', printings('normal', 'reverse'))
    await importText(node, 'tcgdex', printings('reverse'))
    const refs = ['tcgdex:base1-1', 'tcgdex:base1-1:reverse']
    expect((await exportedItems(node)).map(({ ref }) => ref)).toEqual(refs)
    const reverse = (await itemsOf(node)).find(({ ref }) => ref === refs[1])!
    const patched = await operator<StoredItem>(node, `/items/${reverse.id}`, { method: 'PATCH', json: { name: 'Alakazam!' } })
    expect(patched).toMatchObject({ status: 200, body: { data: { ref: refs[1], name: 'Alakazam!' } } })
    await importText(node, 'tcgdex', printings('reverse', 'normal'))
    expect((await exportedItems(node)).map(({ ref, name }) => `${String(ref)} ${String(name)}`)).toEqual([
      'tcgdex:base1-1 Alakazam!',
      'tcgdex:base1-1:normal Alakazam',
    ])
  }))

test('a card with finish flags has an item for each', () =>
  withNode(async (node) => {
    const [card] = tcgdexCards.split('\n')
    const flags = { normal: true, reverse: true, holo: false, firstEdition: false }
    await importText(node, 'tcgdex', tcgdexSets)
    await importText(node, 'tcgdex', JSON.stringify({ ...JSON.parse(card!), variants: flags }))
    expect((await exportedItems(node)).map(({ ref }) => ref)).toEqual(['tcgdex:base1-1', 'tcgdex:base1-1:reverse'])
  }))

test('level-up cards whose source omits the printed LV.X are the same cards as those of a source that states it', () =>
  withNode(async (node) => {
    const levelUps = ['Alakazam', 'Charizard', 'Gyarados']
    const withLevels = (cards: string, change: (card: { name: string }) => object) =>
      cards.replace(/.+/g, (line) => {
        const card = JSON.parse(line)
        return levelUps.includes(card.name.en ?? card.name) ? JSON.stringify({ ...card, ...change(card) }) : line
      })
    const omitting = withLevels(tcgdexCards, () => ({ stage: 'LEVEL-UP' }))
    const stating = withLevels(pokemontcgCards, ({ name }) => ({ name: `${name} LV.X`, level: 'X', subtypes: ['Level-Up'] }))
    const files = (sets: string, cards: string) => [
      { name: 'sets', text: sets },
      { name: 'cards', text: cards },
    ]
    await importFiles(node, 'tcgdex', files(tcgdexSets, omitting))
    expect((await importFiles(node, 'pokemontcg', files(pokemontcgSets, stating))).counts).toMatchObject({ created: 2, updated: 6 })
    expect((await operator<object[]>(node, '/matches')).body.data).toEqual([])
    const [holo] = (await itemsOf(node, 'Charizard')).filter(({ ref }) => ref === 'tcgdex:base1-4')
    expect(holo!.sources).toMatchObject([
      { source: 'tcgdex', method: 'own' },
      { source: 'pokemontcg', foreign_id: 'base1-4', method: 'set-map' },
    ])
  }))
