// Listings by file: the outcome of rows, parked rows, the operator's quota, and exports that import unchanged.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ListingImport, ListingImportSummary, ParkedListing, PlacedListing, UndoneImport } from '#market/intake/types.ts'
import type { OwnListing } from '#market/marketplace-types.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'
import { ruleOf } from '../support/reasons.ts'
import { makeCatalogue, operator, orderId, plus } from './kit.ts'

let node: TestNode
let items: Record<string, number>
let grades: Record<string, number>

beforeAll(async () => {
  node = await startTestNode()
  ;({ items, grades } = await makeCatalogue(node))
})

afterAll(() => node.close())

beforeEach(async () => {
  await node.db.kysely.deleteFrom('listings').execute()
  await node.db.kysely.deleteFrom('parked_listings').execute()
  await node.db.kysely.deleteFrom('listing_imports').execute()
  await open(node.accounts.plus, 100)
})

const open = (account: number, quota: number | null) =>
  operator<{ listing_intake: object | null }>(node, 'PATCH', `/accounts/${account}`, { listing_intake: quota === null ? null : { quota } })
const csv = (text: string | Uint8Array, headers: Record<string, string> = {}, key = node.keys.plus) =>
  send<ListingImport>(`${node.publicUrl}/api/v1/plus/listings/import`, key, {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'text/csv', ...headers },
  })
const json = (rows: unknown[], key?: string) => plus<ListingImport>(node, 'POST', '/listings/import', { rows }, key ? { key } : {})
const taken = async (text: string) => {
  const { status, body } = await csv(text)
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body.data
}
const counts = ({ created, parked, refused, passed_over }: ListingImport) => ({ created, parked, refused, passed_over })
const refusals = ({ rows }: ListingImport) => rows.map(({ refused }) => refused?.map((one) => ruleOf(one as never)).join('; ') ?? null)
const mine = async (key = node.keys.plus) =>
  (await plus<OwnListing[]>(node, 'GET', '/my-listings?per_page=100&with_details=1', undefined, { key })).body.data
const parked = async (key = node.keys.plus) => (await plus<ParkedListing[]>(node, 'GET', '/parked-listings', undefined, { key })).body.data
const imports = async () => (await plus<ListingImportSummary[]>(node, 'GET', '/listings/imports')).body.data
const place = (id: number, item: number, key = node.keys.plus) =>
  plus<PlacedListing>(node, 'POST', `/parked-listings/${id}`, { item_id: item }, { key })

test('rows become pending listings, like those that the operator creates', async () => {
  const file = [
    'sku,item_id,name,number,set,grade,language,quantity,price,title,description,images,shipping_payer,offers_enabled,min_offer_price',
    `A-1,${items.char},,,,PSA 10,EN,2,1250.5,My Charizard,"Slabbed, new",https://a.example/1.png|https://a.example/2.png,seller,TRUE,1000`,
    'A-2,,Charizard,4/102,Base Set,nm,,,99,,,,,,',
  ].join('\n')
  const report = await taken(file)
  expect(counts(report)).toEqual({ created: 2, parked: 0, refused: 0, passed_over: 0 })
  expect(report.rows).toMatchObject([
    { line: 2, sku: 'A-1', outcome: 'created', candidates: [], refused: null },
    { line: 3, sku: 'A-2', outcome: 'created' },
  ])
  const [second, first] = await mine()
  expect(first).toMatchObject({
    id: report.rows[0]!.listing_id,
    status: 'pending',
    item_id: items.char,
    grade_id: grades['PSA 10'],
    sku: 'A-1',
    title: 'My Charizard',
    description: 'Slabbed, new',
    price: 1250.5,
    quantity: 2,
    language: 'en',
    shipping_payer: 'seller',
    offers_enabled: true,
    min_offer_price: 1000,
    images: [
      { url: 'https://a.example/1.png', order: 1 },
      { url: 'https://a.example/2.png', order: 2 },
    ],
  })
  expect(second).toMatchObject({
    status: 'pending',
    item_id: items.char,
    grade_id: grades['Near Mint'],
    quantity: 1,
    title: 'Charizard 4/102, Base Set',
  })
  const audit = await operator<{ action: string; actor: string; after: object }[]>(node, 'GET', '/audit?action=listing.import')
  expect(audit.body.data[0]).toMatchObject({ actor: `account:${node.accounts.plus}`, after: { created: 2, refused: 0 } })
})

