// `node reliability/hostile-files.ts [--megabytes 200] [--only <words>]`: uploads files designed to exhaust memory, and measures the memory of each
// import.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { atMost, conclude, count, figure, type Finding, progress } from './report.ts'
import { ask, OPERATOR_TOKEN, pause, type Service, startService, until, workDir } from './service.ts'

export interface HostileOptions {
  /** size of each file; a gzip bomb unpacks to 25 times this size */
  megabytes: number
  /** only kinds of files whose name contains this; default: all */
  only?: string
  /** real files imported the same way: format and path */
  real?: readonly (readonly [format: string, path: string])[]
}

/** A generated file, in pieces of text; sent with gzip if `packed`. */
interface HostileFile {
  what: string
  format: string
  text: Iterable<string>
  packed?: boolean
  /** expected result of the import: its error, or `done` if only rows are rejected */
  expected: RegExp
}

const MB = 1024 * 1024
const MAX_MB = 400

/** Repeats `unit(n)` in pieces of about 64 KB until the size is reached. */
function* repeated(megabytes: number, unit: (n: number) => string, before = '', after = ''): Generator<string> {
  let piece = before
  let size = 0
  for (let n = 0; size < megabytes * MB; n += 1) {
    piece += unit(n)
    if (piece.length < 65_536) continue
    size += piece.length
    yield piece
    piece = ''
  }
  yield piece + after
}

const json = JSON.stringify
const longText = (n: number) => `${n}`.padStart(450, 'x')
const repeatedList = (text: string, times: number) => Array.from({ length: times }, () => text).join(',')

