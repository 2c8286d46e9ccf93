// Dumps in a bucket of an S3-compatible server: stored, read through the service, removed, and responses while the server is down.
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { ConfigError } from '#settings.ts'
import { DumpBucket } from '#dumps/dump-bucket.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { openS3, type S3Store } from '../support/s3.ts'

interface Dump {
  as_of: string
  files: { name: string; rows: number; bytes: number; sha256: string }[]
}
interface State {
  latest: Dump | null
  running: object | null
  failure: string | null
  place: string
  problem: string | null
}

let s3: S3Store
let node: TestNode
let folder: string

beforeAll(async () => {
  s3 = await openS3()
  folder = mkdtempSync(join(tmpdir(), 'mintmark-staged-'))
  node = await startTestNode({ env: { ...s3.settings, DUMPS_DIR: folder } })
  const category = await operator<{ id: number }>('POST', '/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })
  for (const n of [1, 2, 3]) await operator('POST', '/items', { name: `Card ${n}`, ref: `card:${n}`, market: 'source_c', category_id: category.id })
})
afterAll(async () => {
  await node.close()
  await s3.close()
  rmSync(folder, { recursive: true })
})

async function operator<T>(method: string, path: string, json?: object): Promise<T> {
  const { status, body } = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, ...(json && { json }) })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body.data
}

const state = () => operator<State>('GET', '/dumps')
const read = <T>(path: string, key = node.keys.professional) => send<T>(`${node.publicUrl}/api/v1${path}`, key)

function download(name: string): Promise<Response> {
  return fetch(`${node.publicUrl}/api/v1/dumps/${name}`, { headers: { authorization: `Bearer ${node.keys.professional}` } })
}

async function makeDump(): Promise<State> {
  await operator('POST', '/dumps')
  await until('the dump is made', async () => (await state()).running === null)
  return state()
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const settingsOf = (env: Record<string, string>) => readConfig({ ...s3.settings, ...env }).dumpsS3!

test('a dump is read through the service unchanged, and nothing stays on disk', async () => {
  expect((await read('/dumps')).body.data).toBe(null)
  const { latest, failure, place, problem } = await makeDump()
  expect({ failure, place, problem }).toEqual({ failure: null, place: s3.settings.DUMPS_S3_URL, problem: null })
  expect((await read<Dump>('/dumps')).body.data).toEqual(latest)
  expect(latest!.files.map(({ name, rows }) => [name.replace(/-\d{8}T.*Z/, ''), rows])).toEqual([
    ['categories.ndjson.gz', 1],
    ['categories.parquet', 1],
    ['items.ndjson.gz', 3],
    ['items.parquet', 3],
    ['prices.ndjson.gz', 0],
    ['prices.parquet', 0],
  ])
  for (const { name, bytes, sha256: expected } of latest!.files) {
    const response = await download(name)
    const content = new Uint8Array(await response.arrayBuffer())
    expect([name, response.status, content.length, sha256(content)]).toEqual([name, 200, bytes, expected])
  }
  expect(readdirSync(folder)).toEqual([])
})

test('keys and plans are checked as with a folder, and only dump files are returned', async () => {
  const [file] = (await state()).latest!.files
  expect((await read(`/dumps/${file!.name}`, node.keys.starter)).status).toBe(403)
  expect((await send(`${node.publicUrl}/api/v1/dumps/${file!.name}`, null)).status).toBe(401)
  for (const name of ['manifest.json', '..%2Fmanifest.json', file!.name.replace('categories', 'nothing')]) {
    expect([name, (await read(`/dumps/${name}`)).status]).toEqual([name, 404])
  }
})

test('the previous dump stays, older ones and incomplete ones are removed', async () => {
  const bucket = new DumpBucket(settingsOf({}), folder)
  const first = (await state()).latest!.files[0]!.name
  const second = (await makeDump()).latest!.files[0]!.name
  expect((await download(first)).status).toBe(200)
  // As left behind by a node that ended before it wrote the manifest.
  const broken = 'items-20200101T000000000Z.parquet'
  mkdirSync(bucket.stage('20200101T000000000Z'))
  writeFileSync(join(bucket.stage('20200101T000000000Z'), broken), 'x')
  await bucket.publish('20200101T000000000Z', { as_of: '', change_cursor: '', files: [{ name: broken, rows: 1, bytes: 1, sha256: '' }] })
  rmSync(bucket.stage('20200101T000000000Z'), { recursive: true })
  expect((await download(broken)).status).toBe(404)
  await makeDump()
  expect([(await download(first)).status, (await download(second)).status]).toEqual([404, 200])
})

test('a file uploaded in many parts is returned unchanged', { tags: 'slow' }, async () => {
  const bucket = new DumpBucket(settingsOf({ DUMPS_S3_URL: `${s3.origin}/cards` }), folder)
  const stamp = '20300101T000000000Z'
  const name = `items-${stamp}.parquet`
  const content = randomBytes(25 * 1024 * 1024)
  mkdirSync(bucket.stage(stamp))
  writeFileSync(join(bucket.stage(stamp), name), content)
  await bucket.publish(stamp, { as_of: '', change_cursor: '', files: [{ name, rows: 1, bytes: content.length, sha256: '' }] })
  rmSync(bucket.stage(stamp), { recursive: true })
  const { bytes, read } = (await bucket.open(name))!
  expect([bytes, sha256(await buffer(await read(0, bytes)))]).toEqual([content.length, sha256(content)])
  expect(Buffer.compare(await buffer(await read(5_000_000, 5_000_100)), content.subarray(5_000_000, 5_000_100))).toBe(0)
})

test('while the store is unavailable, callers get 503 without its URL, operators the reason, and a dump fails', async () => {
  const [file] = (await state()).latest!.files
  await s3.stop()
  try {
    for (const path of ['/dumps', `/dumps/${file!.name}`]) {
      const { status, headers, body } = await read(path)
      expect([status, body.error!.code, headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '30'])
      expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|cards|ECONN/)
    }
    expect(await state()).toMatchObject({ latest: null, problem: expect.stringContaining('ECONNREFUSED') as string })
    expect(await makeDump()).toMatchObject({ failure: expect.stringContaining('The dump store is unavailable: ') as string })
    expect(readdirSync(folder)).toEqual([])
    // Everything unrelated to dumps keeps working, and so does a start.
    expect((await read('/items')).status).toBe(200)
    const other = await startTestNode({ databaseUrl: node.databaseUrl, env: s3.settings })
    await other.close()
  } finally {
    await s3.start()
  }
  expect(await state()).toMatchObject({ latest: { files: [file, ...Array<object>(5).fill({})] }, problem: null })
})