test('a dry run reports the rows and creates nothing', async () => {
  const file = `sku,item_id,name,price\nD-1,${items.pika},,10\nD-2,,Charizard,20\nD-3,,Nobody,0\n`
  const dry = await send<ListingImport>(`${node.publicUrl}/api/v1/plus/listings/import?dry_run=1`, node.keys.plus, {
    method: 'POST',
    body: file,
    headers: { 'content-type': 'text/csv', 'idempotency-key': 'dry-import' },
  })
  expect([dry.status, dry.body.message]).toEqual([200, 'Forecast only; nothing was changed'])
  expect([await mine(), await parked(), (await imports()).length]).toEqual([[], [], 0])
  expect(dry.body.data).toMatchObject({ id: null, rows: [{ listing_id: null }, { parked_id: null }, { outcome: 'refused' }] })
  const real = await csv(file, { 'idempotency-key': 'dry-import' })
  expect(counts(dry.body.data)).toEqual(counts(real.body.data))
  const withoutIds = (rows: ListingImport['rows']) => rows.map((row) => ({ ...row, listing_id: null, parked_id: null }))
  expect(dry.body.data.rows).toEqual(withoutIds(real.body.data.rows))
})

describe('undoing an import', () => {
  const undo = (id: number, at = node, key = node.keys.plus, query = '') =>
    send<UndoneImport>(`${at.publicUrl}/api/v1/plus/listings/imports/${id}/undo${query}`, key, { method: 'POST' })
  const imported = async (count: number, prefix: string) => {
    const rows = Array.from({ length: count }, (_, i) => ({ sku: `${prefix}-${i}`, item_id: items.pika, price: 100, quantity: 3 }))
    const { body } = await json(rows)
    return { id: body.data.id!, ids: body.data.rows.map((row) => row.listing_id!) }
  }
  const approve = (id: number) => operator(node, 'POST', `/listings/${id}/approve`)
  const sell = (id: number, at = node) => operator(at, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] })

  test('removes unsold, unchanged listings and parked rows; others are kept with the reason', async () => {
    const { id, ids } = await imported(10, 'U')
    const [pending, approved, paused, sold, cancelled, repriced, back, edited, renamed, deleted] = ids as [number, ...number[]]
    const byName = (
      await json([
        { name: 'Charizard', price: 5 },
        { name: 'Nobody knows', price: 5 },
      ])
    ).body.data
    for (const one of ids.slice(1, 9)) await approve(one!)
    await plus(node, 'POST', `/listings/${paused}/status?action=pause`)
    await sell(sold!)
    const order = orderId()
    await operator(node, 'POST', '/orders', { order_id: order, lines: [{ listing_id: cancelled, quantity: 1 }] })
    expect((await operator(node, 'POST', `/orders/${order}/cancel`, { reason: 'returned' })).status).toBe(200)
    await plus(node, 'PATCH', `/listings/${repriced}`, { price: 120 })
    for (const price of [120, 100]) await plus(node, 'PATCH', `/listings/${back}`, { price })
    await plus(node, 'PATCH', `/listings/${edited}`, { title: 'Mine' })
    await plus(node, 'PATCH', `/listings/${renamed}`, { sku: 'U-new' })
    await plus(node, 'DELETE', `/listings/${deleted}`)

    expect((await undo(id, node, node.keys.plus, '?dry_run=1')).body.data).toMatchObject({ removed: 3, kept: 6 })
    expect((await imports()).find((one) => one.id === id)).toMatchObject({ created: 10, undone_at: null, removed: null, kept: null })
    const { status, body } = await undo(id)
    expect([status, body.message]).toEqual([200, 'Import undone'])
    const { rows, ...undone } = body.data
    expect(undone).toEqual({ id, removed: 3, kept: 6, dropped: 0 })
    const rule = (one: number | undefined) =>
      rows.find((row) => row.listing_id === one)?.why?.rule ?? rows.find((row) => row.listing_id === one)?.outcome
    expect([pending, approved, paused, sold, cancelled, repriced, back, edited, renamed, deleted].map(rule)).toEqual([
      'removed',
      'removed',
      'removed',
      'sold_since_import',
      'sold_since_import',
      'changed_since_import',
      'changed_since_import',
      'changed_since_import',
      'changed_since_import',
      undefined,
    ])
    const left = await mine()
    expect(left.map((one) => one.id).sort((a, b) => a - b)).toEqual(
      [sold, cancelled, repriced, back, edited, renamed, byName.rows.find((row) => row.listing_id)?.listing_id].filter(Boolean),
    )
    expect((await imports()).find((one) => one.id === id)).toMatchObject({
      removed: 3,
      kept: 6,
      dropped: 0,
      undone_at: expect.stringMatching(/[+-]\d\d:\d\d$/),
    })
    expect((await undo(id)).body.error).toMatchObject({ code: 'PLUS_LISTING_ERROR', rule: 'listing_import_undone' })
    expect((await undo(byName.id!)).body.data).toMatchObject({ dropped: byName.parked, removed: byName.created })
    expect(await parked()).toEqual([])
    expect((await undo(999_999)).body.error).toMatchObject({ code: 'PLUS_LISTING_ERROR', rule: 'not_found' })
    expect((await undo(byName.id!, node, node.keys.enterprise)).body.error).toMatchObject({ code: 'PLUS_LISTING_ERROR', rule: 'not_found' })
    // The SKUs and places are free again.
    expect(counts((await json([{ sku: 'U-0', item_id: items.pika, price: 1 }])).body.data)).toMatchObject({ created: 1 })
  })

  test('a row that a later import parked again stays parked', async () => {
    const row = { sku: 'again', name: 'Nobody knows', price: 5 }
    const first = (await json([row])).body.data
    const second = (await json([row])).body.data
    expect((await undo(first.id!)).body.data).toMatchObject({ dropped: 0 })
    expect(await parked()).toHaveLength(1)
    expect((await undo(second.id!)).body.data).toMatchObject({ dropped: 1 })
  })

  test('undos, sales and prices racing on two nodes: nothing is lost', { tags: 'slow' }, async () => {
    const other = await startTestNode({ databaseUrl: node.databaseUrl })
    try {
      const { id, ids } = await imported(40, 'R')
      for (const one of ids) await approve(one)
      const sales = ids.filter((_, i) => i % 4 === 0)
      const priced = ids.filter((_, i) => i % 4 === 1)
      const [undos, sold, changed] = await Promise.all([
        Promise.all([undo(id, node), undo(id, other), undo(id, other)]),
        Promise.all(sales.map(async (one, i) => ({ one, ok: (await sell(one, i % 2 ? node : other)).status === 201 }))),
        Promise.all(
          priced.map(async (one) => ({
            one,
            ok: (await plus(other, 'PATCH', `/listings/${one}/price`, { price: 77 }, { key: node.keys.plus })).status === 200,
          })),
        ),
      ])
      expect(undos.map(({ status }) => status).sort()).toEqual([200, 422, 422])
      const { removed, kept, rows } = undos.find(({ status }) => status === 200)!.body.data
      expect(removed + kept).toBe(40)
      const outcomes = new Map(rows.map((row) => [row.listing_id, row.outcome]))
      for (const { one, ok } of [...sold, ...changed]) expect([one, outcomes.get(one)]).toEqual([one, ok ? 'kept' : 'removed'])
      for (const one of ids.filter((_, i) => i % 4 > 1)) expect(outcomes.get(one)).toBe('removed')
      expect((await mine()).map((one) => one.id).sort()).toEqual(
        rows
          .filter(({ outcome }) => outcome === 'kept')
          .map((row) => row.listing_id)
          .sort(),
      )
    } finally {
      await other.close()
    }
  })
})

