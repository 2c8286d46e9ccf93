// Imports and exports of collections: rows are matched or parked, nothing is added twice or lost, and no cell can run as a formula.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { register } from '#cli/collection.ts'
import { csvLine, unescapeCell } from '#core/files/csv.ts'
import type { CollectionImport } from '#collections/import/run.ts'
import type { ParkedRow } from '#collections/import/parked.ts'
import { runCommand } from '../support/command-line.ts'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'
import { collector, makeCollection, makeItems, operator } from './kit.ts'
import { ruleOf, rulesIn } from '../support/reasons.ts'
import type { Problem } from '#core/problems.ts'

let node: TestNode
let ids: Record<string, number>
let plus: ReturnType<typeof collector>

beforeAll(async () => {
  node = await startTestNode()
  ids = await makeItems(node, [
    {
      ref: 'char',
      name: 'Charizard',
      code: '4/102',
      finish: 'Holo',
      foreignIds: [{ source: 'tcgplayer', id: '42382', finish: 'holo' }],
    },
    {
      ref: 'nine',
      name: 'Ninetales',
      code: '12/102',
      finish: 'Holo',
      foreignIds: [{ source: 'pricecharting', id: '715' }],
    },
    { ref: 'nine-shadowless', name: 'Ninetales', code: '12/102', finish: 'Holo Shadowless' },
    { ref: 'pika', name: 'Pikachu', code: '58/102', finish: 'Normal' },
    { ref: 'pika-reverse', name: 'Pikachu', code: '58/102', finish: 'Reverse' },
    { ref: 'pika-jungle', name: 'Pikachu', code: '60/64', category: 'jungle' },
    { ref: 'twin-1', name: 'Twin', code: '7/102' },
    { ref: 'twin-2', name: 'Twin', code: '7/102' },
    { ref: 'box', name: 'Booster Box', code: null, groups: ['ungraded'] },
    { ref: 'luffy', name: 'Monkey.D.Luffy', code: 'OP07-109', game: 'onepiece', category: 'op' },
    {
      ref: 'luffy-p1',
      name: 'Monkey.D.Luffy',
      code: 'OP07-109',
      game: 'onepiece',
      category: 'op',
      finish: 'Parallel 1',
    },
  ])
  plus = collector(node, node.keys.plus)
})

afterAll(() => node.close())

function upload(collectionId: number, format: string, text: string | Uint8Array): Promise<Reply<CollectionImport>> {
  const body = typeof text === 'string' ? text : new Uint8Array(text)
  return send<CollectionImport>(`${node.operatorUrl}/operator/v1/collections/${collectionId}/import/${format}`, OPERATOR_TOKEN, {
    method: 'POST',
    body,
    headers: { 'content-type': 'text/csv' },
  })
}

async function exported(collectionId: number): Promise<string> {
  const response = await fetch(`${node.operatorUrl}/operator/v1/collections/${collectionId}/export`, {
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
  })
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  return response.text()
}

const fresh = (name = 'Files') => makeCollection(node, node.accounts.plus, name)
const parkedOf = async (id: number) => (await operator<ParkedRow[]>(node, 'GET', `/collections/${id}/parked?per_page=100`)).body.data

/** Records in the order of the file: item, label, and the fields of the row about its copies. */
async function records(collectionId: number) {
  const refs = Object.fromEntries(Object.entries(ids).map(([ref, id]) => [id, ref]))
  return (await plus.list(collectionId)).reverse().map((record) => [refs[record.item_id], record.group_label, record.quantity])
}

const COLLECTR =
  'Portfolio Name,Category,Set,Product Name,Card Number,Rarity,Variance,Grade,Card Condition,Average Cost Paid,Quantity,Market Price (As of 2026-07-07),Price Override,Watchlist,Date Added,Notes\n'

