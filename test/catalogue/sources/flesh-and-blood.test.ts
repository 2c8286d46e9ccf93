// Flesh and Blood cards with their printings, as the npm package states them.
import { expect, it } from 'vitest'
import { fleshAndBlood } from '#catalogue/sources/flesh-and-blood.ts'
import { reason } from '#core/problems.ts'
import { attribute, categoriesOf, itemsOf, opened, readText, rejectsOf } from './reading.ts'

const printing = (fields: object = {}) => ({
  artists: ['A. Artist'],
  identifier: 'TST001',
  print: 'TST001',
  rarity: 'Majestic',
  set: 'Test Set',
  tcgplayer: { productId: '11', url: 'https://shop.example/product/11?Language=English&Printing=Normal' },
  ...fields,
})
const card = (fields: object = {}) => ({
  cardIdentifier: 'test-strike-red',
  classes: ['Generic'],
  name: 'Test Strike',
  pitch: 1,
  typeText: 'Generic Action - Attack',
  rarity: 'Rare',
  printings: [printing()],
  ...fields,
})
const read = (...cards: readonly unknown[]) => readText(opened(fleshAndBlood), JSON.stringify(cards))

it('reads a printing as an item, with its colour in the name', async () => {
  const rows = await read(card({ nicknames: ['TS'] }))
  expect(rows).toEqual([
    {
      line: 1,
      category: {
        market: 'source_c',
        ref: 'flesh-and-blood:set:test-set',
        name: 'Test Set',
        game: 'fab',
        parent: null,
        image: null,
        codes: ['TST'],
      },
    },
    {
      line: 1,
      key: { source: 'flesh-and-blood', id: 'TST001', finish: 'normal' },
      item: {
        market: 'source_c',
        ref: 'flesh-and-blood:TST001',
        name: 'Test Strike (Red)',
        code: 'TST001',
        genre: 'single',
        game: 'fab',
        category: 'flesh-and-blood:set:test-set',
        images: [],
        attributes: [
          { name: 'Rarity', value: 'Majestic' },
          { name: 'Set Number', value: 'TST001' },
          { name: 'Finish', value: 'Normal' },
          { name: 'Card Type', value: 'Generic Action - Attack' },
          { name: 'Color', value: 'Red' },
          { name: 'Illustrator', value: 'A. Artist' },
          { name: 'Languages', value: 'en' },
        ],
        groups: ['ungraded', 'graded'],
        details: { rarity: 'Majestic', illustrator: 'A. Artist', names: ['Test Strike', 'TS'] },
        foreignIds: [
          { source: 'flesh-and-blood', id: 'TST001', finish: 'normal' },
          { source: 'tcgplayer', id: '11', finish: 'normal' },
        ],
      },
    },
  ])
})

it.each([
  [{ foiling: 'Rainbow' }, 'Rainbow Foil', 'Rainbow Foil'],
  [{ foiling: 'Cold', treatments: ['Alternate Art', 'Extended Art'] }, 'Alternate Art Extended Art Cold Foil', 'Cold Foil'],
  [{ edition: 'First' }, 'First Edition', '1st Edition Normal'],
  [{ edition: 'First', foiling: 'Rainbow' }, 'First Edition Rainbow Foil', '1st Edition Rainbow Foil'],
  [{ edition: 'Alpha', foiling: 'Cold' }, 'Alpha Cold Foil', '1st Edition Cold Foil'],
  [{ edition: 'Unlimited' }, 'Unlimited', 'Unlimited Edition Normal'],
  [{ edition: 'Promo', foiling: 'Gold' }, 'Gold Foil', 'Gold Foil'],
  [{ print: 'TST001-Cold-Alternate Art-V2', foiling: 'Cold', treatments: ['Alternate Art'] }, 'Alternate Art Cold Foil V2', 'Cold Foil'],
])('the edition, treatments and foil %j make the finish %s', async (fields, label, shopName) => {
  const tcgplayer = { productId: '11', url: `https://shop.example/product/11?Language=English&Printing=${shopName.replaceAll(' ', '+')}` }
  const [item] = itemsOf(await read(card({ printings: [printing({ ...fields, tcgplayer })] })))
  expect(attribute(item!, 'Finish')).toBe(label)
})