test('importing the same file or repeating the request creates no duplicates', async () => {
  const file = `sku,item_id,price\nB-1,${items.pika},10\nB-2,${items.box},20\n`
  const headers = { 'idempotency-key': 'intake-once' }
  const first = await csv(file, headers)
  expect(counts(first.body.data)).toMatchObject({ created: 2 })
  expect((await csv(file, headers)).body).toEqual(first.body)
  const again = await taken(file)
  expect(counts(again)).toMatchObject({ created: 0, refused: 2 })
  expect(refusals(again)).toEqual(['sku sku_listed', 'sku sku_listed'])
  expect(await mine()).toHaveLength(2)
})

test("another account's SKU can be used", async () => {
  await open(node.accounts.enterprise, 5)
  await taken(`sku,item_id,price\nSAME,${items.pika},10\n`)
  const theirs = await json([{ sku: 'SAME', item_id: items.pika, price: 12 }], node.keys.enterprise)
  expect(counts(theirs.body.data)).toMatchObject({ created: 1 })
  await open(node.accounts.enterprise, null)
})

test('each invalid row is rejected by field, and the others are accepted', async () => {
  const good = { item_id: items.char, price: 10 }
  const { status, body } = await json([
    { ...good, sku: 'C-1' },
    { ...good, sku: 'C-1' },
    { ...good, price: 0.5 },
    { ...good, price: 10.001 },
    { item_id: items.char },
    { ...good, item_id: 999_999 },
    { price: 10 },
    { ...good, grade: 'Splendid' },
    { ...good, quantity: -1 },
    { ...good, language: '?' },
    { ...good, title: ' ' },
    { ...good, images: ['ftp://a.example'] },
    { ...good, min_offer_price: 11 },
    { ...good, colour: 'red' },
    { name: 'Nobody knows this', price: 0 },
    'row',
    null,
  ])
  expect(status).toBe(200)
  expect(counts(body.data)).toEqual({ created: 1, parked: 0, refused: 16, passed_over: 0 })
  expect(refusals(body.data).map((rules) => rules?.split(' ').slice(0, 2).join(' ') ?? null)).toEqual([
    null,
    'sku sku_listed',
    'price number',
    'price number',
    'price required',
    'item_id unknown_id',
    'row at_least_one',
    'grade label',
    'quantity integer',
    'language or_null',
    'title text',
    'images.0 any_of',
    'min_offer_price not_above',
    'colour unknown_field',
    'price number',
    'row object',
    'row object',
  ])
  expect(await mine()).toHaveLength(1)
})