describe('collectr', () => {
  const file = `${COLLECTR}full,Pokemon,Base Set,Charizard,4/102,Holo Rare,Holofoil,PSA 10.0 GEM - MT,Near Mint,31,2,73.34,78,FALSE,6/3/2026,"a, b"
full,Pokemon,Base Set,Pikachu,58,Common,Normal,Ungraded,Lightly Played,0,1,3.88,0,FALSE,6/30/2026,
full,Pokemon,Base Set,Pikachu,058/102,Common,Reverse Holofoil,Ungraded,Near Mint,0.1,1,3.88,0,FALSE,6/30/2026,
full,Pokemon,Base Set (1st Edition & Shadowless),Ninetales,12,Holo Rare,Shadowless Holofoil,Ungraded,Moderately Played,0,1,87.05,0,FALSE,7/6/2026,
full,Pokemon,Base Set (1st Edition & Shadowless),Ninetales,12,Holo Rare,Holofoil,Ungraded,Moderately Played,0,1,87.05,0,FALSE,7/6/2026,
full,One Piece,500 Years in the Future,Monkey.D.Luffy (109),OP07-109,SR,Foil,Ungraded,Near Mint,0,1,3.88,0,FALSE,6/30/2026,
full,One Piece,500 Years in the Future,Monkey.D.Luffy (109) (Parallel),OP07-109,SR,Foil,Ungraded,Near Mint,0,1,3.88,0,FALSE,6/30/2026,
full,Pokemon,Base Set,Twin,7/102,Common,Normal,Ungraded,Near Mint,0,1,3.88,0,FALSE,6/30/2026,
full,Pokemon,Base Set,Booster Box,,,Normal,Ungraded,Near Mint,0,1,3.88,0,FALSE,6/30/2026,
full,Pokemon,Base Set,Charizard,4/102,Holo Rare,Holofoil,TAG 9.5,Near Mint,0,1,3.88,0,FALSE,6/30/2026,
full,Pokemon,Base Set,Charizard,4/102,Holo Rare,Holofoil,Ungraded,Near Mint,0,0,3.88,0,FALSE,6/30/2026,
full,Pokemon,Base Set,Charizard,4/102,Holo Rare,Holofoil,Ungraded,Near Mint,0,1,3.88,0,TRUE,6/30/2026,
full,Lorcana,First Chapter,Elsa,1/204,Rare,Normal,Ungraded,Near Mint,0,1,3.88,0,FALSE,6/30/2026,
too,few
`

  test('creates certain matches, parks the rest with candidates, rejects invalid rows', async () => {
    const collection = await fresh()
    const { status, body } = await upload(collection, 'collectr', file)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ rows_read: 14, added: 7, unchanged: 1, parked: 4, rejected: 2 })
    expect(body.data.errors).toMatchObject([
      { line: 12, field: 'Quantity', rule: 'integer', params: { min: 1, max: 100_000, value: '0' } },
      { line: 15, rule: 'row_cells', params: { count: 2, other: 16 } },
    ])
    expect(await records(collection)).toEqual([
      ['char', 'PSA 10', 2],
      ['pika', 'Lightly Played', 1],
      ['pika-reverse', 'Near Mint', 1],
      ['nine-shadowless', 'Moderately Played', 1],
      ['luffy', 'Near Mint', 1],
      ['luffy-p1', 'Near Mint', 1],
      ['box', 'Near Mint', 1],
    ])
    expect((await plus.list(collection)).at(-1)).toMatchObject({ purchase_price: 31, note: 'a, b' })
    expect(await plus.count(collection)).toBe(7)
    const parked = await parkedOf(collection)
    expect(parked.map(({ line, name, candidates }) => [line, name, candidates.slice(0, 2).map((one) => one.item_id)])).toEqual([
      [6, 'Ninetales', [ids.nine, ids['nine-shadowless']]],
      [9, 'Twin', [ids['twin-1'], ids['twin-2']]],
      [11, 'Charizard', [ids.char]],
      [14, 'Elsa', []],
    ])
    expect(parked[1]!.reason).toBe('several items match')
    expect(parked[2]!.reason).toBe('the item has no grade TAG 9.5')
  })

  test('importing the same file again adds nothing, whatever happened to its rows', async () => {
    const collection = await fresh()
    await upload(collection, 'collectr', file)
    const before = await records(collection)
    const again = await upload(collection, 'collectr', file)
    expect(again.body.data).toMatchObject({ rows_read: 14, added: 0, parked: 0, unchanged: 12, rejected: 2 })
    const [newest] = await plus.list(collection)
    await plus.change(collection, newest!.id, { note: 'edited since', quantity: 9 })
    const [twin, tag] = (await parkedOf(collection)).slice(1)
    await operator(node, 'POST', `/collections/${collection}/parked/${twin!.id}/place`, { item_id: ids['twin-2'] })
    await operator(node, 'POST', `/collections/${collection}/parked/${tag!.id}/discard`)
    const third = await upload(collection, 'collectr', gzipSync(file))
    expect(third.body.data).toMatchObject({ added: 0, parked: 0 })
    expect(await records(collection)).toHaveLength(before.length + 1)
    expect(await parkedOf(collection)).toHaveLength(2)
  })

  test('one more identical row creates one more record', async () => {
    const collection = await fresh()
    const row = 'p,Pokemon,Base Set,Pikachu,58,Common,Normal,Ungraded,Near Mint,0,1,3.88,0,FALSE,6/30/2026,\n'
    expect((await upload(collection, 'collectr', COLLECTR + row)).body.data.added).toBe(1)
    expect((await upload(collection, 'collectr', COLLECTR + row + row)).body.data).toMatchObject({
      added: 1,
      unchanged: 1,
    })
  })

  test('parked rows are placed or discarded once, and other attempts are rejected', async () => {
    const collection = await fresh()
    await upload(collection, 'collectr', file)
    const [nine, twin] = await parkedOf(collection)
    const place = (row: number, json: object) => operator(node, 'POST', `/collections/${collection}/parked/${row}/place`, json)
    expect((await place(nine!.id, { item_id: 999_999 })).status).toBe(404)
    expect(rulesIn((await place(nine!.id, {})).body.error)).toMatch(/^item_id required/)
    const placed = await place(nine!.id, { item_id: ids.nine })
    expect(placed).toMatchObject({
      status: 200,
      body: { data: { item_id: ids.nine, group_label: 'Moderately Played', quantity: 1 } },
    })
    expect((await place(nine!.id, { item_id: ids.nine })).status).toBe(409)
    expect((await operator(node, 'POST', `/collections/${collection}/parked/${twin!.id}/discard`)).status).toBe(200)
    expect(rulesIn((await place(twin!.id, { item_id: ids['twin-1'] })).body.error)).toBe('already parked row discarded')
    expect((await operator(node, 'POST', `/collections/${await fresh()}/parked/${twin!.id}/discard`)).status).toBe(404)
    expect(await plus.count(collection)).toBe(8)
  })

  const sample = new URL('../../../shared/data/formats/collectr-collection-export.sample.csv', import.meta.url)
  test.skipIf(!existsSync(sample))('a real export is read completely (needs ../shared/data)', async () => {
    const { body } = await upload(await fresh(), 'collectr', readFileSync(sample))
    expect(body.data).toMatchObject({ rows_read: 5, rejected: 0 })
    expect(body.data.added + body.data.parked).toBe(5)
  })
})