it('reads the faces of a card as one item, whichever is first in the file', async () => {
  const front = card({ cardIdentifier: 'invoke', name: 'Invoke Test', oppositeSideCardIdentifiers: ['ally'] })
  const back = card({ cardIdentifier: 'ally', name: 'Test, Ally', pitch: undefined, isCardBack: true, oppositeSideCardIdentifiers: ['invoke'] })
  for (const cards of [
    [front, back],
    [back, front],
  ]) {
    const items = itemsOf(await read(...cards))
    expect(items.map(({ name, details }) => [name, details.names])).toEqual([
      ['Invoke Test (Red) // Test, Ally', ['Invoke Test (Red)', 'Invoke Test', 'Test, Ally']],
    ])
  }
})

it('reads cards and sets of the repository as the package states them', async () => {
  const cubePrinting = (fields: object) => ({
    id: 'TST001',
    set_id: 'TST',
    edition: 'N',
    foiling: 'S',
    rarity: 'M',
    artists: ['A. Artist'],
    art_variations: [],
    ...fields,
  })
  const cubeCard = (fields: object) => ({
    unique_id: 'a',
    name: 'Test Strike',
    color: 'Red',
    pitch: '1',
    type_text: 'Generic Action - Attack',
    ...fields,
  })
  const cubeSets = [{ unique_id: 's', id: 'TST', name: 'Test Set', printings: [{ unique_id: 'p', edition: 'N', start_card_id: 'TST001' }] }]
  const shop = { tcgplayer_product_id: '11', tcgplayer_url: 'https://shop.example/product/11?Language=English&Printing=Normal' }
  const reader = opened(fleshAndBlood)
  expect(await readText(reader, JSON.stringify(cubeSets))).toEqual([])
  const rows = await readText(reader, JSON.stringify([cubeCard({ printings: [cubePrinting(shop)] })]))
  expect(rows).toEqual(await read(card({ printings: [printing()] })))

  const finishes = [
    { edition: 'F', foiling: 'C', art_variations: ['AA', 'EA'] },
    { edition: 'U', foiling: 'R' },
    { edition: 'U', foiling: 'R' },
  ]
  const side = (is_front: boolean, is_DFC = true) => ({ double_sided_card_info: [{ other_face_unique_id: 'x', is_front, is_DFC }] })
  const others = await readText(
    opened(fleshAndBlood),
    JSON.stringify([
      cubeCard({ printings: finishes.map(cubePrinting) }),
      cubeCard({ unique_id: 'c', name: 'Back', pitch: '', printings: [cubePrinting({ id: 'TST009', ...side(false) })] }),
      cubeCard({ unique_id: 'b', name: 'Front', printings: [cubePrinting({ id: 'TST009', ...side(true) })] }),
      cubeCard({ unique_id: 'd', name: 'Token', pitch: '', printings: [cubePrinting({ id: 'TST010', ...side(false, false) })] }),
    ]),
  )
  expect(itemsOf(others).map((item) => [item.name, attribute(item, 'Finish')])).toEqual([
    ['Test Strike (Red)', 'First Edition Alternate Art Extended Art Cold Foil'],
    ['Test Strike (Red)', 'Unlimited Rainbow Foil'],
    ['Test Strike (Red)', 'Unlimited Rainbow Foil V2'],
    ['Front (Red) // Back', 'Normal'],
    ['Token', 'Normal'],
  ])
  // A set without its name is named by its code.
  expect(categoriesOf(others).map(({ name }) => name)).toEqual(['TST'])
})

it('reads a printing once whose back is listed as well', async () => {
  const printings = [printing({ foiling: 'Cold', print: 'TST001-Cold' }), printing({ foiling: 'Cold', print: 'TST001-Cold-Back' })]
  expect(itemsOf(await read(card({ printings })))).toHaveLength(1)
})

it('keeps a set that several codes share together', async () => {
  const promos = [printing({ set: 'Promos' }), printing({ set: 'Promos', identifier: 'FAB010' }), printing({ set: 'Promos', identifier: '1HP010' })]
  expect(categoriesOf(await read(card({ printings: promos }))).map(({ codes }) => codes)).toEqual([['TST', 'FAB', '1HP']])
})

it('rejects the row, not the file', async () => {
  const bad = [printing({ identifier: ' ' }), printing({ set: 5 }), printing(), printing()]
  expect(rejectsOf(await read(card({ cardIdentifier: '' }), card({ name: null, printings: [] }), 'card', card({ printings: bad })))).toEqual([
    '1 lacks card cardIdentifier',
    '2 lacks card test-strike-red name',
    '3 json_object entry',
    '4 lacks card test-strike-red printings.identifier',
    '4 lacks card TST001 printings.set',
    '4 row_again item flesh-and-blood:TST001 Test Strike (Red) 4',
  ])
  await expect(read({ id: 1 })).rejects.toMatchObject({ why: reason('file_rows', { count: 1, format: 'flesh-and-blood' }) })
})
