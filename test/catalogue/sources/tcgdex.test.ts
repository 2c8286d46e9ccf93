// The TCGdex catalogue: its series, sets and cards, with every irregularity of the real files.
import { describe, expect, it } from 'vitest'
import { tcgdex } from '#catalogue/sources/tcgdex.ts'
import type { ItemRecord } from '#catalogue/records/catalogue-records.ts'
import { attribute, categoriesOf, itemsOf, itReads, ndjson, onlyItem, opened, readRows, readText, rejectsOf } from './reading.ts'
import { reason } from '#core/problems.ts'

const card = (fields: object = {}) => ({
  id: 'tst1-4',
  localId: '4',
  name: { en: 'Testizard' },
  rarity: 'Rare',
  category: 'Pokemon',
  set: 'tst1',
  ...fields,
})
const set = (fields: object = {}) => ({
  id: 'tst1',
  name: { en: 'Test Set' },
  serie: 'tst',
  cardCount: { official: 102 },
  releaseDate: '2020-01-01',
  ...fields,
})

describe('series and sets', () => {
  it('builds a tree of series and sets', async () => {
    const rows = await readRows(tcgdex, { id: 'tst', name: { fr: 'Essai', en: 'Test' }, energies: ['Fire'] }, set())
    expect(rows).toEqual([
      {
        line: 1,
        category: {
          market: 'source_c',
          ref: 'tcgdex:serie:tst',
          name: 'Test',
          game: 'pokemon',
          parent: null,
          image: null,
        },
      },
      {
        line: 2,
        category: {
          market: 'source_c',
          ref: 'tcgdex:set:tst1',
          name: 'Test Set',
          game: 'pokemon',
          parent: 'tcgdex:serie:tst',
          image: null,
          printedTotal: 102,
          codes: ['tst1'],
          foreignIds: [],
        },
      },
    ])
  })

  it('names a set by its first available language, without surrounding white space', async () => {
    const rows = await readRows(tcgdex, set({ name: { pt: ' Coleção ' } }), set({ id: 'b', name: { it: 'Prova', fr: 'Essai' } }))
    expect(categoriesOf(rows).map((c) => c.name)).toEqual(['Coleção', 'Essai'])
  })

  it('rejects the series that upstream calls null, and makes its sets roots', async () => {
    const rows = await readRows(tcgdex, { id: 'null', name: {} }, { id: 'null', name: {} }, set({ name: { ja: 'テスト' }, serie: 'null' }))
    expect(rejectsOf(rows)).toEqual(['1 lacks series id', '2 lacks series id'])
    expect(categoriesOf(rows)).toMatchObject([{ ref: 'tcgdex-asia:set:tst1', parent: null }])
  })

  it('keeps the first of several Asian sets with one id and reports the others', async () => {
    const rows = await readRows(
      tcgdex,
      set({ id: 'AC1a', name: { 'zh-tw': '甲' } }),
      set({ id: 'AC1a', name: { 'zh-tw': '乙' }, releaseDate: { ja: '2020' } }),
    )
    expect(categoriesOf(rows).map((c) => c.name)).toEqual(['甲'])
    expect(rejectsOf(rows)).toEqual(['2 row_again category tcgdex-asia:set:AC1a 乙 1'])
  })

  it('treats a set of the Asian file with only an English name as Asian', async () => {
    const rows = await readRows(tcgdex, set({ name: { ja: 'テスト' } }), set({ id: 'miscp' }))
    expect(categoriesOf(rows).map((c) => c.ref)).toEqual(['tcgdex-asia:set:tst1', 'tcgdex-asia:set:miscp'])
    expect(categoriesOf(await readRows(tcgdex, set({ id: 'miscp' })))[0]!.ref).toBe('tcgdex:set:miscp')
  })
})

