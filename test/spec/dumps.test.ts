// Dumps of the catalogue over HTTP: the contents of their files, when they are created, and who can download them.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS, HOUR_MS } from '#core/duration.ts'
import { OPERATOR_TOKEN, passOnAllPrices, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'

interface Dump {
  as_of: string
  change_cursor: string
  files: { name: string; rows: number; bytes: number; sha256: string }[]
}
interface State {
  latest: Dump | null
  running: object | null
  failure: string | null
}

let node: TestNode
let category: number
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mintmark-dumps-'))
  node = await startTestNode({ env: { PRICE_HOLD_FACTOR: '1000', DUMPS_DIR: folder } })
  await passOnAllPrices(node)
  category = (await operator<{ id: number }>('POST', '/categories', { name: 'Seti İkinci', game: 'pokemon', market: 'source_c' })).id
})
afterAll(async () => {
  await node.close()
  rmSync(folder, { recursive: true })
})

async function operator<T>(method: string, path: string, json?: object): Promise<T> {
  const { status, body } = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, ...(json && { json }) })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body.data
}

function read<T>(path: string, key: string | null = node.keys.professional): Promise<Reply<T>> {
  return send<T>(`${node.publicUrl}/api/v1${path}`, key)
}

async function bytesOf(name: string, headers = {}): Promise<Buffer> {
  const response = await fetch(`${node.publicUrl}/api/v1/dumps/${name}`, {
    headers: { authorization: `Bearer ${node.keys.professional}`, ...headers },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-encoding')).toBe(null)
  return Buffer.from(await response.arrayBuffer())
}

async function madeAnew(): Promise<Dump> {
  const before = (await operator<State>('GET', '/dumps')).latest
  expect((await send(`${node.operatorUrl}/operator/v1/dumps`, OPERATOR_TOKEN, { method: 'POST' })).status).toBe(202)
  let state = await operator<State>('GET', '/dumps')
  await until('the dump is made', async () => {
    state = await operator<State>('GET', '/dumps')
    return state.running === null
  })
  expect(state.failure).toBe(null)
  expect(state.latest!.as_of > (before?.as_of ?? '')).toBe(true)
  return state.latest!
}

let items = 0
async function item(fields = {}): Promise<number> {
  items += 1
  const card = { name: `Kart ${items} "ışık" リザードン`, ref: `card:${items}`, market: 'source_c', category_id: category, ...fields }
  return (await operator<{ id: number }>('POST', '/items', card)).id
}

async function rowsOf(dump: Dump, table: string): Promise<Record<string, unknown>[]> {
  const text = gunzipSync(await bytesOf(dump.files.find(({ name }) => name.startsWith(`${table}-`) && name.endsWith('.ndjson.gz'))!.name)).toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

async function parquetOf(dump: Dump, table: string): Promise<Record<string, unknown>[]> {
  const bytes = await bytesOf(dump.files.find(({ name }) => name.startsWith(`${table}-`) && name.endsWith('.parquet'))!.name)
  const file = new Uint8Array(bytes).buffer
  return (await parquetReadObjects({ file })) as Record<string, unknown>[]
}

test('an empty catalogue has no dump', async () => {
  expect((await read('/dumps')).body).toMatchObject({ success: true, data: null })
})

describe('a dump', () => {
  let dump: Dump
  let id: number

  beforeAll(async () => {
    id = await item({ code: '4/102', details: { hp: 120, types: ['Ateş'] }, foreign_ids: [{ source: 'cardmarket', id: '77' }] })
    await operator('POST', '/prices', [
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 1.15, updated_at: '2026-10-31T23:59:59.999Z' },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 1.4, updated_at: '2026-11-01T00:00:00Z' },
      { item_id: id, market: 'source_a', label: 'CGC 10', price: 9_999_999_999.99, updated_at: '2026-11-01T00:00:00Z' },
      { item_id: id, market: 'source_b', label: 'PSA 10', price: 0.29, updated_at: '2026-11-02T12:30:00.5Z' },
    ])
    dump = await madeAnew()
  })

  test('contains every table as NDJSON', async () => {
    expect(await rowsOf(dump, 'categories')).toMatchObject([{ id: category, name: 'Seti İkinci', parent_id: null }])
    expect(await rowsOf(dump, 'items')).toMatchObject([
      { id, name: 'Kart 1 "ışık" リザードン', code: '4/102', category_id: category, details: { hp: 120, types: ['Ateş'] } },
    ])
    expect((await rowsOf(dump, 'items'))[0]!.foreign_ids).toEqual([{ source: 'cardmarket', id: '77' }])
    expect(await rowsOf(dump, 'prices')).toEqual([
      { item_id: id, market: 'source_a', label: 'CGC 10', price: 9_999_999_999.99, currency: 'USD', updated_at: '2026-11-01T00:00:00Z' },
      { item_id: id, market: 'source_b', label: 'PSA 10', price: 0.29, currency: 'EUR', updated_at: '2026-11-02T12:30:00.500Z' },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 1.4, currency: 'USD', updated_at: '2026-11-01T00:00:00Z' },
    ])
    expect(await rowsOf(dump, 'price-points-2026-10')).toEqual([
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 1.15, at: '2026-10-31T23:59:59.999Z' },
    ])
    expect(await rowsOf(dump, 'price-points-2026-11')).toHaveLength(3)
  })

  test('contains the same as Parquet, with exact amounts', async () => {
    const prices = await parquetOf(dump, 'prices')
    // The file contains whole cents; the reader divides them.
    expect(prices.map(({ price }) => Math.round((price as number) * 100))).toEqual([999_999_999_999, 29, 140])
    expect(prices[1]).toMatchObject({ item_id: id, market: 'source_b', label: 'PSA 10', updated_at: new Date('2026-11-02T12:30:00.5Z') })
    expect(await parquetOf(dump, 'items')).toMatchObject([{ id, name: 'Kart 1 "ışık" リザードン', details: { hp: 120, types: ['Ateş'] } }])
    expect(await parquetOf(dump, 'price-points-2026-10')).toHaveLength(1)
  })

  test('describes each file', async () => {
    for (const { name, bytes, sha256, rows } of dump.files) {
      const content = await bytesOf(name, { 'accept-encoding': 'gzip, br' })
      expect([content.length, createHash('sha256').update(content).digest('hex')]).toEqual([bytes, sha256])
      // The months created in advance have no file.
      expect(rows).toBeGreaterThan(0)
    }
    expect((await read<Dump>('/dumps')).body.data).toEqual(dump)
  })

  test('has a cursor for later changes', async () => {
    const changed = async () => (await read<{ kind: string; id: number }[]>(`/changes?after=${dump.change_cursor}`)).body.data
    expect(await changed()).toEqual([])
    const later = await item()
    expect((await changed()).map(({ kind, id }) => [kind, id])).toEqual([['item', later]])
  })

  test('stays until the second dump after it', async () => {
    const name = dump.files[0]!.name
    await madeAnew()
    await bytesOf(name)
    await madeAnew()
    expect((await read(`/dumps/${name}`)).status).toBe(404)
  })
})

