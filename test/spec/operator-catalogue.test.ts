// The operator API for categories, items, prices, imports and groups, over HTTP only.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_AMOUNT } from '#core/money.ts'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { rulesIn } from '../support/reasons.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
})
afterAll(() => node.close())

type Sending = Parameters<typeof send>[2]
type Row = Record<string, never> & { id: number }

const operator = <T = Row>(path: string, sending: Sending = {}): Promise<Reply<T>> =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, sending)
const publicItem = (id: number) => send<Row>(`${node.publicUrl}/api/v1/items/${id}`, node.keys.professional)

let count = 0
const fresh = (what: string) => `${what}-${(count += 1)}`

async function category(fields: object = {}): Promise<number> {
  const name = fresh('Set')
  const { status, body } = await operator('/categories', { json: { name, game: 'pokemon', market: 'source_c', ...fields } })
  expect([status, body.error]).toEqual([201, undefined])
  return body.data.id
}

async function item(fields: object = {}): Promise<number> {
  const json = { name: fresh('Card'), market: 'source_c', category_id: await category(), ...fields }
  const { status, body } = await operator('/items', { json })
  expect([status, body.error]).toEqual([201, undefined])
  return body.data.id
}

async function upload(format: string, body: string | Uint8Array, { headers = {}, query = '' } = {}) {
  const started = await operator(`/imports/${format}${query}`, { method: 'POST', body, headers: { 'content-type': 'text/plain', ...headers } })
  expect([started.status, started.body.error]).toEqual([202, undefined])
  return finished(started.body.data.id)
}

interface Finished {
  id: number
  status: string
  message: string | null
  rule: string | null
  errors: { file: string | null; line: number; reason: string }[]
  [count: string]: unknown
}

async function finished(id: number): Promise<Finished> {
  let found: Finished | null = null
  await until(`import ${id}`, async () => {
    found = (await operator<Finished>(`/imports/${id}`)).body.data
    return found.status === 'done' || found.status === 'failed'
  })
  return found!
}

describe('categories', () => {
  test('are created, listed, changed, and visible at once', async () => {
    const parent = await category({ name: 'Wizards era', ref: 'shop:wotc' })
    const created = await operator('/categories', {
      json: { name: 'Base Set', game: 'pokemon', market: 'source_c', parent_id: parent, image: 'https://x.test/a.png' },
    })
    expect(created.body.data).toMatchObject({ name: 'Base Set', slug: 'pokemon-base-set', parent_id: parent, game: 'pokemon', market: 'source_c' })
    const id = created.body.data.id
    const changed = await operator(`/categories/${id}`, { method: 'PATCH', json: { name: 'Base', parent_id: null } })
    expect(changed.body.data).toMatchObject({ id, name: 'Base', slug: 'pokemon-base-set', parent_id: null, image: 'https://x.test/a.png' })
    const listed = await operator<Row[]>('/categories?search=WIZARDS&market=source_c')
    expect(listed.body.data.map((row) => row.id)).toEqual([parent])
    expect((await operator<Row[]>(`/categories?search=${encodeURIComponent('%')}`)).body.data).toEqual([])
    const audit = await operator<{ action: string }[]>(`/audit?subject_type=category&subject_id=${id}`)
    expect(audit.body.data.map((row) => row.action)).toEqual(['category.change', 'category.create'])
  })

  test('cannot have a duplicate ref, form a cycle, or be below another market', async () => {
    const top = await category({ ref: 'shop:top', slug: 'the-top' })
    const low = await category({ parent_id: top })
    const other = await category({ market: 'source_a' })
    const patch = (json: object) => operator(`/categories/${top}`, { method: 'PATCH', json })
    for (const parent_id of [top, low, other, 0, -1, 999_999, 2 ** 40]) {
      const refused = await patch({ parent_id })
      expect([parent_id, refused.status, refused.body.error!.details![0]!.field]).toEqual([parent_id, 422, 'parent_id'])
    }
    const body = { name: 'Other', game: 'pokemon', market: 'source_c' }
    expect((await operator('/categories', { json: { ...body, ref: 'shop:top' } })).body.error!.code).toBe('CONFLICT')
    expect((await operator('/categories', { json: { ...body, slug: 'the-top' } })).body.error!.code).toBe('CONFLICT')
    expect((await operator(`/categories/${low}`, { method: 'PATCH', json: { slug: 'the-top' } })).status).toBe(409)
    expect((await operator(`/categories/${low}`, { method: 'PATCH', json: { ref: 'shop:top' } })).status).toBe(409)
    expect((await patch({ market: 'source_a' })).status).toBe(422)
    expect((await patch({})).status).toBe(422)
    expect((await operator('/categories/999999', { method: 'PATCH', json: { name: 'x' } })).status).toBe(404)
  })
})

