// The item list and the single item over HTTP: shapes by plan, filters, sorts, pages, entity tags and compression.
import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeSortKey } from '#catalogue/records/code-order.ts'
import { labelOrder } from '#core/labels.ts'
import { fold } from '#index/fold.ts'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'

/** Prefix of the addresses of the sample's pictures. */
const PUBLIC_URL = 'https://cards.example'

interface Price {
  label: string
  price: number
  updated_at: string
}

interface Item {
  id: number
  name: string
  code: string | null
  category: { id: number; name: string; slug?: string }
  prices: Price[]
  groups: { id: number; name: string; slug?: string }[]
  slug?: string
  genre?: string
  game?: string
  market?: string
  images?: { id: number; url: string; order: number }[]
  attributes?: { name: string; value: string }[]
}

/** The columns of an item by which lists are filtered and sorted, from the database. */
interface Row {
  id: number
  name: string
  code: string | null
  market: string
  /** markets for which a list contains the item */
  markets: string[]
  game: string
  genre: string
  category_id: number
  near_mint: string | null
  lowest: string | null
  changed: Date
}

/** Lira for one unit of each market's currency, set before the tests. */
const LIRA: Record<string, number> = { service: 1, source_a: 41.87, source_b: 48.31, source_c: 41.87 }
const RATES = [
  { day: '2026-01-01', currency: 'USD', TRY: 41.87 },
  { day: '2026-01-01', currency: 'EUR', TRY: 48.31 },
]

const FEED = [
  { type: 'category', market: 'service', ref: 't:root', name: 'Türkçe Seri', game: 'pokemon', parent: null, image: null },
  { type: 'category', market: 'service', ref: 't:leaf', name: 'İlk Set', game: 'pokemon', parent: 't:root', image: null },
  item('t:1', 'Şimşek Çırak', '001/010', {
    images: [
      { url: 'https://images.example/1.png', order: 1 },
      { url: 'https://images.example/1-back.png', order: 2 },
    ],
    attributes: [
      { name: 'Set Number', value: '001/010' },
      { name: 'Rarity', value: 'Rare' },
    ],
    groups: ['ungraded', 'graded'],
    prices: [
      price('CGC 9', '40.00'),
      price('PSA 9', '60.00'),
      price('Heavily Played', '1.05'),
      price('PSA 10', '100.10', '2026-11-01T09:00:00.250Z'),
      price('BGS 9.5', '70.00'),
      price('Near Mint', '10.00'),
      price('Lightly Played', '8.00'),
      price('CGC 10', '80.00'),
      price('Moderately Played', '5.00'),
      { ...price('Near Mint', '999.00'), market: 'source_a' },
    ],
  }),
  item('t:2', 'Only Played', '2/10', { prices: [price('Heavily Played', '3.00'), price('Lightly Played', '4.00')] }),
  item('t:3', 'Only Graded', '10/10', { prices: [price('PSA 10', '50.00')] }),
  item('t:4', 'No Price', null, { category: 't:root', genre: 'sealed' }),
  item('t:5', 'no price', null, { category: 't:root', genre: 'card' }),
]

function item(ref: string, name: string, code: string | null, others: object) {
  const empty = { images: [], attributes: [], groups: ['ungraded'], details: {}, foreign_ids: [] }
  const place = { genre: 'single', game: 'pokemon', category: 't:leaf' }
  return { type: 'item', market: 'service', ref, name, code, ...place, ...empty, ...others }
}

function price(label: string, amount: string, at = '2026-11-01T09:00:00Z') {
  return { market: 'service', label, price: amount, updated_at: at }
}

let node: TestNode
let rows: Row[]
let below: Map<number, Set<number>>