function hostileFiles(megabytes: number): HostileFile[] {
  const of = (unit: (n: number) => string, before = '', after = '') => repeated(megabytes, unit, before, after)
  const product = (n: number) => json({ idProduct: n, categoryName: longText(n) })
  const item = (n: number) =>
    json({
      type: 'item',
      market: 'source_b',
      ref: longText(n),
      name: longText(n),
      code: null,
      genre: 'single',
      game: 'pokemon',
      category: longText(n),
      images: [],
      attributes: [],
      groups: [],
      details: {},
      foreign_ids: [],
    })
  const printings = repeatedList('{"type":"normal","thirdParty":{"cardmarket":1}}', 150)
  return [
    {
      what: 'JSON: empty products',
      format: 'cardmarket-products',
      text: of(() => '{},', '{"products":[', '{}]}'),
      expected: /none of the first 100 rows/,
    },
    {
      what: 'JSON: rejected products',
      format: 'cardmarket-products',
      text: of((n) => `${product(n)},`, '{"products":[', `${product(0)}]}`),
      expected: /^done$/,
    },
    { what: 'JSON: empty prices', format: 'cardmarket-price-guide', text: of(() => '{},', '{"priceGuides":[', '{}]}'), expected: /^done$/ },
    {
      what: 'JSON: lists beside the entries',
      format: 'cardmarket-products',
      text: of(() => '{},', '{"other":[', '{}]}'),
      expected: /at most 1048576 bytes/,
    },
    { what: 'JSON: one text', format: 'pokemontcg', text: of(() => 'x'.repeat(1_000), '[{"id":"', '"}]'), expected: /at most 1048576 bytes/ },
    { what: 'JSON: nested lists', format: 'pokemontcg', text: of(() => '['.repeat(1_000)), expected: /at most 100 levels/ },
    { what: 'JSON: nested objects', format: 'punk-records', text: of(() => '{"1":'.repeat(1_000)), expected: /at most 100 levels/ },
    {
      what: 'JSON: entries of 1 MB',
      format: 'pokemontcg',
      text: of(() => `{"id":"a-1","supertype":"","number":"1","x":[${repeatedList('{}', 340_000)}]},`, '[', '{}]'),
      expected: /^done$/,
    },
    { what: 'NDJSON: one line', format: 'tcgdex', text: of(() => 'x'.repeat(1_000)), expected: /line 1 is longer than 1 MB/ },
    {
      what: 'NDJSON: lines of 1 MB',
      format: 'tcgdex',
      text: of((n) => `{"id":"${n}","name":"a","set":"s","localId":"1","x":[${repeatedList('{}', 340_000)}]}\n`),
      expected: /^done$/,
    },
    {
      what: 'NDJSON: lines nested deeply',
      format: 'singles-brl',
      text: of((n) => `{"cardId":${'['.repeat(500_000)}${']'.repeat(500_000)},"finish":${n},"sources":[]}\n`),
      expected: /^done$/,
    },
    {
      what: 'NDJSON: rejected rows',
      format: 'tcgdex',
      text: of((n) => `{"id":"${longText(n)}","name":"a","set":"${longText(n)}"}\n`, '{"id":"1","name":"a","set":"s","localId":"1"}\n'),
      expected: /^done$/,
    },
    { what: 'NDJSON: items of unknown categories', format: 'mintmark-ndjson', text: of((n) => `${item(n)}\n`), expected: /^done$/ },
    {
      what: 'NDJSON: different sets',
      format: 'pokemontcg',
      text: of((n) => `${json({ id: `${n}`, name: `Set ${n}`, series: `Series ${n}`, printedTotal: 1 })}\n`),
      expected: /20000|^done$/,
    },
    {
      what: 'NDJSON: printings with long texts',
      format: 'tcgdex',
      text: of(
        (n) =>
          `{"id":"${n}","name":"a","set":{"id":"s","name":"S"},"localId":"1","illustrator":"${'x'.repeat(900_000)}","variants":[${printings}]}\n`,
      ),
      expected: /^done$/,
    },
    { what: 'CSV: one line', format: 'mintmark-prices-csv', text: of(() => 'x'.repeat(1_000)), expected: /longer than 1 MB|must have the columns/ },
    {
      what: 'CSV: one cell',
      format: 'mintmark-prices-csv',
      text: of(() => 'x'.repeat(1_000), 'item_ref,market,label,price,updated_at\n"'),
      expected: /the CSV cannot be read/,
    },
    {
      what: 'CSV: columns',
      format: 'mintmark-prices-csv',
      text: of((n) => `,c${n}`, 'item_ref,market,label,price,updated_at'),
      expected: /longer than 1 MB|at most 1000 columns/,
    },
    {
      what: 'CSV: different unknown items',
      format: 'mintmark-prices-csv',
      text: of((n) => `${longText(n)},source_c,Near Mint,1.00,2026-11-01T09:00:00Z\n`, 'item_ref,market,label,price,updated_at\n'),
      expected: /^done$/,
    },
    {
      what: 'CSV: rows of 1 MB',
      format: 'tcgplayer-sealed',
      text: of((n) => `"${n}",,"${'x'.repeat(1_000_000)}",\n`, 'productId,name,imageUrl,set_code\n'),
      expected: /^done$/,
    },
    {
      what: 'gzip: zeros',
      format: 'tcgdex',
      text: repeated(25 * megabytes, () => '\0'.repeat(65_536)),
      packed: true,
      expected: /longer than 1 MB|unpacks to more than 200 times/,
    },
    {
      what: 'gzip: blank lines',
      format: 'mintmark-ndjson',
      text: repeated(25 * megabytes, () => '\n'.repeat(65_536)),
      packed: true,
      expected: /unpacks to more than 200 times|the file is empty/,
    },
    {
      what: 'gzip: rejected rows',
      format: 'tcgdex',
      text: of((n) => `{"id":"${n * 7_919}","name":"${n * 104_729}","set":"s"}\n`, '{"id":"1","name":"a","set":"s","localId":"1"}\n'),
      packed: true,
      expected: /^done$/,
    },
  ]
}

interface Outcome {
  result: string
  peakMb: number
  seconds: number
}

