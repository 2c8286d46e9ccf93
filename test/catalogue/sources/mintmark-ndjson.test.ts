// Mintmark's own catalogue format: writing and reading are inverse, and every invalid field is named.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CATALOGUE_FORMATS } from '#catalogue/sources/formats.ts'
import { categoryLine, itemLine, mintmarkNdjson } from '#catalogue/sources/mintmark-ndjson.ts'
import { type CategoryRecord, GENRES, type ItemRecord } from '#catalogue/records/catalogue-records.ts'
import { MARKETS } from '#core/markets.ts'
import { minorToText } from '#core/money.ts'
import { cleanText } from '#core/text.ts'
import { opened, readRows, readText, rejectsOf } from './reading.ts'
import { reason } from '#core/problems.ts'

const CATEGORY =
  '{"type":"category","market":"source_c","ref":"sample:base","name":"Base Set","slug":"pokemon-base-set","game":"pokemon",' +
  '"parent":"sample:pokemon","image":null}'
const ITEM =
  '{"type":"item","market":"source_c","ref":"sample:base-4","name":"Charizard","code":"4/102","slug":"charizard-4-102-base-set",' +
  '"genre":"single","game":"pokemon","category":"sample:base","images":[{"url":"https://i.example/4.png","order":1}],' +
  '"attributes":[{"name":"Rarity","value":"Rare Holo"}],"groups":["ungraded","graded"],"details":{"rarity":"Rare Holo",' +
  '"illustrator":"Mitsuhiro Arita","hp":120,"types":["Fire"],"dex_ids":[6],"stage":"Stage 2","evolve_from":"Charmeleon",' +
  '"suffix":"δ","level":76},"foreign_ids":[{"source":"tcgplayer","id":"42382","finish":"holo"}],"prices":[{"market":"service",' +
  '"label":"Near Mint","price":"18500.00","updated_at":"2026-11-01T09:00:00Z"}]}'

const read = (text: string) => readText(opened(mintmarkNdjson), text)

it("reads lines as documented in the operator's reference", async () => {
  expect(await read(`${CATEGORY}\n${ITEM}\n`)).toEqual([
    {
      line: 1,
      category: {
        market: 'source_c',
        ref: 'sample:base',
        name: 'Base Set',
        slug: 'pokemon-base-set',
        game: 'pokemon',
        parent: 'sample:pokemon',
        image: null,
      },
    },
    {
      line: 2,
      key: { source: 'mintmark', id: 'source_c:sample:base-4', finish: '' },
      item: {
        market: 'source_c',
        ref: 'sample:base-4',
        name: 'Charizard',
        code: '4/102',
        slug: 'charizard-4-102-base-set',
        genre: 'single',
        game: 'pokemon',
        category: 'sample:base',
        images: [{ url: 'https://i.example/4.png', order: 1 }],
        attributes: [{ name: 'Rarity', value: 'Rare Holo' }],
        groups: ['ungraded', 'graded'],
        details: {
          rarity: 'Rare Holo',
          illustrator: 'Mitsuhiro Arita',
          hp: 120,
          types: ['Fire'],
          dexIds: [6],
          stage: 'Stage 2',
          evolveFrom: 'Charmeleon',
          suffix: 'δ',
          level: 76,
        },
        foreignIds: [{ source: 'tcgplayer', id: '42382', finish: 'holo' }],
        prices: [{ market: 'service', label: 'Near Mint', price: '18500.00', updatedAt: '2026-11-01T09:00:00Z' }],
      },
    },
  ])
})