beforeAll(async () => {
  node = await startTestNode({ env: { PUBLIC_URL } })
  for (const name of ['pokemon', 'onepiece']) {
    await importText(node, 'mintmark-ndjson', readFileSync(`sample/${name}.ndjson`, 'utf8'))
  }
  const report = await importText(node, 'mintmark-ndjson', FEED.map((line) => JSON.stringify(line)).join('\n'))
  expect(report.errors).toEqual([])
  expect((await send(`${node.operatorUrl}/operator/v1/rates`, OPERATOR_TOKEN, { json: RATES })).status).toBeLessThan(300)
  rows = await readRows()
  below = await readSubtrees()
})

afterAll(() => node.close())

async function readRows(): Promise<Row[]> {
  const found = await sql<Row>`
    select i.id, i.name, i.code, i.market, i.game, i.genre, i.category_id,
      min(p.price) filter (where g.name = 'Near Mint') as near_mint,
      min(p.price) filter (where u.slug = 'ungraded') as lowest,
      greatest(i.updated_at, max(p.updated_at)) as changed,
      array(select m.code from unnest('{service,source_a,source_b,source_c}'::text[]) with ordinality as m (code, n)
        where m.code = i.market or exists (select from prices o where o.item_id = i.id and o.market = m.n - 1)) as markets
    from items i
    left join prices p on p.item_id = i.id
      and p.market = array_position('{service,source_a,source_b,source_c}', i.market) - 1
    left join groups g on g.id = p.label_id
    left join groups u on u.id = g.parent_id
    group by i.id`.execute(node.db.kysely)
  return found.rows
}

/** Category id → its own id and those of all categories below it. */
async function readSubtrees(): Promise<Map<number, Set<number>>> {
  const found = await sql<{ root: number; id: number }>`
    with recursive tree as (
      select id as root, id from categories
      union all select tree.root, c.id from tree join categories c on c.parent_id = tree.id
    ) select root, id from tree`.execute(node.db.kysely)
  return Map.groupBy(found.rows, (row) => row.root)
    .entries()
    .reduce((all, [root, members]) => {
      return all.set(root, new Set(members.map((member) => member.id)))
    }, new Map<number, Set<number>>())
}

function get<T = Item[]>(query: string, plan: keyof TestNode['keys'] = 'professional', headers: Record<string, string> = {}) {
  return send<T>(`${node.publicUrl}/api/v1/items${query}`, node.keys[plan], { headers })
}

/** The category of the items of FEED. */
function ownRoot(): number {
  return rows.find((row) => row.name === 'No Price')!.category_id
}

function idOf(name: string): number {
  return rows.find((row) => row.name === name)!.id
}