export async function hostileRun({ megabytes, only = '', real = [] }: HostileOptions): Promise<Finding[]> {
  const dir = workDir()
  const service = await startService({ DATA_DIR: join(dir.path, 'data'), PORT: '0', OPERATOR_PORT: '0' })
  let reading = true
  let slowestMs = 0
  let failed = 0
  const reader = (async () => {
    while (reading) {
      const { status, ms } = await ask(`${service.publicUrl}/health/live`, null)
      if (status !== 200) failed += 1
      slowestMs = Math.max(slowestMs, ms)
      await pause(20)
    }
  })()
  try {
    const findings: Finding[] = []
    const startMb = memoryOf(service).now
    const judge = (what: string, { result, peakMb, seconds }: Outcome) => {
      progress(`${what}: ${Math.round(peakMb - startMb)} MB in ${seconds.toFixed(1)} s, ${result}`)
      findings.push(atMost(`${what}: peak memory above the start, in MB`, Math.round(peakMb - startMb), MAX_MB))
    }
    for (const { what, format, text, packed, expected } of hostileFiles(megabytes)) {
      if (!what.includes(only)) continue
      const body = packed ? Readable.from(text).pipe(createGzip({ level: 1 })) : Readable.from(text)
      const outcome = await importOf(service, format, body)
      judge(what, outcome)
      if (!expected.test(outcome.result))
        findings.push({ what: `${what}: its result`, value: outcome.result, promised: String(expected), holds: false })
    }
    for (const [format, path] of real)
      judge(`real data: ${path.split('/').at(-1)}`, await importOf(service, format, Readable.from([readFileSync(path)]), '?dry_run=true'))
    const good = await importOf(
      service,
      'mintmark-ndjson',
      Readable.from([json({ type: 'category', market: 'source_b', ref: 'good', name: 'Good', game: 'pokemon', parent: null, image: null })]),
    )
    return [
      figure('files', `${megabytes} MB each`),
      ...findings,
      count(
        'imports left queued or running',
        (await ask<{ status: string }[]>(`${service.operatorUrl}/operator/v1/imports?per_page=50`, OPERATOR_TOKEN)).body.data.filter(
          ({ status }) => status === 'running' || status === 'queued',
        ).length,
        0,
      ),
      count('valid imports that fail afterwards', good.result === 'done' ? 0 : 1, 0),
      count('unexpected exits of the process', service.ended() === null ? 0 : 1, 0),
      count('failed requests during the imports', failed, 0),
      figure('slowest request during the imports', `${Math.round(slowestMs)} ms`),
    ]
  } finally {
    reading = false
    await reader
    if (service.ended() === null) await service.kill('SIGINT')
    dir.remove()
  }
}

/** Uploads a file and waits for its import; resets the memory peak first. */
async function importOf(service: Service, format: string, body: Readable, query = ''): Promise<Outcome> {
  const started = performance.now()
  writeFileSync(`/proc/${service.child.pid}/clear_refs`, '5')
  const response = await fetch(`${service.operatorUrl}/operator/v1/imports/${format}${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/octet-stream' },
    body: Readable.toWeb(body) as ReadableStream,
    duplex: 'half',
  } as RequestInit)
  const { data } = (await response.json()) as { data: { id: number } }
  let result = ''
  const ended = async () => {
    const reply = await ask<{ status: string; message: string | null }>(`${service.operatorUrl}/operator/v1/imports/${data.id}`, OPERATOR_TOKEN)
    if (reply.status !== 200 || reply.body.data.status === 'queued' || reply.body.data.status === 'running') return false
    result = reply.body.data.message ?? reply.body.data.status
    return true
  }
  await until(`the import ${format} has ended`, ended, 1_800_000)
  return { result, peakMb: memoryOf(service).peak, seconds: (performance.now() - started) / 1_000 }
}

/** Resident memory according to the kernel, in MB. */
function memoryOf({ child }: Service): { now: number; peak: number } {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1]) / 1_024
  return { now: field('VmRSS'), peak: field('VmHWM') }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      megabytes: { type: 'string', default: '200' },
      only: { type: 'string', default: '' },
      real: { type: 'string', multiple: true, default: [] },
    },
  })
  const real = values.real.map((each) => each.split('=', 2) as [string, string])
  conclude('imports of hostile files', await hostileRun({ megabytes: Number(values.megabytes), only: values.only, real }))
}
