// Collection files of other apps and of people: read and written over the public API without loss, or refused with the column.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import type { CollectionFileImport } from '#collections/import/import-file.ts'
import type { CollectionColumns } from '#collections/import/saved-columns.ts'
import { call } from '#core/verb.ts'
import { anyCharacter } from '../support/any-character.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'
import { collector, makeCollection, operator } from './kit.ts'

let node: TestNode
let refs: Record<number, string>
let ids: Record<string, number>
let plus: ReturnType<typeof collector>
let otherKey: string

const category = { type: 'category', market: 'service', parent: null, image: null, game: 'magic' }
const item = {
  type: 'item',
  market: 'service',
  genre: 'single',
  game: 'magic',
  images: [],
  groups: ['ungraded', 'graded'],
  details: {},
  foreign_ids: [] as object[],
  prices: [],
}
const card = (ref: string, set: string, name: string, code: string, finish: string, cardmarket?: string) => ({
  ...item,
  ref,
  name,
  code,
  category: set,
  attributes: [{ name: 'Finish', value: finish }],
  foreign_ids: cardmarket ? [{ source: 'cardmarket', id: cardmarket, finish }] : [],
})

beforeAll(async () => {
  node = await startTestNode()
  const sets = { mid: 'Innistrad: Midnight Hunt', m10: 'Magic 2010', mh2: 'Modern Horizons 2' }
  const items = [
    card('farmhand', 'mid', 'Ambitious Farmhand // Seasoned Cathar', '2', 'Normal'),
    card('farmhand-foil', 'mid', 'Ambitious Farmhand // Seasoned Cathar', '2', 'Foil'),
    card('bolt', 'm10', 'Lightning Bolt', '146', 'Normal', '21765'),
    card('bolt-foil', 'm10', 'Lightning Bolt', '146', 'Foil', '21765'),
    card('counterspell', 'mh2', 'Counterspell', '267', 'Normal', '566190'),
    card('counterspell-etched', 'mh2', 'Counterspell', '267', 'Etched'),
  ]
  const lines = [...Object.entries(sets).map(([ref, name]) => ({ ...category, ref, name })), ...items]
  expect((await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))).errors).toEqual([])
  // Codes come with catalogues of other games; a category that changes is read again with them.
  const { kysely } = node.db
  const stored = await kysely.selectFrom('categories').select(['id', 'ref']).where('game', '=', 'magic').execute()
  await kysely
    .insertInto('category_codes')
    .values(stored.map(({ id, ref }) => ({ category_id: id, codes: [ref.toUpperCase()], shop_ids: '[]' })))
    .execute()
  const named = Object.entries(sets).map(([ref, name]) => JSON.stringify({ ...category, ref, name, image: `https://pictures.example/${ref}.png` }))
  await importText(node, 'mintmark-ndjson', named.join('\n'))
  const rows = await kysely.selectFrom('items').select(['id', 'ref']).execute()
  refs = Object.fromEntries(rows.map(({ id, ref }) => [id, ref]))
  ids = Object.fromEntries(rows.map(({ id, ref }) => [ref, id]))
  plus = collector(node, node.keys.plus)
  await operator(node, 'POST', '/rates', [{ currency: 'EUR', day: '2026-01-01', rate: 40 }])
  const { body } = await operator<{ id: number }>(node, 'POST', '/accounts', { name: 'Other', plan: 'plus' })
  otherKey = (await call(createKey, node.ctx, { account_id: body.data.id, label: 'other' })).key
})

afterAll(() => node.close())

const fresh = () => makeCollection(node, node.accounts.plus, 'Apps')
const upload = (collection: number, body: string | Uint8Array, { query = '', key = node.keys.plus, headers = {} } = {}) =>
  send<CollectionFileImport>(`${node.publicUrl}/api/v1/plus/collections/${collection}/import${query}`, key, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: { 'content-type': 'text/csv', ...headers },
  })