test('an invalid number, or a row of a different length, is rejected by line', async () => {
  const report = await taken(`sku;item_id;price;offers_enabled\nD-1;${items.char};12,5,5;\nD-2;${items.char}\nD-3;x;5;maybe\n`)
  expect(report.rows.map(({ line }) => line)).toEqual([2, 3, 4])
  expect(report.rows.map(({ refused }) => refused!.map(({ field }) => field).sort())).toEqual([['price'], ['row'], ['item_id', 'offers_enabled']])
})

describe('unreadable files', () => {
  test.each([
    '',
    'price\n5',
    'name,number\nCharizard,4/102',
    '\n\n',
    'item_id,price\n"1',
    'item_id,price\n',
    'Product Line,Product Name\nPokemon,Charizard\n',
  ])('%j is rejected', async (text) => {
    const { status, body } = await csv(text)
    expect([status, body.error?.code]).toEqual([422, 'PLUS_LISTING_ERROR'])
  })

  test('other content types, invalid UTF-8, and too many rows are rejected', async () => {
    expect((await csv('x', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await csv(new Uint8Array([0xff, 0xfe, 0x0a]))).status).toBe(422)
    expect((await csv(`item_id,price\n${'1,2\n'.repeat(10_001)}`)).body.error).toMatchObject({ details: [{ field: 'rows' }] })
    expect(await mine()).toEqual([])
  })
})

describe('parked rows', () => {
  const UNCLEAR = `sku,name,number,price,quantity\nP-1,Booster Box of nobody,,50,3\n`

  test('stay parked with their candidates until their owner selects the item', async () => {
    const report = await taken(`sku,name,number,grade,price\nP-0,Pikacu,58/102,NM,15\n`)
    expect(counts(report)).toMatchObject({ created: 0, parked: 1 })
    const [row] = report.rows
    expect(row).toMatchObject({ outcome: 'parked', listing_id: null, why: { rule: expect.stringMatching(/^(fits|like)_/) } })
    const [waiting] = await parked()
    expect(waiting!.parked_at).toMatch(/T\d\d:\d\d:\d\d\+03:00$/)
    expect(waiting).toMatchObject({ id: row!.parked_id, line: 2, sku: 'P-0', name: 'Pikacu', number: '58/102', grade: 'NM', price: 15, quantity: 1 })
    expect(waiting!.candidates).toEqual(row!.candidates)
    expect(await mine()).toEqual([])
    expect((await place(waiting!.id, 999_999)).body.error).toMatchObject({ code: 'PLUS_LISTING_ERROR', details: [{ field: 'item_id' }] })
    expect((await place(waiting!.id, items.pika!, node.keys.enterprise)).status).toBe(403)
    const placed = await place(waiting!.id, items.pika!)
    expect(placed).toMatchObject({ status: 201, body: { data: { status: 'pending', title: 'Pikaçhu 58/102, Base Set' } } })
    expect(await mine()).toMatchObject([{ id: placed.body.data.id, item_id: items.pika, grade_id: grades['Near Mint'], sku: 'P-0', price: 15 }])
    expect(await parked()).toEqual([])
    expect((await place(waiting!.id, items.pika!)).status).toBe(422)
  })

  test('stay at their place when imported again, or become listings if the file has more data', async () => {
    const first = await taken(UNCLEAR)
    const second = await taken(UNCLEAR.replace('50', '55'))
    expect(second.rows[0]!.parked_id).toBe(first.rows[0]!.parked_id)
    expect(await parked()).toMatchObject([{ price: 55, quantity: 3 }])
    const third = await taken(`sku,item_id,price\nP-1,${items.box},60\n`)
    expect(counts(third)).toMatchObject({ created: 1 })
    expect([await parked(), (await mine()).length]).toEqual([[], 1])
  })

  test('without an SKU are identified by their content; two identical ones are two rows', async () => {
    const file = `name,price\nNobody knows this,5\nNobody knows this,5\n`
    expect(counts(await taken(file))).toMatchObject({ parked: 2 })
    expect(counts(await taken(file))).toMatchObject({ parked: 2 })
    expect(await parked()).toHaveLength(2)
  })

  test('can be discarded by their owner only', async () => {
    const { rows } = await taken(UNCLEAR)
    const drop = (key: string) => plus(node, 'DELETE', `/parked-listings/${rows[0]!.parked_id}`, undefined, { key })
    expect((await drop(node.keys.enterprise)).status).toBe(422)
    expect(await parked(node.keys.enterprise)).toEqual([])
    expect((await drop(node.keys.plus)).status).toBe(200)
    expect(await parked()).toEqual([])
  })

  test('stay parked if a listing has got their SKU in the meantime', async () => {
    const { rows } = await taken(UNCLEAR)
    const [placed] = (await taken(`item_id,price\n${items.char},5\n`)).rows
    await plus(node, 'PATCH', `/listings/${placed!.listing_id}`, { sku: 'P-1' })
    expect((await place(rows[0]!.parked_id!, items.box!)).body.error).toMatchObject({ code: 'PLUS_LISTING_ERROR', rule: 'taken' })
    expect(await parked()).toHaveLength(1)
  })

  test('show the item that a candidate was merged into', async () => {
    const twin = { type: 'item', market: 'service', ref: 'twin', name: 'Pikaçhu', code: '58/102', genre: 'single', game: 'pokemon', category: 'base' }
    const rest = { images: [], attributes: [], details: {}, foreign_ids: [], groups: ['ungraded'], prices: [] }
    await importText(node, 'mintmark-ndjson', JSON.stringify({ ...twin, ...rest }))
    const { id } = await node.db.kysely.selectFrom('items').select('id').where('ref', '=', 'twin').executeTakeFirstOrThrow()
    await taken(`sku,name,number,price\nP-9,Pikaçhu,58/102,15\n`)
    const before = (await parked())[0]!.candidates.map((one) => one.item_id)
    expect(before.sort()).toEqual([items.pika, id].sort())
    expect((await operator(node, 'POST', `/items/${id}/merge`, { into: items.pika })).status).toBe(200)
    const [after] = await parked()
    expect(after!.candidates.map((one) => one.item_id)).toEqual([items.pika])
    expect((await place(after!.id, id)).status).toBe(201)
    expect(await mine()).toMatchObject([{ item_id: items.pika }])
  })
})

describe("TCGplayer's file", () => {
  const HEADER = 'TCGplayer Id,Product Line,Set Name,Product Name,Number,Condition,Total Quantity,Add to Quantity,TCG Marketplace Price'

  test('has items, condition and stock; the price is an additional column, in TL', async () => {
    const file = `${HEADER},price\n4711,Pokemon,Base Set,Charizard,4/102,Near Mint,3,0,99.50,4000\n4712,Pokemon,Base Set,Charizard,4/102,Lightly Played,0,,50,\n`
    const report = await taken(file)
    expect(counts(report)).toEqual({ created: 1, parked: 0, refused: 0, passed_over: 1 })
    expect(await mine()).toMatchObject([{ item_id: items.char, grade_id: grades['Near Mint'], quantity: 3, price: 4000, sku: '4711' }])
    expect(refusals(await taken(file))).toEqual(['sku sku_listed'])
  })

  test('without a price, or with an unknown condition, is rejected', async () => {
    const withoutPrice = HEADER.replace(',TCG Marketplace Price', '')
    expect((await csv(`${withoutPrice}\n4711,Pokemon,Base Set,Charizard,4/102,Near Mint,3,0\n`)).status).toBe(422)
    const report = await taken(`${HEADER},price\n1,Pokemon,Base Set,Charizard,4/102,Damaged,3,0,1,5\n2,Pokemon,Base Set,,4/102,Near Mint,3,0,1,5\n`)
    expect(report.rows.map(({ refused }) => refused![0]!.field)).toEqual(['Condition', 'Product Name'])
  })
})

describe('the operator', () => {
  test('enables listing import for an account, reads the setting, and disables it', async () => {
    const read = async () =>
      (await operator<{ listing_intake: object | null }>(node, 'GET', `/accounts/${node.accounts.plus}`)).body.data.listing_intake
    const isOpen = async () => {
      const query = '{ me { listingIntakeOpen } }'
      const graphql = await send(`${node.publicUrl}/graphql`, node.keys.plus, { json: { query } })
      const rest = await send<{ listing_intake_open: boolean }>(`${node.publicUrl}/api/v1/me`, node.keys.plus)
      return [rest.body.data.listing_intake_open, (graphql.body as unknown as { data: { me: object } }).data.me]
    }
    expect([await read(), await isOpen()]).toEqual([{ quota: 100 }, [true, { listingIntakeOpen: true }]])
    const { rows } = await taken('sku,name,price\nX,Nobody knows this,5\n')
    expect((await open(node.accounts.plus, null)).body.data.listing_intake).toBeNull()
    expect([await read(), await isOpen()]).toEqual([null, [false, { listingIntakeOpen: false }]])
    const refused = await csv(`item_id,price\n${items.char},5\n`)
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN', rule: 'intake_closed' } } })
    expect(await place(rows[0]!.parked_id!, items.char!)).toMatchObject({ status: 403, body: { error: { rule: 'intake_closed' } } })
    expect(await mine()).toEqual([])
    for (const wrong of [{ quota: 0 }, { quota: 1.5 }, {}, 5]) {
      expect((await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: wrong })).status).toBe(422)
    }
    const audit = await operator<{ before: object; after: object }[]>(node, 'GET', '/audit?action=account.change')
    expect(audit.body.data[0]).toMatchObject({ before: { listing_intake: { quota: 100 } }, after: { listing_intake: null } })
  })

  test('limits unsold listings and parked rows together', async () => {
    await open(node.accounts.plus, 3)
    const file = `sku,item_id,name,price\nQ-1,${items.char},,5\nQ-2,,Nobody knows this,5\nQ-3,${items.char},,5\nQ-4,${items.char},,5\nQ-5,,Nobody either,5\n`
    const report = await taken(file)
    expect(report.rows.map(({ outcome }) => outcome)).toEqual(['created', 'parked', 'created', 'refused', 'refused'])
    expect(refusals(report).slice(3)).toEqual(['row intake_full 3', 'row intake_full 3'])
    // A parked row already counts in the quota; placing one keeps its place, deleting a listing frees one.
    expect((await taken(file)).rows.map(({ outcome }) => outcome)).toEqual(['refused', 'parked', 'refused', 'refused', 'refused'])
    expect((await place(report.rows[1]!.parked_id!, items.char!)).status).toBe(201)
    await plus(node, 'DELETE', `/listings/${report.rows[0]!.listing_id}`)
    expect((await taken(file)).rows.map(({ outcome }) => outcome)).toEqual(['created', 'refused', 'refused', 'refused', 'refused'])
  })

  test('the quota applies to concurrent files', async () => {
    await open(node.accounts.plus, 10)
    const file = (n: number) => `sku,item_id,price\n${Array.from({ length: 4 }, (_, i) => `R-${n}-${i},${items.char},5`).join('\n')}\n`
    const replies = await Promise.all(Array.from({ length: 6 }, (_, n) => csv(file(n))))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect(replies.reduce((sum, { body }) => sum + body.data.created, 0)).toBe(10)
    expect(await mine()).toHaveLength(10)
  })

  test('the same file uploaded concurrently is imported once', async () => {
    const file = `sku,item_id,name,price\nS-1,${items.char},,5\nS-2,${items.pika},,5\nS-3,,Nobody knows this,5\n`
    const replies = await Promise.all([csv(file), csv(file), csv(file)])
    expect(replies.map(({ body }) => body.data.created).sort()).toEqual([0, 0, 2])
    expect([(await mine()).length, (await parked()).length]).toEqual([2, 1])
  })
})

