// Files of other apps in and out: read in the form that each app publishes, written in it and read again, no field is lost that the file can hold.
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COLLECTION_FORMATS } from '#collections/import/formats.ts'
import type { CollectionFileImport } from '#collections/import/import-file.ts'
import { csvLine } from '#core/files/csv.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'
import { makeCollection } from './kit.ts'

const SET = { ref: 'epo', name: "Épée d'Or", code: 'EPO' }
const CARDS = {
  foil: { name: 'Séance "Zéro", l\'été', code: '12', finish: 'Foil', cardmarket: '700' },
  graded: { name: 'Séance "Zéro", l\'été', code: '12', finish: 'Normal', cardmarket: '700' },
  plain: { name: 'Şimşek; Çarpması', code: '146a', finish: 'Normal', cardmarket: '701' },
  etched: { name: 'Ateş Çiçeği // 炎の花', code: '267', finish: 'Etched', cardmarket: '702' },
}
type Card = keyof typeof CARDS

/** What a record states about its copies, as `mintmark-csv` writes it; the lines of the note are apart. */
interface Copies {
  item_ref: Card
  label: string
  quantity: string
  for_trade: string
  purchase_price: string
  sale_price: string
  purchase_date: string
  card_uniq_id: string
  signed: string
  altered: string
  misprint: string
  proof: string
  language: string
  note: string
  certificate: string
}
type Field = keyof Copies

const NOTHING = {
  for_trade: '',
  purchase_price: '',
  sale_price: '',
  purchase_date: '',
  card_uniq_id: '',
  signed: '',
  altered: '',
  misprint: '',
  proof: '',
  language: '',
  note: '',
  certificate: '',
}
/** Between them, these records have a value in every field. */
const COPIES: Readonly<Record<Card, Copies>> = {
  foil: {
    ...NOTHING,
    item_ref: 'foil',
    label: 'Lightly Played',
    quantity: '3',
    for_trade: '1',
    purchase_price: '12.50',
    sale_price: '20.00',
    purchase_date: '2026-03-28',
    card_uniq_id: 'raf-7',
    signed: 'Signed',
    altered: 'Altered',
    language: 'de',
    note: 'kutu "3"; üst raf, solda\nikinci satır',
  },
  plain: { ...NOTHING, item_ref: 'plain', label: 'Near Mint', quantity: '1' },
  etched: {
    ...NOTHING,
    item_ref: 'etched',
    label: 'Heavily Played',
    quantity: '2',
    for_trade: '2',
    purchase_price: '0.35',
    purchase_date: '2026-01-01',
    misprint: 'Misprint',
    proof: 'Artist proof',
    language: 'ja',
  },
  graded: { ...NOTHING, item_ref: 'graded', label: 'PSA 10', quantity: '1', purchase_price: '900.00', certificate: '12345678' },
}

interface AppFile {
  /** where the header is published */
  source: string
  /** the file is of collections that are read, and not written */
  isReadOnly?: boolean
  head: string
  delimiter?: string
  rows: Partial<Record<Card, string>>
  /** fields of a record that the file cannot hold: a record that comes back from it has none */
  lacks: Field[]
  /** columns of the file that are not of a record; the app computes them, or they say where it keeps the card */
  leftOut: string[]
  /** text of columns that is not the imported one, on every row */
  fixed?: Record<string, string>
  /** other words of the app: column, word, the record that it makes, and the word that is written for it if it is another one */
  words: [column: string, word: string, of: Partial<Copies>, writtenAs?: string][]
}

const name = (card: Card) => csvLine([CARDS[card].name]).trimEnd()
const SET_NAME = SET.name
const NOTE = csvLine([COPIES.foil.note]).trimEnd()
const CARDMARKET_STEPS: Record<string, string> = {
  Mint: 'Near Mint',
  Excellent: 'Lightly Played',
  Good: 'Moderately Played',
  'Light Played': 'Moderately Played',
  Played: 'Moderately Played',
  Poor: 'Heavily Played',
}
/** The seven steps of Cardmarket in the app's spelling; of those that are one condition here, the first word that is not `Mint` is written. */
const steps = (column: string, spell: (step: string) => string): AppFile['words'] =>
  Object.entries(CARDMARKET_STEPS).map(([step, label]) => [
    column,
    spell(step),
    { label },
    spell(step === 'Mint' ? 'Near Mint' : label === 'Moderately Played' ? 'Good' : step),
  ])

