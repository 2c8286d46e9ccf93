// Downloads of files against a server that behaves and misbehaves: resume, changes, limits, checksums, redirects and waits.
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { replaceTimeAndChance } from '#core/process/time-and-chance.ts'
import { openGuard } from '#outbound/target-guard.ts'
import { DOWNLOAD_LIMITS, type DownloadLimits } from '#public-sources/download-file.ts'
import { DownloadFailure } from '#public-sources/failure.ts'
import { fetchFiles, removeAbandoned } from '#public-sources/fetch-files.ts'
import type { PublicSource, SourceFile } from '#public-sources/sources.ts'
import { broken, file, openSourceServer, type SourceServer, status, tagOf } from './source-server.ts'

let server: SourceServer
let folder: string
let endReplacement: () => void
/** the waits that were asked for, in milliseconds */
let waits: number[]

const CONTENT = JSON.stringify(Array.from({ length: 500 }, (_, n) => ({ id: n, text: 'a card' })))
const PATH = '/files.example/a.json'

beforeAll(async () => {
  server = await openSourceServer()
})

afterAll(() => server.close())

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mintmark-sources-'))
  server.asked.length = 0
  waits = []
  endReplacement = replaceTimeAndChance({
    delay: async (ms) => {
      waits.push(ms)
    },
  })
})

afterEach(() => {
  endReplacement()
  rmSync(folder, { recursive: true })
})

function sourceOf(...files: Partial<SourceFile>[]): PublicSource {
  const all = files.map((one) => ({ name: 'a.json', url: 'https://files.example/a.json', maxBytes: 1024 * 1024, ...one }))
  const texts = {
    title: 'Test',
    game: 'pokemon',
    format: 'tcgdex',
    website: 'https://files.example',
    licence: 'MIT',
    termsUrl: 'https://files.example/terms',
  }
  return { name: 'test', ...texts, note: null, index: null, files: all }
}

const guard = openGuard({ allowCidrs: [], allowHttp: false, ownPorts: () => [], databasePorts: [] })

async function fetchAll(source: PublicSource = sourceOf({}), limits: Partial<DownloadLimits> = {}) {
  const { files } = await fetchFiles(source, {
    folder,
    network: { guard, resolve: async () => ['10.0.0.7'], mirror: server.url },
    now: () => new Date(),
    signal: new AbortController().signal,
    onProgress: () => {},
    pauseMs: 0,
    limits: { ...DOWNLOAD_LIMITS, reservedBytes: 0, ...limits },
  })
  return files
}

/** The rule of the failure. */
async function failureOf(source?: PublicSource, limits?: Partial<DownloadLimits>): Promise<string> {
  const error = await fetchAll(source, limits).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(DownloadFailure)
  return (error as DownloadFailure).why.rule
}

const stored = (name = 'a.json') => readFileSync(join(folder, 'test', name), 'utf8')
const partSize = () => statSync(join(folder, 'test', 'a.json.part'), { throwIfNoEntry: false })?.size ?? 0
const names = () => readdirSync(join(folder, 'test')).sort()