test('pricecharting: cents, grades, certificates and dates', async () => {
  const collection = await fresh()
  const { body } = await upload(
    collection,
    'pricecharting',
    `id,product-name,console-name,price-in-pennies,include-string,condition-string,sku,notes,cost-basis-in-pennies,quantity,date-entered,date-purchased,grading-company,grading-cert-id,folder
715,Ninetales #12,Pokemon Base Set,100,PSA 10,,,mine,12345,1,2026-01-01,2026-01-31,PSA,00012345,
1,Charizard #4,Pokemon Base Set,100,Ungraded,,,,,2,2026-01-01,,,,
2,Pikachu [Reverse Holo] #58,Pokemon Base Set,100,Grade 9,,,,0,1,2026-01-01,,CGC,,
3,Pikachu #58,Pokemon Base Set,100,Ungraded,,,,1.5,1,2026-01-01,,,,
4,Pikachu #58,Pokemon Base Set,100,Ungraded,,,,1,1,2026-01-01,2026-02-30,,,
`,
  )
  expect(body.data).toMatchObject({ rows_read: 5, added: 3, parked: 0, rejected: 2 })
  expect(body.data.errors.map((error) => ruleOf(error as Problem))).toEqual(['cost-basis-in-pennies integer 0 1.5', 'date-purchased date 2026-02-30'])
  expect(await records(collection)).toEqual([
    ['nine', 'PSA 10', 1],
    ['char', 'Ungraded', 2],
    ['pika-reverse', 'CGC 9', 1],
  ])
  expect((await plus.list(collection)).at(-1)).toMatchObject({
    purchase_price: 123.45,
    purchase_date: '2026-01-31',
    card_uniq_id: '00012345',
    note: 'mine',
  })
})

