// Files of other shops and of people in several languages, as listings: which columns are read, and what codes, amounts and currencies become.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ListingImport } from '#market/intake/types.ts'
import type { OwnListing } from '#market/marketplace-types.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'
import { ruleOf } from '../support/reasons.ts'
import { makeCatalogue, operator, plus } from './kit.ts'

let node: TestNode
let items: Record<string, number>

const category = { type: 'category', market: 'service', parent: null, image: null, game: 'pokemon' }
const blastoise = {
  type: 'item',
  market: 'service',
  name: 'Blastoise',
  code: '2/102',
  genre: 'single',
  game: 'pokemon',
  category: 'shop',
  groups: [],
}

beforeAll(async () => {
  node = await startTestNode()
  await makeCatalogue(node)
  const printing = (ref: string, finish: string) => ({
    ...blastoise,
    ref,
    images: [],
    attributes: [{ name: 'Finish', value: finish }],
    details: {},
    foreign_ids: [{ source: 'cardmarket', id: '273697', finish }],
    prices: [],
  })
  const lines = [{ ...category, ref: 'shop', name: 'Shop Set' }, printing('holo', 'holo'), printing('reverse', 'reverse')]
  const report = await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
  expect(report.errors).toEqual([])
  const rows = await node.db.kysely.selectFrom('items').select(['ref', 'id']).execute()
  items = Object.fromEntries(rows.map((row) => [row.ref, row.id]))
  await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 100 } })
  await operator(node, 'POST', '/rates', [
    { currency: 'EUR', day: '2026-01-01', rate: 40 },
    { currency: 'EUR', day: '2026-01-02', rate: 47.13 },
  ])
})

afterAll(() => node.close())

beforeEach(async () => {
  await node.db.kysely.deleteFrom('listings').execute()
  await node.db.kysely.deleteFrom('parked_listings').execute()
})

const post = (text: string) =>
  send<ListingImport>(`${node.publicUrl}/api/v1/plus/listings/import`, node.keys.plus, {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'text/csv' },
  })
async function imported(...lines: string[]): Promise<ListingImport> {
  const { status, body } = await post(lines.join('\n'))
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body.data
}
async function fileError(...lines: string[]) {
  const { status, body } = await post(lines.join('\n'))
  const [detail] = body.error!.details!
  return [status, (detail!.params as { must: { rule: string; params: object } }).must]
}
/** By SKU. */
async function mine(): Promise<Record<string, OwnListing>> {
  const { body } = await plus<OwnListing[]>(node, 'GET', '/my-listings?per_page=100&with_details=1')
  return Object.fromEntries(body.data.map((listing) => [listing.sku ?? '', listing]))
}
const outcomes = ({ rows }: ListingImport) =>
  rows.map(({ outcome, refused, why }) => [outcome, refused?.map((one) => `${one.field} ${one.rule}`).join('; ') ?? why?.rule ?? null])

const CARDMARKET =
  '"idArticle";"idProduct";"English Name";"Local Name";"Exp.";"Exp. Name";"Price";"Language";"Condition";"Foil?";"Signed?";"Playset?";"Altered?";"Comments";"Amount";"onSale"'
const CARDTRADER =
  'blueprint_id,bundle,category_id,description,name_en,expansion_id,expansion_name,expansion_code,game_id,graded,price_cents,price_currency,quantity,mtg_rarity,condition'