test.each([
  ['another secret', { DUMPS_S3_SECRET_KEY: 'wrong' }, 'it answers 403 SignatureDoesNotMatch'],
  ['another key', { DUMPS_S3_ACCESS_KEY: 'NOBODY' }, 'it answers 403 InvalidAccessKeyId'],
  ['no such bucket', { DUMPS_S3_URL: '/missing' }, 'it answers 404 NoSuchBucket'],
])('%s stops the start', async (_what, env: Record<string, string>, why) => {
  const { DUMPS_S3_URL: path } = env
  const wrong = { ...s3.settings, ...env, ...(path && { DUMPS_S3_URL: `${s3.origin}${path}` }) }
  const start = startTestNode({ databaseUrl: node.databaseUrl, env: wrong })
  await expect(start).rejects.toThrow(`The dump store rejects its settings (${why}); check DUMPS_S3_URL`)
})

test.each([
  ['DUMPS_S3_URL', 's3.example/bucket'],
  ['DUMPS_S3_URL', 'https://s3.example'],
  ['DUMPS_S3_URL', 'https://s3.example/'],
  ['DUMPS_S3_URL', 's3://bucket/prefix'],
  ['DUMPS_S3_URL', 'https://key:secret@s3.example/bucket'],
  ['DUMPS_S3_URL', 'https://s3.example/bucket?region=x'],
  ['DUMPS_S3_REGION', 'eu central'],
])('%s=%s is rejected by name', (name, value) => {
  const read = () => readConfig({ ...s3.settings, [name]: value })
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(new RegExp(`^${name} .*must be`))
  if (name === 'DUMPS_S3_URL') expect(read).not.toThrow(/secret@/)
})

test('the URL and its credentials must be set together', () => {
  expect(readConfig({ DUMPS_S3_REGION: 'auto' }).dumpsS3).toBe(null)
  const { DUMPS_S3_URL, DUMPS_S3_ACCESS_KEY } = s3.settings
  expect(() => readConfig({ DUMPS_S3_URL })).toThrow(/^DUMPS_S3_ACCESS_KEY and DUMPS_S3_SECRET_KEY must be set/)
  expect(() => readConfig({ DUMPS_S3_ACCESS_KEY })).toThrow(/^DUMPS_S3_URL and DUMPS_S3_SECRET_KEY must be set/)
})