test('an export can be imported again without changes', async () => {
  const rows = [
    { sku: '=1+1, "x"', item_id: items.char, grade: 'PSA 10', price: 1250.05, title: '=HYPERLINK("x")', description: '  -a;\n"b", \'=c\r\nend ' },
    { sku: "'@b", item_id: items.pika, grade: 'Near Mint', price: 9_999_999, quantity: 0, language: 'tr', title: 'Pikaçhu 🎴 "mint"' },
    { item_id: items.luffy, price: 1, offers_enabled: true, min_offer_price: 0.5, shipping_payer: 'seller', title: "'+quoted" },
    { sku: 'plain', item_id: items.box, price: 12.3, images: ['https://a.example/a.png?x=1,2', 'https://a.example/b;c.png'] },
    {
      item_id: items.char,
      price: 900,
      certificate: { grader: 'BGS', cert: '0012345678', grade: '9.5', qualifier: 'OC', subgrades: { centering: 10, surface: 9.5 } },
    },
  ]
  expect(counts((await json(rows)).body.data)).toMatchObject({ created: 5 })
  const content = (listings: OwnListing[]) =>
    listings.map(({ id: _id, slug: _slug, etag: _etag, created_at: _created, updated_at: _updated, ...rest }: OwnListing & { slug?: string }) => rest)
  const before = await mine()
  const exported = async () => {
    const reply = await fetch(`${node.publicUrl}/api/v1/plus/listings/export`, { headers: { authorization: `Bearer ${node.keys.plus}` } })
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    return reply.text()
  }
  const file = await exported()
  for (const { id } of before) await plus(node, 'DELETE', `/listings/${id}`)
  expect(await mine()).toEqual([])
  expect(counts(await taken(file))).toEqual({ created: 5, parked: 0, refused: 0, passed_over: 0 })
  expect(content(await mine())).toEqual(content(before))
  const withoutIds = (text: string) => text.replaceAll(/^\d+,/gm, '')
  const again = await exported()
  expect(withoutIds(again)).toBe(withoutIds(file))
  const ids = (await mine()).map(({ id }) => id).sort((a, b) => a - b)
  expect((await taken(again)).rows.map(({ refused }) => refused?.map(({ rule, params }) => [rule, params]))).toEqual(
    ids.map((id) => [['listing_exists', { id }]]),
  )
})