describe("Cardmarket's stock file", () => {
  const WITH_REVERSE = CARDMARKET.replace('"Foil?"', '"Reverse Holo?"')
  const row = (cells: Record<string, string>) => {
    const values: Record<string, string> = {
      id: '1',
      product: '273697',
      name: 'Blastoise',
      price: '2.50',
      language: '1',
      condition: 'NM',
      reverse: '',
      ...cells,
    }
    const { id, product, name, price, language, condition, reverse, signed = '', playset = '', comments = '', amount = '1' } = values
    return `"${id}";"${product}";"${name}";"";"";"Shop Set";"${price}";"${language}";"${condition}";"${reverse}";"${signed}";"${playset}";"";"${comments}";"${amount}";"1"`
  }

  test('is read with its codes, and its euros become lira at the rate of the day', async () => {
    const report = await imported(
      WITH_REVERSE,
      row({ id: '101', reverse: 'X', language: '3', condition: 'EX', amount: '4', comments: "'=HYPERLINK(1)" }),
      row({ id: '102', reverse: 'X', language: '7', condition: 'LP', price: '0.50', signed: 'X', comments: '=1+1' }),
      row({ id: '103' }),
      row({ id: '104', reverse: 'X', amount: '0' }),
    )
    expect(report.ignored_columns).toEqual(['onSale'])
    expect([outcomes(report), report.passed_over]).toEqual([
      [
        ['created', null],
        ['created', null],
        ['created', null],
      ],
      1,
    ])
    expect((await mine())['103']).toMatchObject({ item_id: items.holo })
    expect(report.rows[0]!.converted).toEqual({ amount: 2.5, currency: 'EUR', rate: 47.13, rate_day: '2026-01-02', price: 117.83 })
    const listings = await mine()
    expect(listings['101']).toMatchObject({
      item_id: items.reverse,
      grade: { label: 'Lightly Played' },
      language: 'de',
      quantity: 4,
      price: 117.83,
      description: '=HYPERLINK(1)',
    })
    // 0.50 × 47.13 is 23.565: half a kuruş is rounded up.
    expect(listings['102']).toMatchObject({ grade: { label: 'Moderately Played' }, language: 'ja', price: 23.57, description: 'Signed\n=1+1' })
    const again = await imported(WITH_REVERSE, row({ id: '101', reverse: 'X' }))
    expect(outcomes(again)).toEqual([['refused', 'sku sku_listed']])
  })

  test('without a column for reverse holos, a card with several printings is parked', async () => {
    const report = await imported(CARDMARKET, row({ id: '1' }), row({ id: '2', reverse: 'X' }))
    expect(outcomes(report)).toEqual([
      ['parked', 'fits_several'],
      ['created', null],
    ])
    expect(report.rows[0]!.candidates.map(({ item_id }) => item_id).sort()).toEqual([items.holo!, items.reverse!].sort())
    expect((await mine())['2']).toMatchObject({ item_id: items.holo })
  })

  test('all its conditions keep their order', async () => {
    const codes = ['MT', 'NM', 'EX', 'GD', 'LP', 'PL', 'PO']
    await imported(WITH_REVERSE, ...codes.map((condition) => row({ id: condition, reverse: 'X', condition })))
    const listings = await mine()
    expect(codes.map((code) => (listings[code] as unknown as { grade: { label: string } }).grade.label)).toEqual([
      'Near Mint',
      'Near Mint',
      'Lightly Played',
      'Moderately Played',
      'Moderately Played',
      'Moderately Played',
      'Heavily Played',
    ])
  })

  test('invalid rows are refused by field', async () => {
    const bad = ([column, value]: readonly [string, string], i: number) => row({ id: String(200 + i), reverse: 'X', [column]: value })
    const report = await imported(
      WITH_REVERSE,
      ...[
        ['condition', 'XX'] as const,
        ['language', '12'] as const,
        ['language', '0'] as const,
        ['playset', 'X'] as const,
        ['signed', 'perhaps'] as const,
        ['price', '=2*50'] as const,
        ['price', '-1'] as const,
        ['price', '0.02'] as const,
        ['price', '$2.50'] as const,
        ['price', '1.250'] as const,
        ['amount', 'many'] as const,
        ['product', 'x'] as const,
      ].map(bad),
    )
    expect(outcomes(report).map(([, why]) => why)).toEqual([
      'grade label',
      'language integer',
      'language integer',
      'playset sold_together',
      'signed boolean',
      'price number',
      'price number',
      'price number',
      'price other_currency',
      'price two_readings',
      'quantity integer',
      expect.stringContaining('cardmarket_id'),
    ])
    // 0.02 € is less than the lowest price of a listing; the report shows the amount in lira.
    expect(report.rows[7]!.converted).toMatchObject({ amount: 0.02, price: 0.94 })
    expect(await mine()).toEqual({})
  })

  test('a currency without a rate is refused with the currencies that have one', async () => {
    const header = `${WITH_REVERSE};"Currency Code"`
    const report = await imported(
      header,
      `${row({ id: '1', reverse: 'X' })};"GBP"`,
      `${row({ id: '2', reverse: 'X' })};"TRY"`,
      `${row({ id: '3' })};"euro"`,
    )
    expect(report.rows.map(({ refused }) => refused?.map((one) => ruleOf(one as never)).join() ?? null)).toEqual([
      'currency currency_rate EUR,TRY GBP',
      null,
      'currency currency',
    ])
    expect((await mine())['2']).toMatchObject({ price: 2.5 })
  })
})