test('a download is resumed with Range, and not repeated if it is known', async () => {
  const { files } = (await read<Dump>('/dumps')).body.data
  const { name, bytes } = files.find((file) => file.name.startsWith('items-'))!
  const get = async (headers: Record<string, string>) => {
    const response = await fetch(`${node.publicUrl}/api/v1/dumps/${name}`, {
      headers: { authorization: `Bearer ${node.keys.professional}`, ...headers },
    })
    return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) }
  }
  const whole = await get({})
  const etag = whole.headers.get('etag')!
  expect([whole.status, whole.body.length, whole.headers.get('accept-ranges')]).toEqual([200, bytes, 'bytes'])
  expect(etag).toMatch(/^"/)
  for (const [range, from, to] of [
    ['bytes=10-', 10, bytes],
    ['bytes=0-9', 0, 10],
    ['bytes=-5', bytes - 5, bytes],
    [`bytes=${bytes - 1}-999999999999`, bytes - 1, bytes],
  ] as const) {
    const part = await get({ range, 'if-range': etag })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${from}-${to - 1}/${bytes}`])
    expect(Buffer.compare(part.body, whole.body.subarray(from, to))).toBe(0)
  }
  for (const range of ['bytes=5-2', 'bytes=0-1,4-5', 'bytes=-', 'lines=1-2', 'bytes=a-b']) expect((await get({ range })).status).toBe(200)
  expect((await get({ range: 'bytes=10-', 'if-range': '"another"' })).status).toBe(200)
  for (const range of [`bytes=${bytes}-`, 'bytes=-0']) {
    const refused = await get({ range })
    expect([refused.status, refused.headers.get('content-range')]).toEqual([416, `bytes */${bytes}`])
    expect(JSON.parse(refused.body.toString())).toMatchObject({ error: { code: 'RANGE_NOT_SATISFIABLE', params: { bytes } } })
  }
  expect((await get({ 'if-none-match': etag })).status).toBe(304)
})

test('a file being read can be read to the end after its removal', async () => {
  const { DumpFolder } = await import('#dumps/dump-folder.ts')
  const { text } = await import('node:stream/consumers')
  const store = new DumpFolder(folder)
  const [stamp, name] = ['20200101T000000000Z', 'items-20200101T000000000Z.parquet']
  mkdirSync(join(folder, stamp))
  writeFileSync(join(folder, stamp, name), 'content')
  const { bytes, read } = (await store.open(name))!
  const body = await read(0, bytes)
  rmSync(join(folder, stamp), { recursive: true })
  expect([bytes, await text(body)]).toEqual([7, 'content'])
})

test('one dump is created each night', async () => {
  const latest = async () => (await operator<State>('GET', '/dumps')).latest!
  const before = await latest()
  node.clock.advance(DAY_MS + HOUR_MS)
  const { DumpMaker } = await import('#dumps/maker.ts')
  const { openPriceArchive } = await import('#prices/archive/price-archive.ts')
  const { DumpFolder } = await import('#dumps/dump-folder.ts')
  const store = new DumpFolder(folder)
  const { config, db, clock, ctx: _ } = node
  const maker = new DumpMaker({
    ...config,
    dumpHour: 3,
    db,
    archive: openPriceArchive(config),
    log: { error() {}, warn() {}, info() {}, debug() {} },
    now: clock.now,
    store,
    currencies: config.sourceCurrencies,
  })
  await maker.makeDue(true)
  expect(await latest()).toEqual(before)
  await maker.makeDue(false)
  const after = await latest()
  expect(after.as_of > before.as_of).toBe(true)
})

describe('rejected', () => {
  test('below Professional', async () => {
    expect((await read('/dumps', node.keys.starter)).status).toBe(403)
    expect((await read('/dumps/items-20261122T030000000Z.parquet', node.keys.starter)).status).toBe(403)
  })

  test.each(['items', '..%2F..%2Fetc%2Fpasswd', 'items-20261122T030000000Z.parquet', '.20261122T030000000Z', 'manifest.json', 'x'.repeat(100)])(
    'a file that is in no dump: %s',
    async (name) => {
      const { status, body } = await read(`/dumps/${name}`)
      expect([status, body.error!.code]).toEqual([404, 'NOT_FOUND'])
    },
  )

  test('a second dump while one is running', async () => {
    const slow = node.db.kysely.transaction().execute(async (tx) => {
      const { sql } = await import('kysely')
      await sql`select pg_advisory_xact_lock(7312)`.execute(tx)
      await send(`${node.operatorUrl}/operator/v1/dumps`, OPERATOR_TOKEN, { method: 'POST' })
      await until('the other one is met', async () => (await operator<State>('GET', '/dumps')).failure !== null)
    })
    await slow
    expect((await operator<State>('GET', '/dumps')).failure).toContain('already running')
  })
})