const APPS: Record<string, AppFile> = {
  // No column for a cost, a date or a note: `My Price` is an asking price in dollars.
  deckbox: {
    source: 'deckbox-reference-collection.csv of StepKie/MtgCsvHelper; Inventory_example.csv of levofski/mtg-collection-analyser',
    head: 'Count,Tradelist Count,Name,Edition,Edition Code,Card Number,Condition,Language,Foil,Signed,Artist Proof,Altered Art,Misprint,Promo,Textless,Printing Id,Printing Note,Tags,My Price,Cost,Rarity,Price,TcgPlayer ID,Scryfall ID',
    rows: {
      foil: `3,1,${name('foil')},${SET_NAME},EPO,12,Good (Lightly Played),German,foil,signed,,altered,,,,59901,Showcase,"a, b",$0.20,{1}{W},Uncommon,$0.24,,54d4e7c3`,
      plain: `1,0,${name('plain')},${SET_NAME},EPO,146a,Near Mint,English,,,,,,,,17427,,"",$0.00,{R},Common,$1.54,,e768c957`,
    },
    lacks: ['purchase_price', 'sale_price', 'purchase_date', 'card_uniq_id', 'note', 'certificate'],
    leftOut: ['Promo', 'Textless', 'Printing Id', 'Printing Note', 'Tags', 'My Price', 'Cost', 'Rarity', 'Price', 'TcgPlayer ID', 'Scryfall ID'],
    words: [
      ['Condition', 'Mint', { label: 'Near Mint' }, 'Near Mint'],
      ['Condition', 'Played', { label: 'Moderately Played' }],
      ['Condition', 'Heavily Played', { label: 'Heavily Played' }],
      ['Condition', 'Poor', { label: 'Heavily Played' }, 'Heavily Played'],
      ['Language', 'Traditional Chinese', { language: 'zh-tw' }],
      ['Misprint', 'misprint', { misprint: 'Misprint' }],
      ['Artist Proof', 'proof', { proof: 'Artist proof' }],
    ],
  },
  // No column for a date or a note.
  moxfield: {
    source: "Moxfield's help, Importing a Collection; moxfield-haves.csv of StepKie/MtgCsvHelper",
    head: '"Count","Tradelist Count","Name","Edition","Condition","Language","Foil","Tags","Last Modified","Collector Number","Alter","Proxy","Purchase Price"',
    rows: {
      foil: `"3","1",${name('foil')},"epo","Good (Lightly Played)","German","foil","vitrin","2025-07-28 11:08:05.310000","12","True","False","12.50"`,
      plain: `"1","0",${name('plain')},"epo","Near Mint","English","","","2025-08-06 10:03:40.507000","146a","False","False",""`,
      etched: `"2","2",${name('etched')},"epo","Heavily Played","Japanese","etched","","2025-08-06 10:03:40.507000","267","False","False","0.35"`,
    },
    lacks: ['sale_price', 'purchase_date', 'card_uniq_id', 'signed', 'misprint', 'proof', 'note', 'certificate'],
    leftOut: ['Tags', 'Last Modified'],
    words: [
      ['Condition', 'Played', { label: 'Moderately Played' }],
      ['Condition', 'Damaged', { label: 'Heavily Played' }, 'Heavily Played'],
      ['Language', 'Korean', { language: 'ko' }],
    ],
  },
  // No column for copies for trade, a date or a note; `Added` is when the card was entered.
  manabox: {
    source: "ManaBox's guide, Import and export; manabox-collection.csv of StepKie/MtgCsvHelper",
    head: 'Binder Name,Binder Type,Name,Set code,Set name,Collector number,Foil,Rarity,Quantity,ManaBox ID,Scryfall ID,Purchase price,Misprint,Altered,Condition,Language,Purchase price currency,Added',
    rows: {
      foil: `Kutu,binder,${name('foil')},EPO,${SET_NAME},12,foil,mythic,3,63245,54d4e7c3,12.50,false,true,excellent,de,TRY,2026-07-11T18:44:33.509Z`,
      plain: `Kutu,binder,${name('plain')},EPO,${SET_NAME},146a,normal,common,1,123,,,false,false,near_mint,en,,2026-07-11T18:44:33.509Z`,
      etched: `Kutu,binder,${name('etched')},EPO,${SET_NAME},267,etched,rare,2,125,,0.35,true,false,poor,ja,TRY,2026-07-11T18:44:33.509Z`,
    },
    lacks: ['for_trade', 'sale_price', 'purchase_date', 'card_uniq_id', 'signed', 'proof', 'note', 'certificate'],
    leftOut: ['Binder Name', 'Binder Type', 'Rarity', 'ManaBox ID', 'Scryfall ID', 'Added'],
    words: steps('Condition', (step) => step.toLowerCase().replace(' ', '_')),
  },
  // No column for a note; a purchase price of 0.00 is a cost of 0.
  'dragon-shield': {
    source: 'dragonshield-real-export.csv of StepKie/MtgCsvHelper, with a line "sep=," before the header',
    head: '"sep=,"\nFolder Name,Quantity,Trade Quantity,Card Name,Set Code,Set Name,Card Number,Condition,Printing,Language,Price Bought,Date Bought,LOW,MID,MARKET',
    rows: {
      foil: `Kutu,3,1,${name('foil')},EPO,${SET_NAME},12,Excellent,Foil,German,12.50,2026-03-28,3.75,5.93,5.37`,
      plain: `Kutu,1,0,${name('plain')},EPO,${SET_NAME},146a,NearMint,Normal,English,,,,,`,
      etched: `Kutu,2,2,${name('etched')},EPO,${SET_NAME},267,Poor,Etched,Japanese,0.35,2026-01-01,1.00,2.00,3.00`,
    },
    lacks: ['sale_price', 'card_uniq_id', 'signed', 'altered', 'misprint', 'proof', 'note', 'certificate'],
    leftOut: ['LOW', 'MID', 'MARKET'],
    fixed: { 'Folder Name': 'Mintmark' },
    words: [
      ...steps('Condition', (step) => step.replace(' ', '')),
      ['Language', 'Traditional Chinese', { language: 'zh-tw' }],
      ['Price Bought', '0.00', { purchase_price: '0.00' }],
      ['Date Bought', '3/28/2021', { purchase_date: '2021-03-28' }, '2021-03-28'],
    ],
  },
  // No column for a number, a cost or a date: the product id identifies the card, and `Price` is what the seller asks in euros.
  cardmarket: {
    source: "the columns of Cardmarket's stock file, see docs/decisions/marketplace.md",
    head: '"idArticle";"idProduct";"English Name";"Local Name";"Exp.";"Exp. Name";"Price";"Language";"Condition";"Foil?";"Signed?";"Playset?";"Altered?";"Comments";"Amount";"onSale"',
    delimiter: ';',
    rows: {
      foil: `"353185336";"700";${name('foil')};${name('foil')};"EPO";"${SET_NAME}";"2.50";"3";"EX";"X";"X";"";"X";${NOTE};"3";"1"`,
      plain: `"353185337";"701";${name('plain')};${name('plain')};"EPO";"${SET_NAME}";"0.60";"1";"NM";"";"";"";"";"";"1";"1"`,
    },
    lacks: ['for_trade', 'purchase_price', 'sale_price', 'purchase_date', 'card_uniq_id', 'certificate'],
    leftOut: ['idArticle', 'Price', 'onSale'],
    words: [
      ['Condition', 'MT', { label: 'Near Mint' }, 'NM'],
      ['Condition', 'GD', { label: 'Moderately Played' }],
      ['Condition', 'LP', { label: 'Moderately Played' }, 'GD'],
      ['Condition', 'PL', { label: 'Moderately Played' }, 'GD'],
      ['Condition', 'PO', { label: 'Heavily Played' }],
      ['Language', '11', { language: 'zh-tw' }],
      ['Local Name', 'Blitzschlag', {}, CARDS.plain.name],
    ],
  },
  // No column for a language or a flag, which are lines of the notes, nor for copies for trade; `Date Added` is when the card was entered.
  collectr: {
    source: 'the export of Collectr, 16 columns, read by several public programs',
    head: 'Portfolio Name,Category,Set,Product Name,Card Number,Rarity,Variance,Grade,Card Condition,Average Cost Paid,Quantity,Market Price (As of 2026-07-07),Price Override,Watchlist,Date Added,Notes',
    rows: {
      foil: `Kutu,magic,${SET_NAME},${name('foil')},12,Rare,Holofoil,Ungraded,Lightly Played,12.50,3,73.34,0,FALSE,6/3/2026,"Signed\nAltered\nLanguage: de\n${NOTE.slice(1)}`,
      plain: `Kutu,magic,${SET_NAME},${name('plain')},146a,Common,Normal,Ungraded,Near Mint,,1,3.88,0,FALSE,6/30/2026,`,
      etched: `Kutu,magic,${SET_NAME},${name('etched')},267,Rare,Etched,Ungraded,Heavily Played,0.35,2,3.88,0,FALSE,6/30/2026,"Misprint\nArtist proof\nLanguage: ja"`,
      graded: `Kutu,magic,${SET_NAME},${name('graded')},12,Rare,Normal,PSA 10,,900.00,1,1000,0,FALSE,6/30/2026,`,
    },
    lacks: ['for_trade', 'sale_price', 'purchase_date', 'card_uniq_id', 'certificate'],
    leftOut: ['Rarity', 'Market Price (As of 2026-07-07)', 'Price Override', 'Date Added'],
    fixed: { 'Portfolio Name': 'Main', Watchlist: 'false' },
    words: [['Average Cost Paid', '0', {}, '']],
  },
  // Read only. No column for a language or copies for trade.
  pricecharting: {
    source: 'the collection export of PriceCharting, in a public fixture',
    isReadOnly: true,
    head: 'id,product-name,console-name,price-in-pennies,include-string,condition-string,sku,notes,cost-basis-in-pennies,quantity,date-entered,date-purchased,grading-company,grading-cert-id,folder',
    rows: {
      foil: `7,"Séance ""Zéro"", l'été [Foil] #12",${SET_NAME},100,Ungraded,Lightly Played,,"Signed\nAltered\nLanguage: de\n${NOTE.slice(1)},1250,3,2026-04-01,2026-03-28,,raf-7,`,
      plain: `8,Şimşek; Çarpması [Normal] #146a,${SET_NAME},100,Ungraded,Near Mint,,,,1,2026-04-01,,,,`,
    },
    lacks: ['for_trade', 'sale_price', 'certificate'],
    leftOut: ['price-in-pennies', 'sku', 'date-entered', 'folder'],
    words: [],
  },
  // Read only. No column for anything but the copies themselves.
  tcgplayer: {
    source: 'the collection export of TCGplayer, 18 columns, in public tests',
    isReadOnly: true,
    head: 'Product ID,TCGplayer Id,Product Line,Set Name,Product Name,Title,Number,Rarity,Condition,Printing,TCG Market Price,TCG Direct Low,TCG Low Price With Shipping,TCG Low Price,Total Quantity,Add to Quantity,TCG Marketplace Price,Photo URL',
    rows: {
      foil: `,5,Magic,${SET_NAME},${name('foil')},,12,Rare,Lightly Played,Foil,1,1,1,1,3,0,1,`,
      plain: `,6,Magic,${SET_NAME},${name('plain')},,146a,Common,Near Mint Normal,,1,1,1,1,,1,1,`,
    },
    lacks: [
      'for_trade',
      'purchase_price',
      'sale_price',
      'purchase_date',
      'card_uniq_id',
      'signed',
      'altered',
      'misprint',
      'proof',
      'language',
      'note',
      'certificate',
    ],
    leftOut: [
      'TCGplayer Id',
      'Title',
      'Rarity',
      'TCG Market Price',
      'TCG Direct Low',
      'TCG Low Price With Shipping',
      'TCG Low Price',
      'TCG Marketplace Price',
      'Photo URL',
    ],
    words: [],
  },
}