describe("CardTrader's file", () => {
  const row = (cells: Record<string, string> = {}) => {
    const { bundle = '0', graded = '0', cents = '7700', currency = 'EUR', quantity = '1', condition = 'Near Mint' } = cells
    return `168824,${bundle},130,"Fresh",Charizard,2583,Base Set,bs,8,${graded},${cents},${currency},${quantity},8,${condition}`
  }

  test('is read with its cents and currency; bundles and graded cards are refused', async () => {
    const report = await imported(
      `${CARDTRADER},sku,number`,
      `${row()},T-1,4/102`,
      `${row({ condition: 'Slightly Played', currency: 'TRY' })},T-2,4/102`,
      `${row({ bundle: '1' })},T-3,`,
      `${row({ graded: '1' })},T-4,`,
      `${row({ cents: '77.5' })},T-5,`,
      `${row({ currency: '' })},T-6,4/102`,
      `${row({ quantity: '0' })},T-7,`,
      `${row({ condition: 'Splendid' })},T-8,`,
    )
    expect([outcomes(report), report.passed_over]).toEqual([
      [
        ['created', null],
        ['created', null],
        ['refused', 'playset sold_together'],
        ['refused', 'grade grade_unstated'],
        ['refused', 'price_cents integer'],
        ['refused', 'currency required'],
        ['refused', 'grade label'],
      ],
      1,
    ])
    expect(report.ignored_columns).toEqual(['blueprint_id', 'category_id', 'expansion_id', 'game_id', 'mtg_rarity'])
    const listings = await mine()
    expect(listings['T-1']).toMatchObject({ item_id: items.char, price: 3629.01, description: 'Fresh', grade: { label: 'Near Mint' } })
    expect(listings['T-2']).toMatchObject({ item_id: items.char, price: 77, grade: { label: 'Lightly Played' } })
  })

  test('without a currency is rejected', async () => {
    expect(await fileError('blueprint_id,name,price_cents', '1,Charizard,100')).toEqual([
      422,
      expect.objectContaining({ rule: 'header', params: { columns: ['price_currency'] } }),
    ])
  })
})

describe('files in other languages', () => {
  test.each([
    ['Turkish', 'Kart adı;Set;No;Adet;Fiyat;Dil;Durum;Açıklama;Stok kodu', 'Charizard;Base Set;4/102;2;1.250,50 TL;İngilizce;NM;Temiz;S-1'],
    [
      'Turkish without accents',
      'KART ADI;SET;NO;ADET;FIYAT;DIL;DURUM;ACIKLAMA;STOK KODU',
      'Charizard;Base Set;4/102;2;₺1.250,50;ingilizce;NM;Temiz;S-1',
    ],
    [
      'German',
      'Kartenname;Edition;Nummer;Anzahl;Preis;Sprache;Zustand;Kommentar;Artikelnummer',
      'Charizard;Base Set;4/102;2;1250,50;Englisch;NM;Temiz;S-1',
    ],
    ['French', 'Nom;Extension;Numéro;Quantité;Prix;Langue;État;Commentaires;SKU', 'Charizard;Base Set;4/102;2;1 250,50;Anglais;NM;Temiz;S-1'],
    [
      'English',
      'Card Name,Set Name,Card Number,Qty,Selling price,Language,Condition,Comments,SKU',
      'Charizard,Base Set,4/102,2,"1,250.50",English,NM,Temiz,S-1',
    ],
  ])('%s', async (_name, header, row) => {
    const report = await imported(header, row)
    expect([outcomes(report), report.ignored_columns]).toEqual([[['created', null]], []])
    expect(await mine()).toMatchObject({
      'S-1': { item_id: items.char, quantity: 2, price: 1250.5, language: 'en', grade: { label: 'Near Mint' }, description: 'Temiz' },
    })
  })

  test('two columns for the same are named, unless one has our name', async () => {
    const row = 'Charizard;Base Set;4/102;5;6;S'
    expect(await fileError('Kart adı;Set;No;Fiyat;Preis;sku', row)).toEqual([
      422,
      expect.objectContaining({ rule: 'columns_unclear', params: { column: 'price', values: ['Fiyat', 'Preis'] } }),
    ])
    const report = await imported('Kart adı;Set;No;price;Preis;sku', row)
    expect(report.ignored_columns).toEqual(['Preis'])
    expect((await mine()).S).toMatchObject({ price: 5 })
  })

  test('a header without an item or a price is rejected with its columns', async () => {
    expect(await fileError('Kart;Adet', 'a;1')).toEqual([
      422,
      expect.objectContaining({ rule: 'header', params: { columns: ['price'], values: ['Kart', 'Adet'] } }),
    ])
    expect(await fileError('Fiyat;Adet', '1;1')).toEqual([
      422,
      expect.objectContaining({ rule: 'header', params: expect.objectContaining({ values: ['Fiyat', 'Adet'] }) }),
    ])
  })

  test('a file with too many rows is rejected', async () => {
    const { body } = await post(`Kart;Fiyat\n${'a;2\n'.repeat(10_001)}`)
    expect(body.error).toMatchObject({ details: [{ field: 'rows' }] })
  })
})

