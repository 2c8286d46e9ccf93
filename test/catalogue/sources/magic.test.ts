// Magic printings in the forms of Scryfall and MTGJSON: both sources state the same items.
import { expect, it } from 'vitest'
import { mtgjson } from '#catalogue/sources/mtgjson.ts'
import { scryfall } from '#catalogue/sources/scryfall.ts'
import { reason } from '#core/problems.ts'
import { attribute, categoriesOf, itemsOf, ndjson, onlyItem, opened, readRows, readText, rejectsOf } from './reading.ts'

const card = (fields: object = {}) => ({
  object: 'card',
  id: 's-4',
  scryfall_uri: 'https://scryfall.example/s-4',
  name: 'Test Delver // Test Insect',
  lang: 'en',
  layout: 'transform',
  set: 'tst',
  set_name: 'Test Set',
  collector_number: '4a',
  rarity: 'mythic',
  finishes: ['nonfoil', 'foil', 'etched'],
  tcgplayer_id: 11,
  tcgplayer_etched_id: 12,
  cardmarket_id: 21,
  border_color: 'borderless',
  frame_effects: ['showcase'],
  oversized: false,
  digital: false,
  card_faces: [
    { name: 'Test Delver', type_line: 'Creature', artist: 'A. Artist', image_uris: { normal: 'https://i.example/front.jpg' } },
    { name: 'Test Insect', type_line: 'Creature', artist: 'A. Artist', image_uris: { normal: 'https://i.example/back.jpg' } },
  ],
  ...fields,
})

const face = (fields: object = {}) => ({
  uuid: 'm-4',
  name: 'Test Delver // Test Insect',
  faceName: 'Test Delver',
  side: 'a',
  layout: 'transform',
  number: '4a',
  finishes: ['nonfoil', 'foil', 'etched'],
  borderColor: 'borderless',
  frameEffects: ['showcase'],
  rarity: 'mythic',
  type: 'Creature',
  artist: 'A. Artist',
  foreignData: [{ language: 'German', name: 'Prüfforscher // Prüfinsekt' }],
  identifiers: { scryfallId: 's-4', tcgplayerProductId: '11', tcgplayerEtchedProductId: '12', mcmId: '21' },
  ...fields,
})
/** A set in the order of the real files: its name follows its cards. */
const set = (fields: object = {}) => ({
  baseSetSize: 281,
  booster: { draft: { sheets: { common: { cards: { 'm-4': 1 } } } } },
  cards: [face(), face({ uuid: 'm-5', side: 'b', faceName: 'Test Insect' })],
  code: 'TST',
  mcmId: 1,
  name: 'Test Set',
  tcgplayerGroupId: 2,
  tokens: [{ uuid: 'm-9', name: 'Test Token', number: '1', layout: 'token', finishes: ['nonfoil'], identifiers: {} }],
  ...fields,
})
const readSets = (data: object) => readText(opened(mtgjson), JSON.stringify({ meta: { date: '2026-11-01', version: '5' }, data }))

it('reads sealed products of a set, also of one without cards', async () => {
  const product = {
    uuid: 'p-1',
    name: 'Test Set Collector Booster Box',
    category: 'booster_box',
    subtype: 'collector',
    identifiers: { tcgplayerProductId: '31', mcmId: '41' },
    purchaseUrls: { tcgplayer: 'https://shop.example/31' },
    contents: { sealed: [{ count: 12, name: 'Test Set Collector Booster' }] },
    releaseDate: '2026-11-01',
  }
  const bare = { uuid: 'p-2', name: 'Test Set Bundle', category: 'unknown', subtype: null, identifiers: {}, purchaseUrls: {} }
  const boxes = {
    TST: set({ sealedProduct: [product, bare, { uuid: 'p-3', identifiers: {} }] }),
    BOX: { code: 'BOX', name: 'Boxes', cards: [], sealedProduct: [{ ...bare, uuid: 'p-4' }] },
  }
  const rows = await readSets(boxes)
  const sealed = itemsOf(rows).filter(({ genre }) => genre === 'sealed')
  expect(sealed[0]).toEqual({
    market: 'source_c',
    ref: 'mtgjson:p-1',
    name: 'Test Set Collector Booster Box',
    code: null,
    genre: 'sealed',
    game: 'magic',
    category: 'mtgjson:set:TST',
    images: [],
    attributes: [
      { name: 'Product Type', value: 'Collector Booster Box' },
      { name: 'Release Date', value: '2026-11-01' },
    ],
    groups: ['ungraded'],
    details: {},
    foreignIds: [
      { source: 'tcgplayer', id: '31' },
      { source: 'cardmarket', id: '41' },
    ],
  })
  expect(sealed.slice(1).map(({ ref, category, attributes, foreignIds }) => [ref, category, attributes, foreignIds])).toEqual([
    ['mtgjson:p-2', 'mtgjson:set:TST', [], []],
    ['mtgjson:p-4', 'mtgjson:set:BOX', [], []],
  ])
  expect(rejectsOf(rows)).toEqual([expect.stringContaining('lacks product p-3 name')])
  expect(itemsOf(await readSets({ TST: set({ isOnlineOnly: true, sealedProduct: [product] }) }))).toEqual([])
})

