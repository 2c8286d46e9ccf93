// `node bench/prices/readers.ts [rows]`: read latencies of a node while it imports an uploaded price file itself.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { MARKETS } from '#core/markets.ts'
import { startDatabaseServer } from '../database.ts'
import { copyGeneratedData, generatedMarket, generatedMinor, generatedRef, PRICES_PER_ITEM } from '../generated-data.ts'
import { type LoadFigures, measure, measureUntil, writeRequests } from '../load.ts'
import { pinProcess, SERVER_CORE, startServer } from '../processes.ts'

const LABELS = ['Near Mint', 'Lightly Played', 'Moderately Played', 'Heavily Played', 'PSA 10', 'PSA 9', 'CGC 10', 'BGS 10']
const OPERATOR_PORT = '18473'
const TOKEN = 'operator token of the benchmark'
const items = Math.floor(Number(process.argv[2] ?? 1_000_000) / PRICES_PER_ITEM)

const server = await startDatabaseServer()
const dir = mkdtempSync(join(tmpdir(), 'mintmark-readers-'))
try {
  pinProcess(server.pid, SERVER_CORE)
  const database = await server.create('readers')
  await copyGeneratedData(database.ctx.db, items)
  const settings = { DATABASE_URL: database.url, PORT: '0', OPERATOR_PORT, OPERATOR_TOKEN: TOKEN, RATE_LIMITS: 'off', LOG_LEVEL: 'warn' }
  const node = await startServer('src/main.ts', ['serve'], settings)
  const paths = Array.from({ length: items }, (_, i) => `/api/v1/items/${((i * 7_919) % items) + 1}`)
  const load = { url: node.url, key: database.accounts.professional.key, requestsFile: writeRequests(dir, 'items', paths) }
  await measure(load, 3)
  show('calm', await measure(load, 5))
  const readers = measureUntil(load)
  const started = performance.now()
  const counts = await importFile(csv())
  const seconds = (performance.now() - started) / 1000
  show('during the import', await readers.stop())
  console.log(`${counts.accepted} prices accepted in ${seconds.toFixed(1)} s with upload, ${Math.round(Number(counts.accepted) / seconds)} rows/s`)
  await node.stop()
  await database.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
  await server.close()
}

function show(when: string, { requestsPerSecond, p50, p99, max }: LoadFigures): void {
  console.log(`${when}: ${Math.round(requestsPerSecond)} req/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, max ${max.toFixed(1)} ms`)
}

function csv(): string {
  const lines = ['item_ref,market,label,price,updated_at']
  for (let id = 1; id <= items; id += 1) {
    for (const [label, name] of LABELS.entries()) {
      const price = (generatedMinor(id, label, 1) / 100).toFixed(2)
      lines.push(`${generatedRef(id)},${MARKETS[generatedMarket(id)]},${name},${price},2026-10-02T00:00:00Z`)
    }
  }
  return `${lines.join('\n')}\n`
}

async function importFile(body: string): Promise<Record<string, unknown>> {
  const operator = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${OPERATOR_PORT}/operator/v1${path}`, { ...init, headers: { authorization: `Bearer ${TOKEN}` } })
    return ((await response.json()) as { data: Record<string, unknown> }).data
  }
  const { id } = await operator('/imports/mintmark-prices-csv', { method: 'POST', body })
  for (;;) {
    await delay(250)
    const found = await operator(`/imports/${String(id)}`)
    if (found.status === 'failed') throw new Error(String(found.message))
    if (found.status === 'done') return found
  }
}