test('names of members of all objects are ordinary texts in a cell', async () => {
  const report = await imported(
    'name;price;Dil;condition;finish;idProduct',
    'constructor;5;;;;',
    'Blastoise;5;constructor;;;',
    'Blastoise;5;;constructor;;',
    'Blastoise;5;;;constructor;',
    'Blastoise;5 constructor;;;;',
    'Blastoise;5;__proto__;__proto__;__proto__;',
  )
  expect(outcomes(report)).toEqual([
    ['parked', 'like_none'],
    ['parked', 'fits_none'],
    ['refused', 'grade label'],
    ['parked', 'fits_none'],
    ['refused', 'price number'],
    ['refused', expect.stringContaining('language')],
  ])
})

test('JSON rows have a currency, too', async () => {
  const row = { item_id: items.char, sku: 'J-1', price: 100, min_offer_price: 80, offers_enabled: true, currency: 'EUR' }
  const { body } = await plus<ListingImport>(node, 'POST', '/listings/import', { rows: [row, { ...row, sku: 'J-2', currency: 5 }] })
  expect(outcomes(body.data)).toEqual([
    ['created', null],
    ['refused', 'currency currency'],
  ])
  expect((await mine())['J-1']).toMatchObject({ price: 4713, min_offer_price: 3770.4 })
})

/** What a column of a published file should be taken as. A file is read if its header has an item and a price, so some have a column `price` added. */
type Expected = Record<string, string | null>