describe('shape', () => {
  test('Professional gets every field, in full', async () => {
    const { status, body } = await get<Item>(`/${idOf('Şimşek Çırak')}`)
    expect(status).toBe(200)
    const { id } = body.data
    expect(body).toEqual({
      success: true,
      data: {
        id,
        name: 'Şimşek Çırak',
        code: '001/010',
        slug: 'simsek-cirak-001-010-ilk-set',
        genre: 'single',
        game: 'pokemon',
        market: 'service',
        category: { id: expect.any(Number), name: 'İlk Set', slug: 'pokemon-ilk-set' },
        images: [
          { id: expect.any(Number), url: 'https://images.example/1.png', order: 1 },
          { id: expect.any(Number), url: 'https://images.example/1-back.png', order: 2 },
        ],
        prices: [
          { label: 'Near Mint', price: 10, updated_at: '2026-11-01T09:00:00Z' },
          { label: 'Lightly Played', price: 8, updated_at: '2026-11-01T09:00:00Z' },
          { label: 'Moderately Played', price: 5, updated_at: '2026-11-01T09:00:00Z' },
          { label: 'Heavily Played', price: 1.05, updated_at: '2026-11-01T09:00:00Z' },
          { label: 'PSA 10', price: 100.1, updated_at: '2026-11-01T09:00:00.250Z' },
          { label: 'PSA 9', price: 60, updated_at: '2026-11-01T09:00:00Z' },
          { label: 'CGC 10', price: 80, updated_at: '2026-11-01T09:00:00Z' },
          { label: 'CGC 9', price: 40, updated_at: '2026-11-01T09:00:00Z' },
          { label: 'BGS 9.5', price: 70, updated_at: '2026-11-01T09:00:00Z' },
        ],
        groups: [
          { id: 1, name: 'Ungraded', slug: 'ungraded' },
          { id: 2, name: 'Graded', slug: 'graded' },
        ],
        attributes: [
          { name: 'Set Number', value: '001/010' },
          { name: 'Rarity', value: 'Rare' },
        ],
      },
    })
    expect(new Set(body.data.images!.map((image) => image.id)).size).toBe(2)
  })

  test('Starter gets the reduced fields only, including nested ones', async () => {
    const { body } = await get<Item>(`/${idOf('Şimşek Çırak')}`, 'starter')
    expect(Object.keys(body.data).sort()).toEqual(['category', 'code', 'groups', 'id', 'name', 'prices'])
    expect(Object.keys(body.data.category).sort()).toEqual(['id', 'name'])
    for (const group of body.data.groups) expect(Object.keys(group).sort()).toEqual(['id', 'name'])
    expect(body.data.prices).toHaveLength(9)
    for (const listed of (await get('?per_page=100', 'starter')).body.data) {
      expect(Object.keys(listed).sort()).toEqual(['category', 'code', 'groups', 'id', 'name', 'prices'])
    }
  })

  test('Plus and Enterprise get what Professional gets', async () => {
    const professional = await get('?per_page=100')
    expect((await get('?per_page=100', 'plus')).body).toEqual(professional.body)
    expect((await get('?per_page=100', 'enterprise')).body).toEqual(professional.body)
  })

  test('an item without code, images, attributes or prices has empty values, not missing fields', async () => {
    const { data } = (await get<Item>(`/${idOf('No Price')}`)).body
    expect(data).toMatchObject({ code: null, genre: 'sealed', images: [], attributes: [], prices: [] })
  })

  test('every item lists each label once, in order, with times in UTC, from one market only', async () => {
    const stored = await sql<{ id: number; label: string; price: string }>`
      select i.id, g.name as label, p.price from items i
      join prices p on p.item_id = i.id and p.market = array_position('{service,source_a,source_b,source_c}', i.market) - 1
      join groups g on g.id = p.label_id`.execute(node.db.kysely)
    const expected = Map.groupBy(stored.rows, (row) => row.id)
    const items = await allPages('')
    expect(items).toHaveLength(rows.length)
    for (const { id, prices } of items) {
      const labels = prices.map((each) => each.label)
      expect(labels).toEqual([...new Set(labels)].sort((a, b) => (labelOrder(a) < labelOrder(b) ? -1 : 1)))
      expect(new Map(prices.map((each) => [each.label, each.price]))).toEqual(
        new Map((expected.get(id) ?? []).map((row) => [row.label, Number(row.price)])),
      )
      for (const each of prices) expect(each.updated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/)
    }
  })
})

async function allPages(query: string, perPage = 100): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; ; page += 1) {
    const { status, body } = await get(`?${query}&per_page=${perPage}&page=${page}`)
    expect(status).toBe(200)
    items.push(...body.data)
    if (!body.pagination!.has_more) return items
  }
}

