// What an account says that columns of its files hold: saved once, used by every import, and refused if two columns hold the same.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import type { ListingColumns } from '#market/intake/saved-columns.ts'
import type { ListingImport } from '#market/intake/types.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { makeCatalogue, operator, plus } from './kit.ts'

let node: TestNode
let items: Record<string, number>
let otherKey: string

beforeAll(async () => {
  node = await startTestNode()
  ;({ items } = await makeCatalogue(node))
  const { body } = await operator<{ id: number }>(node, 'POST', '/accounts', { name: 'Other', plan: 'plus' })
  const otherAccount = body.data.id
  for (const id of [node.accounts.plus, otherAccount]) await operator(node, 'PATCH', `/accounts/${id}`, { listing_intake: { quota: 100 } })
  otherKey = (await call(createKey, node.ctx, { account_id: otherAccount, label: 'other' })).key
})

afterAll(() => node.close())

beforeEach(async () => {
  await node.db.kysely.deleteFrom('listing_columns').execute()
  await node.db.kysely.deleteFrom('listings').execute()
  await node.db.kysely.deleteFrom('parked_listings').execute()
})

const PATH = '/listings/columns'
const put = (columns: unknown, query = '') => plus<ListingColumns>(node, 'PUT', `${PATH}${query}`, { columns })
const saved = async () => (await plus<ListingColumns>(node, 'GET', PATH)).body.data.columns
const upload = (lines: string[], { key = node.keys.plus, query = '', headers = {} } = {}) =>
  send<ListingImport>(`${node.publicUrl}/api/v1/plus/listings/import${query}`, key, {
    method: 'POST',
    body: lines.join('\n'),
    headers: { 'content-type': 'text/csv', ...headers },
  })
const problemsOf = ({ status, body }: Awaited<ReturnType<typeof plus>>) => [status, body.error?.details?.map(({ field, rule }) => [field, rule])]
async function fileProblem(lines: string[]) {
  const { status, body } = await upload(lines)
  const { must } = body.error!.details![0]!.params as { must: { rule: string; params: object } }
  return [status, must.rule, must.params]
}

test('what was saved is returned, replaced, and removed by an empty list', async () => {
  expect(await saved()).toEqual([])
  const columns = [
    { column: 'Cena', field: 'price' },
    { column: 'Regał №', field: null },
    { column: '#', field: 'number' },
  ]
  expect(await put(columns)).toMatchObject({ status: 200, body: { data: { columns }, message: 'Columns saved' } })
  expect(await saved()).toEqual(columns)
  await put([{ column: 'Cena', field: null }])
  expect(await saved()).toEqual([{ column: 'Cena', field: null }])
  await put([])
  expect(await saved()).toEqual([])
})

test('the next imports read the columns as saved, in any spelling, also before their own names', async () => {
  const file = ['Karta;#;Seria;Sztuk;CENA!;title;Preis;Regal;sku', `Charizard;4/102;Base Set;2;150;Klasör 7;9;A3;C-1`]
  expect(await fileProblem(file)).toEqual([422, 'header', expect.objectContaining({ values: file[0]!.split(';') })])
  await put([
    { column: 'karta', field: 'name' },
    { column: '#', field: 'number' },
    { column: 'Séria', field: 'set' },
    { column: 'Sztuk', field: 'quantity' },
    { column: 'cena', field: 'price' },
    { column: 'Title', field: null },
  ])
  const dry = await upload(file, { query: '?dry_run=1' })
  const columns = [
    { column: 'Karta', field: 'name', how: 'saved' },
    { column: '#', field: 'number', how: 'saved' },
    { column: 'Seria', field: 'set', how: 'saved' },
    { column: 'Sztuk', field: 'quantity', how: 'saved' },
    { column: 'CENA!', field: 'price', how: 'saved' },
    { column: 'title', field: null, how: 'saved' },
    { column: 'Preis', field: null, how: null },
    { column: 'Regal', field: null, how: null },
    { column: 'sku', field: 'sku', how: 'exact' },
  ]
  expect(dry.body.data).toMatchObject({ id: null, created: 1, columns, ignored_columns: ['title', 'Preis', 'Regal'] })
  expect((await upload(file)).body.data).toMatchObject({ created: 1, columns })
  const { body } = await plus<{ sku: string; item_id: number; title: string; price: number; quantity: number }[]>(
    node,
    'GET',
    '/my-listings?with_details=1',
  )
  expect(body.data).toMatchObject([{ sku: 'C-1', item_id: items.char, title: 'Charizard 4/102, Base Set', price: 150, quantity: 2 }])
  // Other accounts do not see it, and rows sent as JSON have no columns.
  expect((await upload(file, { key: otherKey })).status).toBe(422)
  expect((await plus<ListingColumns>(node, 'GET', PATH, undefined, { key: otherKey })).body.data).toEqual({ columns: [] })
  expect((await plus<ListingImport>(node, 'POST', '/listings/import', { rows: [{ item_id: items.char, price: 5 }] })).body.data.columns).toEqual([])
})

