// The One Piece packs and cards of punk-records, with every irregularity of the real files.
import { expect, it } from 'vitest'
import { punkRecords } from '#catalogue/sources/punk-records.ts'
import { attribute, categoriesOf, itemsOf, itReads, onlyItem, opened, readRows, readText, rejectsOf } from './reading.ts'
import { reason } from '#core/problems.ts'

const card = (fields: object = {}) => ({
  id: 'TS01-001',
  pack_id: '569101',
  name: 'Test.D.Pirate',
  rarity: 'SuperRare',
  category: 'Character',
  cost: 4,
  power: 5000,
  counter: 1000,
  colors: ['Red'],
  attributes: ['Slash'],
  types: ['Test Crew'],
  effect: '-',
  trigger: null,
  img_full_url: 'https://i.example/TS01-001.png?260715',
  ...fields,
})

const readPacks = (packs: object) => readText(opened(punkRecords), JSON.stringify(packs, null, 1))

it('creates a category for each pack, below one for each language', async () => {
  const rows = await readPacks({
    550101: {
      id: '550101',
      raw_title: 'テスト【TS-01】',
      title_parts: { label: null, prefix: null, title: 'テスト【TS-01】' },
    },
    569101: {
      id: '569101',
      raw_title: 'BOOSTER -TEST &amp; TRY- [TS-01]',
      title_parts: { label: 'TS-01', prefix: 'BOOSTER', title: 'TEST &amp; TRY' },
    },
    569114: {
      id: '569114',
      raw_title: 'BOOSTER [TS14-EB04]',
      title_parts: { label: 'TS14-EB04', prefix: null, title: 'BOOSTER' },
    },
    569901: {
      id: '569901',
      raw_title: 'Promotion card',
      title_parts: { label: null, prefix: null, title: 'Promotion card' },
    },
    622801: {
      id: '622801',
      raw_title: 'x',
      title_parts: { label: null, prefix: null, title: 'Carte d&amp;apos;essai' },
    },
  })
  expect(categoriesOf(rows).map((c) => [c.ref, c.name, c.parent])).toEqual([
    ['punk-records:ja', 'One Piece (Japanese)', null],
    ['punk-records:pack:550101', 'テスト【TS-01】', 'punk-records:ja'],
    ['punk-records:en', 'One Piece (English)', null],
    ['punk-records:pack:569101', 'TEST & TRY [TS-01]', 'punk-records:en'],
    ['punk-records:pack:569114', 'BOOSTER [TS14-EB04]', 'punk-records:en'],
    ['punk-records:pack:569901', 'Promotion card', 'punk-records:en'],
    ['punk-records:fr', 'One Piece (French)', null],
    ['punk-records:pack:622801', "Carte d'essai", 'punk-records:fr'],
  ])
  expect(categoriesOf(rows).every((c) => c.game === 'onepiece' && c.market === 'source_c' && c.image === null)).toBe(true)
})

it('reads a card', async () => {
  expect(onlyItem(await readRows(punkRecords, card()))).toEqual({
    market: 'source_c',
    ref: 'punk-records:en:TS01-001',
    name: 'Test.D.Pirate',
    code: 'TS01-001',
    genre: 'single',
    game: 'onepiece',
    category: 'punk-records:pack:569101',
    images: [{ url: 'https://i.example/TS01-001.png', order: 1 }],
    attributes: [
      { name: 'Rarity', value: 'Super Rare' },
      { name: 'Set Number', value: 'TS01-001' },
      { name: 'Card Type', value: 'Character' },
      { name: 'Color', value: 'Red' },
      { name: 'Cost', value: '4' },
      { name: 'Power', value: '5000' },
      { name: 'Counter', value: '1000' },
      { name: 'Attribute', value: 'Slash' },
      { name: 'Types', value: 'Test Crew' },
      { name: 'Language', value: 'English' },
    ],
    groups: ['ungraded', 'graded'],
    details: { rarity: 'Super Rare' },
    foreignIds: [{ source: 'punk-records', id: 'en:TS01-001' }],
  })
})

it('creates a separate item for every other printing, with the number of the card', async () => {
  const ids = ['TS01-001', 'TS01-001_p1', 'TS01-001_p12', 'TS01-001_r2', 'P-001_p1', 'ODD_x']
  const items = itemsOf(await readRows(punkRecords, ...ids.map((id) => card({ id }))))
  expect(items.map((item) => [item.ref, item.code, attribute(item, 'Finish')])).toEqual([
    ['punk-records:en:TS01-001', 'TS01-001', undefined],
    ['punk-records:en:TS01-001_p1', 'TS01-001', 'Parallel 1'],
    ['punk-records:en:TS01-001_p12', 'TS01-001', 'Parallel 12'],
    ['punk-records:en:TS01-001_r2', 'TS01-001', 'Reprint 2'],
    ['punk-records:en:P-001_p1', 'P-001', 'Parallel 1'],
    ['punk-records:en:ODD_x', 'ODD_x', undefined],
  ])
})