test('tcgplayer: product ids first, otherwise names; either quantity', async () => {
  const collection = await fresh()
  const { body } = await upload(
    collection,
    'tcgplayer',
    `Product ID,TCGplayer Id,Product Line,Set Name,Product Name,Title,Number,Rarity,Condition,Printing,TCG Market Price,TCG Direct Low,TCG Low Price With Shipping,TCG Low Price,Total Quantity,Add to Quantity,TCG Marketplace Price,Photo URL
42382,1,Pokemon,Whatever,Charizard,,004/102,,Near Mint,Holofoil,1,1,1,1,3,0,1,
,2,Pokemon,Base Set,Pikachu - 58/102,,58/102,,Lightly Played Normal,,1,1,1,1,,2,1,
42382,3,Pokemon,Base Set,Charizard,,004/102,,Near Mint,1st Edition Holofoil,1,1,1,1,1,0,1,
,4,Pokemon,Base Set,Pikachu,,58/102,,Damaged,Normal,1,1,1,1,1,0,1,
,5,Pokemon,Base Set,Pikachu,,58/102,,Near Mint,Normal,1,1,1,1,0,0,1,
`,
  )
  expect(body.data).toMatchObject({ rows_read: 5, added: 2, parked: 2, unchanged: 1, rejected: 0 })
  expect(await records(collection)).toEqual([
    ['char', 'Near Mint', 3],
    ['pika', 'Lightly Played', 2],
  ])
  expect((await parkedOf(collection)).map((row) => [row.line, row.candidates[0]!.item_id])).toEqual([
    [4, ids.char],
    [5, ids.pika],
  ])
})