describe('two columns for one field', () => {
  const row = 'Charizard;5;6'

  test('by what was saved, or by that and by our name, are refused with both; one of them can be ignored', async () => {
    await put([
      { column: 'A', field: 'price' },
      { column: 'B', field: 'price' },
    ])
    expect(await fileProblem(['name;A;B', row])).toEqual([422, 'columns_mapped', { column: 'price', values: ['A', 'B'] }])
    expect(await fileProblem(['name;Price;B', row])).toEqual([422, 'columns_mapped', { column: 'price', values: ['B', 'Price'] }])
    expect((await upload(['name;A;C', row])).body.data.ignored_columns).toEqual(['C'])
    await put([
      { column: 'B', field: 'price' },
      { column: 'price', field: null },
    ])
    const { body } = await upload(['name;price;B', row])
    expect(body.data.columns).toEqual([
      { column: 'name', field: 'name', how: 'exact' },
      { column: 'price', field: null, how: 'saved' },
      { column: 'B', field: 'price', how: 'saved' },
    ])
  })

  test('of which one is guessed: the saved one is read, and what was unclear is settled', async () => {
    expect(await fileProblem(['name;Fiyat;Preis', row])).toEqual([422, 'columns_unclear', { column: 'price', values: ['Fiyat', 'Preis'] }])
    await put([{ column: 'Preis', field: 'price' }])
    expect((await upload(['name;Fiyat;Preis', row])).body.data.ignored_columns).toEqual(['Fiyat'])
    await put([{ column: 'Fiyat', field: null }])
    expect((await upload(['name;Fiyat;Preis', row])).body.data.columns[2]).toEqual({ column: 'Preis', field: 'price', how: 'name' })
  })
})

test.each<[string, unknown, [string, string]]>([
  [
    'a second row for the same column',
    [
      { column: 'Fiyat ₺', field: 'price' },
      { column: 'FİYAT', field: null },
    ],
    ['columns.1.column', 'column_again'],
  ],
  ['a name without a visible character', [{ column: '\u200b ', field: 'price' }], ['columns.0.column', 'required']],
  ['an empty name', [{ column: '', field: 'price' }], ['columns.0.column', 'text']],
  ['a long name', [{ column: 'x'.repeat(101), field: 'price' }], ['columns.0.column', 'text']],
  ['a NUL in the name', [{ column: 'a\0b', field: 'price' }], ['columns.0.column', 'text']],
  ['an unknown field', [{ column: 'A', field: 'status' }], ['columns.0.field', expect.any(String) as string]],
  ['a missing field', [{ column: 'A' }], ['columns.0.field', expect.any(String) as string]],
  ['another member', [{ column: 'A', field: null, unit: 'kg' }], ['columns.0.unit', expect.any(String) as string]],
  ['too many', Array.from({ length: 201 }, (_, i) => ({ column: `c${i}`, field: null })), ['columns', expect.any(String) as string]],
  ['no list', 'price', ['columns', expect.any(String) as string]],
])('%s is refused', async (_name, columns, problem) => {
  expect(problemsOf(await put(columns))).toEqual([422, [problem]])
  expect(await saved()).toEqual([])
})

test('200 columns of 100 characters are saved; a dry run and a read-only key save nothing', async () => {
  const columns = Array.from({ length: 200 }, (_, i) => ({ column: `${'ş'.repeat(97)}${i}`.slice(0, 97) + String(i).padStart(3, '0'), field: null }))
  expect((await put([{ column: 'A', field: 'price' }], '?dry_run=1')).body).toMatchObject({ data: { columns: [{ column: 'A', field: 'price' }] } })
  const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, label: 'reads', read_only: true })
  expect((await plus(node, 'PUT', PATH, { columns: [] }, { key })).body.error?.code).toBe('READ_ONLY_KEY')
  expect(await saved()).toEqual([])
  expect((await put(columns)).status).toBe(200)
  expect((await plus<ListingColumns>(node, 'GET', PATH, undefined, { key })).body.data.columns).toEqual(columns)
})

test('of simultaneous requests, one is saved as a whole', async () => {
  const requests = Array.from({ length: 8 }, (_, i) => [
    { column: `A${i}`, field: 'price' },
    { column: `B${i}`, field: 'name' },
  ])
  const replies = await Promise.all(requests.map((columns) => put(columns)))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  expect(requests).toContainEqual(await saved())
})

test('a column beyond the first 100 characters of its name, and beyond the first 100 columns, does not grow the answer', async () => {
  const names = Array.from({ length: 150 }, (_, i) => `${i}${'😀'.repeat(120)}`)
  const { body } = await upload([['name', 'price', ...names].join(';'), `Charizard;5${';'.repeat(names.length)}`])
  expect(body.data.columns).toHaveLength(100)
  expect(Math.max(...body.data.columns.map(({ column }) => column.length))).toBe(100)
  // As shown, the name can be saved.
  const { column } = body.data.columns[2]!
  await put([{ column, field: 'title' }])
  const again = await upload([['name', 'price', ...names].join(';'), `Charizard;5;My title${';'.repeat(names.length - 1)}`])
  expect(again.body.data.columns[2]).toEqual({ column, field: 'title', how: 'saved' })
})

test('a name with a NUL that is not read is answered and stored without it', async () => {
  const { status, body } = await upload(['name;price;a\0b', 'Charizard;5;x'])
  expect([status, body.data.ignored_columns, body.data.columns[2]]).toEqual([200, ['ab'], { column: 'ab', field: null, how: null }])
})

test('a repeated request after a change of the saved columns is another request', async () => {
  const headers = { 'idempotency-key': 'columns-1' }
  const file = ['name;price;Cena;sku', 'Charizard;5;6;I-1']
  expect((await upload(file, { headers })).status).toBe(200)
  expect((await upload(file, { headers })).status).toBe(200)
  await put([
    { column: 'Cena', field: 'price' },
    { column: 'price', field: null },
  ])
  expect((await upload(file, { headers })).body.error?.code).toBe('IDEMPOTENCY_CONFLICT')
})