describe('columns of a CSV', () => {
  test.each([
    ['grade', 'Near Mint', 'Near Mint'],
    ['Grade', 'psa10', 'PSA 10'],
    ['condition', 'NM', 'Near Mint'],
    ['Condition', 'near_mint', 'Near Mint'],
    ['CONDITION', 'near-mint', 'Near Mint'],
    ['state', 'PSA-10', 'PSA 10'],
    ['State ', 'nm', 'Near Mint'],
  ])('%s with %s is the grade', async (column, value, label) => {
    const report = await taken(`Item_ID,${column},Price\n${items.char},${value},10\n`)
    expect([counts(report), report.ignored_columns]).toEqual([{ created: 1, parked: 0, refused: 0, passed_over: 0 }, []])
    expect((await mine())[0]).toMatchObject({ grade: { label } })
  })

  test('the first non-empty grade column applies, and an invalid grade is refused', async () => {
    const report = await taken(
      `item_id,state,condition,grade,price\n${items.char},,Near Mint,PSA 10,1\n${items.char},NM,,,2\n${items.char},new,,,3\n`,
    )
    expect(refusals(report)).toEqual([null, null, expect.stringContaining('label')])
    expect((await mine()).map(({ price, grade }) => [price, grade!.label]).sort()).toEqual([
      [1, 'PSA 10'],
      [2, 'Near Mint'],
    ])
  })

  test('that were not read are named in the answer and in the list of imports', async () => {
    const many = Array.from({ length: 300 }, (_, i) => `extra ${i}`)
    const report = await taken(`item_id,price,Note,status,price,${'x'.repeat(90)}\n${items.char},1,a,b,2,c\n`.replace(',price,xxx', ',Price,xxx'))
    expect(report.ignored_columns).toEqual(['Note', 'status', 'Price', `${'x'.repeat(40)}…`])
    expect((await imports())[0]!.ignored_columns).toEqual(report.ignored_columns)
    expect((await mine())[0]!.price).toBe(1)
    expect((await taken(`item_id,price,${many.join(',')}\n${items.char},1,${many.join(',')}\n`)).ignored_columns).toEqual(many.slice(0, 100))
    expect((await json([{ item_id: items.char, price: 5 }])).body.data.ignored_columns).toEqual([])
  })

  test("in TCGplayer's file are those of TCGplayer and ours", async () => {
    const report = await taken(
      'Product Line,Set Name,Product Name,Number,Condition,Total Quantity,Rarity,price\nPokemon,Base Set,Charizard,4/102,Near Mint,2,Holo,80\n',
    )
    expect([report.created + report.parked, report.ignored_columns]).toEqual([1, ['Rarity']])
  })
})