describe('mintmark-csv', () => {
  test('export, import and export again give the same bytes, and importing into the same collection adds nothing', async () => {
    const first = await fresh()
    const notes = ['=1+1', '+cmd', '-2', '@x', "'=x", "''", ' lead', 'trail ', 'a,b;"c"\r\nd', '\tTab', '＝wide', 'ş', 'line\nbreak', "'"]
    for (const note of notes)
      await plus.add(first, {
        item_id: ids.char,
        note,
        purchase_price: 0,
        sale_price: 19.5,
        purchase_date: '1970-01-01',
      })
    await plus.add(first, {
      item_id: ids.box,
      quantity: 100_000,
      card_uniq_id: ' =HYPERLINK("x")',
      purchase_price: 9_999_999_999.99,
    })
    for (let i = 0; i < 2; i += 1) await plus.add(first, { item_id: ids.pika, note: 'twice' })
    const certificate = { grader: 'PSA', cert: '12345678', grade: '9', qualifier: 'OC' }
    await plus.add(first, { item_id: ids.char, certificate })
    await plus.add(first, { item_id: ids.char, certificate: { ...certificate, cert: 'A1', subgrades: { corners: 9.5, surface: 10 } } })
    const text = await exported(first)
    expect(text.split('\n', 1)[0]).toBe(
      'market,item_ref,item_name,code,set,label,quantity,purchase_price,sale_price,purchase_date,card_uniq_id,note,for_trade,grader,cert,cert_grade,qualifier,subgrades',
    )
    const second = await fresh()
    expect((await upload(second, 'mintmark-csv', text)).body.data).toMatchObject({
      rows_read: 19,
      added: 19,
      parked: 0,
      rejected: 0,
    })
    expect(await exported(second)).toBe(text)
    const strip = ({ id: _id, ...rest }: { id: number }) => rest
    expect((await plus.list(second)).map(strip)).toEqual((await plus.list(first)).map(strip))
    for (const collection of [first, second]) {
      expect((await upload(collection, 'mintmark-csv', text)).body.data).toMatchObject({ added: 0, unchanged: 19 })
    }
  })

  test('any text is preserved, and no cell begins like a formula', () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', ' ', ',', ';', '"', '＝'), fc.string({ minLength: 1, maxLength: 1 })),
    })
    fc.assert(
      fc.property(text, (value) => {
        const line = csvLine([value])
        const written = line.startsWith('"') ? line.slice(1, -2).replaceAll('""', '"') : line.slice(0, -1)
        expect(written).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
        // Where a semicolon or a line break separates cells.
        expect(written).not.toMatch(/[;\t\r\n][^\S\t\r\n]*[=+\-@＝＋－＠]/)
        expect(unescapeCell(written)).toBe(value)
      }),
    )
  })
})

test('a row with an invalid certificate, or with one for several copies, is refused', async () => {
  const rows = ['1,PSA,,9,,', '2,PSA,123456,9,,', '1,XYZ,123456,9,,', '1,PSA,123456,,,', '1,PSA,123456,9,,x/9', '1,PSA,123456,9,OC,9/-/9.5/10']
  const text = `item_ref,item_name,label,quantity,grader,cert,cert_grade,qualifier,subgrades\n${rows.map((row) => `char,Charizard,,${row}`).join('\n')}`
  const { body } = await upload(await fresh(), 'mintmark-csv', text)
  expect([body.data.added, body.data.errors.map(({ message }) => message.split(' ', 3).join(' '))]).toEqual([
    1,
    ['cert must be', 'quantity must be', 'grader must be', 'cert_grade is required', 'subgrades must be'],
  ])
})

test.each([
  [
    'collectr',
    `${COLLECTR}full,Pokemon,Base Set,Charizard,4/102,,Holofoil,PSA 10.0 GEM - MT,Near Mint,31,2,,,FALSE,,kept\n`,
    'HzM7nn__36EIz-voo8G5kB011BbvevWSN01G9E-Cz7g',
  ],
  [
    'pricecharting',
    'id,product-name,console-name,include-string,quantity,cost-basis-in-pennies,date-purchased,grading-cert-id,notes\n' +
      '715,Charizard [Holo] #4,Pokemon Base Set,PSA 10,1,1050,2026-01-31,c-1,kept\n',
    'zOx36BYwhBeHKlj8c_o-FM591iIC1XkwbGqT28sAEnQ',
  ],
  [
    'tcgplayer',
    'Product ID,Product Line,Set Name,Product Name,Number,Condition,Total Quantity,Add to Quantity\n' +
      '42382,Pokemon,Base Set,Charizard,4/102,Near Mint Holofoil,3,0\n',
    'mSTmPR2bt8eMUlSBLMQxYxoVfkPxgHY_0bsWOr6bqiA',
  ],
  [
    'mintmark-csv',
    'market,item_ref,item_name,code,set,label,quantity,purchase_price,sale_price,purchase_date,card_uniq_id,note\n' +
      'service,char,Charizard,4/102,Base Set,Near Mint,1,1.50,2.50,2026-01-31,c-1,kept\n',
    'CsfhrIteSi-jnpYXy7fhVh5B3WuiVcwspdLX7yD7OGc',
  ],
])('%s: the key of a row is the same in all releases, so that a file imported earlier adds nothing', async (format, file, key) => {
  const collection = await fresh()
  expect((await upload(collection, format, file)).status).toBe(200)
  const { kysely } = node.db
  const added = kysely.selectFrom('collection_items').select('import_key').where('collection_id', '=', collection)
  const parked = kysely.selectFrom('collection_parked_rows').select('import_key').where('collection_id', '=', collection)
  expect(await added.unionAll(parked).execute()).toEqual([{ import_key: key }])
})

