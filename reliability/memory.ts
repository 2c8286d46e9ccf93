// `node reliability/memory.ts [--minutes 60] [--rate 60] [--svg memory.svg]`: measures memory under a mixed load at a steady rate.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openReceiver } from './proxy-and-clients.ts'
import { atMost, conclude, count, figure, type Finding, percentile, progress } from './report.ts'
import { ask, OPERATOR_TOKEN, pause, type Service, startService, until, workDir } from './service.ts'
import { prepareWrites } from './writes.ts'

export interface MemoryOptions {
  minutes: number
  /** requests per second, in addition to the writers, which send about as many */
  rate: number
  /** share of the time after which memory is evaluated */
  warmUp?: number
  /** seconds between samples */
  every?: number
}

export interface Sample {
  seconds: number
  rssMb: number
  heapMb: number
}

const MAX_GROWTH = 1.3
/** Applies on a busy machine, where a short run ends before the process has warmed up. */
const MAX_GROWTH_UNDER_LOAD = 3
const MIN_SAMPLES = 4
const IMPORT_EVERY = 400
const SAMPLE_ITEMS = 300
const SAMPLES = ['pokemon', 'onepiece'].map((name) => new URL(`../sample/${name}.ndjson`, import.meta.url).pathname)
const WORDS = ['charizard', 'pika', 'luffy', 'energy', 'char', 'zor', 'base', 'gx']
const GRAPHQL = 'query ($search: String) { items(first: 20, search: $search) { nodes { id name category { name } prices { label price } } } }'

export async function memoryRun({ minutes, rate, warmUp = 0.25, every = 5 }: MemoryOptions): Promise<{ findings: Finding[]; samples: Sample[] }> {
  const dir = workDir()
  const receiver = await openReceiver(5)
  const service = await startService({ DATA_DIR: join(dir.path, 'data'), PORT: '0', OPERATOR_PORT: '0' })
  const samples: Sample[] = []
  const statuses = new Map<number, number>()
  try {
    const writes = await prepareWrites({ publicUrl: () => service.publicUrl, operatorUrl: () => service.operatorUrl }, { pauseMs: 4_000 / rate })
    const api = <T = unknown>(path: string, sending = {}) => ask<T>(`${service.publicUrl}${path}`, writes.key, sending)
    await api('/api/v1/plus/webhook', { method: 'PUT', json: { url: `http://127.0.0.1:${receiver.port}/`, on_sale: true, on_expire: true } })
    const upload = (n: number) => post(`${service.operatorUrl}/operator/v1/imports/mintmark-ndjson`, readFileSync(SAMPLES[n % SAMPLES.length]!))
    for (const n of SAMPLES.keys()) await upload(n)
    const page = (n: number) => api<{ id: number }[]>(`/api/v1/items?page=${n}`)
    await until('the sample catalogue is imported', async () => (await page(1)).body.pagination!.total > SAMPLE_ITEMS)
    const ids: number[] = []
    for (let n = 1; n <= SAMPLE_ITEMS / 20; n++) ids.push(...(await page(n)).body.data.map(({ id }) => id))
    const requests: ((n: number) => Promise<{ status: number }>)[] = [
      (n) => api(`/api/v1/items?page=${1 + (n % 10)}&sort_by=price`),
      (n) => api(`/api/v1/items/search?q=${WORDS[n % WORDS.length]}`),
      (n) => api(`/api/v1/items/${ids[n % ids.length]}`),
      (n) => api(`/api/v1/plus/listings?search=card&page=${1 + (n % 3)}`),
      async (n) => {
        const { status, body } = await api('/graphql', { json: { query: GRAPHQL, variables: { search: WORDS[n % WORDS.length] } } })
        return { status: 'errors' in body ? 0 : status }
      },
      () => api('/api/v1/plus/my-listings'),
    ]
    let running = true
    const loading = (async () => {
      for (let n = 0; running; n++) {
        // Each kind of request cycles through its pages and words.
        const request = n % IMPORT_EVERY === IMPORT_EVERY - 1 ? upload : requests[n % requests.length]!
        const { status } = await request(Math.floor(n / requests.length))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        await pause(1_000 / rate)
      }
    })()
    writes.start()
    const started = performance.now()
    const seconds = () => (performance.now() - started) / 1_000
    while (seconds() < minutes * 60 || samples.length < MIN_SAMPLES) {
      await pause(every * 1_000)
      samples.push(await sample(service, seconds()))
      if (samples.length % 12 === 0) progress(`${Math.round(seconds())} s: ${Math.round(samples.at(-1)!.rssMb)} MB resident`)
    }
    running = false
    await loading
    await writes.stop()
    const evaluated = samples.slice(Math.floor(samples.length * warmUp))
    const first = evaluated.slice(0, Math.max(1, Math.floor(evaluated.length / 5)))
    const reference = percentile(
      first.map(({ rssMb }) => rssMb),
      0.5,
    )
    const rss = evaluated.map(({ rssMb }) => rssMb)
    const heap = evaluated.map(({ heapMb }) => heapMb)
    const sent = [...statuses.values()].reduce((sum, each) => sum + each, 0)
    const findings = [
      figure('load', `${minutes} min, ${sent} reads and imports, ${writes.acknowledged()} writes, ${receiver.deliveries.size} webhooks`),
      count(
        'failed requests',
        [...statuses].reduce((sum, [status, times]) => sum + (status >= 200 && status < 300 ? 0 : times), 0),
        0,
      ),
      figure(
        'resident memory after warm-up',
        `${Math.round(reference)} MB, then ${Math.round(Math.min(...rss))} to ${Math.round(Math.max(...rss))} MB`,
      ),
      figure('heap in use', `${Math.round(Math.min(...heap))} to ${Math.round(Math.max(...heap))} MB`),
      atMost('peak resident memory relative to that after warm-up', Math.max(...rss) / reference, MAX_GROWTH, '×', MAX_GROWTH_UNDER_LOAD),
    ]
    return { findings, samples }
  } finally {
    if (service.ended() === null) await service.kill('SIGINT')
    await receiver.close()
    dir.remove()
  }
}