let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
  const category = { type: 'category', market: 'service', parent: null, game: 'magic', ref: SET.ref, name: SET.name }
  const items = Object.entries(CARDS).map(([ref, { name, code, finish, cardmarket }]) => ({
    type: 'item',
    market: 'service',
    genre: 'single',
    game: 'magic',
    images: [],
    groups: ['ungraded', 'graded'],
    details: {},
    prices: [],
    ref,
    name,
    code,
    category: SET.ref,
    attributes: [{ name: 'Finish', value: finish }],
    foreign_ids: [{ source: 'cardmarket', id: cardmarket, finish }],
  }))
  const lines = [{ ...category, image: null }, ...items].map((line) => JSON.stringify(line))
  expect((await importText(node, 'mintmark-ndjson', lines.join('\n'))).errors).toEqual([])
  // Codes come with catalogues of other games; a category that changes is read again with them.
  const { kysely } = node.db
  const { id } = await kysely.selectFrom('categories').select('id').where('ref', '=', SET.ref).executeTakeFirstOrThrow()
  await kysely
    .insertInto('category_codes')
    .values({ category_id: id, codes: [SET.code], shop_ids: '[]' })
    .execute()
  await importText(node, 'mintmark-ndjson', JSON.stringify({ ...category, image: 'https://pictures.example/epo.png' }))
})

