// The Pokémon TCG API's sets and cards, with every irregularity of the real files.
import { expect, it } from 'vitest'
import { pokemontcg } from '#catalogue/sources/pokemontcg.ts'
import { attribute, categoriesOf, itemsOf, itReads, ndjson, onlyItem, opened, readRows, readText, rejectsOf } from './reading.ts'
import { reason } from '#core/problems.ts'

const card = (fields: object = {}) => ({
  id: 'tst1-4',
  name: 'Testizard',
  supertype: 'Pokémon',
  subtypes: ['Stage 2'],
  number: '4',
  ...fields,
})
const set = (fields: object = {}) => ({
  id: 'tst1',
  name: 'Test',
  series: 'Test & Try',
  printedTotal: 102,
  total: 110,
  releaseDate: '1999/01/09',
  updatedAt: '2022/10/10 15:12:00',
  images: { symbol: 'https://i.example/s.png', logo: 'https://i.example/l.png' },
  ...fields,
})

it('builds a tree of series and sets', async () => {
  const rows = await readText(opened(pokemontcg), JSON.stringify([set(), set({ id: 'tst2', name: 'Two', images: {} })]))
  const of = { market: 'source_a', game: 'pokemon' }
  expect(rows).toEqual([
    { line: 1, category: { ...of, ref: 'pokemontcg:series:test-try', name: 'Test & Try', parent: null, image: null } },
    {
      line: 1,
      category: {
        ...of,
        ref: 'pokemontcg:set:tst1',
        name: 'Test',
        parent: 'pokemontcg:series:test-try',
        image: 'https://i.example/l.png',
        printedTotal: 102,
        codes: ['tst1'],
      },
    },
    {
      line: 2,
      category: {
        ...of,
        ref: 'pokemontcg:set:tst2',
        name: 'Two',
        parent: 'pokemontcg:series:test-try',
        image: null,
        printedTotal: 102,
        codes: ['tst2'],
      },
    },
  ])
})

it('reads a card, with numbers as text', async () => {
  const item = onlyItem(
    await readRows(
      pokemontcg,
      card({
        hp: '120',
        level: '76',
        types: ['Fire'],
        evolvesFrom: 'Testmeleon',
        artist: 'Test Artist',
        rarity: 'Rare Holo',
        nationalPokedexNumbers: [6],
        regulationMark: 'D',
        images: { small: 'https://i.example/4.png', large: 'https://i.example/4_hires.png' },
      }),
    ),
  )
  expect(item).toEqual({
    market: 'source_a',
    ref: 'pokemontcg:tst1-4',
    name: 'Testizard',
    code: '4',
    genre: 'single',
    game: 'pokemon',
    category: 'pokemontcg:set:tst1',
    images: [{ url: 'https://i.example/4_hires.png', order: 1 }],
    attributes: [
      { name: 'Rarity', value: 'Rare Holo' },
      { name: 'Set Number', value: '4' },
      { name: 'Card Type', value: 'Pokémon' },
      { name: 'Illustrator', value: 'Test Artist' },
      { name: 'Regulation Mark', value: 'D' },
    ],
    groups: ['ungraded', 'graded'],
    details: {
      rarity: 'Rare Holo',
      illustrator: 'Test Artist',
      hp: 120,
      types: ['Fire'],
      dexIds: [6],
      stage: 'Stage 2',
      evolveFrom: 'Testmeleon',
      level: 76,
    },
    foreignIds: [{ source: 'pokemontcg', id: 'tst1-4', finish: 'holo' }],
  })
})

it('prints the set total from an earlier file of the import', async () => {
  const reader = opened(pokemontcg)
  await readText(reader, JSON.stringify([set(), set({ id: 'swshp', name: 'Test Black Star Promos' }), set({ id: 'a-b' })]))
  const cards = [card(), card({ id: 'tst1-RC1', number: 'RC1' }), card({ id: 'swshp-7', number: '7' }), card({ id: 'a-b-12', number: '12' })]
  expect(itemsOf(await readText(reader, ndjson(...cards))).map((item) => item.code)).toEqual(['4/102', 'RC1', '7', '12/102'])
})

it('prints the set total from an earlier import', async () => {
  const storedCategories = { 'pokemontcg:set:tst1': { parent: null, printedTotal: 99 } }
  expect(itemsOf(await readText(opened(pokemontcg, { storedCategories }), ndjson(card())))[0]!.code).toBe('4/99')
})

