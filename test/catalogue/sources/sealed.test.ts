// The lists of sealed products of Cardmarket and TCGplayer, with every irregularity of the real files.
import { describe, expect, it } from 'vitest'
import { cardmarketProducts } from '#catalogue/sources/cardmarket-products.ts'
import { tcgplayerSealed } from '#catalogue/sources/tcgplayer-sealed.ts'
import { attribute, categoriesOf, itemsOf, itReads, opened, readText, rejectsOf } from './reading.ts'
import { reason } from '#core/problems.ts'

describe('cardmarket-products', () => {
  const product = (fields: object = {}) => ({
    idProduct: 1,
    name: 'Test Booster Box',
    idCategory: 53,
    categoryName: 'Pokémon Display',
    idExpansion: 9,
    idMetacard: 0,
    dateAdded: '2023-01-09 15:43:14',
    ...fields,
  })
  const read = (...products: unknown[]) =>
    readText(opened(cardmarketProducts), JSON.stringify({ version: 1, createdAt: '2026-05-06T10:38:58+0200', products }))

  it('reads a product, its kind and its game', async () => {
    const of = { market: 'source_b', game: 'pokemon', image: null }
    expect(await read(product())).toEqual([
      { line: 1, category: { ...of, ref: 'cardmarket:game:pokemon', name: 'Pokémon', parent: null } },
      {
        line: 1,
        category: { ...of, ref: 'cardmarket:category:53', name: 'Pokémon Display', parent: 'cardmarket:game:pokemon' },
      },
      {
        line: 1,
        key: { source: 'cardmarket', id: '1', finish: '' },
        item: {
          market: 'source_b',
          ref: 'cardmarket:1',
          name: 'Test Booster Box',
          code: null,
          genre: 'sealed',
          game: 'pokemon',
          category: 'cardmarket:category:53',
          images: [],
          attributes: [
            { name: 'Product Type', value: 'Display' },
            { name: 'Listed Since', value: '2023-01-09' },
          ],
          groups: ['ungraded'],
          details: {},
          foreignIds: [{ source: 'cardmarket', id: '1' }],
        },
      },
    ])
  })

  it('reads lots and full sets as bundles, everything else as sealed', async () => {
    const kinds = [
      'Pokémon Lot',
      'One Piece Lots',
      'Pokémon Pokémon Sets',
      'Pokémon Box Set',
      'Pokémon Tins',
      'One Piece Booster Boxes',
      'One Piece Preconstructed Decks',
      'One Piece Promo Products',
    ]
    const rows = await read(...kinds.map((categoryName, i) => product({ idProduct: i + 1, idCategory: i + 1, categoryName })))
    expect(itemsOf(rows).map((item) => [attribute(item, 'Product Type'), item.genre, item.game])).toEqual([
      ['Lot', 'bundle', 'pokemon'],
      ['Lots', 'bundle', 'onepiece'],
      ['Sets', 'bundle', 'pokemon'],
      ['Box Set', 'sealed', 'pokemon'],
      ['Tins', 'sealed', 'pokemon'],
      ['Booster Boxes', 'sealed', 'onepiece'],
      ['Preconstructed Decks', 'sealed', 'onepiece'],
      ['Promo Products', 'sealed', 'onepiece'],
    ])
    expect(categoriesOf(rows).map((c) => c.name)).toEqual([
      'Pokémon',
      'Pokémon Lot',
      'One Piece',
      'One Piece Lots',
      'Pokémon Sets',
      'Pokémon Box Set',
      'Pokémon Tins',
      'One Piece Booster Boxes',
      'One Piece Preconstructed Decks',
      'One Piece Promo Products',
    ])
  })

  it('does not read 2007-01-01 as a date', async () => {
    const [item] = itemsOf(await read(product({ dateAdded: '2007-01-01 00:00:00' })))
    expect(attribute(item!, 'Listed Since')).toBeUndefined()
  })

  it('keeps text in parentheses and products with the same name, and trims white space', async () => {
    const rows = await read(product({ name: ' Box (18 Boosters) ' }), product({ idProduct: 2, name: 'Box (18 Boosters)' }))
    expect(itemsOf(rows).map((item) => item.name)).toEqual(['Box (18 Boosters)', 'Box (18 Boosters)'])
  })

  it('rejects the row, not the file', async () => {
    const rows = await read(
      product({ categoryName: 'Pokémon Coins', name: 'Test Coin' }),
      product({ categoryName: 'Test Game Booster' }),
      product({ idProduct: 'x' }),
      product({ name: '' }),
      product({ idCategory: null }),
      5,
      { a: 1 },
      product(),
      product(),
    )
    expect(rejectsOf(rows)).toEqual([
      '1 product_category 1 Pokémon Coins',
      '2 product_category 1 Test Game Booster',
      '3 lacks product idProduct',
      '4 lacks product 1 name',
      '5 product_category 1 Pokémon Display',
      '6 json_object entry',
      '7 row_format cardmarket-products',
      '9 row_again item cardmarket:1 Test Booster Box 8',
    ])
  })

  it('rejects a file of another format and names the expected one', async () => {
    const readBare = (text: string) => readText(opened(cardmarketProducts), text)
    await expect(readBare('a,b\n1,2\n')).rejects.toMatchObject({ why: reason('json', { part: 'file' }) })
    await expect(readBare('{"priceGuides":[]}')).rejects.toMatchObject({
      why: reason('file_format', { format: 'cardmarket-products', values: 'products' }),
    })
    await expect(read({ idProduct: 1, avg: 2 })).rejects.toMatchObject({ why: reason('file_rows', { count: 1, format: 'cardmarket-products' }) })
  })

  itReads(cardmarketProducts, {
    'sealed/pokemon-cardmarket-nonsingles.json.gz': { lines: 4_581, categories: 11, items: 3_952, rejects: 629 },
    'sealed/onepiece-cardmarket-nonsingles.part.json.gz': { lines: 81, categories: 6, items: 81, rejects: 0 },
  })
})