afterAll(() => node.close())

const fresh = () => makeCollection(node, node.accounts.plus, 'Apps')

function upload(collection: number, file: string, query = '') {
  return send<CollectionFileImport>(`${node.publicUrl}/api/v1/plus/collections/${collection}/import${query}`, node.keys.plus, {
    method: 'POST',
    body: file,
    headers: { 'content-type': 'text/csv' },
  })
}

async function imported(collection: number, file: string): Promise<CollectionFileImport> {
  const { status, body } = await upload(collection, file)
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body.data
}

async function exported(collection: number, format = 'mintmark-csv'): Promise<string> {
  const reply = await fetch(`${node.publicUrl}/api/v1/plus/collections/${collection}/export?format=${format}`, {
    headers: { authorization: `Bearer ${node.keys.plus}` },
  })
  expect(reply.status).toBe(200)
  return reply.text()
}

type Cells = Record<string, string>

function cellsOf(file: string, delimiter = ','): Cells[] {
  return parse(file.replace(/^"sep=,"\n/, ''), { columns: true, delimiter, relax_column_count: false })
}

/** A record as `mintmark-csv` has it. */
function ownCells(copies: Copies, lacks: readonly Field[] = []): Cells {
  const of = { ...copies, ...Object.fromEntries(lacks.map((field) => [field, ''])) }
  const { name, code } = CARDS[of.item_ref]
  const language = of.language === '' ? '' : `Language: ${of.language}`
  const certificate = of.certificate === '' ? { grader: '', cert: '', cert_grade: '' } : { grader: 'PSA', cert: of.certificate, cert_grade: '10' }
  return {
    market: 'service',
    item_ref: of.item_ref,
    item_name: name,
    code,
    set: SET.name,
    label: of.label,
    quantity: of.quantity,
    purchase_price: of.purchase_price,
    sale_price: of.sale_price,
    purchase_date: of.purchase_date,
    card_uniq_id: of.card_uniq_id,
    note: [of.signed, of.altered, of.misprint, of.proof, language, of.note].filter(Boolean).join('\n'),
    for_trade: of.for_trade,
    ...certificate,
    qualifier: '',
    subgrades: '',
  }
}

