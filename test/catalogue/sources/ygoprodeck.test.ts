// Yu-Gi-Oh! cards and sets in the form of YGOPRODeck's API.
import { expect, it } from 'vitest'
import { ygoprodeck } from '#catalogue/sources/ygoprodeck.ts'
import { reason } from '#core/problems.ts'
import { attribute, categoriesOf, itemsOf, opened, readText, rejectsOf } from './reading.ts'

const printing = (fields: object = {}) => ({
  set_name: 'Test Legends',
  set_code: 'TST-EN001',
  set_rarity: 'Ultra Rare',
  set_rarity_code: '(UR)',
  ...fields,
})
const card = (fields: object = {}) => ({
  id: 4,
  name: 'Test Dragon',
  type: 'Normal Monster',
  humanReadableCardType: 'Normal Monster',
  frameType: 'normal',
  desc: 'A test.',
  race: 'Dragon',
  attribute: 'LIGHT',
  card_sets: [printing()],
  card_images: [{ id: 4, image_url: 'https://i.example/4.jpg' }],
  ...fields,
})
const read = (...data: readonly unknown[]) => readText(opened(ygoprodeck), JSON.stringify({ data }))

it('reads each rarity of a number as an item', async () => {
  const rows = await read(card({ card_sets: [printing(), printing({ set_rarity: 'Ghost Rare' }), printing()] }))
  expect(categoriesOf(rows)).toEqual([
    { market: 'source_c', ref: 'ygoprodeck:set:test-legends', name: 'Test Legends', game: 'yugioh', image: null, codes: ['TST'], fillsOnly: true },
  ])
  const items = itemsOf(rows)
  expect(items.map(({ ref }) => ref)).toEqual(['ygoprodeck:TST-EN001:ultra-rare', 'ygoprodeck:TST-EN001:ghost-rare'])
  expect(items[0]).toEqual({
    market: 'source_c',
    ref: 'ygoprodeck:TST-EN001:ultra-rare',
    name: 'Test Dragon',
    code: 'TST-EN001',
    genre: 'single',
    game: 'yugioh',
    category: 'ygoprodeck:set:test-legends',
    images: [{ url: 'https://i.example/4.jpg', order: 1 }],
    attributes: [
      { name: 'Rarity', value: 'Ultra Rare' },
      { name: 'Set Number', value: 'TST-EN001' },
      { name: 'Finish', value: 'Ultra Rare' },
      { name: 'Card Type', value: 'Normal Monster' },
      { name: 'Attribute', value: 'LIGHT' },
      { name: 'Types', value: 'Dragon' },
      { name: 'Languages', value: 'en' },
    ],
    groups: ['ungraded', 'graded'],
    details: { rarity: 'Ultra Rare' },
    foreignIds: [{ source: 'ygoprodeck', id: 'TST-EN001', finish: 'ultra-rare' }],
  })
})

it('separates editions if they are stated', async () => {
  const sets = [printing({ set_edition: '1st Edition' }), printing({ set_edition: 'Unlimited' })]
  expect(itemsOf(await read(card({ card_sets: sets }))).map((item) => [item.ref, attribute(item, 'Finish')])).toEqual([
    ['ygoprodeck:TST-EN001:ultra-rare-first-edition', 'Ultra Rare 1st Edition'],
    ['ygoprodeck:TST-EN001:ultra-rare', 'Ultra Rare Unlimited'],
  ])
})

it.each([
  ['TST-001', 'en'],
  ['TST-E001', 'en'],
  ['TST-EN001', 'en'],
  ['TST-G001', 'de'],
  ['TST-SP001', 'es'],
  ['TST-JP001', 'ja'],
])('the number %s has the language %s', async (code, language) => {
  const [item] = itemsOf(await read(card({ card_sets: [printing({ set_code: code })] })))
  expect(attribute(item!, 'Languages')).toBe(language)
})

it('reads the list of sets before their cards', async () => {
  const reader = opened(ygoprodeck)
  const list = JSON.stringify([{ set_name: 'Test Legends', set_code: 'TST', num_of_cards: 126, set_image: 'https://i.example/tst.jpg' }])
  expect(categoriesOf(await readText(reader, list))).toEqual([
    {
      market: 'source_c',
      ref: 'ygoprodeck:set:test-legends',
      name: 'Test Legends',
      game: 'yugioh',
      parent: null,
      image: 'https://i.example/tst.jpg',
      codes: ['TST'],
    },
  ])
  expect(categoriesOf(await readText(reader, JSON.stringify({ data: [card()] })))).toEqual([])
  expect([list, '{"data":['].map((head) => ygoprodeck.rank!(head))).toEqual([1, 2])
})

it('rejects the row, not the file', async () => {
  const bad = [printing({ set_code: 1 }), printing({ set_name: '' }), printing({ set_rarity: null }), 'printing']
  expect(rejectsOf(await read(card({ id: 'x' }), card({ name: '' }), card({ card_sets: undefined }), [1], card({ card_sets: bad })))).toEqual([
    '1 lacks card id',
    '2 lacks card 4 name',
    '3 lacks card 4 card_sets',
    '4 json_object entry',
    '5 lacks card 4 card_sets.set_code',
    '5 lacks card TST-EN001 card_sets.set_name',
    '5 lacks card TST-EN001 card_sets.set_rarity',
    '5 lacks card 4 card_sets.set_code',
  ])
  await expect(read({ id: 1 })).rejects.toMatchObject({ why: reason('file_rows', { count: 1, format: 'ygoprodeck' }) })
})