describe('cards', () => {
  it('reads a card', async () => {
    const item = onlyItem(
      await readRows(
        tcgdex,
        card({
          name: { en: 'Testizard', de: 'Testglurak' },
          illustrator: 'Test Artist',
          hp: 120,
          types: ['Fire'],
          dexId: [6],
          stage: 'Stage2',
          evolveFrom: { fr: 'Essaitincel', en: 'Testmeleon' },
          suffix: 'ex',
          regulationMark: 'G',
        }),
      ),
    )
    expect(item).toEqual({
      market: 'source_c',
      ref: 'tcgdex:tst1-4',
      name: 'Testizard',
      code: '4',
      genre: 'single',
      game: 'pokemon',
      category: 'tcgdex:set:tst1',
      images: [],
      attributes: [
        { name: 'Rarity', value: 'Rare' },
        { name: 'Set Number', value: '4' },
        { name: 'Card Type', value: 'Pokémon' },
        { name: 'Illustrator', value: 'Test Artist' },
        { name: 'Regulation Mark', value: 'G' },
        { name: 'Languages', value: 'de, en' },
      ],
      groups: ['ungraded', 'graded'],
      details: {
        rarity: 'Rare',
        illustrator: 'Test Artist',
        hp: 120,
        types: ['Fire'],
        names: ['Testglurak'],
        dexIds: [6],
        stage: 'Stage 2',
        evolveFrom: 'Testmeleon',
        suffix: 'ex',
      },
      foreignIds: [{ source: 'tcgdex', id: 'tst1-4' }],
    })
  })

  it.each([
    ['4', 102, '4/102'],
    ['004', 102, '004/102'],
    ['150', 102, '150/102'],
    ['TG12', 30, 'TG12'],
    ['SWSH020', 1, 'SWSH020'],
    ['H01', 147, 'H01'],
    ['!', 28, '!'],
    ['%3F', 28, '?'],
    ['%', 28, '%'],
    ['A', 28, 'A'],
    ['TWO', 28, 'TWO'],
    ['DAR', 9, 'DAR'],
    ['Museum', 9, 'Museum'],
    ['7', 0, '7'],
  ])('prints the number %s of a set of %i as %s', async (localId, official, code) => {
    const item = onlyItem(await readRows(tcgdex, set({ cardCount: { official } }), card({ localId })))
    expect(item.code).toBe(code)
    expect(attribute(item, 'Set Number')).toBe(code)
  })

  it('takes the printed total from an earlier file of the same import only', async () => {
    const reader = opened(tcgdex)
    await readText(reader, ndjson(set()))
    expect(itemsOf(await readText(reader, ndjson(card())))[0]!.code).toBe('4/102')
    expect(itemsOf(await readText(opened(tcgdex), ndjson(card())))[0]!.code).toBe('4')
  })

  it('uses sets of earlier imports, but prefers this one', async () => {
    const storedCategories = {
      'tcgdex:set:tst1': { parent: 'tcgdex:serie:tcgp', printedTotal: 226 },
      'tcgdex:set:tst2': { parent: 'tcgdex:serie:tst', printedTotal: null },
    }
    const cards = [card(), card({ id: 'tst2-7', localId: '7', set: 'tst2' })]
    const of = (item: ItemRecord) => [item.code, attribute(item, 'Digital only')]
    expect(itemsOf(await readText(opened(tcgdex, { storedCategories }), ndjson(...cards))).map(of)).toEqual([
      ['4/226', 'yes'],
      ['7', undefined],
    ])
    expect(itemsOf(await readText(opened(tcgdex, { storedCategories }), ndjson(set(), ...cards))).map(of)[0]).toEqual(['4/102', undefined])
  })

  it('gives promos no total, because they print none', async () => {
    const rows = await readRows(tcgdex, set({ name: { en: 'Test Black Star Promos' } }), card())
    expect(itemsOf(rows)[0]!.code).toBe('4')
    expect(categoriesOf(rows)[0]!.printedTotal).toBeNull()
  })

  it.each([
    ['None', undefined],
    ['Holo Rare', 'Rare Holo'],
    ['Rare Holo', 'Rare Holo'],
    ['Holo Rare V', 'Rare Holo V'],
    ['Holo Rare VMAX', 'Rare Holo VMAX'],
    ['Illustration rare', 'Illustration Rare'],
    ['Special illustration rare', 'Special Illustration Rare'],
    ['Double rare', 'Double Rare'],
    ['Amazing', 'Amazing Rare'],
    ['Rare PRIME', 'Rare Prime'],
    ['Shiny rare VMAX', 'Shiny Rare VMAX'],
    ['One Diamond', 'One Diamond'],
    ['LEGEND', 'LEGEND'],
  ])('reads the rarity %s as %s', async (rarity, expected) => {
    const item = onlyItem(await readRows(tcgdex, card({ rarity })))
    expect(item.details.rarity).toBe(expected)
    expect(attribute(item, 'Rarity')).toBe(expected)
  })

  it('omits missing and empty values', async () => {
    const item = onlyItem(
      await readRows(
        tcgdex,
        card({
          rarity: undefined,
          hp: 0,
          types: undefined,
          dexId: [],
          stage: undefined,
          regulationMark: 'None',
          illustrator: ' ',
        }),
      ),
    )
    expect(JSON.parse(JSON.stringify(item.details))).toEqual({})
    expect(item.attributes.map((a) => a.name)).toEqual(['Set Number', 'Card Type', 'Languages'])
  })

  it('ignores a fractional Pokédex number, but keeps the card', async () => {
    const item = onlyItem(await readRows(tcgdex, card({ dexId: [384.1, 384] })))
    expect(item.details.dexIds).toEqual([384])
    expect(onlyItem(await readRows(tcgdex, card({ dexId: [384.1] }))).details.dexIds).toBeUndefined()
  })

  it('keeps several Pokédex numbers, the case of suffixes, the hp of Trainers and names as written', async () => {
    const pair = onlyItem(await readRows(tcgdex, card({ name: { en: " Farfetch’d ♀ δ ☆ é' " }, dexId: [25, 133], suffix: 'EX' })))
    expect(pair).toMatchObject({ name: "Farfetch’d ♀ δ ☆ é'", details: { dexIds: [25, 133], suffix: 'EX' } })
    const doll = onlyItem(await readRows(tcgdex, card({ category: 'Trainer', hp: 10, suffix: 'ex', regulationMark: 'j' })))
    expect(doll.details).toMatchObject({ hp: 10, suffix: 'ex' })
    expect(attribute(doll, 'Card Type')).toBe('Trainer')
    expect(attribute(doll, 'Regulation Mark')).toBe('J')
  })

  it.each([
    ['Stage1', 'Stage 1'],
    ['LEVEL-UP', 'Level-Up'],
    ['RESTORED', 'Restored'],
    ['VMAX', 'VMAX'],
    ['Basic', 'Basic'],
  ])('reads the stage %s as %s', async (stage, expected) => {
    expect(onlyItem(await readRows(tcgdex, card({ stage }))).details.stage).toBe(expected)
  })

  it('names a card without an English name by its first other language', async () => {
    expect(onlyItem(await readRows(tcgdex, card({ name: { fr: 'Essaidragon' } }))).name).toBe('Essaidragon')
    const brazilian = onlyItem(await readRows(tcgdex, card({ name: { 'pt-br': 'Testinho' } })))
    expect(brazilian).toMatchObject({ name: 'Testinho', ref: 'tcgdex:tst1-4' })
  })

  it('keeps Asian cards apart from international ones with the same id', async () => {
    const rows = await readRows(
      tcgdex,
      card({ id: 'neo4-100', set: 'neo4' }),
      card({ id: 'neo4-100', set: 'neo4', name: { th: 'ไทย', ja: 'テスト' }, evolveFrom: { ja: 'ヒトカゲ' } }),
      card({ id: 'NEO4-100', set: 'neo4' }),
      card({ id: 'A1-001', set: 'A1', name: { en: 'Testizard', ko: '테스트' } }),
    )
    expect(rejectsOf(rows)).toEqual([])
    expect(itemsOf(rows).map((item) => [item.ref, item.name, item.category])).toEqual([
      ['tcgdex:neo4-100', 'Testizard', 'tcgdex:set:neo4'],
      ['tcgdex-asia:neo4-100', 'テスト', 'tcgdex-asia:set:neo4'],
      ['tcgdex:NEO4-100', 'Testizard', 'tcgdex:set:neo4'],
      ['tcgdex:A1-001', 'Testizard', 'tcgdex:set:A1'],
    ])
    expect(itemsOf(rows)[1]).toMatchObject({
      details: { evolveFrom: 'ヒトカゲ' },
      foreignIds: [{ source: 'tcgdex-asia', id: 'neo4-100' }],
    })
  })

  it('marks cards of the digital-only game', async () => {
    const rows = await readRows(tcgdex, set({ serie: 'tcgp' }), card(), set({ id: 'tst2' }), card({ id: 'tst2-1', set: 'tst2' }))
    expect(itemsOf(rows).map((item) => attribute(item, 'Digital only'))).toEqual(['yes', undefined])
  })

  it('generates the documented picture URL for a card with an English name', async () => {
    const rows = await readRows(
      tcgdex,
      set(),
      card({ name: { fr: 'Essaizard', en: 'Testizard' }, variants: [{ type: 'normal' }, { type: 'reverse', thirdParty: { tcgplayer: 1 } }] }),
    )
    const images = [{ url: 'https://assets.tcgdex.net/en/tst/tst1/4/high.webp', order: 1 }]
    expect(itemsOf(rows).length).toBeGreaterThan(0)
    for (const item of itemsOf(rows)) expect(item.images).toEqual(images)
    const storedCategories = { 'tcgdex:set:tst1': { parent: 'tcgdex:serie:old', printedTotal: null } }
    const [later] = itemsOf(await readText(opened(tcgdex, { storedCategories }), ndjson(card({ localId: 'SWSH020' }))))
    expect(later!.images).toEqual([{ url: 'https://assets.tcgdex.net/en/old/tst1/SWSH020/high.webp', order: 1 }])
  })

  it.each([
    ['of a card that has no English name', [set(), card({ name: { fr: 'Essaizard' } })]],
    ['of an Asian card', [set({ name: { ja: 'テスト' } }), card({ name: { ja: 'テスト' } })]],
    ['of a set whose series is not known', [card()]],
    ['of a set without a series', [set({ serie: 'null' }), card()]],
    ['with a number that a path cannot hold', [set(), card({ localId: '%3F' })]],
  ])('generates no picture URL %s', async (_of, rows) => {
    expect(itemsOf(await readRows(tcgdex, ...rows)).map((item) => item.images)).toEqual([[]])
  })

  it('prefers the URL that a card states', async () => {
    const rows = await readRows(tcgdex, set(), card({ image: 'https://assets.example/en/tst/tst1/4' }))
    expect(itemsOf(rows)[0]!.images).toEqual([{ url: 'https://assets.example/en/tst/tst1/4/high.webp', order: 1 }])
  })

  it('treats two cards with the same name in a set as two cards', async () => {
    expect(itemsOf(await readRows(tcgdex, card(), card({ id: 'tst1-5', localId: '5' })))).toHaveLength(2)
  })

  it('rejects the row, not the file', async () => {
    const rows = await readRows(tcgdex, card({ id: '' }), card({ name: {} }), card({ set: null }), card({ localId: '' }), { what: 1 }, card(), card())
    expect(rejectsOf(rows)).toEqual([
      '1 lacks card id',
      '2 lacks card tst1-4 name',
      '3 lacks card tst1-4 set',
      '4 lacks card tst1-4 localId',
      '5 row_format tcgdex',
      '7 row_again item tcgdex:tst1-4 Testizard 6',
    ])
  })
})