const withTrade = (cells: Cells[]) => cells.map((row) => ({ ...row, for_trade: row.for_trade === '0' ? '' : row.for_trade }))

/** The file with a row for each record and for each other word, and what its rows are. */
function fileOf({ head, delimiter = ',', rows, lacks, words }: AppFile): { file: string; records: Cells[] } {
  const [plain] = cellsOf(`${head}\n${rows.plain}\n`, delimiter)
  const quantity = Object.keys(plain!).find((column) => /^(count|quantity|amount)$/i.test(column))!
  const others = words.map(([column, word], i) => {
    const row = { ...plain, [column]: word, [quantity]: String(11 + i) }
    return csvLine(Object.values(row), delimiter as ',' | ';').trimEnd()
  })
  const stated = Object.keys(rows) as Card[]
  return {
    file: [head, ...Object.values(rows), ...others, ''].join('\n'),
    records: [
      ...stated.map((card) => ownCells(COPIES[card], lacks)),
      ...words.map(([, , of], i) => ownCells({ ...COPIES.plain, ...of, quantity: String(11 + i) })),
    ],
  }
}

describe.each(Object.entries(APPS))('%s', (format, app) => {
  const { delimiter = ',', isReadOnly = false, leftOut, fixed = {} } = app
  const written = isReadOnly ? 'mintmark-csv' : format

  test('a file of the app, written again and read into an empty collection, gives the same records field by field', async () => {
    const { file, records } = fileOf(app)
    const [first, second] = [await fresh(), await fresh()]
    expect(await imported(first, file)).toMatchObject({ format, added: records.length, refused: 0, unmatched: 0 })
    expect(withTrade(cellsOf(await exported(first)))).toEqual(records)
    const again = await exported(first, written)
    expect(await imported(second, again)).toMatchObject({ format: written, added: records.length, refused: 0, unmatched: 0 })
    expect(await exported(second)).toBe(await exported(first))
    expect(await exported(second, written)).toBe(again)
  })

  test('a file without one of the columns that its rows need is refused with the name of the column', async () => {
    const { file } = fileOf(app)
    const cells = cellsOf(file, delimiter)
    const { marks } = COLLECTION_FORMATS.find(({ name }) => name === format)!
    const collection = await fresh()
    for (const missing of marks) {
      const columns = Object.keys(cells[0]!).filter((column) => column !== missing)
      const lines = [columns, ...cells.map((row) => columns.map((column) => row[column]!))].map((line) => csvLine(line, delimiter as ',' | ';'))
      const { status, body } = await upload(collection, lines.join(''), `?format=${format}`)
      const must = (body.error?.details?.[0]?.params as { must?: { rule: string; params: { columns?: string[] } } } | undefined)?.must
      expect([missing, status, must?.rule, must?.params.columns]).toEqual([missing, 422, 'header', [missing]])
    }
    expect(await exported(collection)).toBe(csvLine(Object.keys(ownCells(COPIES.plain))))
  })

  test('a column that the app does not publish is named, and none that is read', async () => {
    const { file } = fileOf(app)
    const cells = cellsOf(file, delimiter)
    const columns = [...Object.keys(cells[0]!), 'Özel raf']
    const lines = [columns, ...cells.map((row) => columns.map((column) => row[column] ?? 'A3'))].map((line) => csvLine(line, delimiter as ',' | ';'))
    const { added, ignored_columns: ignored } = await imported(await fresh(), lines.join(''))
    expect([added, ignored.at(-1)]).toEqual([cells.length, 'Özel raf'])
    expect(ignored.slice(0, -1).filter((column) => !leftOut.includes(column) && !(column in fixed))).toEqual([])
  })
})