it('keeps items with the same id but different pack languages apart', async () => {
  const rows = await readRows(punkRecords, card(), card({ pack_id: '550101', name: 'モンキー・D・テスト' }), card({ pack_id: '622101' }))
  expect(itemsOf(rows).map((item) => [item.ref, attribute(item, 'Language')])).toEqual([
    ['punk-records:en:TS01-001', 'English'],
    ['punk-records:ja:TS01-001', 'Japanese'],
    ['punk-records:fr:TS01-001', 'French'],
  ])
  expect(itemsOf(rows)[1]!.name).toBe('モンキー・D・テスト')
})

it('gives Leaders life instead of cost, and omits missing values', async () => {
  const item = onlyItem(
    await readRows(
      punkRecords,
      card({
        category: 'Leader',
        rarity: 'Leader',
        cost: 5,
        counter: null,
        colors: ['Red', 'Green'],
        types: ['Crew', 'Navy'],
      }),
    ),
  )
  expect(['Life', 'Cost', 'Counter', 'Color', 'Types'].map((name) => attribute(item, name))).toEqual([
    '5',
    undefined,
    undefined,
    'Red, Green',
    'Crew, Navy',
  ])
  const event = onlyItem(await readRows(punkRecords, card({ category: 'Event', power: null, attributes: [], cost: 0 })))
  expect(['Cost', 'Power', 'Attribute', 'Effect', 'Trigger'].map((name) => attribute(event, name))).toEqual([
    '0',
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

it('converts HTML in texts to plain text', async () => {
  const item = onlyItem(
    await readRows(
      punkRecords,
      card({
        name: 'Ace &amp; Test&nbsp;!!',
        effect: '[On Play] ➀① −2000<br>＜x＞ &lt;Slash&gt;<br/>&#39;a&#x27; &unknown; &#0;',
        trigger: '[Trigger] Draw 1 card.',
      }),
    ),
  )
  expect(item.name).toBe('Ace & Test !!')
  expect(attribute(item, 'Effect')).toBe("[On Play] ➀① −2000\n＜x＞ <Slash>\n'a' &unknown; &#0;")
  expect(attribute(item, 'Trigger')).toBe('[Trigger] Draw 1 card.')
})

it.each([
  ['TreasureRare', 'Treasure Rare'],
  ['SecretRare', 'Secret Rare'],
  ['Special', 'Special'],
  [null, undefined],
])('reads the rarity %s as %s', async (rarity, expected) => {
  expect(onlyItem(await readRows(punkRecords, card({ rarity }))).details.rarity).toBe(expected)
})

it('rejects the row, not the file', async () => {
  const rows = await readRows(
    punkRecords,
    card(),
    card({ pack_id: '569901' }),
    card({ pack_id: '123456' }),
    card({ name: '-' }),
    card({ id: null }),
    {},
  )
  expect(rejectsOf(rows)).toEqual([
    '2 row_again item punk-records:en:TS01-001 Test.D.Pirate 1',
    '3 pack_language 123456',
    '4 lacks card TS01-001 name',
    '5 lacks card id',
    '6 row_format punk-records',
  ])
  const packs = await readPacks({
    1: 'x',
    2: { raw_title: 'x' },
    569102: { id: '569102', raw_title: '' },
    777: { id: '777', raw_title: 'x' },
  })
  expect(rejectsOf(packs)).toEqual(['1 json_object entry', '2 lacks pack id', '3 pack_language 777', '4 lacks pack 569102 title'])
})

it('determines from the start of a file which file comes first', () => {
  const pack = '{\n "569101": {"id": "569101"'
  expect([pack, JSON.stringify(card()), ''].map((head) => punkRecords.rank!(head))).toEqual([1, 2, 2])
})

it('rejects a file of another format and names the expected one', async () => {
  await expect(readPacks({ 1: { id: '1' } })).rejects.toMatchObject({ why: reason('file_rows', { count: 1, format: 'punk-records' }) })
  await expect(readRows(punkRecords, { id: 'a' })).rejects.toMatchObject({ why: reason('file_rows', { count: 1, format: 'punk-records' }) })
})

const packs = (lines: number) => ({ lines, categories: lines + 1, items: 0, rejects: 0 })

itReads(punkRecords, {
  'onepiece/punk-records-packs.en.json.gz': packs(53),
  'onepiece/punk-records-cards.en.ndjson.gz': { lines: 4_372, categories: 0, items: 4_371, rejects: 1 },
  'onepiece/punk-records-packs.ja.json.gz': packs(55),
  'onepiece/punk-records-cards.ja.ndjson.gz': { lines: 4_464, categories: 0, items: 4_464, rejects: 0 },
  'onepiece/punk-records-packs.fr.json.gz': packs(34),
  'onepiece/punk-records-cards.fr.ndjson.gz': { lines: 2_544, categories: 0, items: 2_543, rejects: 1 },
})