describe('items', () => {
  test('are created, partly changed, and visible in the public API at once', async () => {
    const category_id = await category({ name: 'Jungle' })
    const created = await operator('/items', {
      json: {
        ref: 'shop:1',
        name: 'Pikachu',
        code: '60/64',
        genre: 'single',
        market: 'source_c',
        category_id,
        images: ['https://x.test/1.png', { url: 'https://x.test/2.png', order: 9 }],
        attributes: [{ name: 'Rarity', value: 'Common' }],
        groups: [1, 2],
        details: { rarity: 'Common', hp: 50, types: ['Lightning'], dex_ids: [25], evolve_from: 'Pichu' },
        foreign_ids: [{ source: 'tcgplayer', id: '45166' }],
      },
    })
    const { id } = created.body.data
    expect(created.body.data).toMatchObject({ slug: 'pikachu-60-64-jungle', game: 'pokemon', groups: [1, 2] })
    expect((await publicItem(id)).body.data).toMatchObject({
      name: 'Pikachu',
      images: [
        { url: 'https://x.test/1.png', order: 1 },
        { url: 'https://x.test/2.png', order: 9 },
      ],
      groups: [{ name: 'Ungraded' }, { name: 'Graded' }],
    })
    const changed = await operator(`/items/${id}`, { method: 'PATCH', json: { name: 'Pikachu!', ref: 'shop:one', code: null } })
    expect(changed.body.data).toMatchObject({
      name: 'Pikachu!',
      ref: 'shop:one',
      code: null,
      slug: 'pikachu-60-64-jungle',
      details: { hp: 50, evolve_from: 'Pichu' },
      foreign_ids: [{ source: 'tcgplayer', id: '45166' }],
    })
    expect((await publicItem(id)).body.data).toMatchObject({ name: 'Pikachu!', code: null })
    expect((await operator(`/items/${id}`)).body.data).toMatchObject({ ref: 'shop:one', prices: [] })
    const found = await operator<Row[]>(`/items?search=pikachu&category_id=${category_id}&market=source_c&ref=shop:one`)
    expect(found.body).toMatchObject({ data: [{ id }], pagination: { total: 1 } })
    expect((await operator(`/items/${id}x`)).status).toBe(422)
    expect((await operator('/items/999999999999')).body.error!.code).toBe('NOT_FOUND')
  })

  test('have a unique ref and slug', async () => {
    const category_id = await category()
    const body = { name: 'Eevee', market: 'source_c', category_id }
    const first = await operator('/items', { json: { ...body, ref: 'shop:eevee', slug: 'eevee-first' } })
    expect(first.status).toBe(201)
    expect((await operator('/items', { json: { ...body, ref: 'shop:eevee' } })).body.error!.code).toBe('CONFLICT')
    expect((await operator('/items', { json: { ...body, slug: 'eevee-first' } })).body.error!.code).toBe('CONFLICT')
    const second = await operator('/items', { json: body })
    expect((second.body.data as unknown as { ref: string }).ref).toMatch(/^manual:[0-9a-f-]{36}$/)
    const patch = (json: object) => operator(`/items/${second.body.data.id}`, { method: 'PATCH', json })
    expect((await patch({ ref: 'shop:eevee' })).status).toBe(409)
    expect((await patch({ slug: 'eevee-first' })).status).toBe(409)
    const racing = await Promise.all(Array.from({ length: 6 }, () => operator('/items', { json: { ...body, ref: 'shop:race' } })))
    expect(racing.map((reply) => reply.status).sort()).toEqual([201, 409, 409, 409, 409, 409])
  })

  const good = { name: 'x', market: 'source_c' }
  test.each([
    ['name', { ...good, name: '' }],
    ['name', { ...good, name: 'a\0b' }],
    ['name', { ...good, name: 'half \ud800' }],
    ['name', { ...good, name: 'x'.repeat(501) }],
    ['name', { ...good, name: 4 }],
    ['market', { ...good, market: 'ebay' }],
    ['genre', { ...good, genre: 'vehicle' }],
    ['game', { ...good, game: 'Poké mon' }],
    ['category_id', { ...good, category_id: 999_999 }],
    ['category_id', { ...good, market: 'source_a' }],
    ['groups', { ...good, groups: [3] }],
    ['groups', { ...good, groups: [2 ** 50] }],
    ['images.0', { ...good, images: ['javascript:alert(1)'] }],
    [
      'images',
      {
        ...good,
        images: [
          { url: 'https://a.test', order: 1 },
          { url: 'https://b.test', order: 1 },
        ],
      },
    ],
    ['details.hp', { ...good, details: { hp: 'much' } }],
    ['details.colour', { ...good, details: { colour: 'red' } }],
    ['colour', { ...good, colour: 'red' }],
    ['attributes.0.value', { ...good, attributes: [{ name: 'a', value: 'b\0' }] }],
  ])('reject an invalid %s', async (field, json) => {
    const { status, body } = await operator('/items', { json: { category_id: await category(), ...json } })
    expect([status, body.error?.code, body.error?.details?.map((problem) => problem.field)]).toEqual([422, 'VALIDATION_ERROR', [field]])
  })

  test('stay changeable after the ref of the category that an operator set has changed', { tags: 'slow' }, async () => {
    await upload('mintmark-ndjson', CATALOGUE.replaceAll('up:', 'moved:'))
    const { id } = (await operator<[Row]>('/items?ref=moved:1')).body.data[0]
    const patch = async (json: object) => (await operator(`/items/${id}`, { method: 'PATCH', json })).body
    for (const before of ['this release', 'an earlier release']) {
      const moved = await category()
      expect((await patch({ category_id: moved })).data).toMatchObject({ category_id: moved })
      // Earlier releases stored the category without its market.
      if (before === 'an earlier release')
        await sql`update source_records set facts = facts - 'market' where source = 'operator' and foreign_id = ${String(id)}`.execute(node.db.kysely)
      expect((await operator(`/categories/${moved}`, { method: 'PATCH', json: { ref: fresh('shop:moved') } })).status).toBe(200)
      const renamed = await patch({ name: `Renamed in ${before}` })
      expect([renamed.error, renamed.data]).toMatchObject([undefined, { name: `Renamed in ${before}`, category_id: moved }])
    }
  })

  test('reject a body that is not an object', async () => {
    for (const body of ['[]', '"x"', '{', '4']) {
      expect((await operator('/items', { body })).body.error!.code).toBe('INVALID_JSON')
    }
  })
})