async function imported(collection: number, lines: string[], query = ''): Promise<CollectionFileImport> {
  const { status, body } = await upload(collection, lines.join('\n'), { query })
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body.data
}
const exported = async (collection: number, format?: string, key = node.keys.plus) => {
  const query = format === undefined ? '' : `?format=${format}`
  return fetch(`${node.publicUrl}/api/v1/plus/collections/${collection}/export${query}`, { headers: { authorization: `Bearer ${key}` } })
}
/** What the records state, in the order of the file. */
async function records(collection: number) {
  const list = (await plus.list(collection)).reverse() as (Awaited<ReturnType<typeof plus.list>>[number] & { for_trade: number })[]
  return list.map(({ item_id, group_label, quantity, for_trade, purchase_price, purchase_date, note }) => {
    const stated = Object.entries({ for_trade, purchase_price, purchase_date, note }).filter(([, value]) => value !== null && value !== 0)
    return [refs[item_id], group_label, quantity, Object.fromEntries(stated)]
  })
}
const whyOf = ({ rows }: CollectionFileImport) => rows.map(({ outcome, why }) => [outcome, why && [why.field, why.rule].filter(Boolean).join(' ')])
async function fileProblem(body: string | Uint8Array, query = '') {
  const reply = await upload(await fresh(), body, { query })
  const [detail] = reply.body.error!.details!
  const { rule, params } = (detail!.params as { must?: { rule: string; params: object } }).must ?? detail!
  return [reply.status, reply.body.error!.code, rule, params] as const
}