it('reads a card with two faces as one item for each finish', async () => {
  const items = itemsOf(await readRows(scryfall, card()))
  expect(items.map(({ ref, foreignIds }) => [ref, foreignIds.map(({ source, id, finish }) => `${source} ${id} ${finish}`)])).toEqual([
    ['scryfall:s-4', ['scryfall s-4 normal', 'tcgplayer 11 normal', 'cardmarket 21 normal']],
    ['scryfall:s-4:holo', ['scryfall s-4 holo', 'tcgplayer 11 holo', 'cardmarket 21 holo']],
    ['scryfall:s-4:holo-etched', ['scryfall s-4 holo-etched', 'cardmarket 21 holo-etched', 'tcgplayer 12 holo']],
  ])
  expect(items[2]).toMatchObject({
    name: 'Test Delver // Test Insect',
    code: '4a',
    genre: 'single',
    game: 'magic',
    category: 'scryfall:set:tst',
    images: [
      { url: 'https://i.example/front.jpg', order: 1 },
      { url: 'https://i.example/back.jpg', order: 2 },
    ],
    attributes: [
      { name: 'Rarity', value: 'Mythic Rare' },
      { name: 'Set Number', value: '4a' },
      { name: 'Finish', value: 'Etched Foil' },
      { name: 'Card Type', value: 'Creature' },
      { name: 'Illustrator', value: 'A. Artist' },
      { name: 'Treatment', value: 'Showcase, Borderless' },
      { name: 'Languages', value: 'en' },
    ],
    groups: ['ungraded', 'graded'],
    details: { rarity: 'Mythic Rare', illustrator: 'A. Artist', names: ['Test Delver', 'Test Insect'] },
  })
})

it('MTGJSON states the same items as Scryfall, below its set, and tokens in a set of their own', async () => {
  const rows = await readSets({ TST: set() })
  expect(rejectsOf(rows)).toEqual([])
  const of = { market: 'source_c', game: 'magic', image: null }
  const shops = [
    { source: 'tcgplayer', id: '2' },
    { source: 'cardmarket', id: '1' },
  ]
  expect(categoriesOf(rows)).toEqual([
    { ...of, ref: 'mtgjson:set:TST', name: 'Test Set', parent: null, printedTotal: 281, codes: ['TST'], foreignIds: shops },
    { ...of, ref: 'mtgjson:set:TTST', name: 'Test Set Tokens', parent: 'mtgjson:set:TST', codes: ['TTST'] },
  ])
  const facts = ({ name, code, attributes, foreignIds }: ReturnType<typeof itemsOf>[number]) => ({ name, code, attributes, foreignIds })
  const items = itemsOf(rows)
  expect(items.slice(0, 3).map(facts)).toEqual(itemsOf(await readRows(scryfall, card())).map(facts))
  expect(items[0]!.details.names).toEqual(['Test Delver', 'Test Insect', 'Prüfforscher // Prüfinsekt'])
  expect(items.slice(3).map(({ ref, category }) => [ref, category])).toEqual([['mtgjson:m-9', 'mtgjson:set:TTST']])
  expect(await readSets({ TST: set(), TWO: set({ code: 'TWO', cards: [], tokens: [] }) })).toEqual(rows)
  expect(await readSets(set())).toEqual(rows)
})

it.each([
  ['a foil with a name', { finishes: ['foil'], promo_types: ['promopack', 'surgefoil'] }, 'scryfall:s-4:holo-surge', 'Surge Foil'],
  ['a special foil', { finishes: ['foil'], promo_types: ['oilslick'] }, 'scryfall:s-4:holo-oil-slick', 'Oil Slick Foil'],
  ['an oversized card', { finishes: ['nonfoil'], oversized: true }, 'scryfall:s-4:oversized', 'Oversized'],
  ['an oversized foil', { finishes: ['foil'], oversized: true }, 'scryfall:s-4:holo-oversized', 'Foil Oversized'],
  ['a printing without a finish', { finishes: [] }, 'scryfall:s-4', 'Normal'],
])('reads %s', async (_case, fields, ref, label) => {
  const item = onlyItem(await readRows(scryfall, card(fields)))
  expect([item.ref, attribute(item, 'Finish')]).toEqual([ref, label])
})