describe('the English API form', () => {
  const flat = (fields: object = {}) =>
    card({
      name: 'Testizard-GX',
      image: 'https://assets.example/en/tst/tst1/4',
      evolveFrom: 'Testmeleon',
      variants: { firstEdition: true, holo: false, normal: true, reverse: true },
      set: {
        id: 'tst1',
        name: 'Test Set',
        cardCount: { official: 102, total: 110 },
        logo: 'https://assets.example/en/tst/tst1/logo',
      },
      ...fields,
    })

  it('reads card and set, without assigning the set a parent', async () => {
    const rows = await readRows(tcgdex, flat(), flat({ id: 'tst1-5', localId: '5' }))
    expect(categoriesOf(rows)).toEqual([
      {
        market: 'source_c',
        ref: 'tcgdex:set:tst1',
        name: 'Test Set',
        game: 'pokemon',
        printedTotal: 102,
        image: 'https://assets.example/en/tst/tst1/logo.webp',
        fillsOnly: true,
      },
    ])
    expect(itemsOf(rows)[0]).toMatchObject({
      ref: 'tcgdex:tst1-4',
      name: 'Testizard-GX',
      code: '4/102',
      images: [{ url: 'https://assets.example/en/tst/tst1/4/high.webp', order: 1 }],
      details: { evolveFrom: 'Testmeleon' },
    })
  })

  it('creates one item, because the flags of finishes are wrong in this form', async () => {
    const item = onlyItem(await readRows(tcgdex, flat({ image: undefined, stage: undefined })))
    expect(attribute(item, 'Finish')).toBeUndefined()
    expect(item).toMatchObject({ images: [], foreignIds: [{ source: 'tcgdex', id: 'tst1-4' }] })
  })

  it('keeps the set as the import has read it from its own file', async () => {
    expect(categoriesOf(await readRows(tcgdex, set(), flat()))).toMatchObject([{ parent: 'tcgdex:serie:tst' }])
  })
})