/** Files with the headers as published and rows after public examples: what they become. */
const FILES: Record<string, { lines: string[]; records: unknown[]; notOwned?: number }> = {
  deckbox: {
    lines: [
      'Count,Tradelist Count,Name,Edition,Edition Code,Card Number,Condition,Language,Foil,Signed,Artist Proof,Altered Art,Misprint,Promo,Textless,Printing Id,Printing Note,Tags,My Price,Cost,Rarity,Price,TcgPlayer ID,Scryfall ID',
      '4,2,Ambitious Farmhand // Seasoned Cathar,Innistrad: Midnight Hunt,MID,2,Near Mint,German,foil,signed,,,,,,1234,,,$0.20,{1}{W},Uncommon,$0.24,,54d4e7c3',
      '1,0,Lightning Bolt,Magic 2010,M10,146,Good (Lightly Played),English,,,,,,,,,,,$0.00,,,,,',
      '2,0,Counterspell,Modern Horizons 2,MH2,267,Played,,,,proof,,,,,,,,$0.50,,,,,',
      '1,0,Lightning Bolt,Magic 2010,M10,146,,English,foil,,,,,,,,,,,,,,,',
      '0,0,Counterspell,Modern Horizons 2,MH2,267,Heavily Played,English,,,,,,,,,,,,,,,,',
    ],
    records: [
      ['farmhand-foil', 'Near Mint', 4, { for_trade: 2, note: 'Signed\nLanguage: de' }],
      ['bolt', 'Lightly Played', 1, {}],
      ['counterspell', 'Moderately Played', 2, { note: 'Artist proof' }],
      ['bolt-foil', 'Ungraded', 1, {}],
    ],
    notOwned: 1,
  },
  moxfield: {
    lines: [
      '"Count","Tradelist Count","Name","Edition","Condition","Language","Foil","Tags","Last Modified","Collector Number","Alter","Proxy","Purchase Price"',
      '"3","1","Ambitious Farmhand // Seasoned Cathar","mid","Near Mint","English","foil","","2025-07-28 11:08:05.310000","2","False","False","0.35"',
      '"1","1","Lightning Bolt","m10","Good (Lightly Played)","Japanese","","","2025-08-06 10:03:40.507000","146","True","False","12.5"',
      '"1","0","Counterspell","mh2","Damaged","English","etched","","2025-08-06 10:03:40.507000","267","False","False",""',
      '"1","0","Counterspell","mh2","Near Mint","English","","","2025-08-06 10:03:40.507000","267","False","True",""',
    ],
    records: [
      ['farmhand-foil', 'Near Mint', 3, { for_trade: 1, purchase_price: 0.35 }],
      ['bolt', 'Lightly Played', 1, { for_trade: 1, purchase_price: 12.5, note: 'Altered\nLanguage: ja' }],
      ['counterspell-etched', 'Heavily Played', 1, {}],
    ],
    notOwned: 1,
  },
  manabox: {
    lines: [
      'Binder Name,Binder Type,Name,Set code,Set name,Collector number,Foil,Rarity,Quantity,ManaBox ID,Scryfall ID,Purchase price,Misprint,Altered,Condition,Language,Purchase price currency,Added',
      'Import,binder,Ambitious Farmhand // Seasoned Cathar,MID,Innistrad: Midnight Hunt,2,foil,uncommon,1,63245,54d4e7c3-294d-4900-8b70-faafda17cc33,0.24,false,false,light_played,de,EUR,2026-07-11T18:44:33.509Z',
      'Import,binder,Lightning Bolt,M10,Magic 2010,146,normal,common,2,123,,1.5,true,false,excellent,en,TRY,2026-07-11T18:44:33.509Z',
      'Import,binder,Counterspell,MH2,Modern Horizons 2,267,etched,uncommon,1,125,,,false,false,mint,en,EUR,2026-07-11T18:44:33.509Z',
      'Wishes,list,Counterspell,MH2,Modern Horizons 2,267,normal,uncommon,1,125,,0.5,false,false,near_mint,en,EUR,2026-07-11T18:44:33.509Z',
    ],
    records: [
      // 0.24 euros at 40 lira
      ['farmhand-foil', 'Moderately Played', 1, { purchase_price: 9.6, note: 'Language: de' }],
      ['bolt', 'Lightly Played', 2, { purchase_price: 1.5, note: 'Misprint' }],
      ['counterspell-etched', 'Near Mint', 1, {}],
    ],
    notOwned: 1,
  },
  'dragon-shield': {
    lines: [
      '"sep=,"',
      'Folder Name,Quantity,Trade Quantity,Card Name,Set Code,Set Name,Card Number,Condition,Printing,Language,Price Bought,Date Bought,LOW,MID,MARKET\r',
      'Box 1,4,0,Lightning Bolt,M10,Magic 2010,146,NearMint,Foil,English,1.00,2026-01-01,1.00,2.00,3.00\r',
      'Box 1,2,1,"Ambitious Farmhand // Seasoned Cathar",MID,Innistrad: Midnight Hunt,2,LightPlayed,Normal,French,0.20,3/28/2021,0.1,0.2,0.3\r',
      'Box 1,1,0,Counterspell,MH2,Modern Horizons 2,267,Poor,Etched,English,0.00,,,,\r',
    ],
    records: [
      ['bolt-foil', 'Near Mint', 4, { purchase_price: 1, purchase_date: '2026-01-01' }],
      ['farmhand', 'Moderately Played', 2, { for_trade: 1, purchase_price: 0.2, purchase_date: '2021-03-28', note: 'Language: fr' }],
      ['counterspell-etched', 'Heavily Played', 1, {}],
    ],
  },
  cardmarket: {
    lines: [
      '"idArticle";"idProduct";"English Name";"Local Name";"Exp.";"Exp. Name";"Price";"Language";"Condition";"Foil?";"Signed?";"Playset?";"Altered?";"Comments";"Amount";"onSale"',
      '"353185336";"21765";"Lightning Bolt";"Blitzschlag";"M10";"Magic 2010";"2.50";"3";"EX";"X";"X";"";"";"row 3; box 2";"4";"1"',
      '"353185337";"566190";"Counterspell";"Counterspell";"MH2";"Modern Horizons 2";"0.60";"1";"LP";"";"";"";"";"";"1";"1"',
    ],
    records: [
      ['bolt-foil', 'Lightly Played', 4, { note: 'Signed\nLanguage: de\nrow 3; box 2' }],
      ['counterspell', 'Moderately Played', 1, {}],
    ],
  },
  collectr: {
    lines: [
      'Portfolio Name,Category,Set,Product Name,Card Number,Rarity,Variance,Grade,Card Condition,Average Cost Paid,Quantity,Market Price (As of 2026-07-07),Price Override,Watchlist,Date Added,Notes',
      'Main,Magic,Magic 2010,Lightning Bolt,146,Common,Foil,PSA 10.0 GEM - MT,Near Mint,31.5,2,73.34,0,FALSE,6/3/2026,"a, b"',
      'Main,Magic,Magic 2010,Lightning Bolt,146,Common,Normal,Ungraded,Lightly Played,0,1,3.88,0,FALSE,6/30/2026,',
      'Main,Magic,Modern Horizons 2,Counterspell,267,Uncommon,Etched,Ungraded,Near Mint,0,1,3.88,0,TRUE,6/30/2026,',
    ],
    records: [
      ['bolt-foil', 'PSA 10', 2, { purchase_price: 31.5, note: 'a, b' }],
      ['bolt', 'Lightly Played', 1, {}],
    ],
    notOwned: 1,
  },
}