test('a formula after a semicolon is text in a spreadsheet that separates cells by semicolons', () => {
  expect(csvLine([5, 'x;=1+1;y'])).toBe(`5,"x;'=1+1;y"\n`)
  expect(unescapeCell("x;'=1+1;y")).toBe('x;=1+1;y')
})

test('files that are of another format, empty, broken or without records are rejected as a whole', async () => {
  const collection = await fresh()
  const refused: [string, string | Uint8Array, string][] = [
    ['collectr', '', 'file_empty'],
    ['collectr', 'a,b\n1,2\n', 'header'],
    ['tcgplayer', COLLECTR, 'header'],
    ['pricecharting', new Uint8Array([0xff, 0xfe, 0x41]), 'utf8'],
    ['mintmark-csv', gzipSync('x'.repeat(10_000)).subarray(0, 30), 'gzip_damaged'],
    ['collectr', `${COLLECTR}"${'x'.repeat(5_000_000)}`, 'csv'],
  ]
  for (const [format, text, rule] of refused) {
    const reply = await upload(collection, format, text)
    expect([reply.status, reply.body.error?.code]).toEqual([422, 'VALIDATION_ERROR'])
    expect(reply.body.error!.details).toMatchObject([{ field: 'file', rule: 'file', params: { must: { rule } } }])
  }
  expect((await upload(collection, 'nonsense', COLLECTR)).status).toBe(404)
  expect((await upload(999_999, 'collectr', COLLECTR)).status).toBe(404)
  const hostile = await upload(
    collection,
    'collectr',
    `${COLLECTR}p,Pokemon,Base Set,Cha\u0000rizard,4,,,Ungraded,,0,1,1,0,FALSE,,\np,Pokemon,Base Set,${'x'.repeat(20_000)},4,,,Ungraded,,0,1,1,0,FALSE,,\n`,
  )
  expect(hostile.body.data).toMatchObject({ added: 0, parked: 0, rejected: 2 })
  expect(await plus.count(collection)).toBe(0)
})

test('names designed to slow down matching are parked like others', async () => {
  const collection = await fresh()
  const names = [
    `x - ${'0'.repeat(9_900)}!`,
    '('.repeat(9_900),
    '['.repeat(9_900),
    `x - ${'-'.repeat(9_900)}!`,
    `x${' - 0'.repeat(2_400)}!`,
    `(${'a '.repeat(4_900)})`,
  ]
  const rows = names.flatMap((name) => [
    `p,Pokemon,Base Set,${name},4,,,Ungraded,,0,1,1,0,FALSE,,\n`,
    `p,Pokemon,${name},Pikachu,,,${name},Ungraded,,0,1,1,0,FALSE,,\n`,
  ])
  const { body } = await upload(collection, 'collectr', COLLECTR + rows.join(''))
  expect(body.data).toMatchObject({ rows_read: rows.length, parked: rows.length, rejected: 0 })
})