describe('filters', () => {
  test('totals are exact for every combination of market, game, genre and category', { tags: 'slow' }, async () => {
    const anyLeaf = rows.find((row) => row.market === 'source_c')!.category_id
    const roots = [...below].filter(([, members]) => members.size > 5).map(([root]) => root)
    const categories = [undefined, anyLeaf, ...roots.slice(0, 2), 2 ** 31 - 1]
    for (const market of [undefined, 'service', 'source_a', 'source_b', 'source_c']) {
      for (const game of [undefined, 'pokemon', 'onepiece', 'chess']) {
        for (const genre of [undefined, 'single', 'card', 'sealed', 'bundle']) {
          for (const category of categories) {
            const query = new URLSearchParams()
            for (const [name, value] of Object.entries({ market, game, genre, category_id: category })) {
              if (value !== undefined) query.set(name, String(value))
            }
            const expected = rows.filter(
              (row) =>
                (market === undefined || row.markets.includes(market)) &&
                (game === undefined || row.game === game) &&
                (genre === undefined || row.genre === genre) &&
                (category === undefined || (below.get(category)?.has(row.category_id) ?? false)),
            )
            const { status, body } = await get(`?per_page=1&${query}`)
            expect([status, query.toString(), body.pagination?.total]).toEqual([200, query.toString(), expected.length])
            expect(body.data).toHaveLength(Math.min(1, expected.length))
          }
        }
      }
    }
  })

  test('a category includes all below it', async () => {
    const [root, members] = [...below].find(([, ids]) => ids.size > 10)!
    const found = await allPages(`category_id=${root}`)
    expect(new Set(found.map((each) => each.category.id)).size).toBeGreaterThan(5)
    expect(found.map((each) => each.id).sort()).toEqual(
      rows
        .filter((row) => members.has(row.category_id))
        .map((row) => row.id)
        .sort(),
    )
  })

  test('search filters by name, code or category name and combines with other filters', async () => {
    const names = (await get('?search=charizard&market=source_c&genre=single&per_page=100')).body.data.map((each) => each.name)
    const expected = rows.filter((row) => row.markets.includes('source_c') && row.genre === 'single' && /charizard/i.test(row.name))
    expect(names.sort()).toEqual(expected.map((row) => row.name).sort())
    expect((await get('?search=ilk%20simsek')).body.data.map((each) => each.name)).toEqual(['Şimşek Çırak'])
    expect((await get('?search=charizrad')).body.pagination!.total).toBe(0)
  })

  test('an empty or blank search is ignored', async () => {
    for (const search of ['', '%20', '+%09']) {
      expect((await get(`?search=${search}`)).body.pagination!.total).toBe(rows.length)
    }
  })
})

describe('sorts', () => {
  const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  const keys: Record<string, (row: Row) => string | number | null> = {
    name: (row) => fold(row.name),
    code: (row) => (row.code === null ? null : codeSortKey(row.code)),
    id: (row) => row.id,
    price: (row) => (row.near_mint ?? row.lowest) && Number(row.near_mint ?? row.lowest) * LIRA[row.market]!,
    updated_at: (row) => row.changed.getTime(),
  }

  test.each(
    Object.keys(keys).flatMap((field) => [
      [field, 'asc'],
      [field, 'desc'],
    ]),
  )('by %s %s', async (field, order) => {
    const key = keys[field!]!
    const compare = (a: Row, b: Row): number => {
      const [one, other] = [key(a), key(b)]
      if (one === null || other === null) return Number(one === null) - Number(other === null) || a.id - b.id
      const by = typeof one === 'string' ? text(one, other as string) : one - (other as number)
      return (order === 'asc' ? by : -by) || a.id - b.id
    }
    const found = await allPages(`sort_by=${field}&sort_order=${order}`, 37)
    expect(found.map((each) => each.id)).toEqual([...rows].sort(compare).map((row) => row.id))
  })

  test('items without a price come last in both directions; played prices count if there is no Near Mint price', async () => {
    const names = async (order: string) => (await allPages(`category_id=${ownRoot()}&sort_by=price&sort_order=${order}`)).map((i) => i.name)
    const [asc, desc] = [await names('asc'), await names('desc')]
    expect([asc.slice(0, 2), desc.slice(0, 2)]).toEqual([
      ['Only Played', 'Şimşek Çırak'],
      ['Şimşek Çırak', 'Only Played'],
    ])
    // By id, which follows the order of a file only among cards of one language family.
    expect(asc.slice(2)).toEqual(desc.slice(2))
    expect(asc.slice(2).sort()).toEqual(['No Price', 'Only Graded', 'no price'])
  })

  test('codes sort in collector number order', async () => {
    const found = await allPages(`category_id=${ownRoot()}&sort_by=code`)
    expect(found.map((each) => each.code)).toEqual(['001/010', '2/10', '10/10', null, null])
  })
})