it('keeps printings in other languages apart, under the English name', async () => {
  const fields = { lang: 'ja', collector_number: '97★', name: 'Test', printed_name: 'テスト', card_faces: undefined, finishes: ['nonfoil'] }
  expect(onlyItem(await readRows(scryfall, card(fields)))).toMatchObject({
    ref: 'scryfall:ja:s-4',
    name: 'Test',
    code: '97★',
    details: { names: ['テスト'] },
    foreignIds: [{ source: 'scryfall', id: 's-4', finish: 'normal' }, {}, {}],
  })
  const chinese = onlyItem(await readRows(scryfall, card({ ...fields, lang: 'zhs' })))
  expect(attribute(chinese, 'Languages')).toBe('zh-cn')
})

it('names a card once whose faces have the same name', async () => {
  expect(onlyItem(await readRows(scryfall, card({ name: 'Test // Test', finishes: ['foil'] }))).name).toBe('Test')
})

it('omits what is not sold as a card: digital cards and the backs of melded cards', async () => {
  const meld = { layout: 'meld', all_parts: [{ component: 'meld_result', id: 's-4' }] }
  const front = { id: 's-5', layout: 'meld', all_parts: [{ component: 'meld_result', id: 's-4' }], name: 'Test Front', finishes: ['nonfoil'] }
  expect(itemsOf(await readRows(scryfall, card({ digital: true }), card(meld), card(front))).map(({ name }) => name)).toEqual(['Test Front'])
  const cards = [face({ layout: 'meld', name: 'Test Front // Test Back', faceName: 'Test Front' }), face({ uuid: 'm-6', isOnlineOnly: true })]
  const names = itemsOf(await readSets({ TST: set({ cards, tokens: [] }) })).map(({ name }) => name)
  expect(new Set(names)).toEqual(new Set(['Test Front']))
  expect(itemsOf(await readSets({ TST: set({ isOnlineOnly: true }) }))).toEqual([])
})

it('reads the list of sets before their cards', async () => {
  const list = {
    object: 'list',
    has_more: false,
    data: [{ object: 'set', id: 'x', code: 'tst', name: 'Test Set', printed_size: 281, tcgplayer_id: 2 }],
  }
  const text = JSON.stringify({ ...list, data: [...list.data, { object: 'set', code: 'dig', name: 'Digital', digital: true }] })
  const reader = opened(scryfall)
  expect(categoriesOf(await readText(reader, text))).toEqual([
    {
      market: 'source_c',
      ref: 'scryfall:set:tst',
      name: 'Test Set',
      game: 'magic',
      parent: null,
      image: null,
      printedTotal: 281,
      codes: ['TST'],
      foreignIds: [{ source: 'tcgplayer', id: '2' }],
    },
  ])
  expect(categoriesOf(await readText(reader, ndjson(card())))).toEqual([])
  expect([text, JSON.stringify([card()]), ndjson(card())].map((head) => scryfall.rank!(head))).toEqual([1, 2, 2])
})

it('rejects the row, not the file', async () => {
  const fields = { id: undefined, name: '', collector_number: 4, set: null, set_name: undefined }
  const bad = Object.entries(fields).map(([field, value]) => card({ id: `bad-${field}`, [field]: value }))
  const rows = await readText(opened(scryfall), JSON.stringify([...bad, [1], card(), card()]))
  expect(rejectsOf(rows)).toEqual([
    '1 lacks card id',
    '2 lacks card bad-name name',
    '3 lacks card bad-collector_number collector_number',
    '4 lacks card bad-set set',
    '5 lacks card bad-set_name set_name',
    '6 json_object entry',
    ...['scryfall:s-4', 'scryfall:s-4:holo', 'scryfall:s-4:holo-etched'].map((ref) => `8 row_again item ${ref} Test Delver // Test Insect 7`),
  ])
  const cards = [face({ uuid: 1 }), face({ name: ' ' }), face({ number: null }), 'card']
  expect(rejectsOf(await readSets({ TST: set({ cards, tokens: [] }) }))).toEqual([
    '1 lacks card uuid',
    '2 lacks card m-4 name',
    '3 lacks card m-4 number',
    '4 json_object entry',
  ])
  expect(rejectsOf(await readSets({ TST: set({ name: 5, cards: [], tokens: [1] }) }))).toEqual(['1 lacks set TST name', '1 json_object entry'])
})

it('rejects a file of another format', async () => {
  await expect(readText(opened(scryfall), '[{"id":"x"}]')).rejects.toMatchObject({ why: reason('file_rows', { count: 1, format: 'scryfall' }) })
  await expect(readSets({})).rejects.toMatchObject({ why: reason('file_empty') })
  await expect(readText(opened(mtgjson), '{"data":[1,')).rejects.toMatchObject({ why: reason('json', { part: 'file' }) })
})