test('a name may have nested brackets or repeat its number', async () => {
  const collection = await fresh()
  const rows = ['Pikachu (58) - 58/102', 'Pikachu (#58) - 58', 'Pikachu - 058/102', 'Pikachu (Normal (58))']
  const { body } = await upload(
    collection,
    'collectr',
    COLLECTR + rows.map((name) => `p,Pokemon,Base Set,${name},58/102,,Normal,Ungraded,,0,1,1,0,FALSE,,\n`).join(''),
  )
  expect(body.data).toMatchObject({ rows_read: 4, rejected: 0 })
  expect(await parkedOf(collection)).toEqual([])
})

test('files of more than 32 MB or 100,000 rows are rejected', { tags: 'slow' }, async () => {
  const collection = await fresh()
  const row = 'p,Pokemon,Base Set,Pikachu,58,Common,Normal,Ungraded,Near Mint,0,1,3.88,0,FALSE,6/30/2026,'
  const large = await upload(collection, 'collectr', gzipSync(COLLECTR + `${row}${'x'.repeat(9_000)}\n`.repeat(4_000), { level: 1 }))
  expect([large.status, rulesIn(large.body.error)]).toEqual([422, `file file at_most file bytes ${32 * 1024 * 1024}`])
  const long = await upload(collection, 'collectr', COLLECTR + 'p,,,,,,,,,,,,,TRUE,,\n'.repeat(100_001))
  expect([long.status, rulesIn(long.body.error)]).toEqual([422, 'file file at_most file rows 100000'])
  expect(await plus.count(collection)).toBe(0)
})

test('two concurrent imports of one file add it once', async () => {
  const collection = await fresh()
  const rows = Array.from(
    { length: 200 },
    (_, i) => `p,Pokemon,Base Set,Pikachu,58,Common,Normal,Ungraded,Near Mint,${i},1,3.88,0,FALSE,6/30/2026,\n`,
  )
  const reports = await Promise.all([1, 2, 3].map(() => upload(collection, 'collectr', COLLECTR + rows.join(''))))
  expect(reports.map((report) => report.body.data.added).toSorted((a, b) => a - b)).toEqual([0, 0, 200])
  expect(await plus.count(collection)).toBe(200)
})

test('the command line does the same', async () => {
  const mintmark = async (...args: string[]) => (await runCommand(node, [register], ['collection', ...args])).text
  const { id } = JSON.parse(await mintmark('create', '--account', String(node.accounts.plus), '--name', 'CLI', '--json')) as { id: number }
  const file = join(tmpdir(), `mintmark-collection-${process.pid}.csv.gz`)
  try {
    await plus.add(id, { item_id: ids.char, note: 'x' })
    await mintmark('export', String(id), file)
    expect(await mintmark('import', String(id), file, '--format', 'mintmark-csv')).toBe('1 rows read: 0 added, 1 unchanged, 0 parked, 0 rejected')
  } finally {
    rmSync(file, { force: true })
  }
  await upload(id, 'collectr', `${COLLECTR}p,Pokemon,Base Set,Twin,7/102,,,Ungraded,Near Mint,0,1,1,0,FALSE,,\n`)
  const [row] = JSON.parse(await mintmark('parked', String(id), '--json')) as ParkedRow[]
  expect(await mintmark('parked', String(id))).toMatch(/several items match +\d+ Twin 7\/102 \(Base Set\);/)
  expect(await mintmark('place', String(id), String(row!.id), '--item', String(ids['twin-1']))).toMatch(/^Added as record \d+: Twin, Near Mint$/)
  expect(await mintmark('set', String(id), '--visibility', 'public')).toMatch(/public, 2 records$/)
  expect(await mintmark('list', '--account', String(node.accounts.plus))).toMatch(new RegExp(`\\n${id} +\\d+ +CLI +public +2`))
  expect(await mintmark('delete', String(id))).toBe(`Deleted collection ${id}`)
  await expect(mintmark('delete', String(id))).rejects.toThrow(/collection not found/i)
})