describe('pages', () => {
  test('defaults: page 1 of 20 by name', async () => {
    const { body } = await get('')
    expect(body.pagination).toEqual({
      current_page: 1,
      per_page: 20,
      total: rows.length,
      last_page: Math.ceil(rows.length / 20),
      has_more: true,
    })
    expect((await get('?page=1&per_page=20&sort_by=name&sort_order=asc')).body).toEqual(body)
  })

  test('the last page and those past the end', async () => {
    const last = Math.ceil(rows.length / 100)
    const onLast = await get(`?per_page=100&page=${last}`)
    expect(onLast.body.data).toHaveLength(rows.length - (last - 1) * 100)
    expect(onLast.body.pagination).toMatchObject({ current_page: last, last_page: last, has_more: false })
    for (const page of [last + 1, 1_000_000, 2 ** 31 - 1]) {
      const past = await get(`?per_page=100&page=${page}`)
      expect([past.status, past.body.data]).toEqual([200, []])
      expect(past.body.pagination).toEqual({ current_page: page, per_page: 100, total: rows.length, last_page: last, has_more: false })
    }
  })

  test('an empty result is page 1 of 1', async () => {
    const { body } = await get('?game=chess')
    expect(body).toEqual({
      success: true,
      data: [],
      pagination: { current_page: 1, per_page: 20, total: 0, last_page: 1, has_more: false },
    })
  })

  test('an unknown item returns 404', async () => {
    for (const id of ['0', '-1', '2147483647', '99999999999999999999999999']) {
      const { status, body } = await get<Item>(`/${id}`)
      expect([id, status, body.error!.code]).toEqual([id, 404, 'ITEM_NOT_FOUND'])
    }
  })
})

describe('entity tags', () => {
  test('return 304 without a body, also for weak tags, in a list and as *', async () => {
    for (const path of ['', '?search=pikachu', '/search?q=pikachu', `/${idOf('No Price')}`]) {
      const first = await get(path)
      const tag = first.headers.get('etag')!
      expect(tag).toMatch(/^"[^"]+"$/)
      for (const ifNoneMatch of [tag, `W/${tag}`, `"other", ${tag}`, `W/"x",W/${tag}`, '*']) {
        const again = await get(path, 'professional', { 'if-none-match': ifNoneMatch })
        expect([ifNoneMatch, again.status, again.body, again.headers.get('etag')]).toEqual([ifNoneMatch, 304, null, tag])
        expect(again.headers.get('x-request-id')).toBeTruthy()
      }
      expect((await get(path, 'professional', { 'if-none-match': '"other"' })).status).toBe(200)
      expect((await get(path, 'starter', { 'if-none-match': tag })).status).toBe(200)
    }
  })

  test('change with a price of the item, and only then', async () => {
    const path = `/${idOf('Only Played')}`
    const list = `?category_id=${ownRoot()}`
    const before = [await get(path), await get(list), await get(`/${idOf('Only Graded')}`)].map(tagOf)
    const csv = 'item_ref,market,label,price,updated_at\nt:2,service,Lightly Played,4.50,2026-11-02T09:00:00Z\n'
    expect((await importText(node, 'mintmark-prices-csv', csv)).counts.accepted).toBe(1)
    const after = [await get(path), await get(list), await get(`/${idOf('Only Graded')}`)].map(tagOf)
    expect(after[0]).not.toBe(before[0])
    expect(after[1]).not.toBe(before[1])
    expect(after[2]).toBe(before[2])
    expect((await get<Item>(path)).body.data.prices[0]).toEqual({
      label: 'Lightly Played',
      price: 4.5,
      updated_at: '2026-11-02T09:00:00Z',
    })
    rows = await readRows()
  })

  test('are the same on another node and after a restart', async () => {
    const paths = ['?per_page=100', '?market=service&sort_by=price&sort_order=desc', '/search?q=charizard', `/${idOf('Only Played')}`]
    const here = await Promise.all(paths.map(async (path) => tagOf(await get(path))))
    for (let start = 1; start <= 2; start += 1) {
      const other = await startTestNode({ databaseUrl: node.databaseUrl, env: { PUBLIC_URL } })
      try {
        const ask = (path: string) => send(`${other.publicUrl}/api/v1/items${path}`, node.keys.professional)
        expect(await Promise.all(paths.map(async (path) => tagOf(await ask(path))))).toEqual(here)
      } finally {
        await other.close()
      }
    }
  })

  function tagOf({ headers }: { headers: Headers }): string {
    return headers.get('etag')!
  }
})