describe('prices', () => {
  test('are validated row by row, and visible in the public API at once', async () => {
    const id = await item({ ref: 'shop:priced' })
    const at = '2026-11-01T09:00:00Z'
    const rows: unknown[] = [
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 168.56, updated_at: at },
      { item_ref: 'shop:priced', market: 'source_c', label: 'psa 10.0', price: 900, updated_at: at },
      { item_id: id, market: 'source_c', label: 'TAG 8.5', price: 3, updated_at: at },
      { item_id: id, market: 'source_c', label: 'Shiny', price: 3 },
      { item_id: id, market: 'ebay', label: 'Near Mint', price: 3 },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 0 },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: -1 },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 1.234 },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: '12,50' },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: null },
      { item_id: 999_999, market: 'source_c', label: 'Near Mint', price: 3 },
      { item_ref: 'shop:nobody', market: 'source_c', label: 'Near Mint', price: 3 },
      { market: 'source_c', label: 'Near Mint', price: 3 },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 3, updated_at: 'yesterday' },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 3, updated_at: '0001-01-01T00:00:00Z' },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 3, colour: 1 },
      4,
      null,
      [],
    ]
    const { status, body } = await operator<{ import_id: number; errors: { row: number; message: string }[] }>('/prices', { json: rows })
    expect([status, body.data]).toMatchObject([200, { accepted: 3, unchanged: 0, held: 0, rejected: 16 }])
    expect(body.data.errors.map((error) => error.row)).toEqual(Array.from({ length: 16 }, (_, i) => i + 3))
    const near = { label: 'Near Mint', price: 168.56, updated_at: at }
    expect((await publicItem(id)).body.data).toMatchObject({ prices: [near, { label: 'PSA 10', price: 900 }, { label: 'TAG 8.5', price: 3 }] })
    const again = await operator('/prices', { json: rows.slice(0, 3) })
    expect(again.body.data).toMatchObject({ accepted: 0, unchanged: 3 })
    const jump = await operator('/prices', { json: [{ item_id: id, market: 'source_c', label: 'Near Mint', price: 16856 }] })
    expect(jump.body.data).toMatchObject({ accepted: 0, held: 1 })
    expect((await publicItem(id)).body.data).toMatchObject({ prices: [near, {}, {}] })
    const history = await operator<Row[]>(`/items/${id}/price-history?market=source_c&label=near%20mint&from=2026-01-01T00:00:00Z`)
    expect(history.body.data).toEqual([
      { market: 'source_c', label: 'Near Mint', price: 168.56, updated_at: '2026-11-01T09:00:00.000Z', import_id: body.data.import_id },
    ])
    expect((await operator('/items/999999/price-history')).status).toBe(404)
  })

  test('reject a body that is not a list, is too long or too large', async () => {
    expect((await operator('/prices', { json: { item_id: 1 } })).status).toBe(422)
    expect((await operator('/prices', { json: Array.from({ length: 10_001 }, () => 0) })).status).toBe(422)
    expect((await operator('/prices', { body: `["${'x'.repeat(4 * 1024 * 1024)}"]` })).status).toBe(413)
    expect((await operator('/prices', { json: [] })).body.data).toMatchObject({ accepted: 0, rejected: 0 })
    expect((await operator('/prices', { body: '[{"price": 1e309}]' })).body.data).toMatchObject({ rejected: 1 })
  })

  test('a repeated key posts once', async () => {
    const id = await item()
    const sending = { json: [{ item_id: id, market: 'source_c', label: 'Near Mint', price: 5 }], headers: { 'idempotency-key': 'post-1' } }
    const first = await operator('/prices', sending)
    expect((await operator('/prices', sending)).body).toEqual(first.body)
  })
})