describe.each(Object.entries(FILES))('%s', (format, { lines, records: expected, notOwned = 0 }) => {
  test('is recognised and read, in a dry run without a trace; again, it adds nothing', async () => {
    const collection = await fresh()
    const dry = await imported(collection, lines, '?dry_run=1')
    expect(dry).toMatchObject({ format, added: expected.length, not_owned: notOwned, refused: 0, unmatched: 0 })
    expect(dry.rows.every(({ record_id }) => record_id === null)).toBe(true)
    expect(await plus.count(collection)).toBe(0)
    const report = await imported(collection, lines)
    expect(report).toMatchObject({ format, added: expected.length, not_owned: notOwned })
    const stored = await plus.list(collection)
    expect(report.rows.flatMap(({ record_id }) => record_id ?? [])).toEqual(stored.map(({ id }) => id).reverse())
    expect(await records(collection)).toEqual(expected)
    expect(await imported(collection, lines)).toMatchObject({ added: 0, unchanged: expected.length })
    expect(await plus.count(collection)).toBe(expected.length)
  })

  test('written and read again, it gives the same records and the same bytes', async () => {
    const [first, second] = [await fresh(), await fresh()]
    await imported(first, lines)
    const file = await (await exported(first, format)).text()
    const own = file.split('\n')
    const header = own[0] === '"sep=,"' ? own[1]! : own[0]!
    const delimiter = format === 'cardmarket' ? ';' : ','
    const published = lines.find((line) => line.includes(delimiter) && !line.startsWith('"sep='))!.replaceAll(/"|\r|\(As of [^)]*\)/g, '')
    const columns = published.split(delimiter).map((name) => name.trim())
    expect(header.split(delimiter).filter((name) => !columns.includes(name))).toEqual([])
    const report = await imported(second, own)
    expect([report.format, report.added, whyOf(report).filter(([outcome]) => outcome !== 'added')]).toEqual([format, expected.length, []])
    expect(await records(second)).toEqual(expected)
    expect(await (await exported(second, format)).text()).toBe(file)
  })
})

test("Cardmarket's file of articles is read by its ids; playsets and rows without a known id are not guessed", async () => {
  const collection = await fresh()
  const report = await imported(collection, [
    'idProduct;groupCount;price;idLanguage;condition;isFoil;isSigned;isAltered;isPlayset;isReverseHolo;isFirstEd;isFullArt;isUberRare;isWithDie',
    '21765;4;2.5;3;3;1;1;0;0;0;0;0;0;0',
    '566190;1;0.6;1;5;0;0;0;;0;0;0;0;0',
    '566190;4;0.6;1;2;0;0;0;1;0;0;0;0;0',
    '999999;1;0.6;1;2;0;0;0;0;0;0;0;0;0',
    ';1;0.6;1;2;0;0;0;0;0;0;0;0;0',
  ])
  expect([report.format, whyOf(report).map(([outcome]) => outcome)]).toEqual(['cardmarket', ['added', 'added', 'refused', 'unmatched', 'refused']])
  expect(await records(collection)).toEqual([
    ['bolt-foil', 'Lightly Played', 4, { note: 'Signed\nLanguage: de' }],
    ['counterspell', 'Moderately Played', 1, {}],
  ])
})

test('every format holds item, condition, grade and quantity of any record; formulas in names and notes stay text', async () => {
  const collection = await fresh()
  for (const [ref, group] of [
    ['bolt', 'Near Mint'],
    ['bolt-foil', 'PSA 10'],
    ['counterspell-etched', 'Heavily Played'],
  ]) {
    const grade = await node.db.kysely
      .selectFrom('groups')
      .select('id')
      .where('name', '=', group!)
      .where('parent_id', 'is not', null)
      .executeTakeFirstOrThrow()
    await plus.add(collection, { item_id: ids[ref!], item_group_type_id: grade.id, quantity: 3, note: '=HYPERLINK("x")' })
  }
  const before = (await records(collection)).map((record) => record.slice(0, 3))
  for (const format of ['deckbox', 'moxfield', 'manabox', 'dragon-shield', 'collectr', 'mintmark-csv']) {
    const file = await (await exported(collection, format)).text()
    expect(file).not.toMatch(/(?:^|[,;"])=/m)
    const copy = await fresh()
    await imported(copy, [file])
    expect([format, (await records(copy)).map((record) => record.slice(0, 3))]).toEqual([format, before])
    if (['collectr', 'mintmark-csv'].includes(format))
      expect((await plus.list(copy)).map(({ note }) => note)).toEqual(Array(3).fill('=HYPERLINK("x")'))
  }
  // Cardmarket's file has no number; without a column for it, a card without its id matches nothing, and says so.
  const copy = await fresh()
  const report = await imported(copy, [await (await exported(collection, 'cardmarket')).text()])
  expect(whyOf(report)).toEqual([
    ['added', null],
    ['added', null],
    ['unmatched', expect.any(String)],
  ])

  expect((await records(copy)).map((record) => record.slice(0, 3))).toEqual(before.slice(0, 2))
})

test('an export is of the own collection, in a format that exists, and our own by default', async () => {
  const collection = await fresh()
  await plus.add(collection, { item_id: ids.bolt, quantity: 5, for_trade: 2, sale_price: 7 })
  const reply = await exported(collection)
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  const own = await reply.text()
  expect(own).toBe(
    'market,item_ref,item_name,code,set,label,quantity,purchase_price,sale_price,purchase_date,card_uniq_id,note,for_trade,grader,cert,cert_grade,qualifier,subgrades\n' +
      'service,bolt,Lightning Bolt,146,Magic 2010,Ungraded,5,,7.00,,,,2,,,,,\n',
  )
  const copy = await fresh()
  expect(await imported(copy, [own])).toMatchObject({ format: 'mintmark-csv', added: 1 })
  expect(await (await exported(copy)).text()).toBe(own)
  expect((await exported(collection, 'excel')).status).toBe(422)
  expect((await exported(collection, undefined, otherKey)).status).toBe(409)
  expect((await exported(999_999)).status).toBe(404)
  const foreign = await upload(collection, FILES.deckbox!.lines.join('\n'), { key: otherKey })
  expect([foreign.status, foreign.body.error?.code]).toEqual([422, 'PLUS_COLLECTION_ERROR'])
  expect(await plus.count(collection)).toBe(1)
})

describe('files of no known format', () => {
  const columns = (list: unknown, key = node.keys.plus) =>
    send<CollectionColumns>(`${node.publicUrl}/api/v1/plus/collections/columns`, key, { method: 'PUT', json: { columns: list } })

  test('are read by the names of their columns, in several languages', async () => {
    const collection = await fresh()
    const report = await imported(collection, [
      'Kart adı;Kart no;Set adı;Varyant;Durum;Adet;Alış fiyatı;Alış tarihi;Notlar;Raf',
      'Lightning Bolt;146;Magic 2010;Foil;NM;2;1.250,50;31.1.2026;sarı kutu;A3',
    ])
    expect(report).toMatchObject({ format: 'mapped', added: 1 })
    expect(report.columns.map(({ column, field, how }) => [column, field, how])).toEqual([
      ['Kart adı', 'name', 'name'],
      ['Kart no', 'number', 'name'],
      ['Set adı', 'set', 'name'],
      ['Varyant', 'finish', 'name'],
      ['Durum', 'condition', 'name'],
      ['Adet', 'quantity', 'name'],
      ['Alış fiyatı', 'purchase_price', 'name'],
      ['Alış tarihi', 'purchase_date', 'name'],
      ['Notlar', 'note', 'name'],
      ['Raf', null, null],
    ])
    expect(await records(collection)).toEqual([
      ['bolt-foil', 'Near Mint', 2, { purchase_price: 1250.5, purchase_date: '2026-01-31', note: 'sarı kutu' }],
    ])
  })

  test('are read as the account saved their columns, and the saved columns are its own', async () => {
    const lines = ['Karta,Nr,Seria,Sztuk,Cena', 'Lightning Bolt,146,Magic 2010,3,5']
    expect(await fileProblem(lines.join('\n'))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'header', { columns: ['name'], values: lines[0]!.split(',') }])
    const list = [
      { column: 'Karta', field: 'name' },
      { column: 'SZTUK', field: 'quantity' },
      { column: 'Seria', field: 'set' },
      { column: 'cena', field: 'purchase_price' },
    ]
    expect(await columns(list)).toMatchObject({ status: 200, body: { data: { columns: list }, message: 'Columns saved' } })
    const collection = await fresh()
    const report = await imported(collection, lines)
    expect(report.columns.map(({ field, how }) => `${field} ${how}`)).toEqual([
      'name saved',
      'number name',
      'set saved',
      'quantity saved',
      'purchase_price saved',
    ])
    expect(await records(collection)).toEqual([['bolt', 'Ungraded', 3, { purchase_price: 5 }]])
    const own = (key?: string) => send<CollectionColumns>(`${node.publicUrl}/api/v1/plus/collections/columns`, key ?? node.keys.plus)
    expect((await own(otherKey)).body.data).toEqual({ columns: [] })
    expect((await own()).body.data).toEqual({ columns: list })
    const twice = await columns([list[0], { column: 'KARTA!', field: null }])
    expect([twice.status, twice.body.error?.code, twice.body.error?.details?.[0]]).toMatchObject([
      422,
      'PLUS_COLLECTION_ERROR',
      { field: 'columns.1.column', rule: 'column_again' },
    ])
    expect((await columns([{ column: 'x', field: 'price' }])).status).toBe(422)
    await columns([])
    expect((await own()).body.data).toEqual({ columns: [] })
  })

  test('a format can be stated, also that there is none', async () => {
    const { lines } = FILES.moxfield!
    const collection = await fresh()
    expect(await fileProblem(lines.join('\n'), '?format=deckbox')).toEqual([422, 'PLUS_COLLECTION_ERROR', 'header', { columns: ['Card Number'] }])
    expect(await imported(collection, lines, '?format=mapped&dry_run=1')).toMatchObject({ format: 'mapped' })
    expect((await upload(collection, lines.join('\n'), { query: '?format=xlsx' })).status).toBe(422)
  })
})

test('a refused row names the column of the file', async () => {
  const rows = async (lines: string[]) => whyOf(await imported(await fresh(), lines, '?dry_run=1'))
  const bolt = { name: 'Lightning Bolt', set: 'Magic 2010' }
  const moxfield = FILES.moxfield!.lines[0]!
  expect(
    await rows([
      moxfield,
      `"x","0","${bolt.name}","m10","Near Mint","English","","","","146","False","False",""`,
      `"1","0","","m10","Near Mint","English","","","","146","False","False",""`,
      `"1","0","${bolt.name}","m10","Near Mint","English","","","","146","maybe","False",""`,
      `"1","0","${bolt.name}","m10","Near Mint","English","","","","146","False","False","$5.00"`,
      `"1","-1","${bolt.name}","m10","Near Mint","English","","","","146","False","False",""`,
      `"1","0","${bolt.name}","m10","Near Mint","English","","","","146","False","perhaps",""`,
      `"1","0","${bolt.name}","m10","Worn","English","","","","146","False","False",""`,
      `"1","0","${bolt.name}"`,
    ]),
  ).toEqual([
    ['refused', 'Count integer'],
    ['refused', 'Name required'],
    ['refused', 'Alter boolean'],
    ['refused', 'Purchase Price other_currency'],
    ['refused', 'Tradelist Count integer'],
    ['refused', 'Proxy boolean'],
    ['unmatched', 'grade_missing'],
    ['refused', 'row_cells'],
  ])
  const manabox = FILES.manabox!.lines[0]!
  expect(
    await rows([
      manabox,
      'Deck,deck,Lightning Bolt,M10,Magic 2010,146,normal,common,2,123,,1.5,false,false,good,en,EUR,',
      'Box,binder,Lightning Bolt,M10,Magic 2010,146,normal,common,2,123,,1.5,false,false,good,en,XXX,',
      'Box,binder,Lightning Bolt,M10,Magic 2010,146,normal,common,2,123,,9999999999,false,false,good,en,EUR,',
    ]),
  ).toEqual([
    ['refused', 'Binder Type one_of'],
    ['refused', 'Purchase price currency currency_rate'],
    ['refused', 'Purchase price number'],
  ])
  expect(await rows(['Folder Name,Quantity,Card Name,Set Name,Card Number,Date Bought', 'x,1,Lightning Bolt,Magic 2010,146,2026-02-30'])).toEqual([
    ['refused', 'Date Bought date'],
  ])
  expect(
    await rows([
      FILES.cardmarket!.lines[0]!,
      '1;21765;Lightning Bolt;;M10;Magic 2010;1;99;NM;;;;;;1;1',
      '1;21765;Lightning Bolt;;M10;Magic 2010;1;1;NM;;;X;;;1;1',
    ]),
  ).toEqual([
    ['refused', 'Language integer'],
    ['refused', 'Playset? sold_together'],
  ])
  expect(await rows(['Card name,Qty,Purchase date,Cost', 'Lightning Bolt,1,5/6/2026,', 'Lightning Bolt,1,,1.234'])).toEqual([
    ['refused', 'Purchase date date'],
    ['refused', 'Cost two_readings'],
  ])
})

describe('bad files', () => {
  test('of another encoding, empty, without columns, unbalanced or too long are refused as a whole', { tags: 'slow' }, async () => {
    const refused: [body: string | Uint8Array, rule: unknown][] = [
      [new Uint8Array([0x4e, 0xff, 0xfe, 0x41]), 'utf8'],
      [Buffer.from('Name,Quantity\nx,1\n', 'utf16le'), 'storable'],
      ['\n\n', 'file_empty'],
      ['"sep=,"\n', 'file_empty'],
      ['Name,Set\nx,y', 'header'],
      ['Name,Card variant,Printing,Quantity\na,b,c,1', 'columns_unclear'],
      [`Name,Quantity\n"${'x'.repeat(2_000_000)},1\n`, 'csv'],
      [`Name,Quantity\n${'x'.repeat(2_000_000)},1\n`, 'line_size'],
    ]
    for (const [body, rule] of refused) expect((await fileProblem(body)).slice(0, 3)).toEqual([422, 'PLUS_COLLECTION_ERROR', rule])
    expect(await fileProblem(`Name,Quantity\n${'x,1\n'.repeat(100_000)}`)).toEqual([
      422,
      'PLUS_COLLECTION_ERROR',
      'at_most',
      { part: 'file', units: 'rows', max: 10_000 },
    ])
    const collection = await fresh()
    expect((await upload(collection, '')).status).toBe(422)
    expect((await upload(collection, 'x'.repeat(9 * 1024 * 1024))).status).toBe(413)
    const json = (body: unknown) => plus.ask('POST', `/${collection}/import`, body)
    for (const body of [{}, { file: 5 }, { file: null }, { file: 'Name,Quantity\nx,1', rows: [] }]) expect((await json(body)).status).toBe(422)
    expect((await json({ file: 'Name,Quantity\n\ud800,1\n' })).status).toBe(422)
    const long = `Name,Quantity\n${'😀'.repeat(40_000)},1\n${'x😀'.repeat(40_000)},1\nb,0\n`
    expect((await json({ file: long })).body).toMatchObject({ data: { refused: 2, not_owned: 1 } })
    expect((await json({ file: `Name,Quantity\n${'x😀,0\n'.repeat(9_000)}` })).body.data).toMatchObject({ not_owned: 9_000 })
    expect(await plus.count(collection)).toBe(0)
  })

  test('generated cells never cause an error of the server', { tags: 'slow' }, async () => {
    const collection = await fresh()
    const headers = Object.values(FILES).map(({ lines }) => lines.find((line) => /name/i.test(line))!)
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.string({ unit: anyCharacter, maxLength: 10 }),
      fc.constantFrom(
        '"',
        '""',
        "'=1",
        '\u0000',
        '1e9',
        '-1',
        '99999999999',
        '2026-13-45',
        '1/1/0001',
        'NaN',
        'EUR',
        '\ufeff',
        'x'.repeat(12_000),
        '\ud800',
      ),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...headers),
        fc.array(fc.array(text, { minLength: 1, maxLength: 20 }), { maxLength: 5 }),
        async (header, rows) => {
          const delimiter = header.includes(';') ? ';' : ','
          const width = header.split(delimiter).length
          const lines = rows.map((cells) => Array.from({ length: width }, (_, i) => cells[i % cells.length]!).join(delimiter))
          const { status } = await upload(collection, [header, ...lines].join('\n'), { query: '?dry_run=1' })
          expect([200, 422]).toContain(status)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('a second import at the same time is refused, and a repeated request answers as the first', async () => {
    const collection = await fresh()
    const file = ['Name,Number,Set,Quantity,Note', ...Array.from({ length: 3_000 }, (_, i) => `Lightning Bolt,146,Magic 2010,1,n${i}`)].join('\n')
    const replies = await Promise.all([1, 2, 3].map(() => upload(collection, file)))
    const statuses = replies.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0)
    expect(replies.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body.error?.rule])).toEqual(
      statuses.filter((status) => status !== 200).map(() => [422, 'already']),
    )
    expect(await plus.count(collection)).toBe(3_000)
    const again = { headers: { 'idempotency-key': 'collection-file' } }
    const lines = FILES.deckbox!.lines.join('\n')
    const first = await upload(collection, lines, again)
    const second = await upload(collection, lines, again)
    expect([first.body.data.added, second.body.data]).toEqual([4, first.body.data])
  })
})