describe('writing', () => {
  it('writes the same lines that it read', async () => {
    const lines = (await read(`${CATEGORY}\n${ITEM}\n`)).map((row) => {
      if ('item' in row) return itemLine(row.item)
      return 'category' in row ? categoryLine(row.category) : row
    })
    expect(lines).toEqual([CATEGORY, ITEM])
  })

  // In the form in which the other formats return them.
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    .map(cleanText)
    .filter((s) => s !== '')
  const slug = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8})?$/)
  const whole = fc.integer({ min: 1, max: 2 ** 31 - 1 })
  const market = fc.constantFrom(...MARKETS)
  const address = fc.webUrl({ validSchemes: ['http', 'https'] })
  const categories: fc.Arbitrary<CategoryRecord> = fc.record(
    {
      market,
      ref: name,
      name,
      slug,
      game: slug,
      parent: fc.option(name),
      image: fc.option(address),
      printedTotal: fc.option(whole),
    },
    { requiredKeys: ['market', 'ref', 'name', 'game', 'image'] },
  )
  const prices = fc.array(
    fc.record({
      market,
      label: fc.constantFrom('Near Mint', 'Lightly Played', 'PSA 10', 'CGC 9.5', 'Ungraded'),
      price: fc.integer({ min: 1, max: 999_999_999_999 }).map(minorToText),
      updatedAt: fc.date({ min: new Date('1999-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }).map((d) => d.toISOString()),
    }),
  )
  const items: fc.Arbitrary<ItemRecord> = fc.record(
    {
      market,
      ref: name,
      name,
      code: fc.option(name),
      slug,
      genre: fc.constantFrom(...GENRES),
      game: slug,
      category: name,
      images: fc.array(fc.record({ url: address, order: whole })),
      attributes: fc.array(fc.record({ name, value: fc.string().map((s) => s.replaceAll('\0', '')) })),
      groups: fc.array(slug),
      details: fc.record(
        {
          rarity: name,
          illustrator: name,
          hp: whole,
          types: fc.array(name),
          dexIds: fc.array(whole),
          stage: name,
          evolveFrom: name,
          suffix: name,
          level: whole,
        },
        { requiredKeys: [] },
      ),
      foreignIds: fc.array(fc.record({ source: slug, id: name, finish: name }, { requiredKeys: ['source', 'id'] })),
      prices,
    },
    {
      requiredKeys: ['market', 'ref', 'name', 'code', 'genre', 'game', 'category', 'images', 'attributes', 'groups', 'details', 'foreignIds'],
    },
  )

  it('keeps every field of categories and items', async () => {
    await fc.assert(
      fc.asyncProperty(categories, items, async (category, item) => {
        expect(await read(`${categoryLine(category)}\n${itemLine(item)}\n`)).toEqual([
          { line: 1, category },
          { line: 2, item, key: { source: 'mintmark', id: `${item.market}:${item.ref}`, finish: '' } },
        ])
      }),
    )
  })
})

describe('wrong fields', () => {
  const item = (fields: object) => ({ ...JSON.parse(ITEM), ...fields })
  const category = (fields: object) => ({ ...JSON.parse(CATEGORY), ...fields })

  it.each([
    [category({ market: 'source_d' }), 'market one_of service,source_a,source_b,source_c'],
    [category({ name: '' }), 'name text 1 500 without spaces at its ends and bidirectional controls'],
    [category({ name: ' x' }), 'name text 1 500 without spaces at its ends and bidirectional controls'],
    [category({ slug: 'Base Set' }), 'slug slug'],
    [category({ game: 'one piece' }), 'game slug'],
    [category({ image: 'x.png' }), 'image or_null url http://,https://'],
    [category({ color: 'red' }), 'color unknown_field market,ref,name,slug,game,parent,image,printed_total'],
    [item({ code: 4 }), 'code or_null text 1 500 without spaces at its ends and bidirectional controls'],
    [item({ genre: 'coin' }), 'genre one_of single,card,sealed,bundle'],
    [item({ images: [{ url: 'javascript:1', order: 1 }] }), 'images.0.url url http://,https://'],
    [item({ images: [{ url: 'https://i.example', order: -1 }] }), 'images.0.order integer 0 2147483647'],
    [item({ attributes: [{ name: 'A', value: 'nul \0' }] }), 'attributes.0.value text 10000 without bidirectional controls'],
    [item({ details: { hp: '120' } }), 'details.hp integer 1 2147483647'],
    [item({ details: { dexIds: [6] } }), 'details.dexIds unknown_field rarity'],
    [item({ category: undefined }), 'category required'],
    [item({ ref: undefined, market: 'x' }), 'ref required'],
    [item({ prices: [{ ...item({}).prices[0], price: 18500 }] }), 'prices.0.price amount_text'],
    [item({ prices: [{ ...item({}).prices[0], price: '1.005' }] }), 'prices.0.price amount_text'],
    [item({ prices: [{ ...item({}).prices[0], price: '0.00' }] }), 'prices.0.price number 0'],
    [item({ prices: [{ ...item({}).prices[0], label: 'nm' }] }), 'prices.0.label label'],
    [item({ prices: [{ ...item({}).prices[0], updated_at: '2026-11-01' }] }), 'prices.0.updated_at time_utc'],
    [item({ prices: [{ ...item({}).prices[0], updated_at: '2026-02-31T00:00:00Z' }] }), 'prices.0.updated_at time'],
  ])('are rejected by field: %#', async (row, reason) => {
    const rows = await readRows(mintmarkNdjson, row, JSON.parse(CATEGORY))
    expect(rejectsOf(rows)).toHaveLength(1)
    expect(rejectsOf(rows)[0]).toContain(reason)
    expect(rows).toHaveLength(2)
  })

  it('continues after invalid lines, and rejects duplicate refs', async () => {
    const elsewhere = ITEM.replace('"source_c"', '"source_a"')
    expect(rejectsOf(await read(`${CATEGORY}\n\n{\n{"type":"card"}\n${ITEM}\n${elsewhere}\n${ITEM}`))).toEqual([
      '3 json line',
      '4 row_format mintmark-ndjson',
      '7 row_again item sample:base-4 Charizard 5',
    ])
  })

  it('rejects a file of another format and names the expected one', async () => {
    await expect(read('item_ref,market,label\n')).rejects.toMatchObject({ why: reason('file_rows', { count: 1, format: 'mintmark-ndjson' }) })
  })
})

it('is a registered format with a unique name', () => {
  expect(CATALOGUE_FORMATS.map((format) => format.name)).toEqual([
    'mintmark-ndjson',
    'tcgdex',
    'pokemontcg',
    'punk-records',
    'scryfall',
    'mtgjson',
    'flesh-and-blood',
    'ygoprodeck',
    'cardmarket-products',
    'tcgplayer-sealed',
  ])
})