it('rejects texts that are too long, and more printings than a card can have', async () => {
  const long = 'x'.repeat(501)
  const rows = await readRows(
    tcgdex,
    card({ id: long }),
    card({ name: { en: long } }),
    card({ set: long }),
    card({ illustrator: long }),
    card({ variants: Array.from({ length: 201 }, (_, i) => ({ type: `${i}` })) }),
    card(),
  )
  expect(rejectsOf(rows)).toEqual([
    '1 lacks card id',
    '2 name text 500',
    '3 lacks card tst1-4 set',
    '4 details text 500',
    '5 at_most card tst1-4 printings 200',
  ])
  expect(itemsOf(rows)).toHaveLength(1)
})

it('determines from the start of a file which file comes first', () => {
  const heads = [{ id: 'a', name: { ja: 'A' } }, set(), card(), { id: 'a', name: {} }].map((row) => `${JSON.stringify(row)}\n{"id":`)
  expect([...heads, '{"id":"tst1-4","localId":"4","na', ''].map((head) => tcgdex.rank!(head))).toEqual([0, 1, 2, 0, 2, 2])
})

it('rejects a file of another format and names the expected one', async () => {
  const expected = { why: { rule: 'file_rows', params: { format: 'tcgdex' } } }
  await expect(readText(opened(tcgdex), 'productId,name\n1,Box\n')).rejects.toMatchObject(expected)
  await expect(readRows(tcgdex, { id: 'tst1-3', name: 'Testivire', supertype: 'Pokémon' })).rejects.toMatchObject(expected)
  await expect(readRows(tcgdex, ...Array.from({ length: 100 }, () => ({ a: 1 })), set())).rejects.toMatchObject(expected)
  await expect(readText(opened(tcgdex), '')).rejects.toMatchObject({ why: reason('file_empty') })
  await expect(readRows(tcgdex, ...Array.from({ length: 99 }, () => ({ a: 1 })), set())).resolves.toHaveLength(100)
})

itReads(tcgdex, {
  'pokemon/tcgdex-series.ndjson.gz': { lines: 21, categories: 21, items: 0, rejects: 0 },
  'pokemon/tcgdex-sets.ndjson.gz': { lines: 199, categories: 199, items: 0, rejects: 0 },
  'pokemon/tcgdex-cards.ndjson.gz': { lines: 20_912, categories: 0, items: 32_323, rejects: 0 },
  'pokemon/tcgdex-asia-series.ndjson.gz': { lines: 18, categories: 15, items: 0, rejects: 3 },
  'pokemon/tcgdex-asia-sets.ndjson.gz': { lines: 310, categories: 301, items: 0, rejects: 9 },
  'pokemon/tcgdex-asia-cards.ndjson.gz': { lines: 16_608, categories: 0, items: 19_371, rejects: 0 },
})
itReads(tcgdex, {
  'pokemon/tcgdex-api-en-2021.ndjson.gz': { lines: 11_919, categories: 109, items: 11_919, rejects: 0 },
})