test('a file is downloaded once, with its source recorded, and again only when it has changed', async () => {
  server.on(PATH, file(CONTENT))
  const [first] = await fetchAll()
  expect(first).toMatchObject({ url: 'https://files.example/a.json', etag: tagOf(CONTENT), bytes: CONTENT.length })
  expect(first!.sha256).toBe(createHash('sha256').update(CONTENT).digest('hex'))
  expect(stored()).toBe(CONTENT)
  expect(JSON.parse(stored('fetched.json'))).toMatchObject({ licence: 'MIT', terms: 'https://files.example/terms', files: [first] })
  expect(server.asked[0]!.userAgent).toMatch(/^Mintmark\//)

  expect(await fetchAll()).toEqual([first])
  expect(server.asked[1]).toMatchObject({ ifNoneMatch: first!.etag })
  // A deleted file is downloaded again.
  rmSync(join(folder, 'test', 'a.json'))
  expect((await fetchAll())[0]!.sha256).toBe(first!.sha256)
  expect(server.asked[2]!.ifNoneMatch).toBeUndefined()

  server.on(PATH, file('[1]'))
  expect((await fetchAll())[0]).toMatchObject({ bytes: 3 })
  expect(names()).toEqual(['a.json', 'fetched.json'])
})

test('a broken download is resumed, but only with the same content and from a server that can', async () => {
  server.on(PATH, broken(CONTENT, 4_000, partSize), file(CONTENT))
  await fetchAll()
  expect(server.asked[1]).toMatchObject({ range: 'bytes=4000-', ifRange: tagOf(CONTENT) })
  expect(stored()).toBe(CONTENT)

  // Another content by then: the server sends all of it.
  const other = CONTENT.replaceAll('card', 'item')
  server.on(PATH, broken(CONTENT, 5_000, partSize, { etag: '"older"' }), file(other))
  await fetchAll()
  expect(stored()).toBe(other)

  // A server that ignores ranges, and one that ignores the tag and sends the rest of another content.
  const ignoring = file(CONTENT, { etag: '"third"' })
  server.on(PATH, broken(CONTENT, 6_000, partSize, { etag: '"third"' }), (request, response) => {
    delete request.headers.range
    ignoring(request, response)
  })
  await fetchAll()
  expect(stored()).toBe(CONTENT)
  server.on(
    PATH,
    broken(CONTENT, 7_000, partSize, { etag: '"fourth"' }),
    (_request, response) => {
      response.writeHead(206, { etag: '"fifth"', 'content-range': `bytes 7000-7001/${other.length}` }).end('ab')
    },
    file(other, { etag: '"fifth"' }),
  )
  await fetchAll()
  expect(stored()).toBe(other)

  // The part of a fetch that failed is resumed by the next one.
  server.on(PATH, broken(CONTENT, 3_000, partSize), status(503))
  expect(await failureOf()).toBe('source_status')
  expect(names()).toContain('a.json.part')
  server.on(PATH, file(CONTENT))
  await fetchAll()
  expect(server.asked.at(-1)).toMatchObject({ range: 'bytes=3000-' })
  expect(stored()).toBe(CONTENT)
  expect(names()).toEqual(['a.json', 'fetched.json'])
})

test('parts that nobody resumes are removed after a week', async () => {
  server.on(PATH, broken(CONTENT, 3_000, partSize), status(404))
  expect(await failureOf()).toBe('source_status')
  await removeAbandoned(folder, new Date())
  expect(names()).toContain('a.json.part')
  const past = new Date(Date.now() - 8 * 24 * 3_600_000)
  for (const name of names()) utimesSync(join(folder, 'test', name), past, past)
  await removeAbandoned(folder, new Date())
  expect(names().filter((name) => name.includes('.part'))).toEqual([])
})

test('a source that is busy is asked again later, and not more often than it wants', async () => {
  server.on(PATH, status(429, { 'retry-after': '7' }), status(503), file(CONTENT))
  await fetchAll()
  expect(waits).toEqual([7_000, 2_000])
  server.on(PATH, status(429, { 'retry-after': '86400' }))
  expect(await failureOf()).toBe('source_wait')
  server.asked.length = 0
  server.on(PATH, status(503))
  expect(await failureOf()).toBe('source_status')
  expect(server.asked).toHaveLength(DOWNLOAD_LIMITS.attempts)
  server.asked.length = 0
  server.on(PATH, status(403))
  expect(await failureOf()).toBe('source_status')
  expect(server.asked).toHaveLength(1)
})

test('redirects are followed a few times, to https and public addresses only', async () => {
  server.on(PATH, status(302, { location: '/elsewhere/a.json' }))
  server.on('/elsewhere/a.json', file(CONTENT))
  await fetchAll()
  expect(stored()).toBe(CONTENT)
  rmSync(join(folder, 'test', 'a.json'))

  server.on(PATH, status(302, { location: PATH }))
  expect(await failureOf()).toBe('source_redirects')
  server.on(PATH, status(302, { location: 'http://files.example/a.json' }))
  expect(await failureOf()).toBe('source_https')
  server.on(PATH, status(302, { location: 'http://127.0.0.1:9/a.json' }))
  expect(await failureOf()).toBe('source_https')
  server.asked.length = 0
  for (const target of ['https://127.0.0.1:9/', 'https://[::1]:9/', 'https://169.254.169.254/', 'https://private.example/']) {
    server.on(PATH, status(302, { location: target }))
    expect(await failureOf()).toBe('source_connection')
  }
  expect(server.asked).toHaveLength(4)
})

test('what is too large, too slow, cut off or not JSON is refused, and leaves no file', async () => {
  const endless = (length: object) => (_request: unknown, response: import('node:http').ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json', ...length })
    const more = () => {
      while (!response.destroyed && response.write('['.repeat(64 * 1024)));
    }
    response.on('drain', more)
    more()
  }
  server.on(PATH, endless({}))
  expect(await failureOf()).toBe('source_size')
  server.on(PATH, endless({ 'content-length': 2 * 1024 * 1024 }))
  expect(await failureOf()).toBe('source_size')
  server.on(PATH, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('[')
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  })
  expect(await failureOf(undefined, { slowMs: 200, attempts: 2 })).toBe('source_slow')
  server.on(PATH, file('<!doctype html>', { type: 'text/html; charset=utf-8' }))
  expect(await failureOf()).toBe('source_json')
  server.on(PATH, file('<!doctype html><p>Hello', { type: 'application/json' }))
  expect(await failureOf()).toBe('source_json')
  server.on(PATH, file(CONTENT.slice(0, -100)))
  expect(await failureOf()).toBe('source_cut_off')
  server.on(PATH, file(CONTENT, { headers: { 'content-encoding': 'br' } }))
  expect(await failureOf()).toBe('source_encoding')
  server.on(PATH, file(CONTENT))
  expect(await failureOf(undefined, { reservedBytes: 2 ** 60 })).toBe('source_disk')
  expect(names().filter((name) => !name.includes('.part'))).toEqual([])
})