/** As the files are published; those of the last three are lists in the words of their language. */
const EXPORTS: Record<string, Expected> = {
  'Cardmarket, stock file': {
    idArticle: 'sku',
    idProduct: 'cardmarket_id',
    'English Name': 'name',
    'Local Name': 'local_name',
    'Exp.': 'set_code',
    'Exp. Name': 'set',
    Price: 'price',
    Language: 'language',
    Condition: 'condition',
    'Foil?': 'foil',
    'Signed?': 'signed',
    'Playset?': 'playset',
    'Altered?': 'altered',
    Comments: 'description',
    Amount: 'quantity',
    onSale: null,
  },
  'Cardmarket, articles': {
    idProduct: 'cardmarket_id',
    groupCount: 'quantity',
    price: 'price',
    idLanguage: 'language',
    condition: 'condition',
    isFoil: 'foil',
    isSigned: 'signed',
    isAltered: 'altered',
    isPlayset: 'playset',
    isReverseHolo: 'reverse',
    isFirstEd: 'first_edition',
    isFullArt: null,
    isUberRare: null,
    isWithDie: null,
  },
  CardTrader: {
    blueprint_id: null,
    bundle: 'playset',
    category_id: null,
    description: 'description',
    name_en: 'name',
    expansion_id: null,
    expansion_name: 'set',
    expansion_code: 'set_code',
    game_id: null,
    graded: 'graded',
    price_cents: 'price_cents',
    price_currency: 'currency',
    quantity: 'quantity',
    mtg_rarity: null,
    condition: 'condition',
  },
  TCGplayer: {
    'TCGplayer Id': 'sku',
    'Product Line': 'game',
    'Set Name': 'set',
    'Product Name': 'name',
    Title: 'title',
    Number: 'number',
    Rarity: null,
    Condition: 'condition',
    'TCG Market Price': null,
    'TCG Direct Low': null,
    'TCG Low Price With Shipping': null,
    'TCG Low Price': null,
    'Total Quantity': 'quantity',
    'Add to Quantity': 'quantity',
    'TCG Marketplace Price': 'price',
    'Photo URL': 'images',
  },
  'Dragon Shield': {
    'Folder Name': null,
    Quantity: 'quantity',
    'Trade Quantity': null,
    'Card Name': 'name',
    'Set Code': 'set_code',
    'Set Name': 'set',
    'Card Number': 'number',
    Condition: 'condition',
    Printing: 'finish',
    Language: 'language',
    'Price Bought': null,
    'Date Bought': null,
    LOW: null,
    MID: null,
    MARKET: null,
  },
  Collectr: {
    'Portfolio Name': null,
    Category: 'game',
    Set: 'set',
    'Product Name': 'name',
    'Card Number': 'number',
    Rarity: null,
    Variance: 'finish',
    Grade: 'grade',
    'Card Condition': 'condition',
    'Average Cost Paid': null,
    Quantity: 'quantity',
    'Market Price (As of 2026-07-19)': null,
    'Price Override': null,
    Watchlist: null,
    'Date Added': null,
    Notes: null,
  },
  ManaBox: {
    Name: 'name',
    'Set code': 'set_code',
    'Set name': 'set',
    'Collector number': 'number',
    Foil: 'foil',
    Rarity: null,
    Quantity: 'quantity',
    'ManaBox ID': null,
    'Scryfall ID': null,
    'Purchase price': null,
    Misprint: null,
    Altered: 'altered',
    Condition: 'condition',
    Language: 'language',
    'Purchase price currency': null,
  },
  Deckbox: {
    Count: 'quantity',
    'Tradelist Count': null,
    Name: 'name',
    Edition: 'set',
    'Card Number': 'number',
    Condition: 'condition',
    Language: 'language',
    Foil: 'foil',
    Signed: 'signed',
    'Artist Proof': null,
    'Altered Art': 'altered',
    Misprint: null,
    Promo: null,
    Textless: null,
    'My Price': 'price',
  },
  Moxfield: {
    Count: 'quantity',
    'Tradelist Count': null,
    Name: 'name',
    Edition: 'set',
    Condition: 'condition',
    Language: 'language',
    Foil: 'foil',
    Tags: null,
    'Last Modified': null,
    'Collector Number': 'number',
    Alter: 'altered',
    Proxy: null,
    'Purchase Price': null,
  },
  German: {
    Artikelnummer: 'sku',
    Kartenname: 'name',
    Edition: 'set',
    Nummer: 'number',
    Ausführung: 'finish',
    Zustand: 'condition',
    Sprache: 'language',
    Anzahl: 'quantity',
    Preis: 'price',
    Währung: 'currency',
    Beschreibung: 'description',
    Lagerplatz: null,
  },
  Turkish: {
    'Stok kodu': 'sku',
    'Kart adı': 'name',
    'Set adı': 'set',
    'Kart no': 'number',
    Baskı: 'finish',
    Durum: 'condition',
    Dil: 'language',
    Adet: 'quantity',
    Fiyat: 'price',
    'Para birimi': 'currency',
    Açıklama: 'description',
    Raf: null,
  },
  French: {
    Nom: 'name',
    Extension: 'set',
    Numéro: 'number',
    État: 'condition',
    Langue: 'language',
    Quantité: 'quantity',
    Prix: 'price',
    Devise: 'currency',
    Commentaires: 'description',
    Rangement: null,
  },
}
/** Columns that are guessed wrongly. */
const WRONG: Record<string, Expected> = { Collectr: { Category: null } }

test.each(Object.entries(EXPORTS))('the header of %s is understood', async (name, expected) => {
  const hasPrice = Object.values(expected).some((field) => field === 'price' || field === 'price_cents')
  const header = [...Object.keys(expected), ...(hasPrice ? [] : ['price'])]
  const { columns, ignored_columns: ignored } = await imported(header.join(';'), ';'.repeat(header.length - 1))
  const understood = Object.fromEntries(columns.filter(({ column }) => column in expected).map(({ column, field }) => [column, field]))
  expect(understood).toEqual({ ...expected, ...WRONG[name] })
  expect(ignored).toEqual(Object.keys(understood).filter((column) => understood[column] === null))
  const right = Object.keys(expected).filter((column) => understood[column] === expected[column]).length
  expect(right / Object.keys(expected).length).toBeGreaterThan(0.8)
})