const CATALOGUE = [
  { type: 'category', market: 'source_c', ref: 'up:set', name: 'Uploaded', game: 'pokemon', parent: null, image: null },
  {
    type: 'item',
    market: 'source_c',
    ref: 'up:1',
    name: 'Uploaded one',
    code: '1',
    genre: 'single',
    game: 'pokemon',
    category: 'up:set',
    images: [],
    attributes: [],
    groups: ['ungraded'],
    details: {},
    foreign_ids: [],
    prices: [{ market: 'source_c', label: 'Near Mint', price: '4.50', updated_at: '2026-11-01T09:00:00Z' }],
  },
]
  .map((line) => JSON.stringify(line))
  .join('\n')

describe('imports', () => {
  test('accept a file, compressed or not, and return the result', async () => {
    const plain = await upload('mintmark-ndjson', `${CATALOGUE}\nnot json`, { query: '?file_name=a.ndjson' })
    expect(plain).toMatchObject({ status: 'done', percent: 100, rows_read: 3, created: 2, accepted: 1, rejected: 1, file_name: 'a.ndjson' })
    expect(plain.errors).toEqual([{ file: 'a.ndjson', line: 3, reason: expect.any(String) as string, rule: 'json', params: { part: 'line' } }])
    const [{ id, price }] = (await operator<[Row]>('/items?ref=up:1')).body.data
    expect(price).toMatchObject({ market: 'source_c', price: 4.5 })
    expect((await publicItem(id)).body.data).toMatchObject({ name: 'Uploaded one', prices: [{ price: 4.5 }] })
    const packed = gzipSync(CATALOGUE)
    const again = await upload('mintmark-ndjson', packed, { headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' } })
    expect(again).toMatchObject({ status: 'done', created: 0, updated: 0, unchanged: 3 })
    expect(await upload('mintmark-ndjson', packed)).toMatchObject({ status: 'done', unchanged: 3 })
    const listed = await operator<Row[]>('/imports?format=mintmark-ndjson&status=done&per_page=2')
    expect(listed.body.data.map((row) => row.id)).toEqual([again.id + 1, again.id])
  })

  test('items are listed by several ids, with a search among them, and 100 at most', async () => {
    const name = fresh('Wanted')
    const [one, other] = [await item({ name }), await item()]
    const ids = async (query: string) => (await operator<Row[]>(`/items?${query}`)).body.data.map((row) => row.id)
    expect(await ids(`id=${other}&id=${one}&id=2147483647`)).toEqual([one, other])
    expect(await ids(`id=${other}&id=${one}&search=${name}`)).toEqual([one])
    for (const wrong of ['id=x', 'id=0', Array.from({ length: 101 }, (_, n) => `id=${n + 1}`).join('&')]) {
      const { status, body } = await operator(`/items?${wrong}`)
      expect([status, body.error?.code, body.error?.details?.[0]?.field]).toEqual([422, 'VALIDATION_ERROR', 'id'])
    }
  })

  test('a dry run changes nothing', async () => {
    const dry = await upload('mintmark-ndjson', CATALOGUE.replaceAll('up:', 'dry:'), { query: '?dry_run=1' })
    expect(dry).toMatchObject({ status: 'done', dry_run: true, created: 2 })
    expect((await operator('/items?ref=dry:1')).body.pagination!.total).toBe(0)
  })

  const csv = 'item_ref,market,label,price,updated_at\nup:1,source_c,Near Mint,4.60,2026-11-02T09:00:00Z\n'
  test.each([
    ['empty', 'mintmark-ndjson', '', 'file_empty'],
    ['cut off', 'mintmark-ndjson', gzipSync(CATALOGUE.repeat(99)).subarray(0, 90), 'gzip_damaged'],
    ['no UTF-8', 'mintmark-ndjson', Buffer.from([0x7b, 0xff, 0xfe, 0x0a]), 'utf8'],
    ['of another format', 'mintmark-ndjson', csv, 'file_rows'],
    ['of another format', 'mintmark-prices-csv', CATALOGUE, 'header'],
    ['of another format', 'tcgdex', csv, 'file_rows'],
    ['binary', 'singles-brl', readFileSync(process.execPath).subarray(0, 5000), 'utf8'],
  ])('fail if the file is %s (%s)', async (_what, format, body, rule) => {
    const before = (await operator('/items')).body.pagination!.total
    const failed = await upload(format, body)
    expect(failed.status).toBe('failed')
    expect(failed).toMatchObject({ rule, message: expect.any(String) as string })
    expect(failed).toMatchObject({ created: 0, updated: 0, accepted: 0, held: 0 })
    expect((await operator('/items')).body.pagination!.total).toBe(before)
  })

  test('count rejected rows by reason and file', async () => {
    const row = (ref: string, price: string) => `${ref},source_b,Near Mint,${price},2026-11-02T00:00:00Z`
    const rows = ['item_ref,market,label,price,updated_at', row('nobody', '1'), row('no, one', '1').replace('no, one', '"no, one"'), row('x', 'free')]
    const report = await upload('mintmark-prices-csv', rows.join('\n'), { query: '?file_name=shop.csv' })
    const refused = (line: number, ref: string) => ({ file: 'shop.csv', line, reason: `no item has the ref ${ref}`, rule: 'no_ref', params: { ref } })
    expect(report.errors).toEqual([
      refused(2, 'nobody'),
      refused(3, 'no, one'),
      {
        file: 'shop.csv',
        line: 4,
        reason: expect.stringContaining('"free"') as string,
        field: 'price',
        rule: 'number',
        params: { max: MAX_AMOUNT, value: 'free' },
      },
    ])
    expect(report.reasons).toEqual([
      { reason: 'no item has the ref …', rule: 'no_ref', params: { ref: '…' }, count: 2, samples: [refused(2, 'nobody'), refused(3, 'no, one')] },
      {
        reason: expect.stringContaining('"…"') as string,
        field: 'price',
        rule: 'number',
        params: { max: MAX_AMOUNT, value: '…' },
        count: 1,
        samples: [report.errors[2]],
      },
    ])
    const posted = await operator<{ import_id: number }>('/prices', {
      json: [{ item_id: 999_999, market: 'source_b', label: 'Near Mint', price: 1 }],
    })
    expect((await operator<Finished>(`/imports/${posted.body.data.import_id}`)).body.data.reasons).toMatchObject([
      {
        field: 'item_id',
        rule: 'unknown_id',
        params: { thing: 'item', id: '…' },
        count: 1,
        samples: [{ file: null, line: 0, field: 'item_id', rule: 'unknown_id', params: { thing: 'item', id: 999_999 } }],
      },
    ])
  })

  /** The CSV of an import's rejected rows, by line, without the header. */
  async function refusals(id: number): Promise<string[]> {
    const reply = await fetch(`${node.operatorUrl}/operator/v1/imports/${id}/refusals.csv`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    })
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(reply.headers.get('content-disposition')).toBe(`attachment; filename="import-${id}-refusals.csv"`)
    const [head, ...lines] = (await reply.text()).trimEnd().split('\n')
    expect(head).toBe('file,line,rule,reason')
    return lines
  }

  test('list every rejected row in a CSV, whatever happens to the import', async () => {
    const rows = Array.from({ length: 12_000 }, (_none, i) => `nobody-${i},source_b,Near Mint,1,2026-11-02T00:00:00Z`)
    const body = ['item_ref,market,label,price,updated_at', ...rows, '"=cmd ""x""",source_b,Near Mint,1,2026-11-02T00:00:00Z'].join('\n')
    const all = await upload('mintmark-prices-csv', body, { query: '?file_name=all.csv' })
    const lines = await refusals(all.id)
    expect([all.rejected, all.errors.length, lines.length]).toEqual([12_001, 1_000, 12_001])
    expect([lines[0], lines[11_999], lines[12_000]]).toEqual([
      'all.csv,2,no_ref,no item has the ref nobody-0',
      'all.csv,12001,no_ref,no item has the ref nobody-11999',
      'all.csv,12002,no_ref,"no item has the ref =cmd ""x"""',
    ])
    const some = body.split('\n').slice(0, 1_502).join('\n')
    const dry = await upload('mintmark-prices-csv', some, { query: '?dry_run=1' })
    expect([dry.errors.length, (await refusals(dry.id)).length]).toEqual([1_000, 1_501])
    const broken = await upload('mintmark-ndjson', `${CATALOGUE}\n${'not json\n'.repeat(2_000)}${'x'.repeat(2 * 1024 * 1024)}`)
    const before = await refusals(broken.id)
    expect([broken.status, before.length, before[0]]).toEqual(['failed', broken.rejected, 'mintmark-ndjson,3,json,invalid JSON in the line'])
    const posted = await operator<{ import_id: number }>('/prices', {
      json: [{ item_id: 999_999, market: 'source_b', label: 'Near Mint', price: 1 }],
    })
    expect(await refusals(posted.body.data.import_id)).toEqual([',0,unknown_id,"item_id must be the id of an existing item, not 999999"'])
    expect((await operator('/imports/999999/refusals.csv')).status).toBe(404)
  })

  test('of an earlier version list the rows stored with them', { tags: 'slow' }, async () => {
    const { id } = await upload('mintmark-ndjson', `${CATALOGUE}\nnot json`, { query: '?file_name=a.ndjson' })
    await node.db.kysely.deleteFrom('import_refusals').where('import_id', '=', id).execute()
    const errors = JSON.stringify([{ row: 3, message: 'the line is no valid JSON' }])
    await node.db.kysely.updateTable('imports').set({ errors }).where('id', '=', id).execute()
    expect(await refusals(id)).toEqual(['a.ndjson,3,,the line is no valid JSON'])
  })

  test('reject unknown formats, encodings and parameters', async () => {
    const unknown = await operator('/imports/excel', { method: 'POST', body: 'x' })
    expect([unknown.status, rulesIn(unknown.body.error)]).toEqual([404, expect.stringMatching(/^no_format excel mintmark-ndjson,/)])
    expect((await operator('/imports/tcgdex', { method: 'POST', body: 'x', headers: { 'content-encoding': 'br' } })).status).toBe(415)
    expect((await operator('/imports/tcgdex?market=ebay', { method: 'POST', body: 'x' })).status).toBe(422)
    expect((await operator('/imports/tcgdex?file_name=../x', { method: 'POST', body: 'x' })).status).toBe(422)
    expect((await operator('/imports/999999')).status).toBe(404)
    expect((await operator('/imports?status=lost')).status).toBe(422)
    const wrong = await operator('/imports/1', { method: 'PUT', json: {} })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD'])
  })

  test('a repeated key imports once', async () => {
    const sending = { method: 'POST', body: CATALOGUE, headers: { 'idempotency-key': 'file-1' } }
    const first = await operator('/imports/mintmark-ndjson', sending)
    expect((await operator('/imports/mintmark-ndjson', sending)).body).toEqual(first.body)
    const other = await operator('/imports/mintmark-ndjson', { ...sending, body: csv })
    expect(other.body.error!.code).toBe('IDEMPOTENCY_CONFLICT')
    await finished(first.body.data.id)
  })

  test('several imports are queued and all finish', { tags: 'slow' }, async () => {
    const ids = await Promise.all(
      Array.from({ length: 3 }, async (_, i) => {
        const body = CATALOGUE.replaceAll('up:', `many${i}:`)
        return (await operator('/imports/mintmark-ndjson', { method: 'POST', body })).body.data.id
      }),
    )
    const all = await Promise.all(ids.map(finished))
    expect(all.map(({ status, created }) => [status, created])).toEqual(ids.map(() => ['done', 2]))
  })

  test('an import interrupted by a crash is marked as failed', { tags: 'slow' }, async () => {
    const values = { format: 'tcgdex', author: 'operator:gone', status: 'running' as const, started_at: new Date('2026-01-01') }
    const { id } = await node.db.kysely.insertInto('imports').values(values).returning('id').executeTakeFirstOrThrow()
    const other = await startTestNode({ databaseUrl: node.databaseUrl })
    try {
      expect(await finished(id)).toMatchObject({ status: 'failed', rule: 'import_interrupted' })
    } finally {
      await other.close()
    }
  })
})

test('groups list their grades in response order', async () => {
  const { body } = await operator<{ name: string; slug: string; types: { label: string }[] }[]>('/groups')
  expect(body.data.map((group) => [group.name, group.slug])).toEqual([
    ['Ungraded', 'ungraded'],
    ['Graded', 'graded'],
  ])
  expect(body.data[0]!.types.map((type) => type.label)).toEqual(['Near Mint', 'Lightly Played', 'Moderately Played', 'Heavily Played', 'Ungraded'])
  expect(body.data[1]!.types[0]).toMatchObject({ label: 'PSA 10', slug: 'psa-10' })
})

test('nothing is returned without a token, or for an API key', async () => {
  for (const path of ['/categories', '/items', '/imports', '/groups', '/items/1/price-history']) {
    expect((await send(`${node.operatorUrl}/operator/v1${path}`, null)).status).toBe(401)
    expect((await send(`${node.operatorUrl}/operator/v1${path}`, node.keys.enterprise)).status).toBe(401)
  }
})