describe('tcgplayer-sealed', () => {
  const NEWER = 'productId,name,cleanName,imageUrl,earliestDate,set_code,url\n'
  const OLDER = 'productId,name,cleanName,imageUrl,releaseDate,set_code,url\n'
  const read = (text: string) => readText(opened(tcgplayerSealed), text)

  it('reads a product of the newer list, whose date is not a release date', async () => {
    const of = { market: 'source_c', game: 'pokemon' }
    expect(await read(`${NEWER}7,Test & Try Booster Box,,https://i.example/7.jpg,2024-02-10,1863,https://s.example/7\n`)).toEqual([
      { line: 2, category: { ...of, ref: 'tcgplayer:sealed', name: 'Pokémon Sealed', parent: null, image: null } },
      {
        line: 2,
        key: { source: 'tcgplayer', id: '7', finish: '' },
        item: {
          ...of,
          ref: 'tcgplayer:7',
          name: 'Test & Try Booster Box',
          code: null,
          genre: 'sealed',
          category: 'tcgplayer:sealed',
          images: [{ url: 'https://i.example/7.jpg', order: 1 }],
          attributes: [],
          groups: ['ungraded'],
          details: {},
          foreignIds: [{ source: 'tcgplayer', id: '7' }],
        },
      },
    ])
  })

  it('reads the release date of the older list, if there is one', async () => {
    const items = itemsOf(await read(`${OLDER}7,A,A,,2023-05-01,1,u\n8,B,B,,,1,u\n`))
    expect(items.map((item) => item.attributes)).toEqual([[{ name: 'Release Date', value: '2023-05-01' }], []])
    expect(items[0]!.images).toEqual([])
  })

  it.each([
    ['Test Elite Trainer Box Case', 'bundle'],
    ['Test Poke Ball Tin Display (Q1 2019)', 'bundle'],
    ['Test Sleeved Booster Pack Art Bundle [Set of 4]', 'bundle'],
    ['Test Tin [Set of 12]', 'bundle'],
    ['Test Box Case [Marnie] (Exclusive)', 'bundle'],
    ['Test Booster Box', 'sealed'],
    ['Test Tin [Marnie]', 'sealed'],
    ['Test V Showcase', 'sealed'],
    ['Test Pencil Case 2024', 'sealed'],
    ['Test GX Case File', 'sealed'],
  ])('reads %s as %s', async (name, genre) => {
    expect(itemsOf(await read(`${NEWER}7,${name},${name},,,1,u\n`))[0]!.genre).toBe(genre)
  })

  it('rejects the row, not the file', async () => {
    const rows = await read(`${NEWER}7,A,A,,,1,u\nx,B,B,,,1,u\n8,,,,,1,u\n9,C\n7,D,D,,,1,u\n`)
    expect(rejectsOf(rows)).toEqual(['3 productId id x', '4 lacks product 8 name', '5 row_cells 2 7', '6 row_again item tcgplayer:7 D 2'])
  })

  it('rejects a file of another format and names the expected one', async () => {
    await expect(read('productId,date,marketPrice\n1,2024-02-08,3\n')).rejects.toMatchObject({
      why: reason('header', { columns: ['name', 'imageUrl', 'set_code'] }),
    })
    await expect(read('{"id":"base1"}\n')).rejects.toMatchObject({
      why: reason('header', { columns: ['productId', 'name', 'imageUrl', 'set_code'] }),
    })
  })

  itReads(tcgplayerSealed, {
    'sealed/pokemon-sealed-tcgplayer.csv.gz': { lines: 1_038, categories: 1, items: 1_038, rejects: 0 },
    'sealed/pokemon-sealed-tcgplayer-2025-09-04.csv.gz': { lines: 1_429, categories: 1, items: 1_429, rejects: 0 },
  })
})