it.each([
  ['tst1', 'Common', undefined],
  ['tst1', 'Rare', undefined],
  ['sv3pt5', 'Rare', 'holo'],
  ['svp', 'Promo', undefined],
  ['tst1', 'Rare Holo V', 'holo'],
  ['tst1', 'Rare Secret', 'holo'],
  ['tst1', undefined, undefined],
])('maps holo prices only to cards that exist as holo only: %s %s', async (set, rarity, finish) => {
  const { foreignIds } = onlyItem(await readRows(pokemontcg, card({ id: `${set}-4`, rarity })))
  expect(foreignIds).toEqual([{ source: 'pokemontcg', id: `${set}-4`, ...(finish && { finish }) }])
})

it('determines from the start of a file which file comes first', () => {
  expect([JSON.stringify([set()]), JSON.stringify(card()), ''].map((head) => pokemontcg.rank!(head))).toEqual([1, 2, 2])
})

it('reads LV.X as a suffix, because X is not a level', async () => {
  const item = onlyItem(await readRows(pokemontcg, card({ level: 'X', subtypes: ['Level-Up', 'SP'] })))
  expect(item.details).toMatchObject({ stage: 'Level-Up', suffix: 'LV.X' })
  expect(item.details.level).toBeUndefined()
})

it.each([
  ['Pokémon', ['Basic'], 'Basic', undefined],
  ['Pokémon', ['Basic', 'V', 'Rapid Strike'], 'Basic', 'V'],
  ['Pokémon', ['VMAX', 'Single Strike'], 'VMAX', undefined],
  ['Pokémon', ['MEGA', 'EX'], 'MEGA', 'EX'],
  ['Pokémon', ['Stage 2', 'ex', 'Tera'], 'Stage 2', 'ex'],
  ['Pokémon', ['Basic', 'TAG TEAM', 'GX'], 'Basic', 'TAG TEAM-GX'],
  ['Pokémon', ['LEGEND'], undefined, 'Legend'],
  ['Pokémon', ['Baby', 'Basic'], 'Baby', undefined],
  ['Energy', ['Basic'], undefined, undefined],
  ['Trainer', ['Item', 'ACE SPEC'], undefined, undefined],
  ['Pokémon', undefined, undefined, undefined],
])('reads %s with subtypes %j as stage %s and suffix %s', async (supertype, subtypes, stage, suffix) => {
  const { details } = onlyItem(await readRows(pokemontcg, card({ supertype, subtypes })))
  expect([details.stage, details.suffix]).toEqual([stage, suffix])
})

it.each([
  [undefined, undefined],
  ['Rare Ultra', 'Ultra Rare'],
  ['Rare Secret', 'Secret Rare'],
  ['Rare Rainbow', 'Rare Rainbow'],
])('reads the rarity %s as %s', async (rarity, expected) => {
  const item = onlyItem(await readRows(pokemontcg, card({ rarity })))
  expect([item.details.rarity, attribute(item, 'Rarity')]).toEqual([expected, expected])
})

it('rejects the row, not the file', async () => {
  const rows = await readRows(
    pokemontcg,
    card({ id: undefined }),
    card({ name: '' }),
    card({ number: 4 }),
    card({ id: 'tst1' }),
    [1],
    card(),
    card(),
    set({ name: ' ' }),
  )
  expect(rejectsOf(rows)).toEqual([
    '1 lacks card id',
    '2 lacks card tst1-4 name',
    '3 lacks card tst1-4 number',
    '4 no_set tst1',
    '5 json_object line',
    '7 row_again item pokemontcg:tst1-4 Testizard 6',
    '8 lacks set tst1 name',
  ])
})

it('reads cards from an array and sets from lines as well', async () => {
  const reader = opened(pokemontcg, { market: 'source_b' })
  expect(categoriesOf(await readText(reader, ndjson(set())))).toHaveLength(2)
  expect(itemsOf(await readText(reader, `\n ${JSON.stringify([card()])}`))).toMatchObject([{ code: '4/102', market: 'source_b' }])
})

it('rejects a file of another format and names the expected one', async () => {
  const read = (text: string) => readText(opened(pokemontcg), text)
  await expect(read('[{"id":"x"}]')).rejects.toMatchObject({ why: reason('file_rows', { count: 1, format: 'pokemontcg' }) })
  await expect(read('a,b\n1,2\n')).rejects.toMatchObject({ why: reason('file_rows', { count: 2, format: 'pokemontcg' }) })
  await expect(read('[1,')).rejects.toMatchObject({ why: reason('json', { part: 'file' }) })
  await expect(read('[]')).rejects.toMatchObject({ why: reason('file_empty') })
})

itReads(pokemontcg, {
  'pokemon/pokemontcg-sets.json.gz': { lines: 145, categories: 161, items: 0, rejects: 0 },
  'pokemon/pokemontcg-cards.ndjson.gz': { lines: 16_054, categories: 0, items: 16_054, rejects: 0 },
})