test('gzip is checked as a whole, whether it is the file or the way it is sent', async () => {
  const packed = { name: 'a.json.gz', url: 'https://files.example/a.json.gz' }
  const gzip = gzipSync(CONTENT)
  server.on('/files.example/a.json.gz', file(gzip, { type: 'application/gzip' }))
  expect(await fetchAll(sourceOf(packed))).toMatchObject([{ stored: 'a.json.gz', bytes: gzip.length }])

  const wrongLength = Buffer.from(gzip)
  wrongLength.writeUInt32LE(7, gzip.length - 4)
  for (const wrong of [wrongLength, gzip.subarray(0, -10)]) {
    server.on('/files.example/a.json.gz', file(wrong, { type: 'application/gzip' }))
    expect(await failureOf(sourceOf(packed))).toBe('gzip_damaged')
  }
  server.on('/files.example/a.json.gz', file(gzipSync(Buffer.alloc(80 * 1024 * 1024, '['))))
  expect(await failureOf(sourceOf(packed))).toBe('gzip_ratio')

  server.on(PATH, file(gzip, { headers: { 'content-encoding': 'gzip' } }))
  expect(await fetchAll(sourceOf({ compressed: true }))).toMatchObject([{ name: 'a.json', stored: 'a.json.gz' }])
})

test('a published checksum is compared, and one more download decides', async () => {
  const digest = createHash('sha256').update(CONTENT).digest('hex')
  const checked = sourceOf({ sha256Url: 'https://files.example/a.json.sha256' })
  const sum = '/files.example/a.json.sha256'
  server.on(sum, file(`${digest}  a.json\n`, { type: 'text/plain' }))
  server.on(PATH, file(CONTENT.replace('card', 'cars')), file(CONTENT))
  expect(await fetchAll(checked)).toMatchObject([{ sha256: digest }])
  // The same checksum: the file itself is not asked for.
  server.asked.length = 0
  await fetchAll(checked)
  expect(server.asked.map(({ path }) => path)).toEqual([sum])

  server.on(sum, file('0'.repeat(64), { type: 'text/plain' }))
  server.on(PATH, file(CONTENT, { etag: '"new"' }))
  server.asked.length = 0
  expect(await failureOf(checked)).toBe('source_checksum')
  expect(server.asked.filter(({ path }) => path === PATH)).toHaveLength(2)
  server.on(sum, file('<p>Not found</p>', { type: 'text/html' }))
  expect(await failureOf(checked)).toBe('source_checksum')
})

test('a document that names files may only name sound ones', async () => {
  const index = { name: 'index.json', url: 'https://files.example/index.json', maxBytes: 1_000_000, isImported: false }
  const listing = (changed: object) => ({
    ...sourceOf(),
    index: { ...index, filesOf: () => [{ name: 'b.json', url: 'https://files.example/b.json', maxBytes: 1_000, ...changed }] },
  })
  server.on('/files.example/index.json', file('{}'))
  server.on('/files.example/b.json', file('[]'))
  expect((await fetchAll(listing({}))).map(({ name }) => name)).toEqual(['index.json', 'b.json'])
  for (const changed of [{ name: '../b.json' }, { name: '.hidden' }, { url: 'http://files.example/b.json' }, { url: 'file:///etc/passwd' }]) {
    expect(await failureOf(listing(changed))).toBe('source_index')
  }
  // A file where the folder should be.
  writeFileSync(join(folder, 'taken'), '')
  expect(await failureOf({ ...listing({}), name: 'taken' })).toBe('source_folder')
  // Files that the source no longer has are removed.
  writeFileSync(join(folder, 'test', 'old.json'), '[]')
  await fetchAll(listing({}))
  expect(names()).toEqual(['b.json', 'fetched.json', 'index.json'])
})