describe.each(Object.entries(APPS).filter(([, { isReadOnly = false }]) => !isReadOnly))('written as %s', (format, app) => {
  const { delimiter = ',', lacks, leftOut, fixed = {}, words } = app

  test('the written columns are the imported ones, except those that are named here', async () => {
    const { file } = fileOf(app)
    const collection = await fresh()
    await imported(collection, file)
    const [before, after] = [cellsOf(file, delimiter), cellsOf(await exported(collection, format), delimiter)]
    const spelled = new Map(words.flatMap(([column, word, , as]) => (as === undefined ? [] : [[`${column}=${word}`, as]])))
    expect(Object.keys(after[0]!).filter((column) => !(column in before[0]!) && column !== 'Market Price')).toEqual([])
    const columns = Object.keys(before[0]!).filter((column) => !leftOut.includes(column))
    const shown = (cells: Cells[], of: (cells: Cells, column: string) => string | undefined) =>
      cells.map((row) => Object.fromEntries(columns.map((column) => [column, of(row, column)])))
    expect(shown(after, (row, column) => row[column])).toEqual(
      shown(before, (row, column) => fixed[column] ?? spelled.get(`${column}=${row[column]}`) ?? row[column]),
    )
    for (const column of leftOut) expect([column, new Set(after.map((row) => row[column] ?? ''))]).toEqual([column, new Set([''])])
  })

  test('of records with every field, its file holds all but those that are named here', async () => {
    const own =
      csvLine(Object.keys(ownCells(COPIES.plain))) +
      Object.values(COPIES)
        .map((copies) => csvLine(Object.values(ownCells(copies))))
        .join('')
    const [first, second] = [await fresh(), await fresh()]
    expect(await imported(first, own)).toMatchObject({ format: 'mintmark-csv', added: 4 })
    expect(withTrade(cellsOf(await exported(first)))).toEqual(Object.values(COPIES).map((copies) => ownCells(copies)))
    expect(await imported(second, await exported(first, format))).toMatchObject({ format, added: 4, refused: 0, unmatched: 0 })
    expect(withTrade(cellsOf(await exported(second)))).toEqual(Object.values(COPIES).map((copies) => ownCells(copies, lacks)))
  })
})