describe('transfer', () => {
  interface Raw {
    status: number
    headers: Record<string, string | string[] | undefined>
    body: Buffer
  }

  /** The response as sent: fetch would decompress it. */
  function raw(path: string, headers: Record<string, string>, method = 'GET'): Promise<Raw> {
    return new Promise((resolve, reject) => {
      const all = { authorization: `Bearer ${node.keys.professional}`, ...headers }
      const request = httpRequest(`${node.publicUrl}${path}`, { method, headers: all }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }))
      })
      request.on('error', reject).end()
    })
  }

  const LIST = '/api/v1/items?per_page=100'

  test('is compressed as the client requests', async () => {
    const plain = await raw(LIST, {})
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(plain.headers['content-type']).toBe('application/json; charset=utf-8')
    const zipped = await raw(LIST, { 'accept-encoding': 'gzip' })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true)
    const brotli = await raw(LIST, { 'accept-encoding': 'gzip, deflate, br' })
    expect(brotli.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true)
    for (const answer of [zipped, brotli]) expect(String(answer.headers.vary).toLowerCase()).toContain('accept-encoding')
    for (const strange of ['zstd', 'identity', 'identity;q=0', 'gzip;q=0', ';;;q=', '*']) {
      expect((await raw(LIST, { 'accept-encoding': strange })).status).toBe(200)
    }
  })

  test('HEAD responds like GET, without the body', async () => {
    const [get_, head] = [await raw(LIST, {}), await raw(LIST, {}, 'HEAD')]
    expect([head.status, head.body.length]).toEqual([200, 0])
    for (const name of ['etag', 'content-type', 'content-length']) expect(head.headers[name]).toBe(get_.headers[name])
  })

  test('a valid X-Request-Id is returned, any other is replaced', async () => {
    expect((await raw(LIST, { 'x-request-id': 'order-1:a.b_c' })).headers['x-request-id']).toBe('order-1:a.b_c')
    for (const bad of ['a b', 'x'.repeat(65), '<script>', 'ü']) {
      const answer = await raw(LIST, { 'x-request-id': Buffer.from(bad).toString('latin1') })
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{12}-\w+$/)
    }
    const [one, other] = [await raw(LIST, {}), await raw(LIST, {})]
    expect(one.headers['x-request-id']).not.toBe(other.headers['x-request-id'])
  })
})

test('a removed item is gone from every list and response', async () => {
  const id = idOf('no price')
  await node.db.kysely.transaction().execute(async (tx) => {
    await tx.deleteFrom('items').where('id', '=', id).execute()
    await tx
      .insertInto('change_log')
      .values({ kind: 'items', ids: [id], at: new Date() })
      .execute()
  })
  await until('the item is gone', async () => (await get(`/${id}`)).status === 404)
  expect((await get(`?category_id=${ownRoot()}`)).body.pagination!.total).toBe(4)
  expect((await get('?search=no%20price')).body.pagination!.total).toBe(1)
})