describe("TCGplayer's seller export", () => {
  const HEADER = Object.keys(EXPORTS.TCGplayer!).join(',')
  const row = (cells: Record<string, string> = {}) => {
    const {
      id = '1',
      number = '002/102',
      condition = 'Near Mint Reverse Holofoil',
      price = '2.50',
      total = '3',
      add = '0',
      title = '',
      photo = '',
    } = cells
    return `${id},Pokemon,Shop Set,Blastoise,${title},${number},Holo Rare,${condition},9.99,,,1.00,${total},${add},${price},${photo}`
  }

  test('is read as it is: printings in conditions, padded numbers, and its own prices in dollars', async () => {
    await operator(node, 'POST', '/rates', [{ currency: 'USD', day: '2026-01-02', rate: 42 }])
    const report = await imported(
      HEADER,
      row(),
      row({ id: '2', condition: 'Lightly Played Holofoil', number: '2/102', title: 'My own title', photo: 'https://p.example/1.jpg' }),
      row({ id: '3', total: '0' }),
      row({ id: '4', total: '0', add: '2', title: 'Blastoise' }),
      row({ id: '5', condition: 'Damaged Holofoil' }),
      row({ id: '6', price: '' }),
    )
    expect([outcomes(report), report.passed_over]).toEqual([
      [
        ['created', null],
        ['created', null],
        ['created', null],
        ['refused', 'Condition label'],
        ['refused', 'price required'],
      ],
      1,
    ])
    expect(report.rows[0]!.converted).toEqual({ amount: 2.5, currency: 'USD', rate: 42, rate_day: '2026-01-02', price: 105 })
    const listings = await mine()
    expect(listings['1']).toMatchObject({ item_id: items.reverse, grade: { label: 'Near Mint' }, quantity: 3, price: 105 })
    expect(listings['2']).toMatchObject({ item_id: items.holo, grade: { label: 'Lightly Played' }, title: 'My own title' })
    expect(listings['2']!.images).toEqual([{ url: 'https://p.example/1.jpg', order: 1 }])
    expect(listings['4']).toMatchObject({ quantity: 2, title: 'Blastoise 2/102, Shop Set' })
  })

  test('a column `price` is in lira, and one with a saved name in dollars only if it is one of TCGplayer', async () => {
    const own = await imported(`${HEADER},price`, `${row({ id: '1' })},77`)
    expect([own.ignored_columns, own.rows[0]!.converted, (await mine())['1']!.price]).toEqual([
      expect.arrayContaining(['TCG Marketplace Price']),
      null,
      77,
    ])
    await plus(node, 'PUT', '/listings/columns', { columns: [{ column: 'TCG Low Price', field: 'price' }] })
    expect((await imported(HEADER, row({ id: '2' }))).rows[0]!.converted).toMatchObject({ amount: 1, currency: 'USD' })
    await plus(node, 'PUT', '/listings/columns', { columns: [{ column: 'Shelf price', field: 'price' }] })
    await imported(`${HEADER},Shelf price`, `${row({ id: '3' })},55`)
    expect((await mine())['3']).toMatchObject({ price: 55 })
    await plus(node, 'PUT', '/listings/columns', { columns: [] })
  })
})

test("Cardmarket's file of articles has numbers for languages and conditions, and names reverse holos", async () => {
  const header = Object.keys(EXPORTS['Cardmarket, articles']!).join(';')
  const report = await imported(
    `${header};sku`,
    '273697;2;2.50;3;5;;;;;1;;;;;A-1',
    '273697;1;2.50;1;2;;;;;;;;;;A-2',
    '273697;1;2.50;1;8;;;;;;;;;;A-3',
  )
  expect(outcomes(report)).toEqual([
    ['created', null],
    ['created', null],
    ['refused', 'grade label'],
  ])
  expect(await mine()).toMatchObject({
    'A-1': { item_id: items.reverse, language: 'de', quantity: 2, grade: { label: 'Moderately Played' } },
    'A-2': { item_id: items.holo, language: 'en', grade: { label: 'Near Mint' } },
  })
})