async function post(url: string, body: Buffer<ArrayBuffer>): Promise<{ status: number }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body,
  })
  await response.arrayBuffer()
  return { status: response.status }
}

/** Resident memory according to the kernel, heap from the service's own metrics. */
async function sample(service: Service, seconds: number): Promise<Sample> {
  const rssKb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))![1])
  const response = await fetch(`${service.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })
  const heap = Number(/^mintmark_nodejs_heap_size_used_bytes (\S+)/m.exec(await response.text())?.[1] ?? Number.NaN)
  return { seconds, rssMb: rssKb / 1_024, heapMb: heap / 1_048_576 }
}

/** A chart of resident memory and heap over time. */
export function curve(samples: readonly Sample[]): string {
  const [width, height, left, bottom] = [640, 240, 48, 28]
  const last = samples.at(-1)!.seconds
  const highest = Math.ceil(Math.max(...samples.map(({ rssMb }) => rssMb)) / 100) * 100
  const x = (seconds: number) => left + ((width - left - 8) * seconds) / last
  const y = (mb: number) => (height - bottom) * (1 - mb / highest) + 4
  const line = (of: (sample: Sample) => number, colour: string) =>
    `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${samples.map((each) => `${x(each.seconds).toFixed(1)},${y(of(each)).toFixed(1)}`).join(' ')}"/>`
  const rule = (mb: number) =>
    `<line x1="${left}" x2="${width - 8}" y1="${y(mb)}" y2="${y(mb)}" stroke="#ccc"/><text x="${left - 6}" y="${y(mb) + 4}" text-anchor="end">${mb}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" fill="#555">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...[0, highest / 2, highest].map(rule),
    line(({ rssMb }) => rssMb, '#b3541e'),
    line(({ heapMb }) => heapMb, '#2b6cb0'),
    `<text x="${left}" y="${height - 8}">0</text><text x="${width - 8}" y="${height - 8}" text-anchor="end">${Math.round(last / 60)} minutes; MB resident (brown), heap in use (blue)</text>`,
    '</svg>',
    '',
  ].join('\n')
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '60' }, rate: { type: 'string', default: '60' }, svg: { type: 'string' } },
  })
  const { findings, samples } = await memoryRun({ minutes: Number(values.minutes), rate: Number(values.rate) })
  if (values.svg) writeFileSync(values.svg, curve(samples))
  conclude('memory under mixed load', findings)
}
